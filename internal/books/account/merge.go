package account

import (
	"context"
	"errors"
	"fmt"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// fieldMerged is the field of an entry that records into which account another was merged.
const fieldMerged = "merged_into"

// ProposedLink is the condition for account links l that wait for a decision: proposed, with both
// accounts still in the books. If one was merged or removed, there is nothing to decide.
const ProposedLink = `l.confidence = 'auto' and l.deleted_at is null and not exists (
	select from account x where x.id in (l.primary_id, l.mirror_id) and x.deleted_at is not null)`

// A Merging names an account that is merged and the account that it is merged into.
type Merging struct {
	Leaving, Into id.ID
	Done          bool // it was already merged into the other
}

// A mergeSide holds the fields of an account that a merge checks.
type mergeSide struct {
	ID       id.ID          `db:"id"`
	Currency money.Currency `db:"currency"`
	Gone     bool           `db:"gone"`
	Merged   *id.ID         `db:"merged_into"`
	Syncs    bool           `db:"syncs"`
}

const mergeRows = `
	select a.id, a.currency, a.deleted_at is not null as gone, a.merged_into,
		coalesce(c.provider <> 'csv' and c.status <> 'disconnected', false) as syncs
	from account a left join connection c on c.id = a.connection_id`

// Mergeable returns the two accounts that a caller names, or an error if one cannot be merged into
// the other.
func (r *Register) Mergeable(ctx context.Context, q pg.Querier, leaving, into string) (Merging, error) {
	from, err := pg.One[mergeSide](ctx, q, mergeRows+` where a.id = $1 or a.short_id = $2`, pg.RefTo(leaving).IDArgs()...)
	if err != nil {
		return Merging{}, noAccount(err)
	}
	to, err := pg.One[mergeSide](ctx, q, mergeRows+` where a.deleted_at is null and (a.id = $1 or a.short_id = $2)`,
		pg.RefTo(into).IDArgs()...)
	if err != nil {
		return Merging{}, pg.Named(err, "into", "account", "{account.list} lists them")
	}
	m := Merging{Leaving: from.ID, Into: to.ID}
	if from.Gone {
		now, err := r.Surviving(ctx, q, []id.ID{from.ID})
		if err != nil {
			return m, err
		}
		if m.Done = now[from.ID] == to.ID; !m.Done {
			return m, noAccount(pg.ErrNoRow)
		}
		return m, nil
	}
	return m, from.fits(to)
}

// fits returns an error if the account cannot be merged into the other.
func (s mergeSide) fits(into mergeSide) error {
	switch {
	case s.ID == into.ID:
		return errs.Field("into", "conflict", "must be another account")
	case s.Currency != into.Currency:
		return errs.New(errs.Conflict, "accounts with different currencies (%s and %s) can't be merged",
			s.Currency, into.Currency)
	case s.Syncs && into.Syncs:
		return errs.New(errs.Conflict, "both accounts still sync, so new transactions would be duplicated; "+
			"disconnect one bank first")
	case s.Syncs:
		return errs.New(errs.Conflict, "this account still syncs; merge the other account into it instead")
	}
	return nil
}

// Merge makes an account a tombstone that leads to another, and returns the entries. The caller
// must move its transactions; its balances stay with it. If it was already merged into that
// account, there are no entries.
func (r *Register) Merge(ctx context.Context, tx pg.Tx, leaving, into id.ID) ([]journal.Entry, error) {
	if err := r.LockForMoves(ctx, tx, leaving, into); err != nil {
		return nil, err
	}
	m, err := r.Mergeable(ctx, tx, leaving.String(), into.String())
	if err != nil || m.Done {
		return nil, err
	}
	was, err := pg.Value[*id.ID](ctx, tx, `select merged_into from account where id = $1`, leaving)
	if err != nil {
		return nil, err
	}
	source := journal.Source(op.ActorOf(ctx))
	entries, err := definition.Around(ctx, tx, []id.ID{leaving}, source, func() error {
		_, err := pg.Exec(ctx, tx, `update account set deleted_at = clock_timestamp(), merged_into = $2,
			updated_at = clock_timestamp() where id = $1`, leaving, into)
		return err
	})
	e := journal.Entry{
		Subject: journal.Account, SubjectID: leaving, Field: fieldMerged, After: new(into.String()),
		AfterSource: &source,
	}
	if was != nil {
		e.Before = new(was.String())
	}
	return append(entries, e), err
}

// LockForMoves locks these accounts for the rest of the database transaction: nobody else can add
// transactions to them or remove them.
func (r *Register) LockForMoves(ctx context.Context, tx pg.Tx, accounts ...id.ID) error {
	_, err := pg.Exec(ctx, tx, `select from account where id = any($1) order by id for no key update`, accounts)
	return err
}

// Surviving maps each merged account to the account that took it over. Accounts that were not
// merged are left out.
func (r *Register) Surviving(ctx context.Context, q pg.Querier, accounts []id.ID) (map[id.ID]id.ID, error) {
	type row struct {
		ID   id.ID `db:"id"`
		Into id.ID `db:"merged_into"`
	}
	rows, err := pg.All[row](ctx, q, `
		with recursive chain as (
			select a.id, a.merged_into, 1 as length from account a
			where a.id = any($1) and a.deleted_at is not null and a.merged_into is not null
			union all
			select c.id, a.merged_into, c.length + 1 from chain c join account a on a.id = c.merged_into
			where a.deleted_at is not null and a.merged_into is not null and c.length < 100)
		select distinct on (id) id, merged_into from chain order by id, length desc`, accounts)
	out := make(map[id.ID]id.ID, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Into
	}
	return out, err
}

// SurvivingOne is Surviving for one account. It returns the account itself if it was not merged.
func (r *Register) SurvivingOne(ctx context.Context, q pg.Querier, account id.ID) (id.ID, error) {
	now, err := r.Surviving(ctx, q, []id.ID{account})
	if into, merged := now[account]; merged {
		return into, err
	}
	return account, err
}

// lead sets or clears merged_into of the accounts, and returns the entries that it skipped. An
// account that is not deleted never gets a merged_into.
func (r *Register) lead(ctx context.Context, tx pg.Tx, entries []journal.Entry) (left []journal.Skipped, err error) {
	for _, e := range entries {
		if journal.Held(e.BeforeSource, op.ActorOf(ctx), false) {
			left = append(left, journal.Skip(e, "held"))
			continue
		}
		var into *id.ID
		if e.After != nil {
			u, err := id.Parse(*e.After)
			if err != nil {
				return nil, fmt.Errorf("read a recorded merge: %w", err)
			}
			into = &u
		}
		_, err := pg.Value[id.ID](ctx, tx, `update account set merged_into = $2, updated_at = clock_timestamp()
			where id = $1 and ($2::uuid is null or deleted_at is not null
				and exists (select from account o where o.id = $2)) returning id`,
			e.SubjectID, into)
		switch {
		case errors.Is(err, pg.ErrNoRow):
			left = append(left, journal.Skip(e, "missing"))
		case err != nil:
			return nil, err
		}
	}
	return left, nil
}
