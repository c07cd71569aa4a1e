package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// An Operation is what is to become of one transaction.
type Operation struct {
	TransactionID  string          `json:"transaction_id" minLength:"1" doc:"Short id or UUID"`
	Category       op.Null[string] `json:"category,omitzero" minLength:"1" doc:"Slug, short id or UUID; null clears it and lets rules set it again"`
	TagsToAdd      []string        `json:"tags_to_add,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs; unknown ones are registered"`
	TagsToRemove   []string        `json:"tags_to_remove,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs"`
	CounterpartyID op.Null[string] `json:"counterparty_id,omitzero" minLength:"1" doc:"null removes it"`
	Comment        *string         `json:"comment,omitempty" minLength:"1" maxLength:"10000"`
	Note           *string         `json:"note,omitempty" maxLength:"1000" doc:"The reason, shown on the timeline"`
}

// UpdateTransactions is the input of UpdateTransactions.
type UpdateTransactions struct {
	Operations []Operation `json:"operations" minItems:"1" maxItems:"50"`
	OnError    string      `json:"on_error,omitempty" enum:"continue,abort" default:"continue" doc:"abort: if one operation fails, nothing is written"`
	DryRun     bool        `json:"dry_run,omitempty" doc:"Report what would happen and write nothing"`
	Force      bool        `json:"force,omitempty" doc:"Also change fields that a person holds"`
}

// A Result is what became of an Operation.
type Result struct {
	TransactionID *id.ID          `json:"transaction_id" doc:"null if there is no such transaction"`
	Status        string          `json:"status" enum:"changed,unchanged,held,error" doc:"held: nothing changed, because a person holds the fields"`
	Changed       []string        `json:"changed" doc:"Fields that changed"`
	Held          []string        `json:"held" doc:"Fields left unchanged because a person holds them"`
	Error         *OperationError `json:"error"`
}

// An OperationError is why an Operation could not be done.
type OperationError struct {
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
}

// Updated is the result of UpdateTransactions.
type Updated struct {
	Results  []Result `json:"results"`
	ChangeID *id.ID   `json:"change_id" doc:"The change to revert to undo this; null if nothing was written"`
	DryRun   bool     `json:"dry_run"`
	Aborted  bool     `json:"aborted" doc:"An operation failed with on_error abort; nothing was written"`
}

// UpdateTransactions changes up to fifty transactions in one change, with a result for each.
func (b *Books) UpdateTransactions(ctx context.Context, tx pg.Tx, in UpdateTransactions) (Updated, error) {
	var out Updated
	err := pg.Savepoint(ctx, tx, func(sp pg.Tx) (err error) {
		out.Results, out.ChangeID, err = b.operate(ctx, sp, in.Operations, in.Force)
		if err != nil {
			return err
		}
		failed := slices.ContainsFunc(out.Results, func(r Result) bool { return r.Status == "error" })
		if out.Aborted = failed && in.OnError == "abort"; out.Aborted || in.DryRun {
			return errRollBack
		}
		return nil
	})
	if err == errRollBack { //nolint:errorlint // our own, straight from above
		out.ChangeID, err = nil, nil
	}
	out.DryRun = in.DryRun
	return out, err
}

var errRollBack = fmt.Errorf("roll back")

// named are the things that operations name, resolved together: a query for each kind, not for each
// operation.
type named struct {
	transactions   []id.ID
	categories     map[string]id.ID
	counterparties map[string]id.ID
	tags           map[string]id.ID
	slugs          map[id.ID]string
	made           []journal.Entry // tags that were registered
}

// operate runs operations as one change and returns a result for each.
func (b *Books) operate(ctx context.Context, tx pg.Tx, operations []Operation, force bool) ([]Result, *id.ID, error) {
	n, err := b.name(ctx, tx, operations)
	if err != nil {
		return nil, nil, err
	}
	results := make([]Result, len(operations))
	var edits []Edit
	var owner []int // which operation an edit belongs to
	var drafts []journal.Draft
	for i, o := range operations {
		results[i] = Result{
			TransactionID: found(n.transactions[i]), Status: "unchanged", Changed: []string{},
			Held: []string{},
		}
		mine, err := n.edits(i, o)
		if err != nil {
			e := op.Public(ctx, err)
			results[i].Status, results[i].Error = "error", &OperationError{e.Code, e.Message}
			continue
		}
		for _, e := range mine {
			edits, owner = append(edits, e), append(owner, i)
		}
		if o.Comment != nil {
			drafts = append(drafts, journal.Draft{Transaction: n.transactions[i], Content: *o.Comment, Note: o.Note})
			results[i].Status, results[i].Changed = "changed", append(results[i].Changed, journal.FieldComment)
		}
	}
	outcomes, entries, err := b.Apply(ctx, tx, edits, force)
	if err != nil {
		return nil, nil, err
	}
	for i, o := range outcomes {
		results[owner[i]].take(o, fieldName(edits[i], n))
	}
	comments, err := journal.Write(ctx, tx, drafts)
	if err != nil {
		return nil, nil, err
	}
	all := slices.Concat(n.made, entries, comments)
	if len(all) == 0 {
		return results, nil, nil
	}
	summary, err := summarise(ctx, tx, all)
	if err != nil {
		return nil, nil, err
	}
	change, err := journal.Record(ctx, tx, journal.Note{Summary: summary}, all)
	return results, change, err
}

func found(u id.ID) *id.ID {
	if u.IsZero() {
		return nil
	}
	return &u
}

func (r *Result) take(o Outcome, field string) {
	switch o {
	case Changed:
		r.Status, r.Changed = "changed", append(r.Changed, field)
	case Held:
		r.Held = append(r.Held, field)
		if r.Status == "unchanged" {
			r.Status = "held"
		}
	}
}

// fieldName is the field as a caller knows it; a tag is named by its slug.
func fieldName(e Edit, n *named) string {
	if e.Tag == nil {
		return e.Field
	}
	return "tag:" + n.slugs[*e.Tag]
}

// name resolves everything that operations name.
func (b *Books) name(ctx context.Context, tx pg.Tx, operations []Operation) (*named, error) {
	var transactions, categories, counterparties, add, remove []string
	for _, o := range operations {
		transactions = append(transactions, o.TransactionID)
		if o.Category.Value != nil {
			categories = append(categories, *o.Category.Value)
		}
		if o.CounterpartyID.Value != nil {
			counterparties = append(counterparties, *o.CounterpartyID.Value)
		}
		add, remove = append(add, o.TagsToAdd...), append(remove, o.TagsToRemove...)
	}
	for _, names := range []*[]string{&categories, &counterparties, &add, &remove} {
		slices.Sort(*names) // many operations may name the same
		*names = slices.Compact(*names)
	}
	n := &named{}
	var err error
	if n.transactions, err = ResolveTransactions(ctx, tx, transactions); err != nil {
		return nil, err
	}
	if n.categories, err = pg.Names(ctx, tx, categories, `select id, slug as name, short_id from category
		where deleted_at is null and (id = any($1::uuid[]) or slug = any($2) or short_id = any($2))
		order by id for share`); err != nil {
		return nil, err
	}
	if n.counterparties, err = pg.Names(ctx, tx, counterparties, `
		select id, id::text as name, short_id from counterparty
			where deleted_at is null and (id = any($1::uuid[]) or short_id = any($2))`); err != nil {
		return nil, err
	}
	heads, err := Heads(ctx, tx, slices.Collect(maps.Values(n.counterparties)))
	if err != nil {
		return nil, err
	}
	for ref, u := range n.counterparties {
		if head, ok := heads[u]; ok {
			n.counterparties[ref] = head
		} else {
			delete(n.counterparties, ref)
		}
	}
	if err = b.nameTags(ctx, tx, n, add, remove); err != nil || len(n.tags) == 0 {
		return n, err
	}
	n.slugs, err = slugs(ctx, tx, slices.Collect(maps.Values(n.tags)))
	return n, err
}

// nameTags finds the tags and creates the missing ones. A tag that another transaction is deleting
// is created again after that.
func (b *Books) nameTags(ctx context.Context, tx pg.Tx, n *named, add, remove []string) error {
	all := slices.Concat(add, remove)
	for range 2 {
		made, err := b.filing.Register(ctx, tx, add)
		if err != nil {
			return err
		}
		n.made = append(n.made, made...)
		if n.tags, err = pg.Names(ctx, tx, all, tagsKept); err != nil {
			return err
		}
		if !slices.ContainsFunc(add, func(slug string) bool { _, there := n.tags[slug]; return !there }) {
			break
		}
	}
	return nil
}

// tagsKept is tagsNamed for callers that add the tags to something: nobody can delete them until
// the transaction ends.
const tagsKept = tagsNamed + ` order by id for key share`

// slugs are the slugs of tags.
func slugs(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]string, error) {
	type row struct {
		ID   id.ID  `db:"id"`
		Slug string `db:"slug"`
	}
	rows, err := pg.All[row](ctx, q, `select id, slug from tag where id = any($1)`, ids)
	out := make(map[id.ID]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Slug
	}
	return out, err
}

// edits are what an operation asks for, or what is wrong with it.
func (n *named) edits(i int, o Operation) ([]Edit, error) {
	t := n.transactions[i]
	if t.IsZero() {
		return nil, errs.New(errs.NotFound, "there is no such transaction; {transaction.list} lists them")
	}
	var edits []Edit
	field := func(name, kind string, given op.Null[string], known map[string]id.ID) error {
		if !given.Set {
			return nil
		}
		e := Edit{Transaction: t, Field: name, Note: o.Note}
		if given.Value != nil {
			u, ok := known[*given.Value]
			if !ok {
				return pg.Named(pg.ErrNoRow, name, kind, lister(kind))
			}
			e.Value = new(u.String())
		}
		edits = append(edits, e)
		return nil
	}
	if err := field(journal.FieldCategory, "category", o.Category, n.categories); err != nil {
		return nil, err
	}
	if err := field(journal.FieldCounterparty, "counterparty", o.CounterpartyID, n.counterparties); err != nil {
		return nil, err
	}
	for _, slug := range o.TagsToAdd {
		if slices.ContainsFunc(o.TagsToRemove, func(s string) bool { return strings.EqualFold(s, slug) }) {
			return nil, errs.Field("tags_to_remove", "conflict", "must not name a tag that is also in tags_to_add")
		}
		u, ok := n.tags[slug]
		if !ok {
			return nil, errs.Field("tags_to_add", "pattern", "must be %s, at most %d characters", text.TagSlugHint,
				text.MaxSlug)
		}
		edits = append(edits, Edit{Transaction: t, Field: journal.FieldTag, Tag: &u, Value: new(Present), Note: o.Note})
	}
	for _, slug := range o.TagsToRemove {
		u, ok := n.tags[slug]
		if !ok {
			return nil, pg.Named(pg.ErrNoRow, "tags_to_remove", "tag", "{tag.list} lists them")
		}
		edits = append(edits, Edit{Transaction: t, Field: journal.FieldTag, Tag: &u, Note: o.Note})
	}
	return edits, nil
}
