package ledger

import (
	"context"
	"slices"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// An Edit asks for a new value of one field of one transaction.
type Edit struct {
	Transaction id.ID
	Field       string // a field of journal, such as category, tag or deleted
	Tag         *id.ID
	// Value is the category's, counterparty's or purchase's id, Present for a tag, a time for
	// deleted, else text; nil clears.
	Value  *string
	Source *string // the field's new source; nil uses the call's actor
	Rule   *id.ID
	Note   *string
	Fill   bool // only if no counterparty is set
	// follows says that the field belongs to another transaction, whose edit was allowed.
	follows bool
}

// An Outcome is the result of an Edit.
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

// state holds the current editable fields of a transaction.
type state struct {
	ID                 id.ID   `db:"id"`
	Category           *string `db:"category"`
	CategorySource     *string `db:"category_source"`
	Counterparty       *string `db:"counterparty"`
	CounterpartySource *string `db:"counterparty_source"`
	Deleted            *string `db:"deleted"`
	DeletedSource      *string `db:"deleted_source"`
	Split              *string `db:"split"` // its parts in the format of splitText
	SplitSource        *string `db:"split_source"`
	Excluded           *string `db:"excluded_reason"`
	ExcludedSource     *string `db:"excluded_source"`
	Refund             *string `db:"refund"`
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
	hand map[id.ID]*handState // only of transactions whose facts an edit changes
}

// lock reads and locks the transactions of the edits in the order of ids, so two writers never
// deadlock.
func lock(ctx context.Context, tx pg.Tx, ids, tags []id.ID) (*current, error) {
	rows, err := pg.All[state](ctx, tx, `
		select id, category_id::text as category, category_source, counterparty_id::text as counterparty,
			counterparty_source, deleted_at::text as deleted, deleted_source, `+splitText+` as split, split_source,
			excluded_reason, excluded_source, refund_of::text as refund
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

// field returns the value and source of the field that an edit is about.
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
	case e.Field == journal.FieldExcluded:
		return s.Excluded, s.ExcludedSource
	case e.Field == journal.FieldRefund:
		return s.Refund, nil
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

// set updates the state as an edit asks, so a later edit of the same field sees it.
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
	case e.Field == journal.FieldExcluded:
		s.Excluded, s.ExcludedSource = value, source
	case e.Field == journal.FieldRefund:
		s.Refund = value
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

// Apply makes edits by a person, an agent or a rule. It locks, decides, and writes in a few
// statements, however many edits there are. It returns an outcome for each edit, and the entries
// for its caller to record.
func (b *Books) Apply(ctx context.Context, tx pg.Tx, edits []Edit, force bool) ([]Outcome, []journal.Entry, error) {
	actor := op.ActorOf(ctx)
	ids, tags := targets(edits)
	refunds, err := refundsOf(ctx, tx, edits, ids)
	if err != nil {
		return nil, nil, err
	}
	now, err := lock(ctx, tx, append(ids, refunds...), tags)
	if err == nil {
		err = now.readHand(ctx, tx, edits)
	}
	if err != nil {
		return nil, nil, err
	}
	filed := now.filed(refunds)
	outcomes, entries := now.applyEdits(edits, actor, force)
	_, moved := now.applyEdits(now.follow(filed, entries, edits, outcomes), actor, force)
	entries = append(entries, moved...)
	agreed, err := now.agree(ctx, tx, entries, actor)
	if err != nil {
		return nil, nil, err
	}
	entries = append(entries, agreed...)
	return outcomes, entries, b.store(ctx, tx, now, entries)
}

// agree makes a person the source of a category when the person closes its review: someone who
// looks at a category and keeps it has decided it, as if they had set it. The entry belongs to the
// same change, so an undo lifts the hold too. A transaction without a category has nothing to hold.
func (c *current) agree(ctx context.Context, q pg.Querier, entries []journal.Entry, actor op.Actor) ([]journal.Entry,
	error,
) {
	takesOff := func(e journal.Entry) bool {
		return e.Field == journal.FieldTag && e.Before != nil && e.After == nil && equal(e.AfterSource, new(op.User))
	}
	if actor.Type != op.User || !slices.ContainsFunc(entries, takesOff) {
		return nil, nil
	}
	review, err := pg.Values[id.ID](ctx, q, `select id from tag where slug = $1 and deleted_at is null`, NeedsReview)
	if err != nil || len(review) == 0 {
		return nil, err
	}
	var agreed []journal.Entry
	for _, e := range entries {
		s := c.rows[e.SubjectID]
		if !takesOff(e) || !slices.Contains(review, *e.Ref) || s.Category == nil ||
			equal(s.CategorySource, new(op.User)) {
			continue
		}
		agreed = append(agreed, journal.Entry{
			Subject: journal.Transaction, SubjectID: e.SubjectID, Field: journal.FieldCategory,
			Before: s.Category, After: s.Category, BeforeSource: s.CategorySource, AfterSource: new(op.User),
			Note: e.Note,
		})
		s.CategorySource = new(op.User)
	}
	return agreed, nil
}

// applyEdits decides on the edits one after another and updates the state accordingly.
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
// counterparty that a person removed stays recorded as removed by a person, so no rule adds it
// again.
func sourceOf(e Edit, actor op.Actor) *string {
	source := e.Source
	if source == nil {
		source = new(journal.Source(actor))
	}
	if e.Value == nil && slices.Contains([]string{
		journal.FieldCategory, journal.FieldDeleted, journal.FieldSplit, journal.FieldExcluded,
	}, e.Field) || e.Field == journal.FieldRefund {
		return nil
	}
	return source
}

func decide(e Edit, actor op.Actor, value, source, want *string, force bool) Outcome {
	same := equal(value, e.Value)
	switch {
	case same && (equal(source, want) || want == nil || *want != op.User || e.Value == nil && source == nil):
		return Unchanged // only a person takes over a field that a rule set, by confirming it
	case e.Fill && value != nil:
		return Bound
	case journal.Held(source, actor, force || e.follows):
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

// subject reverts changes of transactions.
type subject struct{ books *Books }

func (subject) Kind() string { return journal.Transaction }

// Lock implements journal.Subject.
func (subject) Lock(ctx context.Context, tx pg.Tx, ids []id.ID) error {
	_, err := pg.Exec(ctx, tx, `select from transaction where id = any($1) order by id for update`, ids)
	return err
}

// Apply implements journal.Subject. It sets each field to the value and the source that the entry
// has as After. An agent cannot revert a field that a person holds.
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
	room, err := roomy(ctx, tx, now, entries)
	if err != nil {
		return nil, err
	}
	closed, err := inClosed(ctx, tx, entries)
	if err != nil {
		return nil, err
	}
	brought, err := broughtSince(ctx, tx, entries)
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
		if brought[e.SubjectID] || !room(e) {
			skipped = append(skipped, journal.Skip(e, "conflict"))
			continue
		}
		now.set(edits[i], e.After, e.AfterSource)
		done = append(done, e)
	}
	return skipped, s.books.store(ctx, tx, now, done)
}

// partsLast orders the entries that create a split after all others. A part may first have to leave
// another split.
func partsLast(a, b journal.Entry) int {
	leads := func(e journal.Entry) int {
		if e.Field == journal.FieldSplit && e.After != nil {
			return 1
		}
		return 0
	}
	return leads(a) - leads(b)
}

// restores reports whether the entry restores a deleted transaction.
func restores(e journal.Entry) bool { return e.Field == journal.FieldDeleted && e.After == nil }

// restored returns the transactions that entries restore.
func restored(entries []journal.Entry) []id.ID {
	var ids []id.ID
	for _, e := range entries {
		if restores(e) {
			ids = append(ids, e.SubjectID)
		}
	}
	return ids
}

// deleted returns the transactions that entries delete.
func deleted(entries []journal.Entry) []id.ID {
	ids := []id.ID{}
	for _, e := range entries {
		if e.Field == journal.FieldDeleted && e.After != nil {
			ids = append(ids, e.SubjectID)
		}
	}
	return ids
}

// inClosed returns the transactions to restore whose account is deleted. The other accounts cannot
// be deleted until the database transaction ends.
func inClosed(ctx context.Context, tx pg.Tx, entries []journal.Entry) (map[id.ID]bool, error) {
	ids := restored(entries)
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

// names reports whether the entry leads to a record that may have been deleted.
func names(e journal.Entry) bool {
	return e.After != nil && (e.Field == journal.FieldCategory || e.Field == journal.FieldCounterparty ||
		e.Field == journal.FieldRefund)
}

// there returns the categories and counterparties that the entries set, as far as they are in use,
// and the entries' tags, as far as they exist. The categories and counterparties stay in use until
// the database transaction ends. A tag can be missing if a plan was to create it but is carried out
// without it.
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
	refunds := slices.ContainsFunc(entries, func(e journal.Entry) bool { return e.Field == journal.FieldRefund })
	if err != nil || !refunds {
		return setOf(slices.Concat(categories, others, exist)), err
	}
	bought, err := pg.Values[string](ctx, tx, `select id::text from transaction
		where id = any($1::text[]::uuid[]) order by id for key share`, ids)
	return setOf(slices.Concat(categories, others, exist, bought)), err
}
