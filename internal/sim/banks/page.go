package banks

import (
	"encoding/json"
	"html/template"
	"net/http"
)

// pages are the pages of the simulated bank. Each states that the bank is not real.
var pages = template.Must(template.New("").Parse(
	`{{define "top"}}<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>A simulated bank</title><link rel="icon" href="data:,"><style>
body { margin: 0; padding: 8vh 1rem; background: #10243e; color: #10243e; font: 17px/1.5 system-ui, sans-serif; }
main { max-width: 26rem; margin: 0 auto; padding: 1.6rem; background: #fff; border-radius: 12px; }
button { min-height: 2.9rem; padding: .6rem 1.2rem; margin: .3rem .3rem .3rem 0; border: 0; border-radius: 8px; background: #1d4ed8; color: #fff; font: inherit; }
button.quiet { background: #e5e9f0; color: #10243e; } .sim { color: #7a3b00; background: #fff4e0; padding: .6rem .8rem; border-radius: 8px; }
</style><main><p class="sim">This is a simulator: no bank is behind it, and nothing that you do here leaves this machine.</p>{{end}}
{{define "hosted"}}{{template "top"}}<h1>{{.}}</h1><p>coffer asks to see your accounts and transactions.</p>
<form method="post"><button>Share my accounts</button><button class="quiet" name="leave" value="yes">Leave</button></form></main>{{end}}
{{define "connect"}}{{template "top"}}<h1>{{.Bank}}</h1><p>coffer asks to see your accounts and transactions.</p>
<form method="post"><input type="hidden" name="enrollment" value="{{.Enrolment}}"><button>Share my accounts</button><button class="quiet" name="leave" value="yes">Leave</button></form></main>{{end}}
{{define "told"}}{{template "top"}}<p>Done.</p></main><script>parent.postMessage({{.}}, "*")</script>{{end}}
{{define "create"}}{{template "top"}}<h1>New connection</h1><p>A setup token lets one program read your accounts. It works once.</p>
<form method="post"><button>Create setup token</button></form></main>{{end}}
{{define "setup"}}{{template "top"}}<h1>Your setup token</h1><p>Paste it into coffer.</p><p style="overflow-wrap: anywhere"><code>{{.}}</code></p></main>{{end}}
{{define "closed"}}{{template "top"}}<h1>{{.}}</h1><p>You can close this page.</p></main>{{end}}`))

func showPage(w http.ResponseWriter, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = pages.ExecuteTemplate(w, name, data) // a browser that has disconnected
}

// connectJS replaces Teller Connect's script: it has the same two functions, and opens a window of
// the simulator instead of Teller's.
const connectJS = `"use strict";
(() => {
  const home = new URL(document.currentScript.src).origin;
  window.TellerConnect = {
    setup(o) {
      return {
        open() {
          const frame = document.createElement("iframe");
          frame.src = home + "/connect?" + new URLSearchParams({ enrollment: o.enrollmentId || "" });
          Object.assign(frame.style, { position: "fixed", inset: "0", width: "100%", height: "100%", border: "0", zIndex: "1000" });
          const hear = (e) => {
            if (e.origin !== home || e.source !== frame.contentWindow) return;
            removeEventListener("message", hear);
            frame.remove();
            if (e.data && e.data.accessToken) o.onSuccess(e.data);
            else if (o.onExit) o.onExit();
          };
          addEventListener("message", hear);
          document.body.append(frame);
          if (o.onInit) o.onInit();
        },
      };
    },
  };
})();
`

// connectScript serves the script of Teller Connect. Teller serves it on a host of its own.
func (t *Teller) connectScript(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
	_, _ = w.Write([]byte(connectJS))
}

func (t *Teller) connectPage(w http.ResponseWriter, r *http.Request) {
	showPage(w, "connect", map[string]string{
		"Bank":      "Harbour Credit Union",
		"Enrolment": r.URL.Query().Get("enrollment"),
	})
}

// connectDone acts as the member in Teller Connect: it creates an enrolment, or repairs an old one,
// whose token then works again.
func (t *Teller) connectDone(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("leave") != "" {
		showPage(w, "told", map[string]any{})
		return
	}
	book := t.Book(r.FormValue("enrollment"))
	if book == nil {
		book = t.Enroll().Book
	}
	book.Repair()
	showPage(w, "told", json.RawMessage(t.ConnectResult(t.token(book), book)))
}

// ConnectResult returns the data that Teller Connect passes to its page's onSuccess.
func (t *Teller) ConnectResult(token string, b *Book) []byte {
	raw, err := json.Marshal(map[string]any{
		"accessToken": token, "user": map[string]any{"id": "usr_simulated"},
		"enrollment": map[string]any{"id": b.id, "institution": map[string]any{"name": b.bank}},
		"signatures": []string{},
	})
	if err != nil {
		panic(err) // strings always encode
	}
	return raw
}

func (t *Teller) token(b *Book) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, e := range t.enrolments {
		if e.book == b {
			return name
		}
	}
	return ""
}
