package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coffer/internal/books/category"
	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// An Operation lists the changes to one transaction.
type Operation struct {
	TransactionID  string          `json:"transaction_id" minLength:"1" doc:"Short id or UUID" agent:"-"`
	Category       op.Null[string] `json:"category,omitzero" minLength:"1" doc:"Slug, short id or UUID; null clears it and lets rules set it again" agent:"Slug; null clears it"`
	TagsToAdd      []string        `json:"tags_to_add,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs; unknown ones are created" agent:"-"`
	TagsToRemove   []string        `json:"tags_to_remove,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs" agent:"-"`
	CounterpartyID op.Null[string] `json:"counterparty_id,omitzero" minLength:"1" doc:"null removes it" agent:"-"`
	ExcludedReason op.Null[string] `json:"excluded_reason,omitzero" enum:"reimbursed,duplicate,other" doc:"Leaves it out of totals; null counts it again" agent:"Leaves it out of totals"`
	Comment        *string         `json:"comment,omitempty" minLength:"1" maxLength:"10000"`
	Note           *string         `json:"note,omitempty" maxLength:"1000" doc:"The reason, shown on the timeline" agent:"The reason"`
	facts          []Edit          // only for a transaction that was entered by hand
	isNew          bool            // the transaction does not exist yet
}

// UpdateTransactions is the input of UpdateTransactions.
type UpdateTransactions struct {
	Operations     []Operation `json:"operations,omitempty" maxItems:"50" doc:"Changes per transaction; for the same change to many use set instead" agent:"Up to 50"`
	TransactionIDs []string    `json:"transaction_ids,omitempty" maxItems:"500" minLength:"1" doc:"With set: transactions, short ids or UUIDs" agent:"With set, up to 500"`
	Filter         *Filter     `json:"filter,omitempty" parts:"elsewhere" doc:"With set, instead of transaction_ids: filters as in query_transactions" agent:"With set: filters as in query_transactions"`
	Set            *BulkSet    `json:"set,omitempty" parts:"elsewhere" doc:"Changes for each of them" agent:"Changes for each: as an operation, without transaction_id"`
	Expect         *int        `json:"expect,omitempty" minimum:"0" doc:"With filter: matched count of the dry run. If the number differs now, nothing is written" agent:"With filter: matched count of the dry run"`
	OnError        string      `json:"on_error,omitempty" enum:"continue,abort" default:"continue" doc:"With operations; abort: if one of them fails, nothing is written" agent:"abort: all or nothing"`
	DryRun         bool        `json:"dry_run,omitempty" doc:"Preview only; write nothing" agent:"-"`
	Force          bool        `json:"force,omitempty" doc:"Override values set by a person" agent:"Override values set by a person"`
}

// A Result is the result of an Operation.
type Result struct {
	TransactionID *id.ID          `json:"transaction_id" doc:"null if the transaction was not found"`
	Status        string          `json:"status" enum:"changed,unchanged,held,error" doc:"held: skipped, because a person set the fields"`
	Changed       []string        `json:"changed" doc:"Fields that changed"`
	Held          []string        `json:"held" doc:"Fields skipped, because a person set them (held)"`
	Error         *OperationError `json:"error"`
	sent          string          // the caller's reference to the transaction
}

// An OperationError is the reason why an Operation failed.
type OperationError struct {
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
	cause   error     // with suggestions for the name, for a call about one transaction
}

// Updated is the result of UpdateTransactions.
type Updated struct {
	Results []Result `json:"results" doc:"One for each operation; empty with set"`
	Counts
	Failed   int             `json:"failed" doc:"Operations that failed; their results say why"`
	ChangeID *id.ID          `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing was written"`
	DryRun   bool            `json:"dry_run"`
	Writes   *journal.Writes `json:"writes,omitempty" doc:"On a dry run: writes needed of the caller's limit; absent without one"`
	Aborted  bool            `json:"aborted" doc:"An operation failed with on_error abort; nothing was written"`
	ofMany
}

// ofMany holds the details that a result has in addition to the counts, if many transactions get
// the same change.
type ofMany struct {
	PendingLeft int               `json:"pending_left" doc:"Pending transactions that were left out, because their review cannot be closed yet"`
	ByCategory  []BulkCategory    `json:"by_category" doc:"Previous categories of the matching transactions"`
	Sample      []BulkTransaction `json:"sample" doc:"On a dry run: the newest five"`
}

// Counts are the number of transactions of a call, in total and by result.
type Counts struct {
	Matched   int `json:"matched" doc:"Number of matching transactions"`
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged" doc:"Already had these values"`
	Held      int `json:"held" doc:"Skipped, because a person set the fields (held)"`
}

// count adds one transaction with that result.
func (c *Counts) count(status string) {
	c.Matched++
	switch status {
	case "changed":
		c.Changed++
	case "held":
		c.Held++
	case "error":
	default:
		c.Unchanged++
	}
}

// A ToolUpdated is Updated in the shape of the tools: counts, and the results that need attention.
type ToolUpdated struct {
	Counts
	Failed      int               `json:"failed" doc:"Operations that failed; their results say why"`
	PendingLeft int               `json:"pending_left,omitempty" doc:"Pending transactions that were left out, because their review cannot be closed yet"`
	ByCategory  []BulkCategory    `json:"by_category,omitempty" doc:"With set: previous categories of the matching transactions"`
	Sample      []BulkTransaction `json:"sample,omitempty" doc:"With set, on a dry run: the newest five"`
	Results     []ToolResult      `json:"results" doc:"Results of operations that were not fully applied"`
	ChangeID    *id.ID            `json:"change_id" doc:"Pass it to revert_change to undo this; null if nothing was written"`
	DryRun      bool              `json:"dry_run"`
	Writes      *journal.Writes   `json:"writes,omitempty" doc:"On a dry run: writes needed of the caller's limit; absent without one"`
	Aborted     bool              `json:"aborted" doc:"An operation failed with on_error abort; nothing was written"`
}

// A ToolResult is a Result that needs attention.
type ToolResult struct {
	TransactionID string          `json:"transaction_id" doc:"As it was sent, short"`
	Status        string          `json:"status" enum:"changed,unchanged,held,error"`
	Held          []string        `json:"held,omitempty" doc:"Fields skipped, because a person set them (held)"`
	Error         *OperationError `json:"error,omitempty"`
}

// shownRef is the most characters of a sent reference that are repeated; a UUID has 36.
const shownRef = 40

func toolUpdated(u Updated) ToolUpdated {
	out := ToolUpdated{
		Counts: u.Counts, Failed: u.Failed, PendingLeft: u.PendingLeft, ByCategory: u.ByCategory, Sample: u.Sample,
		Results: []ToolResult{}, ChangeID: u.ChangeID, DryRun: u.DryRun, Writes: u.Writes,
		Aborted: u.Aborted,
	}
	for _, r := range u.Results {
		if r.Status != "changed" || len(r.Held) > 0 {
			sent := r.sent
			if u, err := id.Parse(sent); err == nil {
				sent = u.Short() // tools show only short ids
			}
			out.Results = append(out.Results, ToolResult{text.Line(sent, shownRef).Plain(), r.Status, r.Held, r.Error})
		}
	}
	return out
}

// check returns an error if the choice of transactions is invalid.
func (in UpdateTransactions) check() error {
	many := in.Set != nil || in.Filter != nil || len(in.TransactionIDs) > 0 || in.Expect != nil
	switch {
	case (len(in.Operations) > 0) == many:
		return errs.New(errs.ValidationError, "provide either operations, or set with transaction_ids or "+
			"filter")
	case many && in.Set == nil:
		return errs.Field("set", "required", "is required with transaction_ids and filter")
	}
	return nil
}

// UpdateTransactions changes up to fifty transactions in one change, with a result for each, or
// gives many the same change.
func (b *Books) UpdateTransactions(ctx context.Context, tx pg.Tx, in UpdateTransactions) (Updated, error) {
	out := Updated{Results: []Result{}, ofMany: ofMany{ByCategory: []BulkCategory{}, Sample: []BulkTransaction{}}}
	if err := in.check(); err != nil {
		return out, err
	}
	if in.Set != nil {
		done, err := b.BulkTransactions(ctx, tx, BulkTransactions{
			Filter: in.Filter, TransactionIDs: in.TransactionIDs, Set: *in.Set, Expect: in.Expect, DryRun: in.DryRun,
			Force: in.Force,
		})
		out.Counts, out.ofMany, out.ChangeID = done.Counts, done.ofMany, done.ChangeID
		out.DryRun, out.Writes = done.DryRun, done.Writes
		return out, err
	}
	var err error
	out.Writes, err = journal.Try(ctx, tx, in.DryRun, func(ctx context.Context, sp pg.Tx) (err error) {
		out.Results, out.ChangeID, err = b.operate(ctx, sp, in.Operations, in.Force)
		if err != nil {
			return err
		}
		failed := slices.ContainsFunc(out.Results, func(r Result) bool { return r.Status == "error" })
		if out.Aborted = failed && in.OnError == "abort"; out.Aborted {
			return errRollBack
		}
		return nil
	})
	if err == errRollBack { //nolint:errorlint // our own, straight from above
		out.Writes, err = needsNone(ctx, tx, in.DryRun)
	}
	if out.Aborted || in.DryRun {
		out.ChangeID = nil
	}
	for _, r := range out.Results {
		out.count(r.Status)
		if r.Status == "error" {
			out.Failed++
		}
	}
	out.DryRun = in.DryRun
	return out, err
}

var errRollBack = fmt.Errorf("roll back")

// named holds the records that operations name. They are resolved with one query for each kind, not
// for each operation.
type named struct {
	transactions   []id.ID
	categories     map[string]id.ID
	counterparties map[string]id.ID
	tags           map[string]id.ID
	slugs          map[id.ID]string
	made           []journal.Entry // tags that were created
	split          map[id.ID]bool  // the transactions that are split
}

// operate runs operations as one change and returns a result for each.
func (b *Books) operate(ctx context.Context, tx pg.Tx, operations []Operation, force bool) ([]Result, *id.ID, error) {
	results, all, err := b.perform(ctx, tx, operations, force)
	if err != nil || len(all) == 0 {
		return results, nil, err
	}
	change, err := journal.Record(ctx, tx, journal.Note{}, all)
	return results, change, err
}

// perform runs operations and returns a result for each, and the entries to record.
func (b *Books) perform(ctx context.Context, tx pg.Tx, operations []Operation, force bool) ([]Result, []journal.Entry,
	error,
) {
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
			Held: []string{}, sent: o.TransactionID,
		}
		mine, err := n.edits(i, o)
		if err != nil {
			e := op.Public(ctx, err)
			results[i].Status, results[i].Error = "error", &OperationError{e.Code, e.Message, err}
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
	matched, err := b.rematch(ctx, tx, entries)
	return results, slices.Concat(n.made, entries, comments, matched), err
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

// fieldName returns the field as a caller knows it; a tag is named by its slug.
func fieldName(e Edit, n *named) string {
	if e.Tag == nil {
		return e.Field
	}
	return "tag:" + n.slugs[*e.Tag]
}

// name resolves all records that operations name.
func (b *Books) name(ctx context.Context, tx pg.Tx, operations []Operation) (*named, error) {
	var transactions, categories, counterparties, tags []string
	for _, o := range operations {
		transactions = append(transactions, o.TransactionID)
		if o.Category.Value != nil {
			categories = append(categories, *o.Category.Value)
		}
		if o.CounterpartyID.Value != nil {
			counterparties = append(counterparties, *o.CounterpartyID.Value)
		}
		tags = slices.Concat(tags, o.TagsToAdd, o.TagsToRemove)
	}
	for _, names := range []*[]string{&categories, &counterparties, &tags} {
		slices.Sort(*names) // many operations may name the same
		*names = slices.Compact(*names)
	}
	n := &named{}
	var err error
	if n.transactions, err = ResolveTransactions(ctx, tx, transactions); err != nil {
		return nil, err
	}
	if n.split, err = splitAmong(ctx, tx, n.transactions); err != nil {
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
	if err = b.nameTags(ctx, tx, n, operations, tags); err != nil || len(n.tags) == 0 {
		return n, err
	}
	n.slugs, err = slugs(ctx, tx, slices.Collect(maps.Values(n.tags)))
	return n, err
}

// nameTags finds the tags, and creates the missing ones for operations that can succeed, because a
// failed operation must not leave a tag behind. A tag that another transaction is deleting is
// created again after that.
func (b *Books) nameTags(ctx context.Context, tx pg.Tx, n *named, operations []Operation, all []string) (err error) {
	for range 3 {
		if n.tags, err = pg.Names(ctx, tx, all, tagsKept); err != nil {
			return err
		}
		missing := n.missingTags(operations)
		if len(missing) == 0 {
			return nil
		}
		made, err := b.categories.Register(ctx, tx, missing)
		if err != nil {
			return err
		}
		n.made = append(n.made, made...)
	}
	n.tags, err = pg.Names(ctx, tx, all, tagsKept)
	return err
}

// missingTags returns the tags to create: those that do not exist and that an operation adds which
// can succeed. An operation may remove a tag that another one adds, so failing operations are left
// out one after another.
func (n *named) missingTags(operations []Operation) []string {
	known, failed := n.tags, make([]bool, len(operations))
	defer func() { n.tags = known }()
	for {
		var missing []string
		n.tags = maps.Clone(known)
		for i, o := range operations {
			for _, ref := range o.TagsToAdd {
				if _, there := known[ref]; !there && !failed[i] && category.Registrable(ref) {
					n.tags[ref], missing = id.ID{}, append(missing, ref)
				}
			}
		}
		again := false
		for i, o := range operations {
			if _, err := n.edits(i, o); err != nil && !failed[i] {
				failed[i], again = true, true
			}
		}
		if !again {
			slices.Sort(missing)
			return slices.Compact(missing)
		}
	}
}

// tagsKept is tagsNamed for callers that assign the tags: nobody can delete them until the
// transaction ends.
const tagsKept = tagsNamed + ` order by id for key share`

// slugs returns the slugs of tags.
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

// edits returns the edits of an operation, or an error if the operation is invalid.
func (n *named) edits(i int, o Operation) ([]Edit, error) {
	t := n.transactions[i]
	if t.IsZero() && !o.isNew {
		return nil, errs.New(errs.NotFound, "transaction not found; {transaction.list} lists them")
	}
	if n.split[t] && (o.Category.Set || o.CounterpartyID.Set || o.ExcludedReason.Set ||
		len(o.TagsToAdd)+len(o.TagsToRemove) > 0) {
		return nil, isSplit()
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
	if o.ExcludedReason.Set {
		edits = append(edits, Edit{
			Transaction: t, Field: journal.FieldExcluded, Value: o.ExcludedReason.Value, Note: o.Note,
		})
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
	return append(edits, o.facts...), nil
}
