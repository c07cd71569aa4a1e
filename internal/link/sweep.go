package link

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/ledger"
	"coffer/internal/pg"
)

// The jobs of links: one looks for pairs, one settles what links say of very many transactions.
const (
	ReconcileKind = "link.reconcile"
	SettleKind    = "link.settle"
)

// Kinds are the jobs of links.
func (l *Links) Kinds() []job.Kind {
	return []job.Kind{{Name: ReconcileKind, Unit: "transactions", Work: l.work, Retries: 5}, {Name: SettleKind, Unit: "transactions", Work: l.settleAll, Retries: 5}}
}

type order struct {
	Link id.ID `json:"account_link_id"`
}

// Reconcile takes on the job that looks through both accounts of a link for pairs.
func (l *Links) Reconcile(ctx context.Context, tx pg.Tx, in Ref) (job.Job, error) {
	k, err := l.Get(ctx, tx, in)
	if err != nil {
		return job.Job{}, err
	}
	if k.Confidence == Rejected {
		return job.Job{}, errs.New(errs.Conflict, "this link is rejected and has no pairs; confirm it first")
	}
	return l.jobs.Enqueue(ctx, tx, ReconcileKind, order{k.ID}, job.Options{Unique: k.ID.String()})
}

// enqueue takes on the same job after a change to a link. It is never another's: one that runs already may have looked before the change. Whoever sweeps first does what there is to do.
func (l *Links) enqueue(ctx context.Context, tx pg.Tx, link id.ID) error {
	if err := l.touch(ctx, tx, link); err != nil {
		return err
	}
	_, err := l.jobs.Enqueue(ctx, tx, ReconcileKind, order{link}, job.Options{})
	return err
}

// Reconciled is the result of the job.
type Reconciled struct {
	Scanned  int64 `json:"scanned" doc:"How many transactions were looked at"`
	Added    int   `json:"added" doc:"Pairs that are new, of any link"`
	Removed  int   `json:"removed" doc:"Pairs that are none any more"`
	Proposed int   `json:"proposed" doc:"Links that are new"`
	Matches  int   `json:"matches" doc:"Pairs that the link has now"`
}

func (l *Links) work(ctx context.Context, run *job.Run) (any, error) {
	var o order
	if err := run.Args(&o); err != nil {
		return nil, err
	}
	var out Reconciled
	err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		out = Reconciled{}
		err := l.touch(ctx, tx, o.Link)
		if err != nil {
			return job.Step{}, err
		}
		if out, err = l.Sweep(ctx, tx); err != nil {
			return job.Step{}, err
		}
		out.Matches, err = pg.Value[int](ctx, tx, `select count(*) from link_match m join account_link l on l.id = m.account_link_id where l.id = $1 and not m.broken and m.verdict is distinct from 'rejected' and l.confidence <> 'rejected'`, o.Link)
		return job.Step{Done: out.Scanned, Total: out.Scanned}, err
	})
	return out, err
}

// settleAll settles every transaction of a link's two accounts, a batch at a time: also those whose match is gone.
func (l *Links) settleAll(ctx context.Context, run *job.Run) (any, error) {
	var o order
	if err := run.Args(&o); err != nil {
		return nil, err
	}
	type place struct {
		After id.ID `json:"after"`
	}
	var at place
	begun, err := run.Position(&at)
	if err != nil {
		return nil, err
	}
	for more := true; more; {
		err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
			var step job.Step
			accounts, err := l.accounts(ctx, tx, o.Link)
			if err != nil {
				return step, err
			}
			if !begun {
				if step.Total, err = pg.Value[int64](ctx, tx, `select count(*) from transaction where account_id = any($1)`, accounts); err != nil {
					return step, err
				}
			}
			ids, err := pg.Values[id.ID](ctx, tx, `select id from transaction where account_id = any($1) and id > $2 order by id limit $3`, accounts, at.After, settleSize)
			if more = len(ids) > 0; err != nil || !more {
				return step, err
			}
			step.Position, step.Done = place{ids[len(ids)-1]}, int64(len(ids))
			return step, l.settle(ctx, tx, ids)
		})
		if err != nil {
			return nil, err
		}
		if begun, err = run.Position(&at); err != nil {
			return nil, err
		}
	}
	return nil, nil //nolint:nilnil // there is nothing to say but that it is done
}

// accounts are a link's two.
func (l *Links) accounts(ctx context.Context, tx pg.Tx, link id.ID) ([]id.ID, error) {
	return pg.Values[id.ID](ctx, tx, `select unnest(array[primary_id, mirror_id]) from account_link where id = $1`, link)
}

// touch has the next sweep look at all of a link's accounts.
func (l *Links) touch(ctx context.Context, tx pg.Tx, link id.ID) error {
	ids, err := l.accounts(ctx, tx, link)
	if err != nil {
		return err
	}
	return l.books.TouchAll(ctx, tx, ids)
}

// AfterSync looks for pairs of what a sync or an import brought, as its last step.
func (l *Links) AfterSync(ctx context.Context, run *job.Run) error {
	return run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (job.Step, error) {
		_, err := l.Sweep(ctx, tx)
		return job.Step{}, err
	})
}

// Around what was touched a sweep looks further: back as far as habits show (money that moves once a quarter), and on both ends so far that nothing within the margin is decided anew by half of what it depends on.
const (
	reachBack = 400
	reachOn   = 60
	margin    = 30
)

// sweepLock is held by the one sweep that runs, on whatever server.
const sweepLock = 0x6c696e6b

// Sweep looks at what was touched since the last one: it proposes links, finds new pairs and takes back those that are none any more. Nothing touched, nothing read.
func (l *Links) Sweep(ctx context.Context, tx pg.Tx) (Reconciled, error) {
	var out Reconciled
	if _, err := pg.Exec(ctx, tx, `select pg_advisory_xact_lock($1)`, sweepLock); err != nil {
		return out, err
	}
	touched, err := l.books.TakeTouched(ctx, tx)
	if err != nil || len(touched) == 0 {
		return out, err
	}
	// A million rows are read in one statement, for as long as the matcher looks at them: on a busy machine that is longer than a request's statement may take.
	if _, err := pg.Exec(ctx, tx, `select set_config('statement_timeout', '15min', true)`); err != nil {
		return out, err
	}
	for _, w := range windows(touched) {
		if err := l.sweep(ctx, tx, w, &out); err != nil {
			return out, err
		}
	}
	return out, nil
}

// A window is the days that a sweep reads, from and to included.
type window struct{ from, to int }

// inside says whether the day is so far from both ends that all its pairs can be seen.
func (w window) inside(day int) bool { return w.from+margin <= day && day <= w.to-margin }

// windows are the days around what was touched; those that meet are one.
func windows(touched []ledger.Touched) []window {
	all := make([]window, len(touched))
	for i, t := range touched {
		all[i] = window{dayOf(t.First) - reachBack, dayOf(t.Last) + reachOn}
	}
	slices.SortFunc(all, func(a, b window) int { return a.from - b.from })
	out := all[:1]
	for _, w := range all[1:] {
		if last := &out[len(out)-1]; w.from <= last.to {
			last.to = max(last.to, w.to)
		} else {
			out = append(out, w)
		}
	}
	return out
}

func dayOf(d pg.Date) int { return int(d.Time().Unix() / 86400) }

// A scene is a household as a sweep finds it.
type scene struct {
	links   *Links
	window  window
	numbers map[id.ID]int // of accounts, the older ones lower
	ids     []id.ID
	matcher *matcher
	known   map[[3]id.ID]id.ID // matches that the matcher may take back, by link and rows
}

func (l *Links) sweep(ctx context.Context, tx pg.Tx, w window, out *Reconciled) error {
	s := &scene{links: l, window: w, numbers: map[id.ID]int{}, known: map[[3]id.ID]id.ID{}, matcher: newMatcher()}
	if err := s.look(ctx, tx); err != nil {
		return err
	}
	if err := s.pass(ctx, tx); err != nil {
		return err
	}
	// What a link hides from the matcher, or lets it see, is another household: so mirrors first, then transfers, then the pairs of all.
	for _, propose := range []func() []proposal{func() []proposal { return s.matcher.mirrorLinks() }, func() []proposal { return s.matcher.transferLinks() }} {
		n, err := s.propose(ctx, tx, propose())
		if err != nil {
			return err
		}
		if n > 0 {
			out.Proposed += n
			s.matcher = s.matcher.again()
			if err := s.pass(ctx, tx); err != nil {
				return err
			}
		}
	}
	out.Scanned += s.matcher.scanned
	added, removed, err := s.store(ctx, tx)
	out.Added, out.Removed = out.Added+added, out.Removed+removed
	return err
}

// look reads the accounts, the links, and the matches of the window.
func (s *scene) look(ctx context.Context, tx pg.Tx) error {
	var err error
	if s.ids, err = pg.Values[id.ID](ctx, tx, `select id from account order by id`); err != nil {
		return err
	}
	for i, u := range s.ids {
		s.numbers[u] = i
	}
	type known struct {
		ID      id.ID  `db:"id"`
		Primary id.ID  `db:"primary_id"`
		Mirror  id.ID  `db:"mirror_id"`
		Kind    string `db:"kind"`
		Live    bool   `db:"live"`
		Counts  bool   `db:"counts"`
	}
	links, err := pg.All[known](ctx, tx, `select id, primary_id, mirror_id, kind, deleted_at is null and confidence <> 'rejected' as live, confidence = 'confirmed' as counts from account_link order by id for share`)
	if err != nil {
		return err
	}
	edges := map[id.ID]*edge{}
	for _, k := range links {
		e := &edge{link: k.ID, kind: k.Kind, live: k.Live, counts: k.Counts, primary: s.numbers[k.Primary], mirror: s.numbers[k.Mirror], accepted: map[id.ID]id.ID{}}
		edges[k.ID], s.matcher.edges[between(e.primary, e.mirror)] = e, e
	}
	return s.recall(ctx, tx, edges)
}

// recall reads the matches. Those that somebody decided about, and those near the ends of the window, are not the matcher's to change.
func (s *scene) recall(ctx context.Context, tx pg.Tx, edges map[id.ID]*edge) error {
	if err := s.mend(ctx, tx); err != nil {
		return err
	}
	type known struct {
		ID         id.ID   `db:"id"`
		Link       id.ID   `db:"account_link_id"`
		Primary    id.ID   `db:"primary_id"`
		Mirror     id.ID   `db:"mirror_id"`
		Verdict    *string `db:"verdict"`
		PrimaryDay int     `db:"primary_day"`
		MirrorDay  int     `db:"mirror_day"`
	}
	matches, err := pg.All[known](ctx, tx, `
		select m.id, m.account_link_id, m.primary_id, m.mirror_id, m.verdict, p.date - date '1970-01-01' as primary_day, r.date - date '1970-01-01' as mirror_day
		from link_match m join transaction p on p.id = m.primary_id join transaction r on r.id = m.mirror_id
		where (not m.broken or m.verdict = 'rejected') and greatest(p.date, r.date) >= date '1970-01-01' + $1::int and least(p.date, r.date) <= date '1970-01-01' + $2::int`, s.window.from, s.window.to)
	for _, m := range matches {
		e := edges[m.Link]
		switch {
		case m.Verdict != nil && *m.Verdict == Rejected:
			s.matcher.barred[[2]id.ID{m.Primary, m.Mirror}] = true
		case !e.live:
		case m.Verdict != nil || !s.window.inside(m.PrimaryDay) || !s.window.inside(m.MirrorDay):
			e.accepted[m.Primary], e.accepted[m.Mirror] = m.Mirror, m.Primary
		default:
			s.known[[3]id.ID{m.Link, m.Primary, m.Mirror}] = m.ID
		}
	}
	return err
}

// mend breaks the matches of the window of which a transaction has changed.
func (s *scene) mend(ctx context.Context, tx pg.Tx) error {
	broken, err := pg.All[brokenMatch](ctx, tx, `
		update link_match m set broken = true from account_link l, transaction p, transaction r
		where l.id = m.account_link_id and p.id = m.primary_id and r.id = m.mirror_id and not m.broken and not (`+fits+`)
			and greatest(p.date, r.date) >= date '1970-01-01' + $1::int and least(p.date, r.date) <= date '1970-01-01' + $2::int
		returning m.account_link_id, m.primary_id, m.mirror_id`, s.window.from, s.window.to)
	if err != nil {
		return err
	}
	var ids []id.ID
	links := map[id.ID]bool{}
	for _, m := range broken {
		ids, links[m.Link] = append(ids, m.Primary, m.Mirror), true
	}
	return s.links.settleSoon(ctx, tx, ids, slices.Collect(maps.Keys(links))...)
}

type brokenMatch struct {
	Link id.ID `db:"account_link_id"`
	side
}

// pass shows the matcher the window's rows, amount by amount: only one amount's rows are in memory.
func (s *scene) pass(ctx context.Context, tx pg.Tx) error {
	rows, err := tx.Query(ctx, `
		select t.id, t.account_id, t.date - date '1970-01-01', (t.amount * 100)::bigint, t.currency, t.descriptor_id from transaction t
		where t.deleted_at is null and t.amount <> 0 and t.date between date '1970-01-01' + $1::int and date '1970-01-01' + $2::int
		order by t.currency, abs(t.amount), t.date, t.id`, s.window.from, s.window.to)
	if err != nil {
		return err
	}
	defer rows.Close()
	var group []row
	var of, currency string
	for rows.Next() {
		var r row
		var account id.ID
		if err := rows.Scan(&r.id, &account, &r.day, &r.cents, &currency, &r.wording); err != nil {
			return fmt.Errorf("read a row: %w", err)
		}
		number, known := s.numbers[account]
		if !known { // an account that is younger than the sweep: its days are noted for the next one
			continue
		}
		r.account = number
		if len(group) > 0 && (currency != of || abs(int(group[0].cents)) != abs(int(r.cents))) {
			s.matcher.group(group)
			group = group[:0]
		}
		of, group = currency, append(group, r)
	}
	s.matcher.group(group)
	return rows.Err()
}

// propose stores links that the matcher found, and lets it see them.
func (s *scene) propose(ctx context.Context, tx pg.Tx, list []proposal) (int, error) {
	for _, p := range list {
		e := &edge{kind: p.kind, live: true, primary: p.primary, mirror: p.mirror, accepted: map[id.ID]id.ID{}}
		s.matcher.edges[between(p.primary, p.mirror)] = e
	}
	if len(list) == 0 {
		return 0, nil
	}
	return len(list), pg.Redraw(ctx, tx, "account_link_short_id", func(tx pg.Tx) error {
		n := len(list)
		ids, shorts, primaries, mirrors, kinds := make([]id.ID, n), make([]string, n), make([]id.ID, n), make([]id.ID, n), make([]string, n)
		for i, p := range list {
			ids[i] = id.New()
			shorts[i], primaries[i], mirrors[i], kinds[i] = ids[i].Short(), s.ids[p.primary], s.ids[p.mirror], p.kind
			s.matcher.edges[between(p.primary, p.mirror)].link = ids[i]
		}
		_, err := pg.Exec(ctx, tx, `
			insert into account_link (id, short_id, primary_id, mirror_id, kind, confidence)
			select v.id, v.short_id, v.primary_id, v.mirror_id, v.kind, 'auto' from unnest(@ids::uuid[], @shorts::text[], @primaries::uuid[], @mirrors::uuid[], @kinds::text[]) v (id, short_id, primary_id, mirror_id, kind)`,
			pg.Args{"ids": ids, "shorts": shorts, "primaries": primaries, "mirrors": mirrors, "kinds": kinds})
		return err
	})
}

// store writes what differs: new pairs, and those that are none any more. Transactions that will count otherwise are locked first and the pairs held against them once more, because somebody may have changed them meanwhile.
func (s *scene) store(ctx context.Context, tx pg.Tx) (added, removed int, err error) {
	var fresh []pair
	var ids []id.ID
	links := map[id.ID]bool{} // whose transactions these are
	for _, p := range s.matcher.pairs {
		key := [3]id.ID{p.edge.link, p.primary, p.mirror}
		if _, ok := s.known[key]; ok {
			delete(s.known, key)
		} else if s.window.inside(p.days[0]) && s.window.inside(p.days[1]) {
			fresh = append(fresh, p)
			if p.edge.counts {
				ids, links[p.edge.link] = append(ids, p.primary, p.mirror), true
			}
		}
	}
	var gone []id.ID
	for key, m := range s.known {
		gone, ids, links[key[0]] = append(gone, m), append(ids, key[1], key[2]), true
	}
	if len(ids) > 0 && len(ids) <= s.links.most { // of more, the job that settles them looks again
		if err := s.links.books.Lock(ctx, tx, ids); err != nil {
			return 0, 0, err
		}
	}
	for part := range slices.Chunk(gone, settleSize) {
		n, err := pg.Exec(ctx, tx, `delete from link_match where id = any($1) and verdict is null`, part)
		if err != nil {
			return 0, 0, err
		}
		removed += int(n)
	}
	for part := range slices.Chunk(fresh, settleSize) {
		n, err := s.insert(ctx, tx, part)
		if err != nil {
			return 0, 0, err
		}
		added += int(n)
	}
	return added, removed, s.links.settleSoon(ctx, tx, ids, slices.Collect(maps.Keys(links))...)
}

func (s *scene) insert(ctx context.Context, tx pg.Tx, fresh []pair) (n int64, err error) {
	err = pg.Redraw(ctx, tx, "link_match_short_id", func(tx pg.Tx) (err error) {
		count := len(fresh)
		ids, shorts, links, primaries, mirrors := make([]id.ID, count), make([]string, count), make([]id.ID, count), make([]id.ID, count), make([]id.ID, count)
		for i, p := range fresh {
			ids[i] = id.New()
			shorts[i], links[i], primaries[i], mirrors[i] = ids[i].Short(), p.edge.link, p.primary, p.mirror
		}
		n, err = pg.Exec(ctx, tx, `
			insert into link_match (id, short_id, account_link_id, primary_id, mirror_id, day_difference)
			select v.id, v.short_id, l.id, p.id, r.id, abs(p.date - r.date)
			from unnest(@ids::uuid[], @shorts::text[], @links::uuid[], @primaries::uuid[], @mirrors::uuid[]) v (id, short_id, link_id, primary_id, mirror_id)
			join account_link l on l.id = v.link_id join transaction p on p.id = v.primary_id join transaction r on r.id = v.mirror_id
			where `+fits+`
			on conflict (account_link_id, primary_id, mirror_id) do update set broken = false, day_difference = excluded.day_difference`,
			pg.Args{"ids": ids, "shorts": shorts, "links": links, "primaries": primaries, "mirrors": mirrors})
		return err
	})
	return n, err
}
