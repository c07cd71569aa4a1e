package op

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A caller that disconnects in the middle of a statement is not an outage: the driver ends the
// statement by a deadline on its connection, and its error does not say why. A connection that
// breaks while the caller still waits is an outage.
func TestCallerLeaves(t *testing.T) {
	t.Parallel()
	db, err := pg.Open(t.Context(), "postgres://nobody@127.0.0.1:1/none", pg.Options{}) // never queried
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	for _, leaves := range []bool{true, false} {
		ctx, leave := context.WithCancel(t.Context())
		o := Reading(Spec{Name: "thing.list", Route: "GET /things", Summary: "Lists things."},
			func(context.Context, pg.Querier, None) ([]string, error) {
				if leaves {
					leave()
				}
				return nil, fmt.Errorf("collect: %w", &net.OpError{Op: "write", Net: "tcp", Err: os.ErrDeadlineExceeded})
			})
		var log bytes.Buffer
		r := &Runner{DB: db, Log: slog.New(slog.NewTextHandler(&log, nil))}
		_, err := r.Call(ctx, o, Call{
			Actor: Actor{Type: User, ID: id.New(), Scope: Read}, Surface: REST, Args: map[string]any{},
		})
		leave()
		want := "the database can't be reached right now"
		if leaves {
			want = "the call was canceled"
		}
		if e, ok := errors.AsType[*errs.Error](err); !ok || e.Code != errs.Unavailable || !strings.Contains(e.Message, want) {
			t.Errorf("the caller leaves: %t: %v", leaves, err)
		}
		if alarming := strings.Contains(log.String(), "level=ERROR"); alarming == leaves {
			t.Errorf("the caller leaves: %t: %s", leaves, log.String())
		}
	}
}
