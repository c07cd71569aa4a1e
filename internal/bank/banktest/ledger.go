package banktest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coffer/internal/bank"
)

// maxPages is more than any loop of the suite needs.
const maxPages = 10_000

// A ledger handles pages exactly as the contract requires of a caller.
type ledger struct {
	s       Subject
	rows    map[string]bank.Transaction
	bad     []bank.Bad
	cursor  string
	changed int // rows that were stored or removed
	linked  int // rows that named the pending row that they replace
	retry   func(error) bool
	errors  []error
}

func newLedger(s Subject) *ledger { return &ledger{s: s, rows: make(map[string]bank.Transaction)} }

// sync runs one loop from the stored cursor to its end, and calls between after each page but the
// last.
func (l *ledger) sync(ctx context.Context, between func(page int)) error {
	var removed []bank.Removal
	seen, added := make(map[string]bool), make(map[string]bool)
	at := l.start()
	for page := range maxPages {
		p, err := l.s.Provider.Pull(ctx, l.s.Credentials, at)
		if err != nil {
			if l.retry == nil {
				return err
			}
			l.errors = append(l.errors, err)
			if !l.retry(err) || len(l.errors) > maxPages {
				return fmt.Errorf("not a temporary error: %w", err)
			}
			continue
		}
		if p.Restart {
			at, removed = l.start(), nil
			clear(seen)
			continue
		}
		for _, t := range p.Transactions {
			key := t.AccountID + "/" + t.ProviderID
			if _, there := l.rows[key]; !there {
				added[key] = true
			}
		}
		if err := l.take(p, seen); err != nil {
			return err
		}
		removed = append(removed, p.Removed...)
		if p.Last {
			l.cursor = p.Cursor
			l.remove(removed)
			for key := range added {
				if !seen[key] {
					delete(l.rows, key) // from a void loop; its removal is never reported
				}
			}
			return nil
		}
		if p.Next == "" || p.Next == at.Next {
			return errors.New("a page that is not the last has no next cursor")
		}
		at.Next = p.Next
		if between != nil {
			between(page + 1)
		}
	}
	return errors.New("the loop does not end")
}

// start returns the position at which a loop begins. A window begins some days before the newest
// stored row.
func (l *ledger) start() bank.Position {
	at := bank.Position{Cursor: l.cursor}
	if days := l.s.Provider.Traits().WindowDays; days > 0 && len(l.rows) > 0 {
		var newest time.Time
		for _, t := range l.rows {
			if t.Date.After(newest) {
				newest = t.Date
			}
		}
		at.From = newest.AddDate(0, 0, -days)
	}
	return at
}

func (l *ledger) take(p bank.Page, seen map[string]bool) error {
	if limit := l.s.Provider.Traits().PageSize; limit > 0 && len(p.Transactions)+len(p.Removed) > limit {
		return fmt.Errorf("a page has %d rows", len(p.Transactions)+len(p.Removed))
	}
	once := make(map[string]bool)
	for _, t := range p.Transactions {
		key := t.AccountID + "/" + t.ProviderID
		if once[key] {
			return errors.New("a page names a row twice")
		}
		once[key], seen[key] = true, true
		t.Balance = nil // it changes when other rows change; bank.Running tests it
		if l.rows[key] != t {
			l.changed++
		}
		l.rows[key] = t
		if t.PendingID != "" {
			l.linked++
		}
	}
	for _, b := range p.Bad {
		seen[b.AccountID+"/"+b.ProviderID] = true
		l.bad = append(l.bad, b)
	}
	for _, whole := range p.Complete {
		for key, t := range l.rows {
			if t.AccountID == whole.AccountID && !t.Date.Before(whole.From) && !seen[key] {
				delete(l.rows, key)
				l.changed++
			}
		}
	}
	return nil
}

func (l *ledger) remove(rows []bank.Removal) {
	for _, r := range rows {
		key := r.AccountID + "/" + r.ProviderID
		if _, there := l.rows[key]; there {
			delete(l.rows, key)
			l.changed++
		}
	}
}

// compare compares the stored rows with the bank's rows.
func (l *ledger) compare() error {
	truth, _ := l.s.Bank.Truth()
	missing := make(map[string]bank.Transaction, len(truth))
	for _, t := range truth {
		missing[t.AccountID+"/"+t.ProviderID] = t
	}
	for key, got := range l.rows {
		want, there := missing[key]
		if !there {
			return fmt.Errorf("row %s is not at the bank", key)
		}
		if got != want {
			return fmt.Errorf("row %s is %+v, want %+v", key, got, want)
		}
		delete(missing, key)
	}
	for key := range missing {
		return fmt.Errorf("%d rows of %d are missing, among them %s", len(missing), len(truth), key)
	}
	if len(truth) == 0 {
		return errors.New("the bank is empty, so nothing was compared")
	}
	return nil
}
