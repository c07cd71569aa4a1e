package browser_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"coffer/internal/app"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"github.com/jackc/pgx/v5"
)

// largestPicture is in bytes.
const largestPicture = 120_000

// pictures are the screens that the guides show. In a path, {id} is what the query finds.
var pictures = []struct {
	name, size, path, find string
	keys                   []string
	file                   string // a statement to preview
}{
	{name: "activity", path: "/activity"},
	{name: "linked-accounts", path: "/review/links"},
	{name: "overview", path: "/"},
	{name: "review", path: "/review"},
	{name: "transactions", path: "/transactions"},
	{name: "transaction", path: "/transactions?search=amazon", keys: []string{"j", "Enter"}},
	{name: "import", path: "/import", file: "statement.csv"},
	{name: "accounts", path: "/accounts"},
	{name: "account", path: "/accounts/{id}", find: `select a.short_id from account a join proof p on p.account_id = a.id
		where a.type = 'depository' order by (p.status = 'proved') desc, a.id limit 1`},
	{name: "net-worth", path: "/net-worth"},
	{name: "budget", path: "/budget"},
	{name: "recurring", path: "/recurring"},
	{name: "calendar", path: "/recurring/calendar"},
	{name: "cash-flow", path: "/cash-flow"},
	{name: "trends", path: "/cash-flow/trends"},
	{name: "alerts", path: "/review/alerts"},
	{name: "rule", path: "/rules/{id}", find: `select short_id from rule where name = 'Amazon'`},
	{name: "workflows", path: "/agents"},
	{name: "run", path: "/runs/{id}", find: `select short_id from workflow_run order by id limit 1`},
	{name: "categories", path: "/settings/categories"},
	{name: "agents", path: "/agents/assistants"},
	{name: "members", path: "/settings/members"},
	{name: "phone", size: "phone light", path: "/review"},
}

// TestPictures takes the pictures of the guides into COFFER_TEST_PICTURES, from the household of
// coffer demo. COFFER_TEST_SCREEN takes one of them.
func TestPictures(t *testing.T) { //nolint:paralleltest // the pictures show how long a screen takes
	dir := os.Getenv("COFFER_TEST_PICTURES")
	if dir == "" {
		t.Skip("make pictures takes them")
	}
	built(t)
	d := newDemo(t)
	var b *browser
	for _, p := range pictures {
		if only := os.Getenv("COFFER_TEST_SCREEN"); only != "" && only != p.name {
			continue
		}
		if size := cmp.Or(p.size, "desktop"); b == nil || b.size != size {
			b = newBrowser(t, size)
			b.do(t, step{Do: "open", Size: size, Allow: []string{d.url}})
			b.do(t, step{Do: "visit", URL: d.url + "/"})
			b.fill(t, "mail", d.email)
			b.fill(t, "Password", d.password)
			b.do(t, step{Do: "enter"})
			b.do(t, step{Do: "see", Text: "Review"})
		}
		path := p.path
		if p.find != "" {
			path = strings.Replace(path, "{id}", d.value(t, p.find), 1)
		}
		b.do(t, step{Do: "visit", URL: d.url + path})
		b.do(t, step{Do: "quiet"})
		for _, k := range p.keys {
			b.do(t, step{Do: "key", Name: k})
		}
		if p.file != "" {
			b.do(t, step{Do: "upload", File: d.statement(t, p.file)})
		}
		b.do(t, step{Do: "quiet"})
		b.do(t, step{Do: "idle"})
		file := filepath.Join(dir, p.name+".png")
		b.do(t, step{Do: "picture", File: file})
		if n := shrink(t, file); n > largestPicture {
			t.Errorf("%s has %d bytes, at most %d are good to load", file, n, largestPicture)
		}
	}
}

// A demo is what `coffer demo` serves.
type demo struct {
	config          app.Config
	url             string
	email, password string
	conn            *pgx.Conn
}

// signIn finds an email and its password in what coffer demo prints.
var signIn = regexp.MustCompile(`(\S+@\S+) +(\S.*)\n`)

// newDemo starts coffer demo, and waits until it has found its patterns. It drops it at the end.
func newDemo(t *testing.T) demo {
	t.Helper()
	name := "coffer_demo_" + strings.ToLower(id.Base62(12))
	d := demo{config: app.Config{
		DatabaseURL: seal.NewSecret(pgtest.EmptyURL(t)), DatabaseMaxConns: 6,
		RatePerMinute: 1_000_000, RateBurst: 1_000_000, LoginsPerMinute: 1_000,
	}}
	listen := fmt.Sprintf("127.0.0.1:%d", free(t))
	d.url = "http://" + listen
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	read, write := io.Pipe()
	go func() {
		defer close(ended)
		d.runTo(ctx, t, write, "demo", "--listen", listen, "--database", name)
		_ = write.Close()
	}()
	t.Cleanup(func() {
		_ = d.conn.Close(context.Background())
		stop()
		<-ended
		d.run(context.Background(), t, "demo", "--drop", "--database", name)
	})
	var printed strings.Builder
	for lines := bufio.NewScanner(read); d.email == "" && lines.Scan(); { // it prints them once it serves
		printed.WriteString(lines.Text() + "\n")
		if m := signIn.FindStringSubmatch(printed.String()); m != nil {
			d.email, d.password = m[1], m[2]
		}
	}
	go func() { _, _ = io.Copy(io.Discard, read) }()
	if d.email == "" {
		t.Fatalf("the demo prints no way to sign in: %s", printed.String())
	}
	at, err := url.Parse(d.config.DatabaseURL.Reveal())
	if err != nil {
		t.Fatal(err)
	}
	at.Path = "/" + name
	if d.conn, err = pgx.Connect(t.Context(), at.String()); err != nil {
		t.Fatal(err)
	}
	d.config.DatabaseURL = seal.NewSecret(at.String())
	d.rest(t)
	return d
}

// rest waits until the server has nothing to do.
func (d demo) rest(t *testing.T) {
	t.Helper()
	eventually(t, func() bool {
		return d.value(t, `select (exists (select from recurring) and not exists (select from form_due)
			and exists (select from proof) and not exists (select from proof_due)
			and not exists (select from job where state in ('queued', 'running')))::text`) == "true"
	})
}

// eventually waits until something is so.
func eventually(t *testing.T, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Minute); !so(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it takes more than five minutes")
		}
	}
}

func (d demo) run(ctx context.Context, t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	d.runTo(ctx, t, &out, args...)
	return out.String()
}

func (d demo) runTo(ctx context.Context, t *testing.T, out io.Writer, args ...string) {
	t.Helper()
	c := app.CommandLine(d.config, strings.NewReader(""), out, t.Output()) //nolint:contextcheck // Execute hands it on
	if code := app.Execute(ctx, c, args); code != 0 && ctx.Err() == nil {
		t.Errorf("coffer %v: exit %d", args, code)
	}
}

func (d demo) value(t *testing.T, sql string) string {
	t.Helper()
	var out string
	if err := d.conn.QueryRow(t.Context(), sql).Scan(&out); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

// statement writes the example statement to a file.
func (d demo) statement(t *testing.T, name string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(d.run(t.Context(), t, "demo", "statement")), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
