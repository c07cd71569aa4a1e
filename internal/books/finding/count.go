package finding

import (
	"context"

	"coffer/internal/books/account"
	"coffer/internal/books/recurring"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// OpenFindings returns how many findings from the last 90 days are open, by kind. It must be cheap,
// because every overview calls it. So the number of findings among transactions is that of the last
// recount; everything else is current.
func OpenFindings(ctx context.Context, q pg.Querier, accounts *account.Register) (map[FindingKind]int64, error) {
	from, err := findingsFrom(ctx, q)
	if err != nil {
		return nil, err
	}
	type row struct {
		Kind  FindingKind `db:"kind"`
		Count int64       `db:"count"`
	}
	rows, err := pg.All[row](ctx, q, `
		select s.kind, count(*) as count from sighting s where s.day >= $1 and not exists (
			select from finding f where f.id = s.id and f.state <> 'open' and f.deleted_at is null)
		group by s.kind`, from)
	if err != nil {
		return nil, err
	}
	out := map[FindingKind]int64{}
	for _, r := range rows {
		out[r.Kind] = r.Count
	}
	d := &Desk{accounts: accounts}
	all, err := d.inSeries(ctx, q, from, ListFindings{Kind: []FindingKind{priceChange, missed}})
	if err != nil {
		return nil, err
	}
	gaps, err := d.gaps(ctx, q, from, nil)
	if err != nil {
		return nil, err
	}
	all, err = decided(ctx, q, append(all, gaps...), open)
	for _, f := range all {
		out[f.Kind]++
	}
	return out, err
}

// findingsFrom returns the default first day of lists of findings.
func findingsFrom(ctx context.Context, q pg.Querier) (pg.Date, error) {
	return pg.Value[pg.Date](ctx, q, `select (now() at time zone time_zone)::date - $1::int from setting`, findingDays)
}

// Recount stores the current findings among transactions, if a sweep recorded that the transactions
// changed.
func (d *Desk) Recount(ctx context.Context, tx pg.Tx) error {
	swept, err := recurring.TakeSwept(ctx, tx)
	if err != nil || !swept {
		return err
	}
	from, err := findingsFrom(ctx, tx)
	if err != nil {
		return err
	}
	all, err := d.inCharges(ctx, tx, from, nil, findingKinds)
	if err != nil {
		return err
	}
	ids, kinds, days := make([]id.ID, len(all)), make([]FindingKind, len(all)), make([]pg.Date, len(all))
	for i, f := range all {
		ids[i], kinds[i], days[i] = f.ID, f.Kind, f.Date
	}
	if _, err := pg.Exec(ctx, tx, `delete from sighting`); err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `
		insert into sighting (id, kind, day) select * from unnest($1::uuid[], $2::text[], $3::date[])
		on conflict do nothing`, ids, kinds, days)
	return err
}
