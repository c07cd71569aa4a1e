package manual

import (
	"context"
	"maps"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The largest number of days by which the bank's date of a payment may differ from the date that
// was entered by hand.
const (
	daysBefore = 3
	daysAfter  = 10
	// Whether two transactions are each other's only candidate depends on other transactions that
	// share a candidate with one of them. Those are within this many days.
	reach = daysBefore + daysAfter
)

// A candidate is a transaction that was entered by hand, and one of the bank's that may be the same
// payment.
type candidate struct {
	Manual id.ID  `db:"manual_id"`
	Bank   *id.ID `db:"bank_id"` // nil if there is none
	Near   bool   `db:"near"`    // all transactions that the match depends on are among the candidates
}

// decide pairs transactions that are each other's only candidate. unclear has those that have
// candidates but no match. decide is a pure function of all candidates, so their order does not
// matter.
func decide(all []candidate) (matched map[id.ID]id.ID, unclear []id.ID) {
	of, by := map[id.ID][]id.ID{}, map[id.ID]int{}
	for _, c := range all {
		if c.Bank != nil {
			of[c.Manual] = append(of[c.Manual], *c.Bank)
			by[*c.Bank]++
		}
	}
	matched = map[id.ID]id.ID{}
	for _, m := range slices.SortedFunc(maps.Keys(of), id.ID.Compare) {
		if banks := of[m]; len(banks) == 1 && by[banks[0]] == 1 {
			matched[m] = banks[0]
		} else {
			unclear = append(unclear, m)
		}
	}
	return matched, unclear
}

// service is the actor of matches that coffer makes by itself. It cannot change fields that people
// hold.
var service = op.Actor{Type: op.System, Name: "coffer"}

// Match pairs transactions entered by hand with the bank's, around those days of accounts. It
// returns the entries for the change that touched the days. People's decisions about pairs stay. A
// lock on the accounts makes other writers wait.
func (h *Manual) Match(ctx context.Context, tx pg.Tx, days []ledger.Touched) ([]journal.Entry, error) {
	accounts, first, last := spans(days)
	some, err := pg.Value[bool](ctx, tx, `select exists (select from unnest($1::uuid[]) v (id)
		cross join lateral (select from transaction t where t.account_id = v.id and t.origin = 'manual'
			and t.deleted_at is null limit 1) t)`, accounts)
	if err != nil || !some {
		return nil, err
	}
	if _, err := pg.Exec(ctx, tx, `select from account where id = any($1) order by id for no key update`,
		accounts); err != nil {
		return nil, err
	}
	now, entries, err := h.standing(ctx, tx, accounts, first, last)
	if err != nil {
		return nil, err
	}
	all, err := candidates(ctx, tx, accounts, first, last)
	if err != nil {
		return nil, err
	}
	matched, unclear := h.decide(all)
	near := map[id.ID]bool{}
	for _, c := range all {
		near[c.Manual] = near[c.Manual] || c.Near
	}
	var made []pair
	for _, m := range slices.SortedFunc(maps.Keys(near), id.ID.Compare) {
		was, stands := now[m]
		to, found := matched[m]
		if !near[m] || stands == found && was == to {
			continue
		}
		if stands {
			entries = append(entries, pair{m, was}.entry(new(journal.Matched), nil, new(ruled), nil))
		}
		if found {
			made = append(made, pair{m, to})
			entries = append(entries, pair{m, to}.entry(nil, new(journal.Matched), nil, new(ruled)))
		}
	}
	if err := h.put(ctx, tx, entries); err != nil {
		return nil, err
	}
	copied, err := h.copyDecisions(op.Acting(ctx, service), tx, made, false)
	if err != nil {
		return nil, err
	}
	unclear = slices.DeleteFunc(unclear, func(m id.ID) bool { return !near[m] })
	asked, err := h.ask(op.Acting(ctx, service), tx, unclear)
	return slices.Concat(entries, copied, asked), err
}

// Part implements ledger.Matcher. Undoing a merge moves transactions back to their accounts. A pair
// that was matched in the meantime may then be in two accounts, so its match is dissolved. Part
// writes no entries, because the match only depended on the accounts. Matches that somebody decided
// stay.
func (h *Manual) Part(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	apart, err := pg.All[pair](ctx, tx, `
		select x.manual_id, x.bank_id from manual_match x
		join transaction m on m.id = x.manual_id join transaction b on b.id = x.bank_id
		where (x.manual_id = any($1) or x.bank_id = any($1)) and x.state = 'matched' and x.source = 'rule'
			and m.account_id <> b.account_id`, ids)
	if err != nil {
		return err
	}
	entries := make([]journal.Entry, len(apart))
	for i, p := range apart {
		entries[i] = p.entry(new(journal.Matched), nil, new(ruled), nil)
	}
	return h.put(ctx, tx, entries)
}

// ruled is the source of matches that nobody decided.
const ruled = "rule"

// spans returns, for each account, the range from the first day to the last.
func spans(days []ledger.Touched) (accounts []id.ID, first, last []pg.Date) {
	of := map[id.ID]ledger.Touched{}
	for _, d := range days {
		s, ok := of[d.AccountID]
		if !ok {
			s = d
		}
		if d.First.Time().Before(s.First.Time()) {
			s.First = d.First
		}
		if d.Last.Time().After(s.Last.Time()) {
			s.Last = d.Last
		}
		of[d.AccountID] = s
	}
	for _, u := range slices.SortedFunc(maps.Keys(of), id.ID.Compare) {
		accounts, first, last = append(accounts, u), append(first, of[u].First), append(last, of[u].Last)
	}
	return accounts, first, last
}

// candidates returns the possible pairs around those days. It leaves out pairs that were unmatched,
// and transactions that somebody matched. The lateral subqueries make PostgreSQL start with the few
// transactions entered by hand, whatever its statistics say. The bank's transactions are read once
// for each day that has such transactions, because a day may have hundreds of them. With "is true",
// PostgreSQL looks up amounts in a hash table. A join without statistics would compare all amounts
// with each of the bank's transactions (15.6 s instead of 0.1 s for a million rows, 457 of them by
// hand).
func candidates(ctx context.Context, q pg.Querier, accounts []id.ID, first, last []pg.Date) ([]candidate, error) {
	return pg.All[candidate](ctx, q, `
		with m as materialized (
			select m.* from unnest($1::uuid[], $2::date[], $3::date[]) v (account, first, last)
			cross join lateral (
				select t.id, t.account_id, t.date, t.amount, t.currency,
					t.date between v.first - $4::int and v.last + $4::int as near
				from transaction t
				where t.account_id = v.account and t.date between v.first - 2 * $4::int and v.last + 2 * $4::int
					and t.origin = 'manual' and t.deleted_at is null and not exists (
						select from manual_match x
						where x.manual_id = t.id and x.state = 'matched' and x.source <> 'rule')
				offset 0) m),
		b as materialized (
			select d.account_id, d.date, t.id, t.amount, t.currency
			from (select distinct account_id, date from m) d
			cross join lateral (
				select t.id, t.amount, t.currency from transaction t
				where t.account_id = d.account_id and t.date between d.date - $5::int and d.date + $6::int
					and t.origin = 'bank' and t.deleted_at is null
					and ((t.amount, t.currency) in (select amount, currency from m)) is true
				offset 0) t)
		select m.id as manual_id, m.near, b.id as bank_id
		from m left join b on b.account_id = m.account_id and b.date = m.date
			and b.amount = m.amount and b.currency = m.currency
			and not exists (select from manual_match x where x.bank_id = b.id and (
				x.manual_id = m.id and x.state <> 'matched' or x.state = 'matched' and (x.source <> 'rule'
					or (select o.account_id from transaction o where o.id = x.manual_id) <> m.account_id)))
		order by m.id, b.id`, accounts, first, last, reach, daysBefore, daysAfter)
}

// standing returns the automatic matches of those days. It dissolves every match of which a
// transaction was deleted, even if somebody decided it, and returns the entries for that.
func (h *Manual) standing(ctx context.Context, tx pg.Tx, accounts []id.ID, first, last []pg.Date) (map[id.ID]id.ID,
	[]journal.Entry, error,
) {
	type row struct {
		pair
		Source string `db:"source"`
		Gone   bool   `db:"gone"`
	}
	rows, err := pg.All[row](ctx, tx, `
		select x.manual_id, x.bank_id, x.source, m.deleted_at is not null or b.deleted_at is not null as gone
		from manual_match x join transaction m on m.id = x.manual_id join transaction b on b.id = x.bank_id
		join unnest($1::uuid[], $2::date[], $3::date[]) v (account, first, last) on v.account = m.account_id
		where x.state = 'matched' and m.date between v.first - $4::int and v.last + $4::int
		order by x.manual_id`, accounts, first, last, reach)
	if err != nil {
		return nil, nil, err
	}
	now := map[id.ID]id.ID{}
	var entries []journal.Entry
	for _, r := range rows {
		switch {
		case r.Gone:
			entries = append(entries, r.entry(new(journal.Matched), nil, &r.Source, nil))
		case r.Source == ruled:
			now[r.Manual] = r.Bank
		}
	}
	return now, entries, h.put(ctx, tx, entries)
}

// A pair is a transaction that was entered by hand and one of the bank's.
type pair struct {
	Manual id.ID `db:"manual_id"`
	Bank   id.ID `db:"bank_id"`
}

func (p pair) entry(before, after, beforeSource, afterSource *string) journal.Entry {
	return journal.Entry{
		Subject: journal.Transaction, SubjectID: p.Manual, Field: journal.FieldMatch, Ref: new(p.Bank),
		Before: before, After: after, BeforeSource: beforeSource, AfterSource: afterSource,
	}
}

// put stores the pairs of entries, and updates which transactions totals leave out. It removes
// matches that end first, because a transaction can have only one match.
func (h *Manual) put(ctx context.Context, tx pg.Tx, entries []journal.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	var ids, banks, gone, from []id.ID
	var states, sources []*string
	for _, e := range entries {
		if e.After == nil {
			gone, from = append(gone, e.SubjectID), append(from, *e.Ref)
			continue
		}
		ids, banks = append(ids, e.SubjectID), append(banks, *e.Ref)
		states, sources = append(states, e.After), append(sources, e.AfterSource)
	}
	if err := h.books.Lock(ctx, tx, slices.Concat(ids, gone)); err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `delete from manual_match x using unnest($1::uuid[], $2::uuid[]) v (manual_id, bank_id)
		where x.manual_id = v.manual_id and x.bank_id = v.bank_id`, gone, from); err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `
		insert into manual_match (manual_id, bank_id, state, source)
		select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) order by 3 desc
		on conflict (manual_id, bank_id) do update set state = excluded.state, source = excluded.source`, ids, banks,
		states, sources); err != nil {
		return err
	}
	all := slices.Concat(ids, gone)
	if err := h.marks.RecomputeExclusions(ctx, tx, all); err != nil {
		return err
	}
	return h.books.Touch(ctx, tx, all)
}

// CopyDecisions copies people's decisions from from[i] to to[i], which repeat each other, and
// returns the entries. A decision that a person made about to[i] stays. If a person closed the
// review of from[i], the review of to[i] is closed too.
func (h *Manual) CopyDecisions(ctx context.Context, tx pg.Tx, from, to []id.ID) ([]journal.Entry, error) {
	pairs := make([]pair, len(from))
	for i := range from {
		pairs[i] = pair{from[i], to[i]}
	}
	return h.copyDecisions(op.Acting(ctx, service), tx, pairs, true)
}

// copyDecisions copies people's decisions from the transactions that were entered by hand to the
// bank's transactions of new pairs. A decision that a person made about the bank's transaction
// stays. If all is set, it also copies removed tags and reviews.
func (h *Manual) copyDecisions(ctx context.Context, tx pg.Tx, made []pair, all bool) ([]journal.Entry, error) {
	if len(made) == 0 {
		return nil, nil
	}
	manuals, banks := make([]id.ID, len(made)), make([]id.ID, len(made))
	for i, p := range made {
		manuals[i], banks[i] = p.Manual, p.Bank
	}
	type decision struct {
		Bank  id.ID   `db:"bank_id"`
		Field string  `db:"field"`
		Tag   *id.ID  `db:"tag_id"`
		Value *string `db:"value"`
	}
	rows, err := pg.All[decision](ctx, tx, `
		with v as (select t.*, v.bank_id from unnest($1::uuid[], $2::uuid[]) v (id, bank_id)
			join transaction t on t.id = v.id)
		select bank_id, 'category' as field, null::uuid as tag_id, category_id::text as value from v
			where category_source = 'user' and category_id is not null
		union all select bank_id, 'counterparty', null, counterparty_id::text from v
			where counterparty_source = 'user' and counterparty_id is not null
		union all select bank_id, 'excluded_reason', null, excluded_reason from v
			where excluded_source = 'user' and excluded_reason is not null
		union all select v.bank_id, 'tag', g.id, case when x.present then $3 end from v
			join transaction_tag x on x.transaction_id = v.id join tag g on g.id = x.tag_id and g.deleted_at is null
			where x.source = 'user' and ($5 or x.present and g.slug <> $4)
		order by 1, 2, 3`, manuals, banks, ledger.Present, ledger.NeedsReview, all)
	if err != nil {
		return nil, err
	}
	edits := make([]ledger.Edit, len(rows))
	for i, r := range rows {
		edits[i] = ledger.Edit{
			Transaction: r.Bank, Field: r.Field, Tag: r.Tag, Value: r.Value, Source: new(op.User),
		}
	}
	_, entries, err := h.books.Apply(ctx, tx, edits, false)
	if err != nil {
		return nil, err
	}
	commentEntries, err := copyComments(ctx, tx, manuals, banks)
	return append(entries, commentEntries...), err
}

// copyComments copies comments to other transactions and keeps their authors. A comment with the
// same text is not copied again.
func copyComments(ctx context.Context, tx pg.Tx, from, to []id.ID) ([]journal.Entry, error) {
	type comment struct {
		To      id.ID  `db:"bank_id"`
		Content string `db:"content"`
		Type    string `db:"author_type"`
		Author  id.ID  `db:"author_id"`
		Name    string `db:"author_name"`
	}
	rows, err := pg.All[comment](ctx, tx, `
		select v.bank_id, c.content, c.author_type, c.author_id, c.author_name
		from unnest($1::uuid[], $2::uuid[]) v (id, bank_id) join comment c on c.transaction_id = v.id
		where c.deleted_at is null and not exists (select from comment o where o.transaction_id = v.bank_id
			and o.content = c.content and o.deleted_at is null)
		order by c.id`, from, to)
	var entries []journal.Entry
	for _, c := range rows {
		made, err := journal.Write(op.Acting(ctx, op.Actor{Type: c.Type, ID: c.Author, Name: c.Name}), tx,
			[]journal.Draft{{Transaction: c.To, Content: c.Content}})
		if err != nil {
			return nil, err
		}
		entries = append(entries, made...)
	}
	return entries, err
}

// ask puts transactions with unclear matches into review.
func (h *Manual) ask(ctx context.Context, tx pg.Tx, unclear []id.ID) ([]journal.Entry, error) {
	if len(unclear) == 0 {
		return nil, nil
	}
	tag, err := pg.Value[id.ID](ctx, tx, `select id from tag where slug = $1 and deleted_at is null`, ledger.NeedsReview)
	if err != nil {
		return nil, err
	}
	edits := make([]ledger.Edit, len(unclear))
	for i, m := range unclear {
		edits[i] = ledger.Edit{
			Transaction: m, Field: journal.FieldTag, Tag: &tag, Value: new(ledger.Present), Source: new(ruled),
			Note: new("More than one transaction could match, so this was not matched with the bank's " +
				"transaction automatically."),
		}
	}
	_, entries, err := h.books.Apply(ctx, tx, edits, false)
	return entries, err
}
