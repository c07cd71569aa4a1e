// Package htmlpage serves the few HTML pages outside the web app. They are plain, rendered on the
// server, and readable without scripts. The package must not know what a page is about, who is
// calling, or what is in the database.
//
// A page consists of a body, which is parsed once, and the data of one response:
//
//	var done = page.Parse(`<p>{{.Bank}} is linked.</p>`)
//
//	page.Page{Title: "Linked", Body: done, Data: data}.Write(w)
//
// The body can define "fine", a line below the card, and use the pictures of layout.html. A page is
// a card; with Scene it is a form beside a picture.
//
// Every page is sent with a policy that lets it load coffer's own stylesheet and typeface, and
// nothing else. A page that needs more, such as the widget of a bank's provider, lists that in
// Allow.
//
// The stylesheet has these classes: lead, dim, note, warn, button (a link that looks like a
// button), quiet (a button that is not the main one), actions (buttons side by side), row (an item
// with its button), choice (a label with a radio button), code (stays on one line), and deliberate.
// A deliberate form ignores clicks on its buttons in the first moment, because a window of another
// site above the page could have lured someone into a double click. Form elements need no class.
package htmlpage

import (
	"bytes"
	_ "embed"
	"html/template"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/surface/web"
)

//go:embed layout.html
var layoutHTML string

//go:embed tokens.css
var tokensCSS []byte

//go:embed page.css
var pageCSS []byte

//go:embed icon.svg
var iconSVG []byte

// Tokens is a stylesheet with coffer's colors, sizes and typeface, which the web app also uses. A
// program that was built without the app has no typeface; its pages use the system's.
var Tokens, font = tokens()

func tokens() (css []byte, font string) {
	faces, font, err := web.Typeface()
	if err != nil {
		panic(err) // it is part of the program
	}
	return slices.Concat(faces, tokensCSS), font
}

// Stylesheet is the stylesheet of every page.
var Stylesheet = NewFile("page.css", "text/css; charset=utf-8", slices.Concat(Tokens, pageCSS))

// Icon is the icon that browsers show beside a page's title. Without it, browsers request the
// default icon's address, which does not exist here.
var Icon = NewFile("icon.svg", "image/svg+xml", iconSVG)

var layout = template.Must(template.New("layout").Parse(layoutHTML))

// A Body is the content inside the layout.
type Body struct{ template *template.Template }

// Parse makes a Body from an HTML template. It is for templates that are part of the program, and
// panics if one is invalid.
func Parse(html string) Body {
	t := template.Must(layout.Clone())
	template.Must(t.New("body").Parse(html))
	return Body{t}
}

// Sources lists what one page may load in addition to coffer's own stylesheet, in the syntax of a
// content security policy: 'self', or https://host/path.
type Sources struct {
	Script, Frame, Connect, Style, Image []string
	// Form lists where the page's forms may lead, including redirects; coffer is always allowed.
	Form   []string
	Popups bool // the page opens windows of other origins, which must be able to send it messages
	// Opened means that another site may have opened the page's window, and waits for it to return.
	Opened bool
}

// A Page is one response.
type Page struct {
	Status  int // 200 if zero
	Title   string
	Heading string // Title if ""
	Scene   bool   // a form beside a picture
	Body    Body
	Data    any
	Allow   Sources
	Refresh time.Duration // the browser requests the page again after this time; zero for never
	Next    string        // with Refresh: where the browser goes then, instead of the same page
	Script  *File         // a script of coffer's own; nil for none
	later   time.Duration // when the client should try again
}

// Because returns the page as the response to a failed request, with the error's status and retry
// time. Without an error it returns the page unchanged.
func (p Page) Because(err error) Page {
	if face := errs.Public(err, ""); face != nil {
		p.Status, p.later = face.Code.Status(), face.After
	}
	return p
}

// Connection is the header with which the server's entrance reports how a request arrived, because
// a page does not see the request. A page warns people whose connection is Unprotected.
const (
	Connection  = "Coffer-Connection"
	Unprotected = "unprotected"
)

// Write sends the page. It returns an error if the template does not fit its data; in that case it
// has sent an error page.
func (p Page) Write(w http.ResponseWriter) error {
	if p.Heading == "" {
		p.Heading = p.Title
	}
	var b bytes.Buffer
	err := p.Body.template.ExecuteTemplate(&b, "layout",
		map[string]any{
			"Title": p.Title, "Heading": p.Heading, "Scene": p.Scene, "Data": p.Data,
			"Unprotected": w.Header().Get(Connection) == Unprotected,
			"Stylesheet":  Stylesheet.Path, "Icon": Icon.Path, "Font": font, "Script": p.Script,
		})
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
	_, _ = w.Write(b.Bytes()) // a client that has disconnected needs no answer
	return nil
}

const own = "'self'" // what we serve ourselves

// policy returns the header that lets the page load those sources.
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
	add("font-src", own, nil)
	add("connect-src", "", s.Connect)
	add("frame-src", "", s.Frame)
	add("form-action", own, s.Form)
	// Our own scripts never turn text into code; scripts of other sites may.
	if len(s.Script) == 0 || len(s.Script) == 1 && s.Script[0] == own {
		parts = append(parts, "require-trusted-types-for 'script'")
	}
	return strings.Join(append(parts, "frame-ancestors 'none'", "base-uri 'none'"), "; ")
}

var failure = Parse(`{{template "chest"}}<p class="lead">{{.Message}}</p>
<p><a class="button" href="/">Open coffer</a></p>
{{with .Request}}<p class="dim">Request ID <span class="code">{{.}}</span></p>{{end}}`)

// Fail sends the public form of an error as a page. The request id is shown if the log has more
// about the request; "" shows none.
func Fail(w http.ResponseWriter, err error, request string) {
	face := errs.Public(err, request)
	status := face.Code.Status()
	title, shown := "That didn't work", ""
	switch {
	case status == http.StatusNotFound || status == http.StatusGone:
		title = "Page not found"
	case status >= http.StatusInternalServerError:
		title = "coffer ran into a problem"
		if !strings.Contains(face.Message, request) {
			shown = request
		}
	}
	// The template fits its data, so Write cannot fail.
	_ = Page{Title: title, Body: failure, Data: map[string]string{
		"Message": Sentence(face.Message),
		"Request": shown,
	}}.Because(err).Write(w)
}

// Sentence returns an error's message as a sentence for people.
func Sentence(message string) string {
	if message == "" {
		return ""
	}
	return strings.ToUpper(message[:1]) + strings.TrimSuffix(message[1:], ".") + "."
}
