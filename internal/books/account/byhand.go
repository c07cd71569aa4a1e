package account

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// fieldBalance is the prefix of an entry's field for a balance entered by hand; the day follows.
const fieldBalance = "balance:"

// A handBalance is a balance entered by hand. An entry writes it as "1200.00" or as "1200.00
// available 1100.00".
type handBalance struct {
	current   money.Amount
	available *money.Amount
}

const andAvailable = " available "

func (h *handBalance) written() *string {
	switch {
	case h == nil:
		return nil
	case h.available == nil:
		return new(h.current.String())
	}
	return new(h.current.String() + andAvailable + h.available.String())
}

func readHandBalance(s string) (h handBalance, err error) {
	current, available, both := strings.Cut(s, andAvailable)
	if h.current, err = money.Parse(current); err != nil || !both {
		return h, err
	}
	a, err := money.Parse(available)
	h.available = &a
	return h, err
}

// A storedHand is a stored balance that was entered by hand.
type storedHand struct {
	Current   money.Amount  `db:"current"`
	Available *money.Amount `db:"available"`
	SetBy     *string       `db:"set_by"`
}

func (r *Register) handStated(ctx context.Context, q pg.Querier, account id.ID, day pg.Date) (*storedHand, error) {
	found, err := pg.All[storedHand](ctx, q, `select current, available, set_by from account_balance
		where account_id = $1 and day = $2 and source = 'manual'`, account, day)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// say sets the balance of a day by hand, or removes it if to is nil, and records the change.
func (r *Register) say(ctx context.Context, tx pg.Tx, in BalanceDay, to *handBalance) (*books, error) {
	b, err := pg.One[books](ctx, tx, bookRows+`and (a.id = $1 or a.short_id = $2) for update of a`,
		pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return nil, noAccount(err)
	}
	// A balance has no version of its own, so the caller's version is compared with the account's.
	// The account includes the current balance.
	a, err := r.judged(ctx, tx)(pg.One[Account](ctx, tx, accountRows+` where a.id = $1`, b.ID))
	if err != nil {
		return nil, err
	}
	if err := op.Match(ctx, a); err != nil {
		return nil, err
	}
	if in.Day.Time().After(b.Today.Time()) {
		return nil, errs.Field("day", "range", "must not be in the future")
	}
	was, err := r.handStated(ctx, tx, b.ID, in.Day)
	if err != nil {
		return nil, err
	}
	s := newHandSaid(ctx, b.ID, in.Day, to)
	e := &s.entry
	switch {
	case was == nil && to == nil:
		return &b, nil // nothing to remove
	case was != nil:
		if journal.Held(was.SetBy, op.ActorOf(ctx), in.Force) {
			return nil, errs.New(errs.Conflict,
				"a person set this balance, so it is locked (held); pass force: true to change it anyway")
		}
		e.Before, e.BeforeSource = (&handBalance{was.Current, was.Available}).written(), was.SetBy
	}
	if err := r.put(ctx, tx, []handSaid{s}); err != nil {
		return nil, err
	}
	if e.Before != nil && e.After != nil && *e.Before == *e.After && same(e.BeforeSource, e.AfterSource) {
		return &b, nil
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, []journal.Entry{*e})
	return &b, err
}

// A handSaid is an entry about a day together with its parsed day and balance; to is nil if the
// balance is removed.
type handSaid struct {
	entry journal.Entry
	day   pg.Date
	to    *handBalance
}

// newHandSaid returns the entry for a day that has no balance entered by hand yet.
func newHandSaid(ctx context.Context, account id.ID, day pg.Date, to *handBalance) handSaid {
	e := journal.Entry{
		Subject: journal.Account, SubjectID: account, Field: fieldBalance + day.String(), After: to.written(),
	}
	if to != nil {
		e.AfterSource = new(journal.Source(op.ActorOf(ctx)))
	}
	return handSaid{e, day, to}
}

// put stores or removes the balances of the entries. No two of them have the same account and day.
func (r *Register) put(ctx context.Context, tx pg.Tx, all []handSaid) error {
	var gone, stated struct {
		accounts []id.ID
		days     []pg.Date
	}
	var current []money.Amount
	var available []*money.Amount
	var setBy []*string
	for _, s := range all {
		if s.to == nil {
			gone.accounts, gone.days = append(gone.accounts, s.entry.SubjectID), append(gone.days, s.day)
			continue
		}
		stated.accounts, stated.days = append(stated.accounts, s.entry.SubjectID), append(stated.days, s.day)
		current, available = append(current, s.to.current), append(available, s.to.available)
		setBy = append(setBy, s.entry.AfterSource)
	}
	if len(gone.days) > 0 {
		if _, err := pg.Exec(ctx, tx, `delete from account_balance b using unnest($1::uuid[], $2::date[]) v (account, day)
			where b.account_id = v.account and b.day = v.day and b.source = 'manual'`, gone.accounts,
			gone.days); err != nil {
			return err
		}
	}
	if len(stated.days) > 0 {
		if _, err := pg.Exec(ctx, tx, `
			insert into account_balance (account_id, day, source, exact, current, available, set_by)
			select account, day, 'manual', true, current, available, set_by
			from unnest($1::uuid[], $2::date[], $3::numeric[], $4::numeric[], $5::text[])
				v (account, day, current, available, set_by)
			on conflict (account_id, day, source) do update set current = excluded.current,
				available = excluded.available, set_by = excluded.set_by, stated_at = excluded.stated_at`,
			stated.accounts, stated.days, current, available, setBy); err != nil {
			return err
		}
	}
	return Due(ctx, tx, slices.Concat(gone.accounts, stated.accounts))
}

// A subject lets reverts restore accounts: the fields that the household set, and each balance that
// was entered by hand.
type subject struct {
	journal.Definition
	register *Register
}

// Leaves reports which entries are applied last. An account gets its merged_into only after it was
// deleted, and loses it before it is restored.
func (s subject) Leaves(field string, after *string) bool {
	if field == fieldMerged {
		return after != nil
	}
	return s.Definition.Leaves(field, after)
}

// Apply implements journal.Subject. Balances are removed before the account that was created with
// them, and restored after it.
func (s subject) Apply(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	var going, coming, names, parted, merged, records []journal.Entry
	for _, e := range entries {
		switch {
		case e.Field == fieldMerged && e.After == nil:
			parted = append(parted, e)
		case e.Field == fieldMerged:
			merged = append(merged, e)
		case e.Field == fieldName:
			names = append(names, e)
		case !strings.HasPrefix(e.Field, fieldBalance):
			records = append(records, e)
		case e.After == nil:
			going = append(going, e)
		default:
			coming = append(coming, e)
		}
	}
	var skipped []journal.Skipped
	for _, step := range []struct {
		apply   func(context.Context, pg.Tx, []journal.Entry) ([]journal.Skipped, error)
		entries []journal.Entry
	}{
		{s.register.restore, going},
		{s.register.rename, names},
		{s.register.lead, parted},
		{s.define, records},
		{s.register.lead, merged},
		{s.register.restore, coming},
	} {
		if len(step.entries) == 0 {
			continue
		}
		left, err := step.apply(ctx, tx, step.entries)
		if err != nil {
			return nil, err
		}
		skipped = append(skipped, left...)
	}
	return skipped, nil
}

// Make adds the accounts of a plan.
func (s subject) Make(ctx context.Context, tx pg.Tx, rows []json.RawMessage) error {
	ids := make([]id.ID, len(rows))
	for i, row := range rows {
		var made struct {
			ID id.ID `json:"id"`
		}
		if err := json.Unmarshal(row, &made); err != nil {
			return fmt.Errorf("read a planned account: %w", err)
		}
		ids[i] = made.ID
	}
	if err := s.Definition.Make(ctx, tx, rows); err != nil {
		return err
	}
	return Due(ctx, tx, ids)
}

// define sets the fields of accounts to the records in the entries.
func (s subject) define(ctx context.Context, tx pg.Tx, entries []journal.Entry) (left []journal.Skipped, err error) {
	ids := make([]id.ID, len(entries))
	for i, e := range entries {
		ids[i] = e.SubjectID
	}
	err = following(ctx, tx, ids, func() (err error) {
		left, err = s.Definition.Apply(ctx, tx, entries)
		return err
	})
	return left, err
}

// rename sets accounts to the names in the entries, and returns the entries that it skipped.
func (r *Register) rename(ctx context.Context, tx pg.Tx, entries []journal.Entry) (left []journal.Skipped, err error) {
	for _, e := range entries { // a change renames one account
		held, err := pg.Values[bool](ctx, tx, `select $2 = any(held) from account where id = $1 and deleted_at is null`,
			e.SubjectID, heldName)
		switch {
		case err != nil:
			return nil, err
		case len(held) == 0:
			left = append(left, journal.Skip(e, "missing"))
		case held[0] && journal.Held(new(op.User), op.ActorOf(ctx), false):
			left = append(left, journal.Skip(e, "held"))
		default:
			if _, err := pg.Exec(ctx, tx, `update account set name = $2, updated_at = clock_timestamp()
				where id = $1`, e.SubjectID, e.After); err != nil {
				return nil, err
			}
		}
	}
	return left, nil
}

// restore sets balances to the values in the entries, and returns the entries that it skipped.
func (r *Register) restore(ctx context.Context, tx pg.Tx, entries []journal.Entry) (left []journal.Skipped, err error) {
	all := make([]handSaid, len(entries))
	accounts, days := make([]id.ID, len(entries)), make([]pg.Date, len(entries))
	for i, e := range entries {
		day, err := pg.ParseDate(strings.TrimPrefix(e.Field, fieldBalance))
		if err != nil {
			return nil, fmt.Errorf("read a recorded balance: %w", err)
		}
		all[i], accounts[i], days[i] = handSaid{e, day, nil}, e.SubjectID, day
		if e.After != nil {
			to, err := readHandBalance(*e.After)
			if err != nil {
				return nil, fmt.Errorf("read a recorded balance: %w", err)
			}
			all[i].to = &to
		}
	}
	type standing struct {
		There bool    `db:"there"` // the account
		SetBy *string `db:"set_by"`
	}
	now, err := pg.All[standing](ctx, tx, `
		select a.id is not null as there, b.set_by
		from unnest($1::uuid[], $2::date[]) with ordinality v (account, day, n)
		left join account a on a.id = v.account and a.deleted_at is null
		left join account_balance b on b.account_id = v.account and b.day = v.day and b.source = 'manual'
		order by v.n`, accounts, days)
	if err != nil {
		return nil, err
	}
	var free []handSaid
	for i, s := range all {
		switch {
		case !now[i].There:
			left = append(left, journal.Skip(s.entry, "missing"))
		case journal.Held(now[i].SetBy, op.ActorOf(ctx), false):
			left = append(left, journal.Skip(s.entry, "held"))
		default:
			free = append(free, s)
		}
	}
	return left, r.put(ctx, tx, free)
}
