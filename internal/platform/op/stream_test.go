package op

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

type row struct {
	Text string `json:"text"`
}

type rowsIn struct {
	Count int  `json:"count,omitempty" default:"0"`
	Fails bool `json:"fails,omitempty"`
}

func listRows(_ context.Context, _ pg.Querier, in rowsIn, each func(row) error) error {
	for range in.Count {
		if err := each(row{strings.Repeat("x", 10_000)}); err != nil {
			return err
		}
	}
	if in.Fails {
		return errs.New(errs.Conflict, "no more")
	}
	return nil
}

func streamRunner(t *testing.T) *Runner {
	t.Helper()
	// never queried
	db, err := pg.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", pg.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	return &Runner{DB: db}
}

// A pieces receives an answer and records the size of its largest piece.
type pieces struct {
	bytes.Buffer
	largest int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.largest = max(p.largest, len(b))
	return p.Buffer.Write(b)
}

var listing = Streaming(Spec{Name: "row.list", Route: "GET /rows", Tool: "list_rows", Summary: "Lists rows."}, listRows)

func listCall(count int, fails bool) Call {
	return Call{
		Actor: Actor{Type: User, ID: id.New(), Scope: Read}, Surface: REST,
		Args: map[string]any{"count": json.Number(strconv.Itoa(count)), "fails": fails},
	}
}

// A short list is a normal answer; a long one is sent in pieces of limited size. Both are the same
// JSON.
func TestLongListsAreSentInPieces(t *testing.T) {
	t.Parallel()
	wrapped := StreamingIn(Spec{Name: "row.all", Route: "GET /all", Summary: "Lists rows."}, "rows",
		func(r []row) struct {
			Rows []row `json:"rows"`
		} {
			return struct {
				Rows []row `json:"rows"`
			}{r}
		}, listRows)
	r := streamRunner(t)
	for _, o := range []*Op{listing, wrapped} {
		for _, count := range []int{0, 1, 5, 100, 1000} {
			c := listCall(count, false)
			whole, err := r.Call(t.Context(), o, c)
			if err != nil {
				t.Fatal(err)
			}
			var out pieces
			c.Out = &out
			got, err := r.Call(t.Context(), o, c)
			if err != nil || got.Sent != (count > 20) {
				t.Fatalf("%d rows: sent %v, %v", count, got.Sent, err)
			}
			if !got.Sent {
				out.Buffer.Write(got.Body)
			}
			if !bytes.Equal(whole.Body, out.Bytes()) || out.largest > streamBuffer+20_000 {
				t.Errorf("%s: %d rows: %d bytes in pieces of %d, want %d bytes", o.Name, count, out.Len(), out.largest,
					len(whole.Body))
			}
		}
	}
}

// An error before anything was sent is a normal error. A later error must not look like the end of
// the list.
func TestStreamThatFails(t *testing.T) {
	t.Parallel()
	r := streamRunner(t)
	for _, count := range []int{1, 1000} {
		var out pieces
		c := listCall(count, true)
		c.Out = &out
		if _, err := r.Call(t.Context(), listing, c); !errs.Is(err, errs.Conflict) {
			t.Errorf("%d rows: %v", count, err)
		}
		if begun := out.Len() > 0; begun != (count == 1000) || begun && json.Valid(out.Bytes()) {
			t.Errorf("%d rows: %d bytes were sent", count, out.Len())
		}
	}
}

// A tool's list is cut to a size that a model can read, with a note beside the list.
func TestToolListEndsEarly(t *testing.T) {
	t.Parallel()
	r := streamRunner(t)
	for count, want := range map[int]int{0: 0, 1: 1, 2: 2, 100: 2} {
		c := listCall(count, false)
		c.Surface = Tool
		a, err := r.Call(t.Context(), listing, c)
		var got []row
		if err != nil || json.Unmarshal(a.Body, &got) != nil || len(got) != want {
			t.Errorf("%d rows: the tool shows %d, want %d; %v", count, len(got), want, err)
		}
		if said := strings.Contains(a.Text(), `"truncated"`); said != (count > want) || len(a.Text()) > ToolBytes {
			t.Errorf("%d rows: %d bytes, with the remarks %v", count, len(a.Text()), a.Aside)
		}
	}
}

// A slow reader takes one of the slots for long answers and nothing else. When all are taken,
// further long answers are refused before they start.
func TestSlowReadersTakeTheirOwnPlaces(t *testing.T) {
	t.Parallel()
	r := streamRunner(t)
	r.Answers = &Share{Total: 3, PerOwner: 2, Patience: time.Millisecond, Own: "own", Others: "others"}
	reader := Actor{Type: User, ID: id.New(), Scope: Read}
	begun, leave := make(chan struct{}), make(chan struct{})
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			c := listCall(100, false)
			c.Actor, c.Out = reader, slowly{begun, leave}
			if _, err := r.Call(t.Context(), listing, c); err != nil {
				t.Error(err)
			}
		})
		<-begun
	}
	c := listCall(100, false)
	c.Actor, c.Out = reader, &pieces{}
	if _, err := r.Call(t.Context(), listing, c); !errs.Is(err, errs.RateLimited) {
		t.Errorf("a third long answer of one reader: %v", err)
	}
	c.Args["count"] = json.Number("1")
	if _, err := r.Call(t.Context(), listing, c); err != nil {
		t.Errorf("a short answer: %v", err)
	}
	c = listCall(100, false)
	c.Out = &pieces{}
	if _, err := r.Call(t.Context(), listing, c); err != nil {
		t.Errorf("another reader: %v", err)
	}
	close(leave)
	all.Wait()
}

// A slowly is a reader that blocks its first write until the test continues.
type slowly struct{ begun, leave chan struct{} }

func (s slowly) Write(b []byte) (int, error) {
	select {
	case s.begun <- struct{}{}:
	case <-s.leave:
	}
	<-s.leave
	return len(b), nil
}

// If a reader takes nothing for the duration of a call, the stream ends.
func TestStalledStreamEnds(t *testing.T) {
	t.Parallel()
	r := streamRunner(t)
	r.Timeout = 20 * time.Millisecond
	o := Streaming(Spec{Name: "row.stall", Route: "GET /stall", Summary: "Lists rows."},
		func(ctx context.Context, _ pg.Querier, _ None, each func(row) error) error {
			<-ctx.Done()
			return each(row{})
		})
	var out pieces
	_, err := r.Call(t.Context(), o, Call{
		Actor: Actor{Type: User, ID: id.New(), Scope: Read}, Surface: REST,
		Args: map[string]any{}, Out: &out,
	})
	if e, ok := errors.AsType[*errs.Error](err); !ok || e.Code != errs.Unavailable || out.Len() > 0 {
		t.Errorf("%v", err)
	}
}
