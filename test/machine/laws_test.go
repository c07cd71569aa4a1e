package machine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/app/apptest"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger/ledgertest"
	"coffer/internal/platform/pg"
	"pgregory.net/rapid"
)

// broken finds what breaks a law that holds of the books whatever was done.
const broken = `
	select 'the parts of a transaction are not its whole' as law, u.id::text as what from (` + ledgertest.Unsound + `) u
	union all
	select 'a row by hand is matched with one that is there, and counts', m.id::text from manual_match x
		join transaction m on m.id = x.manual_id join transaction b on b.id = x.bank_id
		where x.state = 'matched' and m.deleted_at is null and b.deleted_at is null
			and (not m.excluded or m.linked_id is distinct from b.id)
	union all
	select 'two rows by hand are matched with one of the bank', x.bank_id::text from manual_match x
		join transaction m on m.id = x.manual_id where x.state = 'matched' and m.deleted_at is null
		group by x.bank_id having count(*) > 1
	union all
	select 'a row is in an account that went', t.id::text from transaction t join account a on a.id = t.account_id
		where t.deleted_at is null and a.deleted_at is not null
	union all
	select 'an account is there and leads to another', a.id::text from account a
		where a.deleted_at is null and a.merged_into is not null
	union all
	select 'an account is back and its row is in another', t.id::text from transaction t
		join account a on a.id = t.moved_from where a.deleted_at is null and t.account_id <> a.id and t.deleted_at is null
			and (select starts_with(e.before, a.id::text) from entry e where e.subject = 'transaction'
				and e.subject_id = t.id and e.field = 'account' order by e.id limit 1) -- one that came while they were merged began elsewhere
	union all
	select 'a row does not count, and nothing counts in its place', x.id::text from (
		with recursive why as (
			select m.manual_id as id, m.bank_id as other from manual_match m where m.state = 'matched'
			union all
			select m.mirror_id, m.primary_id from link_match m join account_link l on l.id = m.account_link_id
				where l.kind = 'mirror' and not m.broken),
		place as (
			select t.id, w.other from transaction t join why w on w.id = t.id
				where t.excluded and t.deleted_at is null and t.origin <> 'part'
			union
			select p.id, w.other from place p join why w on w.id = p.other)
		select t.id from transaction t where t.excluded and t.deleted_at is null and t.origin <> 'part'
			and not exists (select from place p join transaction o on o.id = p.other
				join account a on a.id = o.account_id
				where p.id = t.id and not o.excluded and o.deleted_at is null and a.deleted_at is null)) x`

// counted are the rows that totals count: those of parts through their whole.
const counted = `from transaction t join account a on a.id = t.account_id
	where t.deleted_at is null and not t.excluded and a.deleted_at is null`

// laws checks the books after each step.
func (r *run) laws(t *rapid.T) {
	type fault struct {
		Law  string  `db:"law"`
		What *string `db:"what"`
	}
	for _, f := range query[fault](t, r, broken) {
		what := ""
		if f.What != nil {
			what = r.about(t, *f.What)
		}
		r.breaks(t, f.Law, "%s", what)
	}
	r.total(t)
	r.bounds(t)
}

// about describes what a law was broken by.
func (r *run) about(t *rapid.T, id string) string {
	type words struct {
		Line string `db:"line"`
	}
	var out []string
	for _, w := range query[words](t, r, `
		select concat_ws(' ', d.name, t.amount, 'of', t.origin, 'in', a.name, case when t.excluded then 'excluded' end,
			case when t.deleted_at is not null then 'deleted' end) as line
		from transaction t join account a on a.id = t.account_id join descriptor d on d.id = t.descriptor_id
		where t.id::text = $1
		union all select 'account ' || name from account where id::text = $1`, id) {
		out = append(out, w.Line)
	}
	return strings.Join(out, "; ")
}

// total compares the service's totals with the sum of the rows.
func (r *run) total(t *rapid.T) {
	type sum struct {
		Leaves int64 `db:"leaves"`
		Count  int64 `db:"count"`
		Wholes int64 `db:"wholes"`
	}
	is := query[sum](t, r, `select coalesce(-sum(t.amount * 100) filter (where `+journal.Leaf+`), 0)::bigint as leaves,
		count(*) filter (where `+journal.Leaf+`) as count,
		coalesce(-sum(t.amount * 100) filter (where `+journal.BankRow+`), 0)::bigint as wholes `+counted)[0]
	said := r.call(ada, "GET", "/transactions/summary?include=transfers", nil)
	net, count := "0.00", int64(0)
	for _, s := range said.Totals {
		net, count = s.Net.String(), s.Count
	}
	if !said.ok() || net != cents(is.Leaves) || count != is.Count || is.Leaves != is.Wholes {
		r.breaks(t, "the summary is the sum of what counts",
			"it says %s of %d, the leaves are %s of %d, their wholes %s: %s",
			net, count, cents(is.Leaves), is.Count, cents(is.Wholes), said.outcome())
	}
}

// bounds compares the counted payments with those that the sources reported: no payment counts more
// often than different accounts reported it, and a reported payment counts.
func (r *run) bounds(t *rapid.T) {
	type times struct {
		Cents int64 `db:"cents"`
		Count int   `db:"count"`
	}
	seen := map[*payment]int{}
	for _, n := range query[times](t, r, `select (t.amount * 100)::bigint as cents, count(*)::int as count `+counted+`
		and t.origin = 'bank' group by 1`) {
		p := r.payment(n.Cents)
		if p == nil {
			r.breaks(t, "every amount is a source's", "%s is none", cents(n.Cents))
		}
		seen[p] += n.Count
	}
	// One by hand in an account that another mirrors counts in the place of the other account's.
	stands := map[*payment]bool{}
	for _, n := range query[times](t, r, `select (t.amount * 100)::bigint as cents, count(*)::int as count `+counted+`
		and t.origin = 'manual' and exists (select from link_match m join account_link l on l.id = m.account_link_id
			where m.primary_id = t.id and l.kind = 'mirror' and not m.broken) group by 1`) {
		stands[r.payment(n.Cents)] = true
	}
	for _, s := range r.sources {
		for _, p := range s.rows {
			if seen[p] > len(r.told[p]) {
				r.breaks(t, "a payment counts as often as it was told",
					"%s counts %d times, told by %d", p.name, seen[p], len(r.told[p]))
			}
			if r.sure[p] && seen[p] == 0 && !stands[p] {
				r.breaks(t, "a payment that was told counts", "%s does not", p.name)
			}
		}
	}
	if len(r.atBank) == 0 {
		return
	}
	type amount struct {
		ID    string `db:"provider_id"`
		Cents int64  `db:"cents"`
	}
	for _, a := range query[amount](t, r, `select t.provider_id, (t.amount * 100)::bigint as cents `+counted+`
		and t.origin = 'bank' and t.provider_id like $1 || '-%'`, fmt.Sprint(r.made)) {
		if b := r.atBank[a.ID]; b.told != 0 && a.Cents != b.told {
			r.breaks(t, "amounts are the bank's", "%s is %s and not %s", b.what.name, cents(a.Cents), cents(b.told))
		}
	}
}

// whole checks that the undo of a change that took an account is whole, or nothing: the account,
// where it leads and its rows go back together. The same is true of undoing that undo.
func (r *run) whole(t *rapid.T, of, by string) {
	type count struct {
		Took bool `db:"took"`
		All  int  `db:"all"`
		Back int  `db:"back"`
	}
	n := query[count](t, r, `
		select exists (select from change c join entry e on e.change_id = coalesce(c.root, c.id)
				where c.id = $1::text::uuid and e.subject = 'account' and e.field = 'record' and e.after is null) as took,
			count(*)::int as all, count(*) filter (where exists (select from entry b where b.change_id = $2::text::uuid
				and b.subject_id = e.subject_id and b.field = e.field))::int as back
		from entry e where e.change_id = $1::text::uuid and (e.subject = 'account' and e.field in ('merged_into', 'record')
			or e.subject = 'transaction' and e.field in ('account', 'deleted'))`, of, by)[0]
	if n.Took && n.Back != 0 && n.Back != n.All {
		r.breaks(t, "an account goes back with all its rows, or not at all", "%d of %d went back", n.Back, n.All)
	}
}

// A beginning is how the books were before the first step.
type beginning struct {
	change int64    // the last change
	rows   []string // the transactions
	books  string   // what they mean
}

// meaning returns the meaning of the books, as far as the sequence began with it. Records that
// steps added and undo removed again are deleted, and not part of it; data from a bank is not
// undone, and the hidden account under which files stand in an account of a bank stays. An account
// that steps added and merged is deleted either way; if undo left the merge, it still names the other.
func (r *run) meaning(rows []string) (string, error) {
	ctx := context.Background()
	canonical, err := ledgertest.Canonical(ctx, r.DB, rows, "")
	if err != nil {
		return "", err
	}
	rest, err := pg.Values[string](ctx, r.DB, `
		select concat_ws('|', 'added', d.name, t.amount, t.origin) as x from transaction t
			join descriptor d on d.id = t.descriptor_id
			where t.deleted_at is null and not t.id = any($1::text[]::uuid[]) and t.origin <> 'part'
				and t.provider_id !~ '^[0-9]+-[PQ]-'
				and not exists (select from entry e where e.subject_id = t.id and e.field = 'deleted'
					and e.change_id::text = any($2))
		union all select concat_ws('|', 'counts', a.provider_id, t.provider_id, t.amount, not t.excluded, t.transfer) as x
			from transaction t join account a on a.id = t.account_id
			where t.deleted_at is null and t.id = any($1::text[]::uuid[])
		union all select concat_ws('|', 'rule', name, conditions, actions) from rule
			where deleted_at is null and not is_system
		order by x`, rows, r.stuck)
	if err != nil {
		return "", err
	}
	gone, err := pg.Values[string](ctx, r.DB, `
		select distinct 'merged|' || a.provider_id || '|' from account a join entry m on m.subject_id = a.id
			join entry n on n.subject_id = a.id join change c on c.id = n.change_id
		where m.subject = 'account' and m.field = 'merged_into' and m.change_id::text = any($1)
			and n.field = 'record' and n.before is null and c.seq > $2`, r.left, r.begin.change)
	if err != nil {
		return "", err
	}
	lines := slices.DeleteFunc(strings.Split(canonical, "\n"), func(line string) bool {
		return strings.HasPrefix(line, "merged|files of ") ||
			slices.ContainsFunc(gone, func(of string) bool { return strings.HasPrefix(line, of) })
	})
	return strings.Join(append(lines[:len(lines)-1], rest...), "\n"), nil
}

// leftMatched reports whether an undo left nothing but matches that one of those changes made.
func (r *run) leftMatched(t *rapid.T, a answer, changes []string) bool {
	for _, s := range a.Skipped {
		if s["field"] != journal.FieldMatch || s["reason"] != "changed_since" {
			return false
		}
		made, err := pg.Value[bool](context.Background(), r.DB, `select exists (select from entry
			where subject_id = $1::text::uuid and field = 'match' and change_id::text = any($2))`, s["subject_id"], changes)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !made {
			return false
		}
	}
	return len(a.Skipped) > 0
}

// leftUnder reports whether an undo left nothing but fields that one of those changes wrote, which
// an undo before it left as a whole: they still stand above.
func (r *run) leftUnder(t *rapid.T, a answer, changes []string) bool {
	for _, s := range a.Skipped {
		if s["reason"] != "changed_since" {
			return false
		}
		above, err := pg.Value[bool](context.Background(), r.DB, `select exists (select from entry e
			join change c on c.id = e.change_id
			where e.subject_id = $1::text::uuid and e.field = $2::text and coalesce(c.root, c.id)::text = any($3))`,
			s["subject_id"], s["field"], changes)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !above {
			return false
		}
	}
	return len(a.Skipped) > 0
}

// leftReported reports whether an undo left nothing but rows of files whose payment is in the same
// account as the bank's row, or rows that an earlier undo has left for that reason: they keep the
// deletion that it could not undo.
func (r *run) leftReported(t *rapid.T, a answer) bool {
	for _, s := range a.Skipped {
		if subject, ok := s["subject_id"].(string); ok && r.away[subject] && s["reason"] == "changed_since" {
			continue
		}
		there, err := pg.Value[bool](context.Background(), r.DB, `select exists (select from transaction f
			join transaction b on b.account_id = f.account_id and b.amount = f.amount and b.deleted_at is null
				and b.provider_id like $2 || '-%' where f.id = $1::text::uuid and f.deleted_at is not null)`,
			s["subject_id"], fmt.Sprint(r.made))
		if err != nil {
			t.Fatalf("%v", err)
		}
		if !there || s["reason"] != "conflict" {
			return false
		}
	}
	for _, s := range a.Skipped {
		if subject, ok := s["subject_id"].(string); ok {
			r.away[subject] = true
		}
	}
	return len(a.Skipped) > 0
}

// remember notes how the books are.
func (r *run) remember(t *rapid.T) {
	ctx := context.Background()
	var err error
	if r.begin.change, err = pg.Value[int64](ctx, r.DB, `select coalesce(max(seq), 0) from change`); err != nil {
		t.Fatalf("%v", err)
	}
	if r.begin.rows, err = pg.Values[string](ctx, r.DB, `select id::text from transaction`); err != nil {
		t.Fatalf("%v", err)
	}
	if r.begin.books, err = r.meaning(r.begin.rows); err != nil {
		t.Fatalf("%v", err)
	}
}

// undoAll takes everything back, newest first, each change once, and the books mean what they
// meant. An undo that cannot itself be undone, because the account that it would need is gone until
// something older is undone, is left as a whole: then the older ones lead there without it. So is a
// merge of a copy of an account that such an undo has brought back, and what older changes wrote to
// the accounts and rows of such a merge, which stands above them. If that undo could not undo a
// match, because a later change had decided it again, nothing else does. A
// file's row whose payment the bank has reported since stays away: the payment counts once. If that
// leaves an undo of an import as it is, the import stays undone, and nothing undoes it again: rows
// that the undo of a later sync gives back to its file stay.
func (r *run) undoAll(t *rapid.T) {
	var left []string // the summaries of what is in r.left
	for _, c := range r.changes(t, "true", 100_000) {
		if now := r.call(ada, "GET", "/changes/"+c.ID, nil); now.RevertedBy != nil {
			continue
		}
		a := r.call(ada, "POST", "/changes/"+c.ID+"/revert", map[string]any{})
		r.settle(t) // pairs of linked accounts are found by a job
		r.tellf(t, "Ada takes back: %s: %d", c.Summary, a.Reverted)
		switch {
		case a.ok() && a.Change != nil && len(a.ByReason) == 0:
		case a.ok() && a.Change == nil && (c.Cause == "revert" || len(left) > 0) && len(a.ByReason) == 1 &&
			a.ByReason["together"] > 0:
			left, r.left = append(left, c.Summary), append(r.left, c.Root)
		case a.ok() && a.Change != nil && r.leftMatched(t, a, r.left):
		case a.ok() && r.leftUnder(t, a, r.left):
		case a.ok() && r.leftReported(t, a):
			if a.Change == nil {
				r.stuck = append(r.stuck, c.Root)
			}
		default:
			r.breaks(t, "newest first everything can be undone", "%q: %s, left %v %v", c.Summary,
				a.outcome(), a.ByReason, a.Skipped)
		}
	}
	r.settle(t)
	after, err := r.meaning(r.begin.rows)
	if err != nil {
		t.Fatalf("%v", err)
	}
	if after != r.begin.books {
		r.breaks(t, "undone newest first, the books are what they were", "left %q\n%s", left,
			apptest.Difference(r.begin.books, after))
	}
}
