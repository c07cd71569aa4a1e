package workflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

const (
	lineBatch   = 100              // lines per query; one line may have some hundred kB
	followEvery = time.Second      // how often new lines are looked for
	heartbeat   = 15 * time.Second // keeps proxies from closing a silent stream
	stuck       = 10 * time.Second // how long a write to a client may block
)

// Lines returns some lines of a run's transcript, in order, starting after that number.
func (w *Workflows) Lines(ctx context.Context, q pg.Querier, run id.ID, after int) ([]Line, error) {
	return pg.All[Line](ctx, q, `select seq, at, kind, body from workflow_line where run_id = $1 and seq > $2
		order by seq limit $3`, run, after, lineBatch)
}

// MarshalJSON prints a line in the form of the transcript: its number, time and kind, and then the
// fields of its body.
func (l Line) MarshalJSON() ([]byte, error) {
	head, err := json.Marshal(struct {
		Seq  int     `json:"seq"`
		At   pg.Time `json:"at"`
		Kind string  `json:"kind"`
	}{l.Seq, l.At, l.Kind})
	if err != nil {
		return nil, fmt.Errorf("print line: %w", err)
	}
	var body bytes.Buffer
	if err := json.Compact(&body, l.Body); err != nil || body.Len() < 2 || body.Bytes()[0] != '{' {
		return nil, fmt.Errorf("stored line %d is not an object", l.Seq)
	}
	if body.Len() == 2 {
		return head, nil
	}
	return append(append(head[:len(head)-1], ','), body.Bytes()[1:]...), nil
}

// Transcript sends a run's transcript, a JSON object in each line. With follow it continues until
// the run has ended; an empty line then means that the run is still going.
func (w *Workflows) Transcript(out http.ResponseWriter, r *http.Request) error {
	ctx, after := r.Context(), 0
	follow, err := strconv.ParseBool(cmp.Or(r.FormValue("follow"), "false"))
	if err != nil {
		return errs.Field("follow", "type", "must be true or false")
	}
	if given := r.FormValue("after"); given != "" {
		if after, err = strconv.Atoi(given); err != nil || after < 0 || after > math.MaxInt32 {
			return errs.Field("after", "type", "must be the seq of a line")
		}
	}
	closed, stopping, err := w.jobs.Stream(ctx)
	if err != nil {
		return err
	}
	defer closed()
	run, ended, err := w.following(ctx, r.PathValue("id"))
	if err != nil {
		return err
	}
	s := &sender{out: out, control: http.NewResponseController(out), at: time.Now()}
	_ = s.control.SetReadDeadline(time.Time{}) // the server's deadline is for requests; this lasts longer
	out.Header().Set("Content-Type", "application/x-ndjson")
	out.Header().Set("X-Accel-Buffering", "no") // a proxy must not hold lines back
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		if after, err = w.sendLines(ctx, s, run, after); err != nil {
			return s.failed(err)
		}
		if !follow || ended {
			return nil
		}
		if s.beat() != nil {
			return nil // the client has disconnected
		}
		select {
		case <-ctx.Done():
			return nil
		case <-stopping:
			return nil
		case <-tick.C:
		}
		// Read the run's state before its lines. Otherwise the last lines could be missed.
		if run, ended, err = w.following(ctx, run.String()); err != nil {
			return s.failed(err)
		}
	}
}

// TranscriptQuery is the query of Transcript, for documents.
type TranscriptQuery struct {
	Follow bool `json:"follow,omitempty" doc:"Keep following until the run ends; an empty line means that it is still in progress"`
	After  int  `json:"after,omitempty" doc:"Only lines after the one with this seq"`
}

// following returns a run's id and whether it has ended.
func (w *Workflows) following(ctx context.Context, ref string) (run id.ID, ended bool, err error) {
	type row struct {
		ID    id.ID `db:"id"`
		Ended bool  `db:"ended"`
	}
	r, err := pg.One[row](ctx, w.db, `select id, finished_at is not null as ended from workflow_run
		where id = $1 or short_id = $2`, pg.RefTo(ref).IDArgs()...)
	return r.ID, r.Ended, noRun(err)
}

// sendLines sends all stored lines after that number, and returns the number of the last one.
func (w *Workflows) sendLines(ctx context.Context, s *sender, run id.ID, after int) (int, error) {
	for {
		lines, err := w.Lines(ctx, w.db, run, after)
		if err != nil {
			return after, err
		}
		for _, l := range lines {
			b, err := l.MarshalJSON()
			if err != nil {
				return after, err
			}
			if err := s.send(append(b, '\n')); err != nil {
				return after, err
			}
			after = l.Seq
		}
		if len(lines) < lineBatch {
			return after, s.flush()
		}
	}
}

// A sender writes lines to one reader.
type sender struct {
	out     http.ResponseWriter
	control *http.ResponseController
	begun   bool
	at      time.Time // of the last line
}

func (s *sender) send(b []byte) error {
	s.begun, s.at = true, time.Now()
	_ = s.control.SetWriteDeadline(s.at.Add(stuck)) // some writers do not support deadlines
	if _, err := s.out.Write(b); err != nil {
		return fmt.Errorf("send transcript: %w", err)
	}
	return nil
}

func (s *sender) flush() error {
	if !s.begun {
		return nil
	}
	if err := s.control.Flush(); err != nil {
		return fmt.Errorf("send transcript: %w", err)
	}
	return nil
}

// beat sends an empty line if nothing was sent for a while.
func (s *sender) beat() error {
	if time.Since(s.at) < heartbeat {
		return nil
	}
	if err := s.send([]byte("\n")); err != nil {
		return err
	}
	return s.flush()
}

// failed returns the error if it can still be sent as a response.
func (s *sender) failed(err error) error {
	if s.begun {
		return nil
	}
	return err
}
