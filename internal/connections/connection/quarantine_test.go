package connection

import (
	"testing"

	"coffer/internal/bank"
	"coffer/internal/books/account"
	"coffer/internal/books/analytics"
	"coffer/internal/books/overview"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// lenient is a bankBook that can read its quarantined rows again.
type lenient struct {
	*bankBook
	reason bank.Reason
	row    bank.Transaction
}

func (l *lenient) Reread(raw bank.Raw, _ bank.Account) (bank.Transaction, bank.Reason) {
	if string(raw) != `{"amount":"12,3"}` {
		return bank.Transaction{}, bank.BadShape
	}
	return l.row, l.reason
}

func (b *branch) retry(t *testing.T, ref string) (out Reread, err error) {
	t.Helper()
	row, err := b.reread(t.Context(), b.db, QuarantineRef{ref})
	if err != nil {
		return out, err
	}
	err = b.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		out, err = b.RetryQuarantined(t.Context(), tx, QuarantineRef{ref}, row)
		return err
	})
	return out, err
}

// An unreadable row is listed without its content. When a new version of coffer can read it, the
// row can be retried and is then stored like any other.
func TestQuarantineIsReadAgain(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	l := &lenient{bankBook: b.bank, reason: bank.BadAmount, row: charge("bad-1", "12.30", "LATE COFFEE")}
	b.providers = only{l}
	bad := func(provider string) bank.Bad {
		return bank.Bad{
			ProviderID: provider, AccountID: "acc-1", Reason: bank.BadAmount,
			Raw: bank.Raw(`{"amount":"12,3"}`),
		}
	}
	b.bank.put(charge("1", "4.80", "COFFEE"))
	b.bank.bad = []bank.Bad{bad("bad-1"), bad("bad-2"), {ProviderID: "bad-3", Reason: bank.BadAccount}}
	b.once(t, "manual")
	list, err := b.Quarantine(t.Context(), b.db, ListQuarantine{Limit: 50})
	if err != nil || len(list.Rows) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	refs := map[string]string{}
	for _, r := range list.Rows {
		refs[*r.ProviderID] = r.ShortID
	}
	h, err := overview.New(analytics.New(b.books, account.New(b.db)), account.New(b.db)).Health(t.Context(), b.db, op.None{})
	if err != nil || h.Status != "degraded" || h.Quarantined != 3 || h.Connections[0].Quarantined != 3 ||
		h.LastSuccessAt == nil {
		t.Errorf("health: %+v, %v", h, err)
	}
	if _, err := b.retry(t, refs["bad-1"]); !errs.Is(err, errs.Conflict) {
		t.Errorf("a row that still cannot be read: %v", err)
	}
	if _, err := b.retry(t, refs["bad-3"]); !errs.Is(err, errs.Conflict) {
		t.Errorf("a row that was not kept: %v", err)
	}
	l.reason = ""
	got, err := b.retry(t, refs["bad-1"])
	if err != nil || !got.Added || got.ChangeID == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	reviewed, err := pg.Value[bool](t.Context(), b.db, `
		select exists (select from transaction t join transaction_tag tt on tt.transaction_id = t.id and tt.present
			where t.id = $1 and t.amount = 12.30 and t.category_id is not null)`, got.TransactionID)
	if err != nil || !reviewed {
		t.Errorf("the row went past the rules, %v", err)
	}
	if _, err := b.retry(t, refs["bad-1"]); !errs.Is(err, errs.NotFound) {
		t.Errorf("a second retry: %v", err)
	}
	l.row = charge("bad-9", "1.00", "ELSEWHERE")
	l.row.AccountID = "acc-99"
	if _, err := b.retry(t, refs["bad-2"]); !errs.Is(err, errs.Conflict) {
		t.Errorf("a row of an account that is not there: %v", err)
	}

	b.bank.put(charge("bad-2", "7.00", "MENDED BY THE BANK"))
	b.once(t, "manual")
	if kept, err := pg.Value[bool](t.Context(), b.db, `select deleted_at is null from transaction
		where id = $1`, got.TransactionID); err != nil || !kept {
		t.Errorf("the next sync removed the row again, %v", err) // the bank sent the row only once
	}
	if list, err = b.Quarantine(t.Context(), b.db, ListQuarantine{Limit: 50}); err != nil || len(list.Rows) != 1 ||
		*list.Rows[0].ProviderID != "bad-3" {
		t.Errorf("what the bank mended stays in quarantine: %+v, %v", list, err)
	}
	err = b.db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := b.DropQuarantined(t.Context(), tx, QuarantineRef{refs["bad-3"]})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if h, err = overview.New(analytics.New(b.books, account.New(b.db)), account.New(b.db)).Health(t.Context(), b.db, op.None{}); err != nil || h.Status != "ok" ||
		h.Quarantined != 0 {
		t.Errorf("health: %+v, %v", h, err)
	}
}

// The health status for monitors reflects the connection: overdue, failing, waiting for a person,
// or off.
func TestHealthFollowsTheConnection(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	for _, c := range []struct{ set, health, status string }{
		{`last_sync_at = now() - interval '1 hour'`, "ok", "ok"},
		{`last_sync_at = now() - interval '13 hours'`, "overdue", "degraded"},
		{`sync_interval_seconds = 86400`, "ok", "ok"},
		{`status = 'error', status_reason = 'X', status_message = 'x'`, "failing", "failing"},
		{`status = 'pending_reauth'`, "needs_person", "failing"},
		{`paused = true`, "off", "ok"},
		{`paused = false, status = 'disconnected'`, "off", "ok"},
	} {
		if _, err := b.db.Exec(t.Context(), `update connection set `+c.set); err != nil {
			t.Fatal(err)
		}
		h, err := overview.New(analytics.New(b.books, account.New(b.db)), account.New(b.db)).Health(t.Context(), b.db, op.None{})
		if err != nil || h.Connections[0].Health != c.health || h.Status != c.status {
			t.Errorf("%s: %+v, %v", c.set, h, err)
		}
	}
	if _, err := b.db.Exec(t.Context(), `update connection set status = 'active'; update setting
		set default_sync_interval_seconds = 900; update connection
		set sync_interval_seconds = null, last_sync_at = now() - interval '1 hour'`); err != nil {
		t.Fatal(err)
	}
	if h, err := overview.New(analytics.New(b.books, account.New(b.db)), account.New(b.db)).Health(t.Context(), b.db, op.None{}); err != nil || h.Overdue != 1 {
		t.Errorf("the household's own interval: %+v, %v", h, err)
	}
}
