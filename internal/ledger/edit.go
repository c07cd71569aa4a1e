package ledger

import (
	"context"
	"slices"
	"strings"

	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// An Edit is one field of one transaction that someone wants to have another value.
type Edit struct {
	Transaction id.ID
	Field       string // of journal's, such as category, tag or deleted
	Tag         *id.ID
	// Value is the category's or counterparty's id, Present for a tag, a time for deleted, else
	// text; nil clears.
	Value  *string
	Source *string // whose the field is then; nil takes it from the call's actor
	Rule   *id.ID
	Note   *string
	Fill   bool // only where nothing is bound
}

// An Outcome is what became of an Edit.
type Outcome string

// The outcomes.
const (
	Changed   Outcome = "changed"
	Unchanged Outcome = "unchanged"
	Held      Outcome = "held"
	Bound     Outcome = "already_bound"
	Missing   Outcome = "missing"
)

// Present is the value of a tag that is set.
const Present = "present"

// state is what the editable fields of a transaction are now.
type state struct {
	ID                 id.ID   `db:"id"`
	Category           *string `db:"category"`
	CategorySource     *string `db:"category_source"`
	Counterparty       *string `db:"counterparty"`
	CounterpartySource *string `db:"counterparty_source"`
	Deleted            *string `db:"deleted"`
	DeletedSource      *string `db:"deleted_source"`
	Split              *string `db:"split"` // its parts, as splitText has them
	SplitSource        *string `db:"split_source"`
}

type tagState struct {
	Transaction id.ID  `db:"transaction_id"`
	Tag         id.ID  `db:"tag_id"`
	Present     bool   `db:"present"`
	Source      string `db:"source"`
}

type tagKey struct{ transaction, tag id.ID }

// current is the locked state of some transactions.
type current struct {
	rows map[id.ID]*state
	tags map[tagKey]tagState
	hand map[id.ID]*handState // of those edits that are about a field of it
}

// lock reads and locks what the edits are about, in the order of ids, so that two writers never
// wait for each other in a circle.
func lock(ctx context.Context, tx pg.Tx, ids, tags []id.ID) (*current, error) {
	rows, err := pg.All[state](ctx, tx, `
		select id, category_id::text as category, category_source, counterparty_id::text as counterparty,
			counterparty_source, deleted_at::text as deleted, deleted_source, `+splitText+` as split, split_source
		from transaction t where id = any($1) order by id for update`, ids)
	if err != nil {
		return nil, err
	}
	c := &current{rows: make(map[id.ID]*state, len(rows)), tags: map[tagKey]tagState{}}
	for i := range rows {
		c.rows[rows[i].ID] = &rows[i]
	}
	if len(tags) == 0 {
		return c, nil
	}
	held, err := pg.All[tagState](ctx, tx, `select transaction_id, tag_id, present, source from transaction_tag
		where transaction_id = any($1) and tag_id = any($2)`, ids, tags)
	for _, t := range held {
		c.tags[tagKey{t.Transaction, t.Tag}] = t
	}
	return c, err
}

// field is the value and source of what an edit is about.
func (c *current) field(e Edit) (value, source *string) {
	s := c.rows[e.Transaction]
	switch {
	case e.Field == journal.FieldCategory:
		return s.Category, s.CategorySource
	case e.Field == journal.FieldCounterparty:
		return s.Counterparty, s.CounterpartySource
	case e.Field == journal.FieldDeleted:
		return s.Deleted, s.DeletedSource
	case e.Field == journal.FieldSplit:
		return s.Split, s.SplitSource
	case isHand(e.Field):
		return c.hand[e.Transaction].field(e.Field)
	}
	t, ok := c.tags[tagKey{e.Transaction, *e.Tag}]
	if !ok {
		return nil, nil
	}
	if t.Present {
		value = new(Present)
	}
	return value, &t.Source
}

// set updates the state as an edit asks, so that a later edit of the same field sees it.
func (c *current) set(e Edit, value, source *string) {
	s := c.rows[e.Transaction]
	switch {
	case e.Field == journal.FieldCategory:
		s.Category, s.CategorySource = value, source
	case e.Field == journal.FieldCounterparty:
		s.Counterparty, s.CounterpartySource = value, source
	case e.Field == journal.FieldDeleted:
		s.Deleted, s.DeletedSource = value, source
	case e.Field == journal.FieldSplit:
		s.Split, s.SplitSource = value, source
	case isHand(e.Field):
		c.hand[e.Transaction].set(e.Field, value, source)
	default:
		t := tagState{Transaction: e.Transaction, Tag: *e.Tag, Present: value != nil}
		if source != nil {
			t.Source = *source
		}
		c.tags[tagKey{e.Transaction, *e.Tag}] = t
	}
}

// Apply makes edits by a person, an agent or a rule. It locks, decides, writes in a few statements
// whatever their number, and returns an outcome for each edit and the entries, which its caller
// records.
func (b *Books) Apply(ctx context.Context, tx pg.Tx, edits []Edit, force bool) ([]Outcome, []journal.Entry, error) {
	actor := op.ActorOf(ctx)
	ids, tags := targets(edits)
	now, err := lock(ctx, tx, ids, tags)
	if err == nil {
		err = now.readHand(ctx, tx, edits)
	}
	if err != nil {
		return nil, nil, err
	}
	outcomes, entries := now.applyEdits(edits, actor, force)
	return outcomes, entries, b.store(ctx, tx, now, entries)
}

// applyEdits decides about edits, one after another, and makes the state what they lead to.
func (c *current) applyEdits(edits []Edit, actor op.Actor, force bool) ([]Outcome, []journal.Entry) {
	outcomes := make([]Outcome, len(edits))
	var entries []journal.Entry
	for i, e := range edits {
		if !c.has(e) {
			outcomes[i] = Missing
			continue
		}
		value, source := c.field(e)
		want := sourceOf(e, actor)
		outcomes[i] = decide(e, actor, value, source, want, force)
		if outcomes[i] != Changed {
			continue
		}
		c.set(e, e.Value, want)
		entries = append(entries, journal.Entry{
			Subject: journal.Transaction, SubjectID: e.Transaction, Field: e.Field, Ref: e.Tag,
			Before: value, After: e.Value, BeforeSource: source, AfterSource: want, RuleID: e.Rule, Note: e.Note,
		})
	}
	return outcomes, entries
}

// sourceOf returns the field's new source. Clearing a category also releases the hold. A tag or
// counterparty that a person removed stays recorded as removed by a person, so that no rule adds it
// again.
func sourceOf(e Edit, actor op.Actor) *string {
	source := e.Source
	if source == nil {
		source = new(journal.Source(actor))
	}
	if e.Value == nil && (e.Field == journal.FieldCategory || e.Field == journal.FieldDeleted ||
		e.Field == journal.FieldSplit) {
		return nil
	}
	return source
}

func decide(e Edit, actor op.Actor, value, source, want *string, force bool) Outcome {
	same := equal(value, e.Value)
	switch {
	case same && (equal(source, want) || want == nil || *want != op.User || e.Value == nil && source == nil):
		return Unchanged // a person who confirms what a rule set takes the field over; nobody else does
	case e.Fill && value != nil:
		return Bound
	case journal.Held(source, actor, force):
		return Held
	}
	return Changed
}

func equal(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }

func targets(edits []Edit) (ids, tags []id.ID) {
	for _, e := range edits {
		ids = append(ids, e.Transaction)
		if e.Tag != nil {
			tags = append(tags, *e.Tag)
		}
	}
	order := func(a, b id.ID) int { return strings.Compare(a.String(), b.String()) }
	slices.SortFunc(ids, order)
	slices.SortFunc(tags, order)
	return slices.Compact(ids), slices.Compact(tags)
}

// store writes the rows and tags that entries changed, each kind in one statement and in the order
// of the entries: rows that are neighbours are written together.
func (b *Books) store(ctx context.Context, tx pg.Tx, now *current, entries []journal.Entry) error {
	var rows, moved, divided, rewritten []id.ID
	var tags []tagKey
	seen, seenTags := make(map[id.ID]bool, len(entries)), map[tagKey]bool{}
	for _, e := range entries {
		if e.Field == journal.FieldTag {
			if k := (tagKey{e.SubjectID, *e.Ref}); !seenTags[k] {
				seenTags[k], tags = true, append(tags, k)
			}
		}
		if e.Field == journal.FieldDeleted {
			moved = append(moved, e.SubjectID)
		}
		if e.Field == journal.FieldSplit {
			divided = append(divided, e.SubjectID)
		}
		if isHand(e.Field) {
			rewritten = append(rewritten, e.SubjectID)
		}
		if !seen[e.SubjectID] {
			seen[e.SubjectID], rows = true, append(rows, e.SubjectID)
		}
	}
	if err := storeRows(ctx, tx, now, rows); err != nil {
		return err
	}
	if err := storeTags(ctx, tx, now, tags); err != nil {
		return err
	}
	if err := storeSplits(ctx, tx, now, divided); err != nil {
		return err
	}
	if err := b.storeHand(ctx, tx, now, rewritten); err != nil {
		return err
	}
	return b.followed(ctx, tx, append(moved, rewritten...))
}

func storeRows(ctx context.Context, tx pg.Tx, now *current, rows []id.ID) error {
	if len(rows) == 0 {
		return nil
	}
	n := len(rows)
	ids, categories, categorySources := make([]id.ID, 0, n), make([]*string, 0, n), make([]*string, 0, n)
	counterparties, counterpartySources, deleted, deletedSources := make([]*string, 0, n), make([]*string, 0,
		n), make([]*string, 0, n), make([]*string, 0, n)
	for _, u := range rows {
		s := now.rows[u]
		ids, categories, categorySources = append(ids, u), append(categories, s.Category), append(categorySources,
			s.CategorySource)
		counterparties, counterpartySources = append(counterparties, s.Counterparty), append(counterpartySources,
			s.CounterpartySource)
		deleted, deletedSources = append(deleted, s.Deleted), append(deletedSources, s.DeletedSource)
	}
	_, err := pg.Exec(ctx, tx, `
		update transaction t set
			category_id = v.category::uuid, category_source = v.category_source,
				counterparty_id = v.counterparty::uuid, counterparty_source = v.counterparty_source,
			deleted_at = v.deleted::timestamptz, deleted_source = v.deleted_source, updated_at = clock_timestamp()
		from unnest(@ids::uuid[], @categories::text[], @category_sources::text[], @counterparties::text[],
			@counterparty_sources::text[], @deleted::text[], @deleted_sources::text[])
			v (id, category, category_source, counterparty, counterparty_source, deleted, deleted_source)
		where t.id = v.id`, pg.Args{
		"ids": ids, "categories": categories, "category_sources": categorySources, "counterparties": counterparties,
		"counterparty_sources": counterpartySources,
		"deleted":              deleted, "deleted_sources": deletedSources,
	})
	return err
}

func storeTags(ctx context.Context, tx pg.Tx, now *current, tags []tagKey) error {
	if len(tags) == 0 {
		return nil
	}
	var transactions, ids []id.ID
	var there []*bool
	var sources []string
	for _, k := range tags {
		t := now.tags[k]
		transactions, ids, sources = append(transactions, k.transaction), append(ids, k.tag), append(sources, t.Source)
		if t.Source == "" { // a revert to before anyone spoke of this tag
			there = append(there, nil)
		} else {
			there = append(there, &t.Present)
		}
	}
	_, err := pg.Exec(ctx, tx, `
		with v as (select *
			from unnest($1::uuid[], $2::uuid[], $3::bool[], $4::text[]) v (transaction_id, tag_id, present, source)),
		gone as (
			delete from transaction_tag t using v where v.present is null and t.transaction_id = v.transaction_id
				and t.tag_id = v.tag_id)
		insert into transaction_tag (transaction_id, tag_id, present, source)
		select transaction_id, tag_id, present, source from v where present is not null
		on conflict (transaction_id, tag_id) do update set present = excluded.present,
			source = excluded.source`, transactions, ids, there, sources)
	return err
}

// subject is how the ledger takes part in reverts of transactions.
type subject struct{ books *Books }

func (subject) Kind() string { return journal.Transaction }

// Lock implements journal.Subject.
func (subject) Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	_, err := pg.Exec(ctx, tx, `select from transaction where id = any($1) order by id for update`, ids)
	return err
}

// Apply implements journal.Subject: each field goes to the entry's after, with the source that it
// had. An agent cannot take back what a person holds.
func (s subject) Apply(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Skipped, error) {
	actor := op.ActorOf(ctx)
	edits := make([]Edit, len(entries))
	slices.SortStableFunc(entries, partsLast)
	for i, e := range entries {
		edits[i] = Edit{Transaction: e.SubjectID, Field: e.Field, Tag: e.Ref}
	}
	ids, tags := targets(edits)
	now, err := lock(ctx, tx, ids, tags)
	if err == nil {
		err = now.readHand(ctx, tx, edits)
	}
	if err != nil {
		return nil, err
	}
	there, err := there(ctx, tx, entries)
	if err != nil {
		return nil, err
	}
	whole, err := partsThere(ctx, tx, now, entries)
	if err != nil {
		return nil, err
	}
	closed, err := inClosed(ctx, tx, entries)
	if err != nil {
		return nil, err
	}
	var skipped []journal.Skipped
	var done []journal.Entry
	for i, e := range entries {
		if now.has(edits[i]) {
			if _, source := now.field(edits[i]); journal.Held(source, actor, false) {
				skipped = append(skipped, journal.Skip(e, "held"))
				continue
			}
		}
		if !now.has(edits[i]) || names(e) && !there[*e.After] || restores(e) && closed[e.SubjectID] ||
			e.Field == journal.FieldTag && !there[e.Ref.String()] || e.Field == journal.FieldSplit && !whole(e) {
			skipped = append(skipped, journal.Skip(e, "missing"))
			continue
		}
		now.set(edits[i], e.After, e.AfterSource)
		done = append(done, e)
	}
	return skipped, s.books.store(ctx, tx, now, done)
}

// partsLast puts what leads to a split last: its parts may come from another, which lets them go.
func partsLast(a, b journal.Entry) int {
	leads := func(e journal.Entry) int {
		if e.Field == journal.FieldSplit && e.After != nil {
			return 1
		}
		return 0
	}
	return leads(a) - leads(b)
}

// restores says whether the entry brings a deleted transaction back.
func restores(e journal.Entry) bool { return e.Field == journal.FieldDeleted && e.After == nil }

// inClosed are those of the transactions that would come back whose account is gone. The others'
// accounts stay until the transaction ends.
func inClosed(ctx context.Context, tx pg.Tx, entries []journal.Entry) (map[id.ID]bool, error) {
	var ids []id.ID
	for _, e := range entries {
		if restores(e) {
			ids = append(ids, e.SubjectID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if _, err := pg.Exec(ctx, tx, `select from account where id in (select account_id from transaction
		where id = any($1)) order by id for share`, ids); err != nil {
		return nil, err
	}
	gone, err := pg.Values[id.ID](ctx, tx, `select t.id from transaction t join account a on a.id = t.account_id
		where t.id = any($1) and a.deleted_at is not null`, ids)
	return setOf(gone), err
}

// names says whether the entry leads to something that may be gone.
func names(e journal.Entry) bool {
	return e.After != nil && (e.Field == journal.FieldCategory || e.Field == journal.FieldCounterparty)
}

// there are the categories and counterparties that entries lead to and that are in use, kept so
// until the transaction ends, and the tags that exist: a plan may be carried out without one that
// it would have created.
func there(ctx context.Context, tx pg.Tx, entries []journal.Entry) (map[string]bool, error) {
	var ids []string
	var tags []id.ID
	for _, e := range entries {
		switch {
		case names(e):
			ids = append(ids, *e.After)
		case e.Field == journal.FieldTag:
			tags = append(tags, *e.Ref)
		}
	}
	slices.SortFunc(tags, id.ID.Compare)
	exist, err := pg.Values[string](ctx, tx, `select id::text from tag where id = any($1)`, slices.Compact(tags))
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	categories, err := pg.Values[string](ctx, tx, `select id::text from category
		where id = any($1::text[]::uuid[]) and deleted_at is null order by id for share`, ids)
	if err != nil {
		return nil, err
	}
	others, err := pg.Values[string](ctx, tx, `select id::text from counterparty
		where id = any($1::text[]::uuid[]) and deleted_at is null and canonical_id is null order by id for share`, ids)
	return setOf(slices.Concat(categories, others, exist)), err
}
