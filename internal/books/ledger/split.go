package ledger

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

const (
	// MaxParts is the most parts that a transaction is split into.
	MaxParts = 20
	// partOrigin is the origin of parts.
	partOrigin = "part"
	// rest stands for the amount of the remainder, which follows from the other amounts.
	rest = "rest"
	// splitText describes how a transaction t is split, or is null if it is not: the parts' short
	// ids with their amounts. The remainder's amount is not in it, because the bank can change it.
	splitText = `case when t.is_split then (
		select string_agg(p.short_id || ' ' || case when p.remainder then 'rest' else p.amount::text end, ', '
			order by p.remainder, p.short_id collate "C") from transaction p where p.parent_id = t.id) end`
)

// SplitTransaction is the input of SplitTransaction.
type SplitTransaction struct {
	TransactionID string      `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	Parts         []SplitPart `json:"parts" minItems:"2" maxItems:"20" doc:"All parts; parts not in the list are removed"`
	Force         bool        `json:"force,omitempty" doc:"Override values set by a person" agent:"-"`
}

// A SplitPart describes a part to create or keep.
type SplitPart struct {
	ID             *string         `json:"id,omitempty" minLength:"1" doc:"Id of a part to keep; omit it to add a part" agent:"Part to keep"`
	Amount         *money.Amount   `json:"amount,omitempty" doc:"Signed, not 0. One part can omit it and gets the remainder; otherwise the parts must add up" agent:"Signed; one part without it gets the remainder"`
	Category       op.Null[string] `json:"category,omitzero" minLength:"1" doc:"Slug, short id or UUID. An added part has the transaction's by default" agent:"Slug"`
	CounterpartyID op.Null[string] `json:"counterparty_id,omitzero" minLength:"1"`
	Tags           []string        `json:"tags,omitempty" maxItems:"20" minLength:"1" maxLength:"64" doc:"Slugs to add"`
	Comment        *string         `json:"comment,omitempty" minLength:"1" maxLength:"10000"`
}

// SplitTransaction divides a transaction into parts. Existing parts that are not named again are
// deleted.
func (b *Books) SplitTransaction(ctx context.Context, tx pg.Tx, in SplitTransaction) (TransactionDetail, error) {
	t, err := b.lockTransaction(ctx, tx, in.TransactionID)
	if err != nil {
		return t, err
	}
	if err := op.Match(ctx, t); err != nil {
		return t, err
	}
	switch {
	case t.Origin == partOrigin:
		return t, errs.New(errs.Conflict,
			"a part of a split can't be split again; edit the split of its transaction instead")
	case t.DeletedAt != nil:
		return t, errs.New(errs.Conflict, "this transaction is deleted; restore it first")
	}
	entries, err := b.divide(ctx, tx, t, &in, nil)
	if err != nil {
		return t, err
	}
	if err := b.recordSplit(ctx, tx, entries); err != nil {
		return t, err
	}
	return b.Transaction(ctx, tx, TransactionRef{t.ID.String()})
}

// divide splits a locked transaction. The split has the given source, or the caller's if source is
// nil. It returns the entries to record.
func (b *Books) divide(ctx context.Context, tx pg.Tx, t TransactionDetail, in *SplitTransaction, source *string) (
	[]journal.Entry, error,
) {
	if err := in.settle(t); err != nil {
		return nil, err
	}
	newIDs, err := b.draft(ctx, tx, t, in)
	if err != nil {
		return nil, err
	}
	outcomes, entries, err := b.Apply(ctx, tx, []Edit{{
		Transaction: t.ID, Field: journal.FieldSplit,
		Value: new(in.text()), Source: source,
	}}, in.Force)
	if err != nil {
		return nil, err
	}
	if outcomes[0] == Held {
		return nil, errs.New(errs.Conflict, "a person split this transaction; pass force: true to change it "+
			"anyway")
	}
	inherited, err := b.inherit(ctx, tx, t, in.Parts, newIDs)
	if err != nil {
		return nil, err
	}
	results, made, err := b.perform(ctx, tx, in.operations(), in.Force)
	if err != nil {
		return nil, err
	}
	for i, r := range results {
		switch {
		case r.Error != nil:
			return nil, errs.Renamed(r.Error.cause, func(field string) string {
				if field == "tags_to_add" {
					field = "tags"
				}
				return fmt.Sprintf("parts[%d].%s", i, field)
			})
		case len(r.Held) > 0:
			return nil, errs.New(errs.Conflict,
				"parts[%d]: a person set %s, so it is locked (held); pass force: true to change it anyway", i,
				r.Held[0])
		}
	}
	return slices.Concat(entries, inherited, made), nil
}

// Divide splits a new transaction as the imported file does. It returns the entries for the change
// that imports the transaction. The split counts as the caller's own. The parts wait for review
// like their transaction, because nobody has looked at them.
func (b *Books) Divide(ctx context.Context, tx pg.Tx, transaction id.ID, parts []SplitPart) ([]journal.Entry, error) {
	source := op.User
	if op.ActorOf(ctx).Type == op.Agent {
		source = op.Agent
	}
	ctx = op.Acting(ctx, op.Actor{Type: op.System, Name: "coffer"})
	t, err := b.lockTransaction(ctx, tx, transaction.String())
	if err != nil {
		return nil, err
	}
	return b.divide(ctx, tx, t, &SplitTransaction{TransactionID: transaction.String(), Parts: parts}, &source)
}

// JoinTransaction removes the split of a transaction. The transaction then counts again with the
// category and counterparty that it had before.
func (b *Books) JoinTransaction(ctx context.Context, tx pg.Tx, in JoinTransaction) (op.Deleted, error) {
	t, err := b.lockTransaction(ctx, tx, in.TransactionID)
	if err != nil {
		return op.Deleted{}, err
	}
	if err := op.Match(ctx, t); err != nil {
		return op.Deleted{}, err
	}
	outcomes, entries, err := b.Apply(ctx, tx, []Edit{{Transaction: t.ID, Field: journal.FieldSplit}}, in.Force)
	if err != nil {
		return op.Deleted{}, err
	}
	if outcomes[0] == Held {
		return op.Deleted{}, errs.New(errs.Conflict,
			"a person split this transaction; pass force: true to remove the split anyway")
	}
	return op.Deleted{Deleted: true, ID: t.ID}, b.recordSplit(ctx, tx, entries)
}

// JoinTransaction is the input of JoinTransaction.
type JoinTransaction struct {
	TransactionID string `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	Force         bool   `json:"force,omitempty" doc:"Remove the split even if a person made it"`
}

func (b *Books) recordSplit(ctx context.Context, tx pg.Tx, entries []journal.Entry) error {
	_, err := journal.Record(ctx, tx, journal.Note{}, entries)
	return err
}

// settle puts the remainder last, without an amount, and returns an error if the amounts are
// invalid.
func (in *SplitTransaction) settle(t TransactionDetail) error {
	known := map[string]string{}
	for _, p := range t.Parts {
		known[p.ID.String()], known[p.ShortID] = p.ShortID, p.ShortID
	}
	at := len(in.Parts) - 1
	left, used := t.Amount.Cents(), map[string]bool{}
	for i, p := range in.Parts {
		field := fmt.Sprintf("parts[%d].", i)
		if p.ID != nil {
			short, ok := known[strings.ToLower(*p.ID)]
			if !ok {
				short, ok = known[*p.ID]
			}
			if !ok || used[short] {
				return errs.Field(field+"id", "reference",
					"must be a part of this transaction and appear only once; omit id to add a part")
			}
			used[short], in.Parts[i].ID = true, &short
		}
		switch {
		case p.Amount == nil && (at < len(in.Parts)-1 || slices.ContainsFunc(in.Parts[i+1:], without)):
			return errs.Field(field+"amount", "required", "is required: only one part can take the remainder")
		case p.Amount == nil:
			at = i
		case p.Amount.IsZero():
			return errs.Field(field+"amount", "range", "must not be 0")
		default:
			left -= p.Amount.Cents()
		}
	}
	last := in.Parts[at]
	remainder, err := money.FromCents(left)
	if err != nil || tooMuch(t.Amount.Cents(), t.Amount.Cents()-left) {
		return errs.Field("parts", "sum", "amounts are too large: a correction by the bank could make the "+
			"remainder larger than an amount can be")
	}
	switch {
	case last.Amount == nil && left == 0:
		return errs.Field("parts", "sum",
			"the other parts already add up to %s, leaving nothing for the part without an amount", t.Amount)
	case last.Amount != nil && left != 0:
		return errs.Field("parts", "sum", "must add up to %s; the difference is %s", t.Amount, remainder)
	}
	last.Amount = nil
	in.Parts = append(slices.Delete(in.Parts, at, at+1), last)
	return nil
}

func without(p SplitPart) bool { return p.Amount == nil }

// text returns the split in the format of splitText.
func (in *SplitTransaction) text() string {
	parts := slices.Clone(in.Parts[:len(in.Parts)-1])
	slices.SortFunc(parts, func(a, b SplitPart) int { return strings.Compare(*a.ID, *b.ID) })
	var words []string
	for _, p := range parts {
		words = append(words, *p.ID+" "+p.Amount.String())
	}
	return strings.Join(append(words, *in.Parts[len(in.Parts)-1].ID+" "+rest), ", ")
}

// operations returns the changes to the parts besides their amounts.
func (in *SplitTransaction) operations() []Operation {
	out := make([]Operation, len(in.Parts))
	for i, p := range in.Parts {
		out[i] = Operation{
			TransactionID: *p.ID, Category: p.Category, CounterpartyID: p.CounterpartyID, TagsToAdd: p.Tags,
			Comment: p.Comment,
		}
	}
	return out
}

// draft writes new parts as tombstones and gives them their ids. They become parts when the split
// is stored.
func (b *Books) draft(ctx context.Context, tx pg.Tx, t TransactionDetail, in *SplitTransaction) ([]id.ID, error) {
	var newIDs []id.ID
	err := pg.Redraw(ctx, tx, "transaction_short_id", func(tx pg.Tx) error {
		newIDs = newIDs[:0]
		var shorts []string
		for _, p := range in.Parts {
			if p.ID == nil {
				u := b.draw()
				newIDs, shorts = append(newIDs, u), append(shorts, u.Short())
			}
		}
		_, err := pg.Exec(ctx, tx, `
			insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, origin,
				deleted_at)
			select v.id, v.short_id, t.account_id, 'part:' || v.id, t.date, 0, t.currency, t.descriptor_id, 'part', now()
			from transaction t, unnest($2::uuid[], $3::text[]) v (id, short_id) where t.id = $1`, t.ID, newIDs, shorts)
		return err
	})
	n := 0
	for i := range in.Parts {
		if in.Parts[i].ID == nil && err == nil {
			in.Parts[i].ID = new(newIDs[n].Short())
			n++
		}
	}
	return newIDs, err
}

// inherit gives new parts the transaction's category, counterparty and tags, unless they were given
// their own. If a person splits the transaction, its review is closed and the parts do not inherit
// it.
func (b *Books) inherit(ctx context.Context, tx pg.Tx, t TransactionDetail, parts []SplitPart, newIDs []id.ID) (
	[]journal.Entry, error,
) {
	tags, err := pg.All[tagState](ctx, tx, `select tt.transaction_id, tt.tag_id, tt.present, tt.source
		from transaction_tag tt join tag g on g.id = tt.tag_id and g.deleted_at is null
		where tt.transaction_id = $1 and tt.present and (g.slug <> $2 or $3)`, t.ID, NeedsReview,
		op.ActorOf(ctx).Type != op.User)
	if err != nil {
		return nil, err
	}
	now, err := lock(ctx, tx, []id.ID{t.ID}, nil)
	if err != nil {
		return nil, err
	}
	whole := now.rows[t.ID]
	var edits []Edit
	for _, u := range newIDs {
		given := parts[slices.IndexFunc(parts, func(p SplitPart) bool { return *p.ID == u.Short() })]
		if whole.Category != nil && !given.Category.Set {
			edits = append(edits, Edit{
				Transaction: u, Field: journal.FieldCategory, Value: whole.Category, Source: whole.CategorySource,
			})
		}
		if whole.Counterparty != nil && !given.CounterpartyID.Set {
			edits = append(edits, Edit{
				Transaction: u, Field: journal.FieldCounterparty, Value: whole.Counterparty,
				Source: whole.CounterpartySource,
			})
		}
		if whole.Excluded != nil {
			edits = append(edits, Edit{
				Transaction: u, Field: journal.FieldExcluded, Value: whole.Excluded, Source: whole.ExcludedSource,
			})
		}
		for _, g := range tags {
			edits = append(edits, Edit{
				Transaction: u, Field: journal.FieldTag, Tag: &g.Tag, Value: new(Present), Source: &g.Source,
			})
		}
	}
	_, entries, err := b.Apply(ctx, tx, edits, false)
	return entries, err
}

// storeSplits updates the parts of transactions to match their state. The amount of the remainder,
// and what parts copy from their transaction, are written by copyToParts.
func storeSplits(ctx context.Context, tx pg.Tx, now *current, ids []id.ID) error {
	if len(ids) == 0 {
		return nil
	}
	// The slices must not be nil, because SQL would treat nil as unknown.
	parents, whole, shorts, amounts := []id.ID{}, []id.ID{}, []string{}, []string{}
	sources := make([]*string, 0, len(ids))
	slices.SortFunc(ids, id.ID.Compare)
	for _, u := range slices.Compact(ids) {
		whole, sources = append(whole, u), append(sources, now.rows[u].SplitSource)
		for short, amount := range partsOf(now.rows[u].Split) {
			parents, shorts, amounts = append(parents, u), append(shorts, short), append(amounts, amount)
		}
	}
	if _, err := pg.Exec(ctx, tx, `
		update transaction set parent_id = null, remainder = false, deleted_at = clock_timestamp(),
			deleted_source = 'user', updated_at = clock_timestamp()
		where parent_id = any($1) and short_id <> all($2)`, whole, shorts); err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `
		update transaction p set parent_id = v.parent, remainder = v.amount = 'rest',
			amount = case when v.amount = 'rest' then 0 else v.amount::numeric end, updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::text[], $3::text[]) v (parent, short_id, amount)
		where p.short_id = v.short_id and p.origin = 'part'`, parents, shorts, amounts); err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `
		update transaction t set is_split = t.id = any($3), split_source = v.source, updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::text[]) v (id, source) where t.id = v.id`, whole, sources, parents); err != nil {
		return err
	}
	return wrote(ctx, tx, whole)
}

// partsOf returns the parts of a value of splitText: amounts by short id.
func partsOf(split *string) map[string]string {
	out := map[string]string{}
	if split == nil {
		return out
	}
	for part := range strings.SplitSeq(*split, ", ") {
		short, amount, _ := strings.Cut(part, " ")
		out[short] = amount
	}
	return out
}

// partsThere returns a function that reports whether a split can have all its parts after an entry.
// A part is missing if its transaction was erased. A part can also belong to another transaction's
// split, for example after a merge of accounts. It counts as missing then, unless now shows that it
// leaves the other split.
func partsThere(ctx context.Context, q pg.Querier, now *current, entries []journal.Entry) (func(journal.Entry) bool,
	error,
) {
	var shorts []string
	for _, e := range entries {
		if e.Field == journal.FieldSplit {
			shorts = slices.AppendSeq(shorts, maps.Keys(partsOf(e.After)))
		}
	}
	type part struct {
		Short string `db:"short_id"`
		Of    *id.ID `db:"parent_id"`
	}
	stored, err := pg.All[part](ctx, q, `select short_id, parent_id from transaction
		where short_id = any($1) and origin = 'part'`, shorts)
	of := make(map[string]*id.ID, len(stored))
	for _, p := range stored {
		of[p.Short] = p.Of
	}
	return func(e journal.Entry) bool {
		for short := range partsOf(e.After) {
			owner, there := of[short]
			if !there {
				return false
			}
			if owner != nil && *owner != e.SubjectID {
				if other, ours := now.rows[*owner]; !ours || partsOf(other.Split)[short] != "" {
					return false
				}
			}
		}
		return true
	}, err
}

// reviewParts puts the parts of transactions whose amount changed into review, if the new amount
// leaves nothing for the remainder or changes its sign.
func (b *Books) reviewParts(ctx context.Context, tx pg.Tx, was map[id.ID]string) ([]journal.Entry, error) {
	if len(was) == 0 {
		return nil, nil
	}
	doubtful, err := pg.Values[string](ctx, tx, `
		select p.short_id from jsonb_each_text($1::jsonb) v (id, was) join transaction t on t.id = v.id::uuid
			join transaction r on r.parent_id = t.id and r.remainder join transaction p on p.parent_id = t.id
		where sign(r.amount) <> sign(r.amount - t.amount + v.was::numeric) order by p.id`, was)
	if err != nil || len(doubtful) == 0 {
		return nil, err
	}
	operations := make([]Operation, len(doubtful))
	for i, short := range doubtful {
		operations[i] = Operation{TransactionID: short, TagsToAdd: []string{NeedsReview}}
	}
	_, entries, err := b.perform(op.Acting(ctx, op.Actor{Type: op.System, Name: "coffer"}), tx, operations, false)
	return entries, err
}

// splitAmong returns the split transactions among ids.
func splitAmong(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]bool, error) {
	found, err := pg.Values[id.ID](ctx, q, `select id from transaction where id = any($1) and is_split`, ids)
	return setOf(found), err
}

// isSplit returns the error for setting a field that only the parts of a split transaction have.
func isSplit() error {
	return errs.New(errs.Conflict,
		"this transaction is split; change its parts instead, which {transaction.get} lists")
}
