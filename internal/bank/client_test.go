package bank_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"coffer/internal/bank"
)

func client(t *testing.T, h http.HandlerFunc) *bank.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	c, err := bank.NewClient("toy", server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRedirectsAreNotFollowed: otherwise the target of a redirect would receive the credentials.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	var visits atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits.Add(1) }))
	t.Cleanup(elsewhere.Close)
	c := client(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		a, err := c.Do(t.Context(), bank.Call{Method: method, Path: "/", Body: []byte("{}")})
		if err != nil || a.Status != http.StatusTemporaryRedirect {
			t.Errorf("%s: got %d, %v", method, a.Status, err)
		}
	}
	if visits.Load() != 0 {
		t.Error("the redirect was followed")
	}
}

func TestAnswersAreBounded(t *testing.T) {
	t.Parallel()
	const limit = 16 << 20
	for size, good := range map[int]bool{limit: true, limit + 1: false, 3 * limit: false} {
		c := client(t, func(w http.ResponseWriter, _ *http.Request) {
			piece := make([]byte, 1<<20)
			for left := size; left > 0; left -= len(piece) {
				if _, err := w.Write(piece[:min(left, len(piece))]); err != nil {
					return
				}
			}
		})
		_, err := c.Do(t.Context(), bank.Call{Method: http.MethodGet, Path: "/"})
		if (err == nil) != good || err != nil && bank.Classify(err).Code != bank.CodeMalformed {
			t.Errorf("%d bytes: got %v", size, err)
		}
	}
}

func TestLatestKeepsTheLastOfEachRow(t *testing.T) {
	t.Parallel()
	got := bank.Latest([]bank.Transaction{
		{ProviderID: "1", AccountID: "a", Name: "old"},
		{ProviderID: "2", AccountID: "a"},
		{ProviderID: "1", AccountID: "b"},
		{ProviderID: "1", AccountID: "a", Name: "new"},
	})
	if len(got) != 3 || got[0].ProviderID != "2" || got[1].AccountID != "b" || got[2].Name != "new" {
		t.Errorf("got %+v", got)
	}
}
