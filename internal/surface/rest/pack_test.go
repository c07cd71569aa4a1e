package rest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// raw sends a request without the transport's own compression.
func raw(t *testing.T, h http.Handler, method string, header ...string) (*http.Response, []byte, error) {
	t.Helper()
	s := httptest.NewServer(packing(h))
	t.Cleanup(s.Close)
	r, err := http.NewRequestWithContext(t.Context(), method, s.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	c := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	answer, err := c.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	b, err := io.ReadAll(answer.Body)
	return answer, b, err
}

func unzip(t *testing.T, b []byte) string {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

func TestPacking(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("0123456789abcdef", 4096)
	type answer struct {
		status  int
		kind    string
		body    string
		pieces  int
		headers []string
	}
	all := []string{"Accept-Encoding", "gzip"}
	for name, c := range map[string]struct {
		answer answer
		method string
		header []string
		packed bool
	}{
		"JSON":                 {answer: answer{kind: "application/json"}, header: all, packed: true},
		"text":                 {answer: answer{kind: "text/csv; charset=utf-8"}, header: all, packed: true},
		"created":              {answer: answer{status: 201, kind: "application/json"}, header: all, packed: true},
		"in pieces":            {answer: answer{kind: "application/json", pieces: 1000}, header: all, packed: true},
		"exactly 1 KiB":        {answer: answer{kind: "application/json", body: long[:1024]}, header: all, packed: true},
		"less than 1 KiB":      {answer: answer{kind: "application/json", body: long[:1023]}, header: all},
		"empty":                {answer: answer{status: 204}, header: all},
		"events":               {answer: answer{kind: "text/event-stream"}, header: all},
		"an archive":           {answer: answer{kind: "application/zip"}, header: all},
		"without a type":       {answer: answer{}, header: all},
		"an error":             {answer: answer{status: 400, kind: "application/json"}, header: all},
		"a part":               {answer: answer{status: 206, kind: "text/plain"}, header: all},
		"packed already":       {answer: answer{kind: "text/css", headers: []string{"Content-Encoding", "br"}}, header: all},
		"HEAD":                 {answer: answer{kind: "application/json"}, method: "HEAD", header: all},
		"not asked for":        {answer: answer{kind: "application/json"}},
		"refused":              {answer: answer{kind: "application/json"}, header: []string{"Accept-Encoding", "*, gzip;q=0"}},
		"everything":           {answer: answer{kind: "application/json"}, header: []string{"Accept-Encoding", "br;q=0.1, *"}, packed: true},
		"a session of a page":  {answer: answer{kind: "application/json"}, header: append([]string{"Cookie", "a=b", "Sec-Fetch-Site", "same-origin"}, all...), packed: true},
		"a typed address":      {answer: answer{kind: "application/json"}, header: append([]string{"Cookie", "a=b", "Sec-Fetch-Site", "none"}, all...), packed: true},
		"from another site":    {answer: answer{kind: "application/json"}, header: append([]string{"Cookie", "a=b", "Sec-Fetch-Site", "cross-site"}, all...)},
		"nobody knows whence":  {answer: answer{kind: "application/json"}, header: append([]string{"Cookie", "a=b"}, all...)},
		"another site, no key": {answer: answer{kind: "application/json"}, header: append([]string{"Sec-Fetch-Site", "same-site"}, all...)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := long
			if c.answer.body != "" {
				want = c.answer.body
			}
			if c.answer.status == 204 {
				want = ""
			}
			r, body, err := raw(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				h := w.Header()
				h.Set("ETag", `"tag"`)
				h["Content-Type"] = nil
				if c.answer.kind != "" {
					h.Set("Content-Type", c.answer.kind)
				}
				for i := 0; i < len(c.answer.headers); i += 2 {
					h.Set(c.answer.headers[i], c.answer.headers[i+1])
				}
				if c.answer.status != 0 {
					w.WriteHeader(c.answer.status)
				}
				pieces := max(c.answer.pieces, 1)
				for i := range pieces {
					if piece := want[len(want)*i/pieces : len(want)*(i+1)/pieces]; piece != "" {
						_, _ = io.WriteString(w, piece)
					}
				}
			}), c.method, c.header...)
			if err != nil {
				t.Fatal(err)
			}
			if status := max(c.answer.status, 200); r.StatusCode != status {
				t.Errorf("status %d, not %d", r.StatusCode, status)
			}
			if c.method == http.MethodHead {
				want = ""
			}
			tag := `"tag"`
			if c.packed {
				body, tag = []byte(unzip(t, body)), `"tag.gz"`
			}
			if got := r.Header.Get("Content-Encoding") == "gzip"; got != c.packed || string(body) != want {
				t.Errorf("packed: %v, %d bytes of %d", got, len(body), len(want))
			}
			if got := r.Header.Get("ETag"); got != tag {
				t.Errorf("ETag %s, not %s", got, tag)
			}
			if packable(c.answer.kind) && r.StatusCode < 206 && r.Header.Get("Vary") != "Accept-Encoding" &&
				len(c.answer.headers) == 0 {
				t.Errorf("Vary: %q", r.Header.Values("Vary"))
			}
		})
	}
	if got := unpackedTags(`"a.gz", W/"b"`); got != `"a", W/"b"` {
		t.Errorf("tags of the uncompressed answers: %s", got)
	}
}

// An incomplete answer must not look complete, and an event must not wait for the next.
func TestPackingOfUnfinishedAnswers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"application/json", "text/event-stream"} {
		_, body, err := raw(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			_, _ = io.WriteString(w, strings.Repeat("x", 5000))
			if http.NewResponseController(w).Flush() != nil {
				t.Error("the writer cannot be flushed")
			}
			panic(http.ErrAbortHandler)
		}), http.MethodGet, "Accept-Encoding", "gzip")
		if err == nil {
			t.Errorf("%s: an incomplete answer looks complete: %d bytes", kind, len(body))
		}
	}
	seen := make(chan struct{})
	s := httptest.NewServer(packing(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, "first ")
		_ = http.NewResponseController(w).Flush()
		<-seen
		fmt.Fprint(w, "second")
	})))
	defer s.Close()
	r, err := s.Client().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close() //nolint:errcheck // it was only read
	first := make([]byte, 6)
	if _, err := io.ReadFull(r.Body, first); err != nil || string(first) != "first " {
		t.Errorf("the flushed bytes did not arrive: %q, %v", first, err)
	}
	close(seen)
	if rest, err := io.ReadAll(r.Body); err != nil || string(rest) != "second" {
		t.Errorf("the rest: %q, %v", rest, err)
	}
}
