package account

import (
	"context"
	"slices"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
)

// A Verdict is the result of the proof of an account's books.
type Verdict struct {
	AccountProof
	after, until []dayNumber // days of the stated balances around each gap
}

// InGap reports whether a day lies in a gap, where the transactions do not explain the balances.
func (v Verdict) InGap(day pg.Date) bool {
	d := dayOf(day)
	for i := range v.after {
		if d > v.after[i] && d <= v.until[i] {
			return true
		}
	}
	return false
}

// GapSince reports whether a gap ends on or after a day.
func (v Verdict) GapSince(day pg.Date) bool {
	return slices.ContainsFunc(v.until, func(d dayNumber) bool { return d >= dayOf(day) })
}

// verdict summarizes the proof.
func (b *books) verdict() (Verdict, error) {
	v, err := b.prove()
	out := Verdict{AccountProof: b.line(v)}
	for _, s := range v.spans {
		if s.status == gap {
			out.after = append(out.after, b.stated[s.from].day)
			out.until = append(out.until, b.stated[s.to].day)
		}
	}
	return out, err
}

// A storedProof is the last stored proof.
type storedProof struct {
	books
	Status            *string      `db:"status"` // nil if the books changed since the last proof
	ProvedFrom        *pg.Date     `db:"proved_from"`
	ProvedUntil       *pg.Date     `db:"proved_until"`
	LargestDifference *money.Total `db:"largest_difference"`
	After             []pg.Date    `db:"gap_after"`
	Until             []pg.Date    `db:"gap_until"`
}

// Verdicts returns the verdicts on these accounts, or on all accounts if of is nil, ordered by
// account name. It reads stored proofs, and runs the proof only for accounts whose books changed
// since.
func (r *Register) Verdicts(ctx context.Context, q pg.Querier, of []id.ID) ([]Verdict, error) {
	rows, err := pg.All[storedProof](ctx, q, `
		select a.id, a.type, a.currency, a.balance_method, a.closed_on, `+today+` as today,
			p.status, p.proved_from, p.proved_until, p.largest_difference, p.gap_after, p.gap_until
		from account a cross join setting s
		left join proof p on p.account_id = a.id and a.id not in (select d.account_id from proof_due d)
		where a.deleted_at is null and ($1::uuid[] is null or a.id = any($1))
		order by lower(coalesce(nullif(a.display_name, ''), a.name)), a.id`, of)
	if err != nil {
		return nil, err
	}
	var unproved []*books
	for i := range rows {
		if rows[i].Status == nil {
			unproved = append(unproved, &rows[i].books)
		}
	}
	if len(unproved) > 0 {
		if err := fillBooks(ctx, q, unproved); err != nil {
			return nil, err
		}
	}
	out := make([]Verdict, len(rows))
	for i, row := range rows {
		if row.Status == nil {
			if out[i], err = row.verdict(); err != nil {
				return nil, err
			}
			continue
		}
		out[i].AccountProof = AccountProof{
			AccountID: row.ID, Currency: row.Currency, Status: *row.Status, ProvedFrom: row.ProvedFrom,
			ProvedUntil: row.ProvedUntil, Gaps: len(row.After), LargestDifference: row.LargestDifference,
		}
		for n := range row.After {
			out[i].after = append(out[i].after, dayOf(row.After[n]))
			out[i].until = append(out[i].until, dayOf(row.Until[n]))
		}
	}
	return out, nil
}

// judge sets the status of the books on accounts. An account that was deleted since it was read
// gets the status none.
func (r *Register) judge(ctx context.Context, q pg.Querier, accounts []Account) error {
	ids, at := make([]id.ID, len(accounts)), map[id.ID]*Account{}
	for i := range accounts {
		ids[i], at[accounts[i].ID] = accounts[i].ID, &accounts[i]
		accounts[i].BooksStatus = none
	}
	verdicts, err := r.Verdicts(ctx, q, ids)
	for _, v := range verdicts {
		at[v.AccountID].BooksStatus = v.Status
	}
	return err
}

// Changed books are proved again once they have not changed for a while, but at the latest after a
// minute. A long sync changes them with every page.
const (
	rest    = 2 * time.Second
	restMax = time.Minute
)

// proofLock is the advisory lock that keeps servers from storing proofs at the same time.
const proofLock int64 = 0x70726f6f66

// Tasks returns the timed work: proving books that changed.
func (r *Register) Tasks() []schedule.Task {
	return []schedule.Task{{Name: "proof", Fault: "books not proved", Do: r.StoreProofs, Next: func(ctx context.Context,
		q pg.Querier,
	) (time.Duration, error) {
		ms, err := pg.Value[*int64](ctx, q, `
			select ceil(extract(epoch from least(max(at) + make_interval(secs => $1), min(at) + make_interval(secs => $2))
				- clock_timestamp()) * 1000)::bigint from proof_due`, rest.Seconds(), restMax.Seconds())
		return schedule.In(ms), err
	}}}
}

// StoreProofs proves all books that changed since they were last proved. It first deletes the rows
// of proof_due that it sees. A concurrent change to the books adds a new row that stays, so the
// proof runs again.
func (r *Register) StoreProofs(ctx context.Context) error {
	return r.db.InTx(ctx, func(tx pg.Tx) error {
		if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, proofLock); err != nil {
			return err
		}
		changed, err := pg.Values[id.ID](ctx, tx, `
			with seen as (delete from proof_due returning account_id) select distinct account_id from seen`)
		if err != nil || len(changed) == 0 {
			return err
		}
		accounts, err := pg.All[books](ctx, tx, bookRows+`and a.id = any($1) order by a.id for key share of a`, changed)
		if err != nil {
			return err
		}
		all := make([]*books, len(accounts))
		for i := range accounts {
			all[i] = &accounts[i]
		}
		if err := fillBooks(ctx, tx, all); err != nil {
			return err
		}
		for _, b := range all {
			v, err := b.verdict()
			if err != nil {
				return err
			}
			if err := v.store(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (v Verdict) store(ctx context.Context, tx pg.Tx) error {
	dates := func(days []dayNumber) []pg.Date {
		out := make([]pg.Date, len(days))
		for i, d := range days {
			out[i] = d.date()
		}
		return out
	}
	var largest *string // the only place that writes a total to the database
	if v.LargestDifference != nil {
		largest = new(v.LargestDifference.String())
	}
	_, err := pg.Exec(ctx, tx, `
		insert into proof (account_id, status, proved_from, proved_until, largest_difference, gap_after, gap_until)
		values ($1, $2, $3, $4, $5::text::numeric, $6, $7)
		on conflict (account_id) do update set status = excluded.status, proved_from = excluded.proved_from,
			proved_until = excluded.proved_until, largest_difference = excluded.largest_difference,
			gap_after = excluded.gap_after, gap_until = excluded.gap_until, made_at = excluded.made_at`,
		v.AccountID, v.Status, v.ProvedFrom, v.ProvedUntil, largest, dates(v.after), dates(v.until))
	return err
}
