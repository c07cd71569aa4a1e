package app_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
)

// A formAnswer is the result of a call by route or by tool.
type formAnswer struct {
	reply
	fault errs.FaceError // an empty code means success
	value any            // the body, or the structured content
	block string         // the tool's text
}

// formJSON prints arguments as JSON. It keeps bytes that are not valid UTF-8.
func formJSON(v any) string {
	var b strings.Builder
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			b.WriteString("," + formJSON(k) + ":" + formJSON(item))
		}
		return "{" + strings.TrimPrefix(b.String(), ",") + "}"
	case []any:
		for _, item := range v {
			b.WriteString("," + formJSON(item))
		}
		return "[" + strings.TrimPrefix(b.String(), ",") + "]"
	case string:
		for i, r := range v {
			if r == utf8.RuneError && !strings.HasPrefix(v[i:], "\ufffd") {
				b.WriteByte(v[i])
				continue
			}
			quoted, _ := json.Marshal(string(r))
			b.Write(quoted[1 : len(quoted)-1])
		}
		return `"` + b.String() + `"`
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func (b *formBook) serve(t *testing.T, x exchange) formAnswer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), x.method, x.path, strings.NewReader(x.body))
	r.Host = "127.0.0.1"
	r.Header.Set("X-API-Key", b.key)
	if x.body != "" {
		r.Header.Set("Content-Type", x.kind)
	}
	for k, v := range x.header {
		r.Header.Set(k, v)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return formAnswer{reply: reply{w.Code, w.Body.String(), w.Header()}}
}

func (b *formBook) rest(t *testing.T, o *op.Op, args map[string]any) formAnswer {
	t.Helper()
	x := exchange{method: o.Method, path: "/api/v1" + o.Path, kind: "application/json"}
	query, body := url.Values{}, map[string]any{}
	for name, v := range args {
		switch in := o.In.Prop(name).In; in {
		case op.InPath:
			x.path = strings.ReplaceAll(x.path, "{"+name+"}",
				strings.ReplaceAll(url.PathEscape(fmt.Sprint(v)), ".", "%2E"))
		case op.InText:
			x.body = v.(string)
			_, x.kind = o.TextBody()
		case op.InQuery:
			list, ok := v.([]any)
			if !ok {
				list = []any{v}
			}
			for _, item := range list {
				if object, ok := item.(map[string]any); ok {
					item = formJSON(object)
				}
				query.Add(name, fmt.Sprint(item))
			}
		default:
			body[name] = v
		}
	}
	x.path += "?" + query.Encode()
	if len(body) > 0 {
		x.body = formJSON(body)
	}
	return b.serve(t, x).read()
}

// read decodes the body as JSON, and also as an error if the status says so.
func (a formAnswer) read() formAnswer {
	var face errs.Face
	_ = json.Unmarshal([]byte(a.body), &a.value)
	if a.status >= http.StatusBadRequest {
		_ = json.Unmarshal([]byte(a.body), &face)
	}
	a.fault = face.Error
	return a
}

// tool calls the op's tool.
func (b *formBook) tool(t *testing.T, o *op.Op, args map[string]any) formAnswer {
	t.Helper()
	if o.IsLong() { // no worker runs here, so no job would end
		args = maps.Clone(args)
		args["wait_seconds"] = json.Number("0")
	}
	return b.callTool(t, o, args)
}

// callTool calls the op's tool with exactly these arguments.
func (b *formBook) callTool(t *testing.T, o *op.Op, args map[string]any) formAnswer {
	t.Helper()
	a := b.serve(t, exchange{
		method: "POST", path: "/mcp/key", kind: "application/json",
		body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + modernMeta + `,"name":"` + o.Tool +
			`","arguments":` + formJSON(args) + `}}`,
		header: map[string]string{
			"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": modernEra,
			"Mcp-Method": "tools/call", "Mcp-Name": o.Tool,
		},
	})
	var res struct {
		IsError bool                    `json:"isError"`
		Content []struct{ Text string } `json:"content"`
		Value   any                     `json:"structuredContent"`
	}
	if m := readMessage(t, a.reply); m.Result == nil || json.Unmarshal(m.Result, &res) != nil || len(res.Content) == 0 {
		a.fault = errs.FaceError{Code: errs.InvalidBody, Message: "the transport refused it"}
		if m.Error == nil && a.status < http.StatusBadRequest || a.status >= http.StatusInternalServerError ||
			m.Error != nil && m.Error.Code == -32603 {
			t.Errorf("%s: %d %.300s", o.Tool, a.status, a.body)
		}
		return a
	}
	a.value, a.block = res.Value, res.Content[0].Text
	if res.IsError {
		var face errs.Face
		_ = json.Unmarshal([]byte(a.block), &face)
		a.fault, a.status = face.Error, face.Error.Code.Status()
	}
	return a
}
