package oauth

import (
	"net/http"

	"coffer/internal/surface/htmlpage"
)

var listBody = htmlpage.Parse(`
{{if .}}<p class="lead">These assistants can access your household's data on your behalf.</p>
{{range .}}<form class="row" method="post" action="/account/assistants/end"><p>{{.Name}} <span class="dim">{{if eq .Scope "full_access"}}can view and edit{{else}}view only{{end}} · connected {{.CreatedAt.Time.Format "2 Jan 2006, 15:04 MST"}}{{with .LastUsedAt}} · last used {{.Time.Format "2 Jan 2006, 15:04 MST"}}{{end}}</span></p>
<input type="hidden" name="assistant" value="{{.ShortID}}"><button class="quiet">Revoke access</button></form>{{end}}
{{else}}<p class="lead">No connected assistants.</p>{{end}}
{{define "fine"}}<footer><a href="/account">Your account</a></footer>{{end}}`)

// list shows a member the assistants that they connected.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := s.Desk.Member(w, r, "/account/assistants")
	if !ok {
		return err
	}
	mine, err := s.auth().OwnAssistants(r.Context(), actor)
	if err != nil {
		return err
	}
	return htmlpage.Page{Title: "Your assistants", Body: listBody, Data: mine}.Write(w)
}

func (s *Server) end(w http.ResponseWriter, r *http.Request) error {
	actor, ok, err := s.Desk.Member(w, r, "/account/assistants")
	if !ok {
		return err
	}
	if err := s.auth().EndOwnAssistant(r.Context(), actor, r.PostForm.Get("assistant")); err != nil {
		return err
	}
	http.Redirect(w, r, "/account/assistants", http.StatusSeeOther)
	return nil
}
