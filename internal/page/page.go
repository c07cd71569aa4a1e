// Package page serves the few HTML pages that a person sees outside the UI: plain, made on the server, readable without any script.
// It must not know what a page is about, who is calling, or what stands in the database.
//
// A page is a body, parsed once, and what one answer shows in it:
//
//	var done = page.Parse(`<p>{{.Bank}} is linked.</p>`)
//
//	page.Page{Title: "Linked", Body: done, Data: data}.Write(w)
//
// Every page is answered with a policy that lets it load coffer's own stylesheet and nothing else. One that needs more,
// such as the widget of a bank's provider, names exactly that in Allow. Classes of the stylesheet: lead, dim, note, warn,
// button (a link that looks like one), card, code (stays on one line), deliberate (a form whose buttons take no click in the first moment:
// it could be the second half of a double click that another site's window, which was over this one, lured someone into); the elements of a form need none.
package page

import (
	"bytes"
	_ "embed"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"coffer/internal/errs"
)

//go:embed layout.html
var layoutHTML string

//go:embed page.css
var pageCSS []byte

//go:embed icon.svg
var iconSVG []byte

// Stylesheet is the look of every page.
var Stylesheet = NewFile("page.css", "text/css; charset=utf-8", pageCSS)

// Icon is what browsers show beside a page's title; without one they ask for an address that is not there.
var Icon = NewFile("icon.svg", "image/svg+xml", iconSVG)

var layout = template.Must(template.New("layout").Parse(layoutHTML))

// A Body is what stands inside the layout.
type Body struct{ template *template.Template }

// Parse makes a Body of an HTML template. It is for templates that are part of the program, and panics at a mistake in one.
func Parse(html string) Body {
	t := template.Must(layout.Clone())
	template.Must(t.New("body").Parse(html))
	return Body{t}
}

// Sources are what one page may load beyond coffer's own stylesheet, as a content security policy writes it: 'self', or https://host/path.
type Sources struct {
	Script, Frame, Connect, Style, Image []string
	Form                                 []string // where its forms may lead, their redirects included; coffer itself always
	Popups                               bool     // it opens windows of other origins that must be able to answer
	Opened                               bool     // another site may have opened it and waits for its window to come back
}

// A Page is one answer.
type Page struct {
	Status  int // 200 if zero
	Title   string
	Body    Body
	Data    any
	Allow   Sources
	Refresh time.Duration // the page is asked for again after so long; zero for never
	Next    string        // with Refresh: where the browser goes then, in place of the same page
	Script  *File         // of coffer's own; nil for none
	later   time.Duration // when trying again is worth while
}

// Because is the page as the answer to a request that failed so: with the error's status, and when to come back. Without an error it is the page.
func (p Page) Because(err error) Page {
	if face := errs.Public(err, ""); face != nil {
		p.Status, p.later = face.Code.Status(), face.After
	}
	return p
}

// Write answers with the page. The error says that the template does not fit its data; then an error page has been written.
func (p Page) Write(w http.ResponseWriter) error {
	var b bytes.Buffer
	err := p.Body.template.ExecuteTemplate(&b, "layout", map[string]any{"Title": p.Title, "Stylesheet": Stylesheet.Path, "Icon": Icon.Path, "Script": p.Script, "Data": p.Data})
	if err != nil {
		Fail(w, err, "")
		return err
	}
	if p.Script != nil {
		p.Allow.Script = append([]string{own}, p.Allow.Script...)
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", p.Allow.policy())
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	if p.Allow.Popups {
		h.Set("Cross-Origin-Opener-Policy", "same-origin-allow-popups")
	}
	if p.Allow.Opened { // anything stricter cuts the window off for good, and the site that waits takes it for closed
		h.Set("Cross-Origin-Opener-Policy", "unsafe-none")
	}
	if p.Refresh > 0 {
		refresh := strconv.Itoa(max(1, int(p.Refresh.Seconds())))
		if p.Next != "" {
			refresh += "; url=" + p.Next
		}
		h.Set("Refresh", refresh)
	}
	if p.later > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(p.later.Seconds()))))
	}
	if p.Status == 0 {
		p.Status = http.StatusOK
	}
	w.WriteHeader(p.Status)
	_, _ = w.Write(b.Bytes()) // a reader that has gone needs no answer
	return nil
}

const own = "'self'" // what we serve ourselves

// policy is the header that lets the page load those sources.
func (s Sources) policy() string {
	parts := []string{"default-src 'none'"}
	add := func(directive string, always string, more []string) {
		sources := more
		if always != "" {
			sources = append([]string{always}, more...)
		}
		if len(sources) > 0 {
			parts = append(parts, directive+" "+strings.Join(sources, " "))
		}
	}
	add("script-src", "", s.Script)
	add("style-src", own, s.Style)
	add("img-src", own, s.Image)
	add("connect-src", "", s.Connect)
	add("frame-src", "", s.Frame)
	add("form-action", own, s.Form)
	if len(s.Script) == 0 || len(s.Script) == 1 && s.Script[0] == own { // scripts of ours make no code of texts; what another's do is theirs to know
		parts = append(parts, "require-trusted-types-for 'script'")
	}
	return strings.Join(append(parts, "frame-ancestors 'none'", "base-uri 'none'"), "; ")
}

var failure = Parse(`<p class="lead">{{.Message}}</p>{{with .Request}}<p class="dim">Request {{.}}</p>{{end}}`)

// Fail answers with the public face of an error, as a page. The request id is shown where the log holds more under it; "" shows none.
func Fail(w http.ResponseWriter, err error, request string) {
	face := errs.Public(err, request)
	status := face.Code.Status()
	title, shown := "This did not work", ""
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		title = "Nothing is here"
	case status >= http.StatusInternalServerError:
		shown = request
	}
	_ = Page{Title: title, Body: failure, Data: map[string]string{"Message": Sentence(face.Message), "Request": shown}}.Because(err).Write(w) // its template fits its data
}

// Sentence is an error's message as a person reads it.
func Sentence(message string) string {
	if message == "" {
		return ""
	}
	return strings.ToUpper(message[:1]) + strings.TrimSuffix(message[1:], ".") + "."
}
