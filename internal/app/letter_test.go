package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

var hexColor = regexp.MustCompile(`^#[0-9a-f]{6}$`)

// TestEverythingHasAColor: tags and categories have a hex color, however they were created. After a
// client clears the color, REST returns "" and tools still return a hex color.
func TestEverythingHasAColor(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 1)
	plain := b.do(t, "tag.create", map[string]any{"slug": "plain"})
	b.do(t, "transaction.tag", map[string]any{"transaction_id": b.rows[0].String(), "tag_slug": "by-use"})
	primary := b.do(t, "category.create", map[string]any{"slug": "hobby", "name": "Hobby"})
	child := b.do(t, "category.create", map[string]any{"slug": "hobby_trains", "name": "Trains", "parent_id": "hobby"})
	b.do(t, "category.import", map[string]any{"tsv": "slug\tdisplay_name\nfrom_file\tFrom a file\n"})
	if !hexColor.MatchString(fmt.Sprint(plain["color"])) || !hexColor.MatchString(fmt.Sprint(primary["color"])) ||
		child["color"] != primary["color"] {
		t.Errorf("made without a color: %v, %v and below it %v", plain["color"], primary["color"], child["color"])
	}
	if cleared := b.do(t, "tag.update", map[string]any{"slug": "plain", "color": ""}); cleared["color"] != "" {
		t.Errorf("an empty string is a value: %v", cleared["color"])
	}
	for _, tool := range []string{"list_tags", "list_categories"} {
		a := b.tool(t, b.toolNamed(t, tool), map[string]any{})
		seen := 0
		for _, m := range regexp.MustCompile(`"color":"([^"]*)"`).FindAllStringSubmatch(a.block, -1) {
			if seen++; !hexColor.MatchString(m[1]) {
				t.Errorf("%s: %q", tool, m[1])
			}
		}
		if seen < 3 {
			t.Errorf("control: %s shows %d colors", tool, seen)
		}
	}
}

// TestEmptyStringsAreValues: an empty string is stored wherever a field may be empty. An account
// with an empty name of its own is shown with the bank's name.
func TestEmptyStringsAreValues(t *testing.T) {
	t.Parallel()
	b := newFormBook(t, 1)
	other := b.do(t, "counterparty.create", map[string]any{
		"name": "Shop", "website_url": "https://shop.example",
		"mcc": "5411",
	})["id"]
	for _, field := range []string{"website_url", "logo_url", "mcc"} {
		if got := b.do(t, "counterparty.update", map[string]any{"id": other, field: ""}); got[field] != "" {
			t.Errorf("%s is %v", field, got[field])
		}
		if got := b.do(t, "counterparty.update", map[string]any{"id": other, field: nil}); got[field] != nil {
			t.Errorf("null leaves %s at %v", field, got[field])
		}
	}
	account := b.do(t, "account.update", map[string]any{"id": b.account.String(), "display_name": ""})
	row := b.do(t, "transaction.get", map[string]any{"transaction_id": b.rows[0].String()})
	if account["display_name"] != "" || row["account_name"] != "Current" {
		t.Errorf("display_name is %v, and the account is called %v", account["display_name"], row["account_name"])
	}
}

// TestReadOnlyReadsEverythingElse: a read_only key can call every GET except the sensitive ones
// that the interface names, including their single records.
func TestReadOnlyReadsEverythingElse(t *testing.T) {
	t.Parallel()
	sensitive := []string{"/api-keys", "/api-keys/{id}", "/users/{user_id}/login", "/webhook-events"}
	for _, o := range app.Menu() {
		if o.Method == http.MethodGet && (o.Scope == op.Full) != slices.Contains(sensitive, o.Path) {
			t.Errorf("GET %s needs %s", o.Path, o.Scope)
		}
	}
}

// TestBootstrapNamesProviders: before a household is set up, the bootstrap lists the configured
// providers. Afterward it lists nothing.
func TestBootstrapNamesProviders(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{
		EncryptionKey: seal.NewSecret(testRing),
		Providers:     app.Providers{"teller": {"application_id": "app_1", "environment": "sandbox"}},
	})
	ask := func() string { return w.send(t, exchange{method: "GET", path: "/api/v1/headless/bootstrap"}).body }
	if got := ask(); got != `{"setup_required":false}` {
		t.Errorf("once it is set up: %s", got)
	}
	if _, err := w.DB.Exec(t.Context(), `delete from token`); err != nil {
		t.Fatal(err)
	}
	if got := ask(); !strings.Contains(got, `"providers":["teller","simplefin"]`) {
		t.Errorf("before: %s", got)
	}
}

// TestLimitsAreInHeaders: every refusal because of a limit names the limit in headers.
func TestLimitsAreInHeaders(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, pgtest.URL(t), app.Config{RatePerMinute: 60, RateBurst: 5, AuthFailures: 3, LoginsPerMinute: 2})
	for _, x := range []exchange{
		{method: "GET", path: "/api/v1/tags", key: w.key},
		{method: "GET", path: "/api/v1/tags", key: "wrong"},
		{method: "POST", path: "/auth/login", body: `{"email":"a@example.org","password":"wrong wrong wrong"}`},
	} {
		var r reply
		for range 12 {
			if r = w.send(t, x); r.status == http.StatusTooManyRequests {
				break
			}
		}
		policy, left := r.header.Get("RateLimit-Policy"), r.header.Get("RateLimit")
		if r.status != http.StatusTooManyRequests || r.header.Get("Retry-After") == "" ||
			!strings.Contains(policy, ";w=60") || !strings.Contains(left, ";r=0;t=") {
			t.Errorf("%s %s: %d, policy %q, limit %q, %s", x.method, x.path, r.status, policy, left, r.body)
		}
	}
}

// TestRefusalsReachWhoWritesFirst: a client that sends its whole body before it reads still gets
// the reason of a refusal. This also holds if the server refused after the first line.
func TestRefusalsReachWhoWritesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	huge := strings.Repeat("x", 3<<20)
	for name, head := range map[string]string{
		"too large":      "POST /api/v1/reports HTTP/1.1\r\nX-API-Key: " + w.key,
		"no key":         "POST /api/v1/reports HTTP/1.1",
		"nothing there":  "POST /api/v1/nothing HTTP/1.1",
		"chunks":         "POST /api/v1/reports HTTP/1.1\r\nTransfer-Encoding: chunked\r\nX-API-Key: " + w.key,
		"a page's limit": "POST /auth/login HTTP/1.1",
	} {
		for range 5 {
			c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			text := head + fmt.Sprintf(
				"\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(huge)) + huge
			if name == "chunks" {
				text = head + fmt.Sprintf("\r\nHost: localhost\r\nContent-Type: application/json\r\n\r\n%x\r\n",
					len(huge)) + huge + "\r\n0\r\n\r\n"
			}
			if _, err := io.WriteString(c, text); err != nil {
				t.Errorf("%s: writing broke off: %v", name, err)
			}
			res, err := http.ReadResponse(bufio.NewReader(c), nil)
			// The response is complete and not chunked.
			if err != nil || res.StatusCode < 400 || res.StatusCode >= 500 || res.ContentLength <= 0 {
				t.Errorf("%s: %v %v", name, res, err)
			} else {
				_ = res.Body.Close()
			}
			_ = c.Close()
		}
	}
}

// TestSeedGoesThroughTheRules: the rules act on the sample household as on a real one, unless --raw
// skips them to save time.
func TestSeedGoesThroughTheRules(t *testing.T) {
	t.Parallel()
	binary := apptest.Program(t)
	for _, c := range []struct {
		flags                []string
		reviewed, hits, tags int64 // the least counts for 300 transactions
		changes              bool
	}{
		{[]string{"--end", "2026-05-31"}, 300, 300, 50, true},
		{[]string{"--end", "2026-05-31", "--raw"}, 0, 0, 50, false},
	} {
		database := pgtest.URL(t)
		cmd := exec.CommandContext(t.Context(), binary,
			append([]string{"dev", "seed", "--transactions", "300"}, c.flags...)...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "COFFER_DATABASE_URL=" + database}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		db, err := pg.Open(t.Context(), database, pg.Options{MaxConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)
		for what, want := range map[string]int64{
			`select count(*) from transaction_tag join tag on tag.id = tag_id
				where slug = 'needs-review' and present`: c.reviewed,
			`select coalesce(sum(hits), 0)::bigint
				from rule_hit`: c.hits,
			`select count(*) from transaction_tag join tag on tag.id = tag_id
				where slug = 'shared' and present`: c.tags,
			`select count(*) from transaction
				where date <= '2026-05-31'`: 300,
		} {
			if got, err := pg.Value[int64](t.Context(), db, what); err != nil || got < want || want == 0 && got > 150 {
				t.Errorf("%v: %s is %d, %v", c.flags, what, got, err)
			}
		}
		if n, err := pg.Value[int64](t.Context(), db, `select count(*) from change
			where summary = 'Added sample data'`); err != nil || (n > 0) != c.changes {
			t.Errorf("%v: %d changes, %v", c.flags, n, err)
		}
	}
}
