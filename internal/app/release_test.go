package app_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/sim/household"
)

var release = flag.Bool("release", false, "write a database of this schema to testdata/releases")

// With -release, TestWriteRelease writes the database dump of the release that is about to be made.
func TestWriteRelease(t *testing.T) {
	t.Parallel()
	if !*release {
		t.Skip("writes a file; run it with -release before a release")
	}
	url := pgtest.URL(t)
	w := newWorldOn(t, url, app.Config{})
	if err := w.Seed(t.Context(), household.New(household.Options{Seed: 2, Transactions: 400, Years: 1}),
		io.Discard); err != nil {
		t.Fatal(err)
	}
	rows, err := pg.Values[string](t.Context(), w.DB, `select id::text from transaction where deleted_at is null
		order by date desc, id desc limit 2`)
	if err != nil {
		t.Fatal(err)
	}
	revert := func() {
		last, err := pg.Value[string](t.Context(), w.DB, `select id::text from change order by seq desc limit 1`)
		if err != nil {
			t.Fatal(err)
		}
		if r := w.send(t, exchange{
			method: "POST", path: "/api/v1/changes/" + last + "/revert",
			key: w.key,
		}); r.status/100 != 2 {
			t.Fatalf("revert: %d %s", r.status, r.body)
		}
	}
	for _, c := range []struct {
		op   string
		args map[string]any
	}{
		{"report.create", map[string]any{"title": "June", "body": "We spent less."}},
		{"comment.create", map[string]any{"transaction_id": rows[0], "content": "Shared with Kim"}},
		{"tag.create", map[string]any{"slug": "released"}},
		{"transaction.tag", map[string]any{"transaction_id": rows[1], "tag_slug": "released"}},
	} {
		if _, err := w.call(t.Context(), opNamed(t, w.Ops(), c.op), op.REST, c.args); err != nil {
			t.Fatalf("%s: %v", c.op, err)
		}
	}
	revert() // revert the tag
	revert() // revert the revert
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	for line := range strings.Lines(string(pgtest.Dump(t, url, "--no-owner", "--inserts", "--rows-per-insert=1000"))) {
		if line != "\n" && !strings.HasPrefix(line, "--") && !dumpToken.MatchString(line) {
			if _, err := io.WriteString(z, line); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(fmt.Sprintf("testdata/releases/%05d.sql.gz", w.DB.Newest()), b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
