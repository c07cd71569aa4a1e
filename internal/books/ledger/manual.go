package ledger

import (
	"context"
	"slices"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/books/payeename"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// Manual is the origin of transactions that were entered by hand.
const Manual = "manual"

// A Written holds the values that a person gives a transaction entered by hand, in addition to its
// facts.
type Written struct {
	// Edits set the given values; their Transaction is filled in later. Rules leave these fields.
	Edits []Edit
	// Reviewed is set if the transaction needs no review.
	Reviewed bool
	// Reference is the caller's own id for the transaction; "" for none. It is unique within an
	// account.
	Reference string
}

// ReferredTo is the provider id of a transaction with the caller's own id.
func ReferredTo(reference string) string { return Manual + ":ref:" + reference }

// identity returns the transaction's provider id. For a transaction entered by hand it follows from
// its own id.
func (in Incoming) identity(u id.ID) string {
	if in.Written == nil {
		return in.ProviderID
	}
	if in.Written.Reference != "" {
		return ReferredTo(in.Written.Reference)
	}
	return Manual + ":" + u.String()
}

func (w *Written) origin() string {
	if w == nil {
		return "bank"
	}
	return Manual
}

// category returns the category that rules see. For a bank's transaction it is the one that the
// provider's category maps to. For a transaction entered by hand it is the one that the person
// gave, or nil.
func (w *Written) category(mapped *id.ID) *id.ID {
	if w == nil {
		return mapped
	}
	for _, e := range w.Edits {
		if e.Field == journal.FieldCategory && e.Value != nil {
			if u, err := id.Parse(*e.Value); err == nil {
				return &u
			}
		}
	}
	return nil
}

// written returns the edits of transactions that were entered by hand.
func written(newRows []NewRow) []Edit {
	var out []Edit
	for _, f := range newRows {
		if f.Written == nil {
			continue
		}
		for _, e := range f.Written.Edits {
			e.Transaction = f.ID
			out = append(out, e)
		}
	}
	return out
}

// ungiven returns the edits without those of fields that were given.
func ungiven(edits, given []Edit) []Edit {
	if len(given) == 0 {
		return edits
	}
	type spot struct {
		transaction id.ID
		field       string
		tag         id.ID
	}
	at := func(e Edit) spot {
		s := spot{transaction: e.Transaction, field: e.Field}
		if e.Tag != nil {
			s.tag = *e.Tag
		}
		return s
	}
	taken := make(map[spot]bool, len(given))
	for _, e := range given {
		taken[at(e)] = true
	}
	return slices.DeleteFunc(edits, func(e Edit) bool { return taken[at(e)] })
}

// holdWritten records who entered the transactions, so that their facts are held if it was a
// person.
func holdWritten(ctx context.Context, tx pg.Tx, newRows []NewRow) error {
	var ids []id.ID
	var fields []string
	for _, f := range newRows {
		if f.Written == nil {
			continue
		}
		for _, field := range journal.HandFields {
			ids, fields = append(ids, f.ID), append(fields, field)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	_, err := pg.Exec(ctx, tx, `insert into manual_field (transaction_id, field, source)
		select id, field, $3 from unnest($1::uuid[], $2::text[]) v (id, field)`, ids, fields,
		journal.Source(op.ActorOf(ctx)))
	return err
}

func isHand(field string) bool { return slices.Contains(journal.HandFields, field) }

// A handState holds the facts of a transaction that was entered by hand, in the format of entries.
type handState struct {
	ID       id.ID   `db:"id"`
	Amount   *string `db:"amount"`
	Date     *string `db:"date"`
	Name     *string `db:"name"`
	Merchant *string `db:"merchant_name"`
	Detail   *string `db:"detail"`
	sources  map[string]string
}

func (h *handState) at(field string) **string {
	switch field {
	case journal.FieldAmount:
		return &h.Amount
	case journal.FieldDate:
		return &h.Date
	case journal.FieldName:
		return &h.Name
	case journal.FieldMerchantName:
		return &h.Merchant
	}
	return &h.Detail
}

func (h *handState) field(name string) (value, source *string) {
	if s, ok := h.sources[name]; ok {
		source = &s
	}
	return *h.at(name), source
}

func (h *handState) set(name string, value, source *string) {
	*h.at(name) = value
	delete(h.sources, name)
	if source != nil {
		h.sources[name] = *source
	}
}

// has reports whether the transaction has the field of the edit: only transactions that were
// entered by hand have facts that can be changed.
func (c *current) has(e Edit) bool {
	return c.rows[e.Transaction] != nil && (!isHand(e.Field) || c.hand[e.Transaction] != nil)
}

// readHand reads the facts of the transactions whose facts the edits change. They are locked.
func (c *current) readHand(ctx context.Context, tx pg.Tx, edits []Edit) error {
	var ids []id.ID
	for _, e := range edits {
		if isHand(e.Field) {
			ids = append(ids, e.Transaction)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	rows, err := pg.All[handState](ctx, tx, `
		select t.id, t.amount::text as amount, t.date::text as date, d.name, nullif(d.merchant_name, '') as merchant_name,
			nullif(d.detail, '') as detail
		from transaction t join descriptor d on d.id = t.descriptor_id
		where t.id = any($1) and t.origin = 'manual'`, ids)
	if err != nil {
		return err
	}
	type held struct {
		ID     id.ID  `db:"transaction_id"`
		Field  string `db:"field"`
		Source string `db:"source"`
	}
	sources, err := pg.All[held](ctx, tx, `select transaction_id, field, source from manual_field
		where transaction_id = any($1)`, ids)
	c.hand = make(map[id.ID]*handState, len(rows))
	for i := range rows {
		rows[i].sources = map[string]string{}
		c.hand[rows[i].ID] = &rows[i]
	}
	for _, s := range sources {
		if h := c.hand[s.ID]; h != nil {
			h.sources[s.Field] = s.Source
		}
	}
	return err
}

// storeHand writes the facts of these transactions. It also records the days on which they were
// before.
func (b *Books) storeHand(ctx context.Context, tx pg.Tx, now *current, ids []id.ID) error {
	if len(ids) == 0 {
		return nil
	}
	if err := b.Touch(ctx, tx, ids); err != nil {
		return err
	}
	var v struct {
		ids                                               []id.ID
		amounts, dates, names, merchants, details, folded []string
		forms, payees                                     []int64
		sourced                                           []id.ID
		fields, sources                                   []string
	}
	seen := map[id.ID]bool{}
	for _, u := range ids {
		if seen[u] {
			continue
		}
		seen[u] = true
		h := now.hand[u]
		name, merchant, detail := orEmpty(h.Name), orEmpty(h.Merchant), orEmpty(h.Detail)
		form, payee := payeename.Keys(name, merchant)
		v.ids, v.amounts, v.dates = append(v.ids, u), append(v.amounts, *h.Amount), append(v.dates, *h.Date)
		v.names, v.merchants = append(v.names, name), append(v.merchants, merchant)
		v.details = append(v.details, detail)
		v.folded = append(v.folded, folded(text.Name(name), text.Name(merchant), text.Line(detail, text.DetailMax)))
		v.forms, v.payees = append(v.forms, int64(form)), append(v.payees, int64(payee))
		for field, source := range h.sources {
			v.sourced, v.fields, v.sources = append(v.sourced, u), append(v.fields, field), append(v.sources, source)
		}
	}
	if _, err := pg.Exec(ctx, tx, `
		insert into descriptor (name, merchant_name, detail, folded, form, payee)
		select distinct on (name, merchant_name, detail) * from unnest($1::text[], $2::text[], $3::text[], $4::text[],
			$5::bigint[], $6::bigint[]) v (name, merchant_name, detail, folded, form, payee)
		on conflict (name, merchant_name, md5(detail)) do nothing`, v.names, v.merchants, v.details, v.folded, v.forms,
		v.payees); err != nil {
		return err
	}
	before, err := placesOf(ctx, tx, v.ids)
	if err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `
		update transaction t set amount = i.amount::numeric, date = i.date::date, descriptor_id = d.id,
			updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
			i (id, amount, date, name, merchant_name, detail)
		join descriptor d on `+wordedAlike+` where t.id = i.id`, v.ids, v.amounts, v.dates, v.names, v.merchants,
		v.details); err != nil {
		return err
	}
	if err := wrote(ctx, tx, v.ids, before...); err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `delete from manual_field where transaction_id = any($1)`, v.ids); err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `insert into manual_field (transaction_id, field, source)
		select * from unnest($1::uuid[], $2::text[], $3::text[])`, v.sourced, v.fields, v.sources)
	return err
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// A Matcher pairs transactions that were entered by hand with the bank's. It runs in the database
// transaction that adds, changes, deletes or restores one, and returns the entries for its change.
type Matcher interface {
	Match(ctx context.Context, tx pg.Tx, days []Touched) ([]journal.Entry, error)
	// Part dissolves the matches of these transactions that connect two different accounts.
	Part(ctx context.Context, tx pg.Tx, ids []id.ID) error
}

// Pair sets the matcher. It is called only while the service is assembled.
func (b *Books) Pair(m Matcher) { b.matcher = m }

// parted adds the entries for the matches of transactions that a bank removed.
func (b *Books) parted(ctx context.Context, tx pg.Tx, ids []id.ID, entries []journal.Entry, err error) ([]journal.Entry,
	error,
) {
	if err != nil || len(ids) == 0 {
		return entries, err
	}
	days, err := b.DaysOf(ctx, tx, ids)
	if err != nil {
		return nil, err
	}
	matched, err := b.match(ctx, tx, days)
	return append(entries, matched...), err
}

// match runs the matcher for those days of accounts.
func (b *Books) match(ctx context.Context, tx pg.Tx, days []Touched) ([]journal.Entry, error) {
	if b.matcher == nil || len(days) == 0 {
		return nil, nil
	}
	return b.matcher.Match(ctx, tx, days)
}

// Wanted returns the edits of an operation for a transaction that does not exist yet, and the
// entries of tags that were created for it.
func (b *Books) Wanted(ctx context.Context, tx pg.Tx, o Operation) ([]Edit, []journal.Entry, error) {
	o.isNew = true
	n, err := b.name(ctx, tx, []Operation{o})
	if err != nil {
		return nil, nil, err
	}
	edits, err := n.edits(0, o)
	return edits, n.made, err
}

// rematch runs the matcher for transactions whose facts changed, on the days before and after. It
// also puts the parts of a split into review if a corrected amount leaves nothing for the
// remainder.
func (b *Books) rematch(ctx context.Context, tx pg.Tx, entries []journal.Entry) ([]journal.Entry, error) {
	for _, e := range entries {
		if !isHand(e.Field) {
			continue
		}
		days, err := b.DaysOf(ctx, tx, []id.ID{e.SubjectID})
		if err != nil {
			return nil, err
		}
		was := map[id.ID]string{}
		for _, e := range entries {
			if e.Field == journal.FieldAmount && e.Before != nil {
				was[e.SubjectID] = *e.Before
			}
			if e.Field == journal.FieldDate && e.Before != nil {
				before, err := pg.ParseDate(*e.Before)
				if err != nil {
					return nil, err
				}
				days = append(days, Touched{days[0].AccountID, before, before})
			}
		}
		doubtful, err := b.reviewParts(ctx, tx, was)
		if err != nil {
			return nil, err
		}
		matched, err := b.match(ctx, tx, days) // a call changes the facts of one transaction
		return append(doubtful, matched...), err
	}
	return nil, nil
}

// facts returns the edits of a patch to the facts of a transaction that was entered by hand.
func (in PatchTransaction) facts(t TransactionDetail) ([]Edit, error) {
	var edits []Edit
	add := func(field string, value *string) {
		edits = append(edits, Edit{Transaction: t.ID, Field: field, Value: value})
	}
	if in.Date != nil {
		add(journal.FieldDate, new(in.Date.String()))
	}
	if in.Amount != nil {
		if err := t.partsFit(*in.Amount); err != nil {
			return nil, err
		}
		add(journal.FieldAmount, new(in.Amount.String()))
	}
	if in.Name != nil {
		name := text.Name(*in.Name).Plain()
		if name == "" {
			return nil, errs.Field("name", "empty", "must contain a letter or digit")
		}
		add(journal.FieldName, &name)
	}
	if in.MerchantName.Set {
		add(journal.FieldMerchantName, lineOf(in.MerchantName.Value, text.NameMax))
	}
	if in.Detail.Set {
		add(journal.FieldDetail, lineOf(in.Detail.Value, text.DetailMax))
	}
	if len(edits) > 0 && t.Origin != Manual {
		return nil, errs.New(errs.Conflict,
			"the bank sets the %s of this transaction; only manually entered transactions can change it",
			strings.ReplaceAll(edits[0].Field, "_", " "))
	}
	return edits, nil
}

// lineOf returns the text on one line, or nil if nothing is left.
func lineOf(s *string, limit int) *string {
	if s == nil {
		return nil
	}
	if line := text.Line(*s, limit).Plain(); line != "" {
		return &line
	}
	return nil
}
