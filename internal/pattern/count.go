package pattern

import (
	"context"

	"coffer/internal/account"
	"coffer/internal/id"
	"coffer/internal/pg"
)

// OpenFindings returns how many findings of the last 90 days are open, by kind. It must be cheap,
// because every overview asks for it: findings among transactions are counted as of the last
// recount, everything else as it is now.
func OpenFindings(ctx context.Context, q pg.Querier, accounts *account.Register) (map[string]int64, error) {
	from, err := findingsFrom(ctx, q)
	if err != nil {
		return nil, err
	}
	type row struct {
		Kind  string `db:"kind"`
		Count int64  `db:"count"`
	}
	rows, err := pg.All[row](ctx, q, `
		select s.kind, count(*) as count from sighting s where s.day >= $1 and not exists (
			select from finding f where f.id = s.id and f.state <> 'open' and f.deleted_at is null)
		group by s.kind`, from)
	if err != nil {
		return nil, err
	}
	out := map[string]int64{}
	for _, r := range rows {
		out[r.Kind] = r.Count
	}
	p := &Patterns{accounts: accounts}
	all, err := p.inSeries(ctx, q, from, ListFindings{Kind: []string{priceChange, missed}})
	if err != nil {
		return nil, err
	}
	gaps, err := p.gaps(ctx, q, from, nil)
	if err != nil {
		return nil, err
	}
	all, err = decided(ctx, q, append(all, gaps...), open)
	for _, f := range all {
		out[f.Kind]++
	}
	return out, err
}

// findingsFrom is the day from which on findings are listed if nobody asks for another one.
func findingsFrom(ctx context.Context, q pg.Querier) (pg.Date, error) {
	return pg.Value[pg.Date](ctx, q, `select (now() at time zone time_zone)::date - $1::int from setting`, findingDays)
}

// Recount stores what is found among the transactions now, if a sweep noted that they changed.
func (p *Patterns) Recount(ctx context.Context, tx pg.Tx) error {
	if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, sweepLock); err != nil {
		return err
	}
	n, err := pg.Exec(ctx, tx, `delete from sighting_due`)
	if err != nil || n == 0 {
		return err
	}
	from, err := findingsFrom(ctx, tx)
	if err != nil {
		return err
	}
	all, err := p.inCharges(ctx, tx, from, nil, findingKinds)
	if err != nil {
		return err
	}
	ids, kinds, days := make([]id.ID, len(all)), make([]string, len(all)), make([]pg.Date, len(all))
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
