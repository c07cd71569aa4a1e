package machine_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"testing"

	"coffer/internal/app"
	"coffer/internal/app/apptest"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
	"pgregory.net/rapid"
)

// An other is an installation without a household, where archives are brought in.
type other struct {
	*app.App
	frozen *frozen
}

func newOther(t *testing.T) *other {
	t.Helper()
	a, err := app.BuildWith(t.Context(), app.Config{
		DatabaseURL: seal.NewSecret(pgtest.URL(t) + "&synchronous_commit=off"),
	}, pg.Options{MaxConns: 4}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.DB.Close)
	return &other{a, freeze(t, a.DB)}
}

// archive takes the household out and into another installation, where it is the same household
// with the same totals.
func (r *run) archive(t *rapid.T, o *other) {
	a := r.do(t, ada, "export", "POST", "/exports?wait=30s", map[string]any{"format": "archive"})
	if !a.ok() || a.Result.URL == nil {
		r.breaks(t, "an export succeeds", "%s", a.body)
	}
	link, err := url.Parse(*a.Result.URL)
	if err != nil {
		t.Fatalf("%v", err)
	}
	file, err := fetch(r.url + link.EscapedPath())
	if err != nil {
		t.Fatalf("%v", err)
	}
	if err := o.frozen.thaw(); err != nil {
		t.Fatalf("%v", err)
	}
	if _, err := o.Archive.Import(context.Background(), bytes.NewReader(file), int64(len(file)),
		func(int64) {}); err != nil {
		r.breaks(t, "what is taken out can be brought in", "%v", err)
	}
	was, is := contents(t, r.DB), contents(t, o.DB)
	if was != is {
		r.breaks(t, "taken out and in, the books are the same", "%s", apptest.Difference(was, is))
	}
}

// contents returns the meaning of the books, and the counted totals.
func contents(t *rapid.T, db *pg.DB) string {
	books, err := ledgertest.Canonical(context.Background(), db, nil, "")
	if err != nil {
		t.Fatalf("%v", err)
	}
	sum, err := pg.Value[string](context.Background(), db, `select concat_ws(' ', count(*), sum(t.amount)) `+counted)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return books + "\ncounts " + sum
}

func fetch(address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, address, http.NoBody)
	if err != nil {
		return nil, err
	}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	return io.ReadAll(res.Body)
}
