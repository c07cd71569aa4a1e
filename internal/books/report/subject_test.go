package report

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
)

// A shelf is a household's reports with its journal.
type shelf struct {
	*testing.T
	*Reports
	db *pg.DB
	j  *journal.Journal
}

func newShelf(t *testing.T) *shelf {
	t.Helper()
	db := pgtest.New(t)
	s := &shelf{t, New(), db, nil}
	s.j = journal.New(journal.Config{DB: db, Subjects: s.Subjects()})
	return s
}

func (s *shelf) as(kind string) context.Context {
	return op.WithActor(s.Context(), op.Actor{Type: kind, ID: id.New(), Name: kind, Scope: op.Full})
}

func (s *shelf) submit(ctx context.Context, body string) (Report, error) {
	var out Report
	err := s.db.InTx(ctx, func(tx pg.Tx) (err error) {
		out, err = s.Create(ctx, tx, CreateReport{Title: "Monthly", Body: body, Kind: "summary"})
		return err
	})
	return out, err
}

func (s *shelf) withdraw(ctx context.Context, report Report) {
	s.Helper()
	err := s.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := s.Delete(ctx, tx, Ref{report.ShortID})
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
}

// revert undoes the newest change.
func (s *shelf) revert(ctx context.Context) journal.Reverted {
	s.Helper()
	var out journal.Reverted
	err := s.db.InTx(ctx, func(tx pg.Tx) error {
		list, err := s.j.List(ctx, tx, journal.ListChanges{Limit: 1})
		if err != nil {
			return err
		}
		out, err = s.j.Revert(ctx, tx, journal.RevertChange{ChangeID: list.Changes[0].ID.String()})
		return err
	})
	if err != nil {
		s.Fatal(err)
	}
	return out
}

func (s *shelf) listed() int {
	s.Helper()
	var list []Report
	err := s.Each(s.Context(), s.db, ListReports{}, func(r Report) error {
		list = append(list, r)
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
	n, err := s.Count(s.Context(), s.db, op.None{})
	if err != nil || n.Count != int64(len(list)) {
		s.Fatalf("%d unread of %d, %v", n.Count, len(list), err)
	}
	return len(list)
}

// A submitted report is a change. Reverting it deletes the report, and reverting that restores it
// unchanged. The journal does not contain its body.
func TestReportsAreJournaled(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	agent := s.as(op.Agent)
	made, err := s.submit(agent, "a body of its own")
	if err != nil {
		t.Fatal(err)
	}
	if r := s.revert(agent); r.Reverted != 1 || s.listed() != 0 {
		t.Fatalf("withdrawn: %+v, %d listed", r, s.listed())
	}
	if _, err := s.Get(t.Context(), s.db, Ref{made.ShortID}); !errs.Is(err, errs.NotFound) {
		t.Errorf("a withdrawn report is shown: %v", err)
	}
	if r := s.revert(agent); r.Reverted != 1 || s.listed() != 1 {
		t.Errorf("brought back: %+v, %d listed", r, s.listed())
	}
	s.withdraw(agent, made)
	s.revert(s.as(op.User))
	if back, err := s.Get(t.Context(), s.db, Ref{made.ShortID}); err != nil || back.Body != made.Body ||
		back.Title != made.Title {
		t.Errorf("%+v, %v", back, err)
	}
	if n, err := pg.Value[int64](t.Context(), s.db, `select count(*) from entry
		where before like '%of its own%' or after like '%of its own%'`); err != nil || n != 0 {
		t.Errorf("%d entries repeat the body, %v", n, err)
	}
}

// By a revert, an agent can neither delete a person's report nor restore one that a person deleted.
func TestReportsAreHeld(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	agent, person := s.as(op.Agent), s.as(op.User)
	held := func(r journal.Reverted) bool {
		return r.Reverted == 0 && len(r.Skipped) == 1 && r.Skipped[0].Reason == "held" &&
			r.Skipped[0].Subject == journal.Report
	}
	if _, err := s.submit(person, "x"); err != nil {
		t.Fatal(err)
	}
	if r := s.revert(agent); !held(r) || s.listed() != 1 {
		t.Errorf("a person's report: %+v", r)
	}
	made, err := s.submit(agent, "x")
	if err != nil {
		t.Fatal(err)
	}
	s.withdraw(person, made)
	if r := s.revert(agent); !held(r) || s.listed() != 1 {
		t.Errorf("what a person deleted: %+v", r)
	}
}

// An agent can submit 20 reports and 1 MB a day, even with many calls at once or if it deletes
// some. People have no limit.
func TestReportsAreBounded(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	agent, other, person := s.as(op.Agent), s.as(op.Agent), s.as(op.User)
	var all sync.WaitGroup
	var made, refused atomic.Int64
	for i := range 30 {
		all.Go(func() {
			r, err := s.submit(agent, fmt.Sprint("report ", i))
			switch {
			case err == nil:
				if made.Add(1); i%2 == 0 {
					s.withdraw(agent, r)
				}
			case errs.Is(err, errs.RateLimited):
				refused.Add(1)
			default:
				t.Error(err)
			}
		})
	}
	all.Wait()
	if made.Load() != maxReports || refused.Load() != 30-maxReports {
		t.Errorf("%d reports, %d refused", made.Load(), refused.Load())
	}
	for range maxReports + 1 { // the control: a person has no limit
		if _, err := s.submit(person, "x"); err != nil {
			t.Fatal(err)
		}
	}
	large := strings.Repeat("ä", MaxBody/2)
	for range maxReportBytes / (len(large) + 100) {
		if _, err := s.submit(other, large); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.submit(other, large)
	if !errs.Is(err, errs.RateLimited) {
		t.Errorf("more than 1 MB: %v", err)
	}
	if e, ok := errors.AsType[*errs.Error](err); !ok || e.After <= 0 || e.After.Hours() > 25 {
		t.Errorf("it does not say when: %v", err)
	}
	if _, err := s.submit(other, "short"); err != nil {
		t.Errorf("what fits: %v", err)
	}
}
