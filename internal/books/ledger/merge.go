package ledger

import (
	"context"
	"iter"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// Merged reports what a page of a bank's transactions did to the books.
type Merged struct {
	Inserted  []id.ID         // new transactions
	Changed   []id.ID         // transactions with a change in a field that rules read; the rules run again
	Touched   int64           // transactions with changes in other fields only
	Unchanged int64           // transactions that were stored with the same values; nothing was written for them
	Posted    int64           // of the changed ones, those that were pending under another id
	Restored  int64           // of the changed ones, those that had been removed and came back
	Detailed  int64           // of the changed ones, those that had no purpose before
	Entries   []journal.Entry // for the change that the page is part of
	Events    []journal.Event // the bank's changes to stored transactions, for their timelines

	touched  map[id.ID]Touched // the changed days of each account
	lifted   []id.ID           // of the changed ones, those whose tombstone was lifted
	previous map[id.ID]string  // the former amounts of split transactions, if they changed
}

// A NewRow is a transaction of a page that is not in the books yet.
type NewRow struct {
	*Incoming
	ID       id.ID
	Category *id.ID // the category that the bank's own category maps to

	descriptor int32
	form       *int64
}

// A Judge decides about transactions before they are written, so that each is written only once. It
// returns edits of these transactions only.
type Judge func(ctx context.Context, tx pg.Tx, newRows []NewRow) ([]Edit, error)

// Merge stores a page of a bank's transactions as the bank sent them.
func (b *Books) Merge(ctx context.Context, tx pg.Tx, rows iter.Seq[Incoming]) (Merged, error) {
	return b.MergeJudged(ctx, tx, slices.Collect(rows), nil)
}

// MergeJudged puts a page of a bank's transactions into the books. It copies the page into a
// temporary table, finds the rows that are new or differ, and copies the new ones. The number of
// statements does not depend on the number of rows.
//
// Everything that a person or a rule set on a transaction stays. A category that follows the bank's
// own category is updated with it. If the bank sends a removed transaction again, MergeJudged
// restores it, unless a person deleted it.
//
// Only one caller at a time merges into an account; others wait. No two rows of a page may have the
// same identity.
func (b *Books) MergeJudged(ctx context.Context, tx pg.Tx, rows []Incoming, judge Judge) (Merged, error) {
	out := Merged{touched: map[id.ID]Touched{}, previous: map[id.ID]string{}}
	if len(rows) == 0 {
		return out, nil
	}
	byID := make(map[id.ID]*Incoming, len(rows))
	pending := false
	err := stage(ctx, tx, func(yield func(id.ID, Incoming) bool) {
		for i := range rows {
			u := b.draw()
			byID[u], pending = &rows[i], pending || rows[i].PendingID != ""
			if !yield(u, rows[i]) {
				return
			}
		}
	})
	if err != nil {
		return out, err
	}
	if err := atHome(ctx, tx); err != nil {
		return out, err
	}
	if err := word(ctx, tx); err != nil {
		return out, err
	}
	// Drop rows with the old id of a transaction that has posted since.
	if _, err := pg.Exec(ctx, tx, `delete from incoming i using transaction_alias a
		where a.account_id = i.account_id and a.provider_id = i.provider_id`); err != nil {
		return out, err
	}
	if pending {
		if out.Posted, err = post(ctx, tx); err != nil {
			return out, err
		}
	}
	if err := alone(ctx, tx); err != nil {
		return out, err
	}
	newRows, differ, err := sorted(ctx, tx, byID)
	if err != nil {
		return out, err
	}
	if differ {
		if err := keepDetails(ctx, tx); err != nil {
			return out, err
		}
		joined, err := b.joinOverfull(ctx, tx)
		if err != nil {
			return out, err
		}
		out.Entries = append(out.Entries, joined...)
		if err := out.change(ctx, tx); err != nil {
			return out, err
		}
		doubtful, err := b.reviewParts(ctx, tx, out.previous)
		if err != nil {
			return out, err
		}
		out.Entries = append(out.Entries, doubtful...)
		// A restored row gets its existing pairs back before new pairs are searched.
		if err := b.followed(ctx, tx, out.lifted); err != nil {
			return out, err
		}
	}
	if err := b.insert(ctx, tx, &out, newRows, judge); err != nil {
		return out, err
	}
	out.Unchanged = int64(len(rows)-len(out.Inserted)-len(out.Changed)) - out.Touched
	if err := touch(ctx, tx, out.days()); err != nil {
		return out, err
	}
	matched, err := b.match(ctx, tx, out.days())
	out.Entries = append(out.Entries, matched...)
	return out, err
}

// word stores the new wordings of staged rows.
func word(ctx context.Context, tx pg.Tx) error {
	_, err := pg.Exec(ctx, tx, `
		insert into descriptor (name, merchant_name, detail, folded, form, payee)
		select distinct on (i.name, i.merchant_name, i.detail) i.name, i.merchant_name, i.detail, i.folded, i.form,
			i.payee
		from incoming i where not exists (select from descriptor d where `+wordedAlike+`)
		on conflict (name, merchant_name, md5(detail)) do nothing`)
	return err
}

// keepDetails copies the stored purpose to staged rows without one. A bank may omit a purpose that
// it sent before, and so may another file of the same bank. The purpose is the third line of the
// folded text.
func keepDetails(ctx context.Context, tx pg.Tx) error {
	n, err := pg.Exec(ctx, tx, `
		update incoming i set detail = o.detail, folded = i.folded || e'\n' || split_part(o.folded, e'\n', 3)
		from transaction t join descriptor o on o.id = t.descriptor_id
		where i.detail = '' and o.detail <> '' and t.account_id = i.account_id and t.provider_id = i.provider_id`)
	if err != nil || n == 0 {
		return err
	}
	return word(ctx, tx)
}

// differs is true if the stored transaction t differs from the incoming row i with the wording d.
const differs = `
	((` + storedFacts + `, t.descriptor_id) is distinct from (` + stagedFacts + `, d.id)
	or t.deleted_source is not distinct from 'provider' or i.again)`

// sorted returns the new rows in the order in which they are written, and whether other rows differ
// from the stored ones.
func sorted(ctx context.Context, tx pg.Tx, byID map[id.ID]*Incoming) (newRows []NewRow, differ bool, err error) {
	type found struct {
		ID         id.ID  `db:"id"`
		IsNew      bool   `db:"is_new"`
		Descriptor int32  `db:"descriptor_id"`
		Form       *int64 `db:"form"`
		Category   *id.ID `db:"category_id"`
	}
	rows, err := pg.All[found](ctx, tx, `
		select i.id, t.id is null as is_new, d.id as descriptor_id, d.form, m.category_id
		from incoming i
		join descriptor d on `+wordedAlike+`
		join account a on a.id = i.account_id
		left join category_mapping m on `+mappedTo+`
		left join transaction t on t.account_id = i.account_id and t.provider_id = i.provider_id
		where t.id is null or `+differs+`
		order by i.date, i.id`)
	for _, r := range rows {
		if r.IsNew {
			in := byID[r.ID]
			newRows = append(newRows, NewRow{in, r.ID, in.Written.category(r.Category), r.Descriptor, r.Form})
		} else {
			differ = true
		}
	}
	return newRows, differ, err
}

// insert writes the new rows with the judge's edits. If a short id is taken, all rows get new ids
// and the judge is called again.
func (b *Books) insert(ctx context.Context, tx pg.Tx, out *Merged, newRows []NewRow, judge Judge) error {
	if len(newRows) == 0 {
		return nil
	}
	var made []journal.Entry
	again := false
	err := pg.Redraw(ctx, tx, "transaction_short_id", func(tx pg.Tx) (err error) {
		for i := range newRows {
			if again {
				newRows[i].ID = b.draw()
			}
		}
		again = true
		now, given := newborn(newRows), written(newRows)
		_, made = now.applyEdits(given, op.ActorOf(ctx), false)
		if judge != nil {
			edits, err := judge(ctx, tx, newRows)
			if err != nil {
				return err
			}
			_, more := now.applyEdits(ungiven(edits, given), op.ActorOf(ctx), false)
			made = append(made, more...)
		}
		if err := now.copyRows(ctx, tx, newRows); err != nil {
			return err
		}
		if err := now.copyTags(ctx, tx, made); err != nil {
			return err
		}
		return holdWritten(ctx, tx, newRows)
	})
	if err != nil {
		return err
	}
	out.Entries = append(out.Entries, made...)
	places := make([]place, len(newRows))
	for i, f := range newRows {
		out.Inserted = append(out.Inserted, f.ID)
		out.touch(f.AccountID, f.Date)
		if places[i] = (place{f.AccountID, f.form}); f.Pending {
			places[i].Form = nil
		}
	}
	return write{places: places}.follow(ctx, tx)
}

// newborn returns the state of transactions that are not stored yet.
func newborn(newRows []NewRow) *current {
	now := &current{rows: make(map[id.ID]*state, len(newRows)), tags: map[tagKey]tagState{}}
	for _, f := range newRows {
		s := &state{ID: f.ID}
		if f.Category != nil && f.Written == nil {
			s.Category, s.CategorySource = new(f.Category.String()), &provider
		}
		now.rows[f.ID] = s
	}
	return now
}

// copyRows writes new transactions with their state.
func (c *current) copyRows(ctx context.Context, tx pg.Tx, newRows []NewRow) error {
	var row []any // each row is encoded before the next one is made
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"transaction"}, withFacts(
		[]string{"id", "short_id", "account_id", "provider_id"},
		"descriptor_id", "category_id", "category_source", "counterparty_id", "counterparty_source", "origin",
		"moved_from",
	), pgx.CopyFromSlice(len(newRows), func(i int) ([]any, error) {
		f := &newRows[i]
		s := c.rows[f.ID]
		category, err := parsed(s.Category)
		if err != nil {
			return nil, err
		}
		other, err := parsed(s.Counterparty)
		row = appendFacts(append(row[:0], f.ID, f.ID.Short(), f.AccountID, f.identity(f.ID)), f.Incoming)
		row = append(row, f.descriptor, category, s.CategorySource, other, s.CounterpartySource, f.Written.origin(),
			f.Under)
		return row, err
	}))
	return err
}

// copyTags writes the tags of new transactions, which cannot have any yet.
func (c *current) copyTags(ctx context.Context, tx pg.Tx, made []journal.Entry) error {
	var tags []tagState
	seen := map[tagKey]bool{}
	for _, e := range made {
		if e.Field != journal.FieldTag {
			continue
		}
		if k := (tagKey{e.SubjectID, *e.Ref}); !seen[k] {
			seen[k], tags = true, append(tags, c.tags[k])
		}
	}
	if len(tags) == 0 {
		return nil
	}
	_, err := tx.CopyFrom(ctx, pgx.Identifier{"transaction_tag"},
		[]string{"transaction_id", "tag_id", "present", "source"},
		pgx.CopyFromSlice(len(tags), func(i int) ([]any, error) {
			return []any{tags[i].Transaction, tags[i].Tag, tags[i].Present, tags[i].Source}, nil
		}))
	return err
}

func parsed(s *string) (*id.ID, error) {
	if s == nil {
		return nil, nil //nolint:nilnil // nil means no category
	}
	u, err := id.Parse(*s)
	return &u, err
}

// touch records a day of an account.
func (out *Merged) touch(account id.ID, day pg.Date) {
	t, ok := out.touched[account]
	if !ok {
		t = Touched{account, day, day}
	}
	if day.Time().Before(t.First.Time()) {
		t.First = day
	}
	if day.Time().After(t.Last.Time()) {
		t.Last = day
	}
	out.touched[account] = t
}

// provider is the source of a field that follows from the bank's data.
var provider = "provider"

// post gives transactions their new ids: pending ones that the bank has posted, and posted ones to
// which it has given another id. Each stays the same transaction and keeps everything that was set
// on it. Only the ids of pending ones are remembered, because a bank that reissues ids may use an
// old one again.
func post(ctx context.Context, tx pg.Tx) (int64, error) {
	return pg.Exec(ctx, tx, `
		with posted as (
			update transaction t set provider_id = i.provider_id, updated_at = clock_timestamp()
			from incoming i
			where i.pending_id <> '' and t.account_id = i.account_id and t.provider_id = i.pending_id
				and (t.pending or i.reissued)
				and not exists (select from transaction x where x.account_id = i.account_id
					and x.provider_id = i.provider_id)
			returning t.id, t.account_id, i.pending_id, i.reissued)
		insert into transaction_alias (account_id, provider_id, transaction_id) select account_id, pending_id, id
			from posted where not reissued`)
}

// lockDiffering locks stored rows that differ. Otherwise a concurrent edit of one of them would be
// read in its old state and overwritten.
func lockDiffering(ctx context.Context, tx pg.Tx) error {
	_, err := pg.Exec(ctx, tx, `
		select from transaction t join incoming i on t.account_id = i.account_id and t.provider_id = i.provider_id
			join descriptor d on `+wordedAlike+`
		where `+differs+` order by t.id for update of t`)
	return err
}

// A changed row is a stored transaction that the bank changed.
type changed struct {
	ID             id.ID   `db:"id"`
	Heard          bool    `db:"heard"` // rules read a changed field
	CategoryBefore *string `db:"category_before"`
	CategoryAfter  *string `db:"category_after"`
	SourceBefore   *string `db:"source_before"`
	SourceAfter    *string `db:"source_after"`
	Lifted         *string `db:"lifted"` // the tombstone that was lifted
	LiftedSource   *string `db:"lifted_source"`
	Account        id.ID   `db:"account_id"`
	FormBefore     *int64  `db:"form_before"`
	DateBefore     pg.Date `db:"date_before"`
	Date           pg.Date `db:"date"`
	Posted         bool    `db:"posted"`
	AmountBefore   *string `db:"amount_before"` // the former amount of a split transaction, if it changed
	Detailed       bool    `db:"detailed"`
	Was            *string `db:"was"` // the fields that differ
	Is             *string `db:"is"`
}

// change updates only stored rows that differ from the staged ones. Rows that are the same are not
// even locked.
func (out *Merged) change(ctx context.Context, tx pg.Tx) error {
	if err := lockDiffering(ctx, tx); err != nil {
		return err
	}
	rows, err := pg.All[changed](ctx, tx, `
		with differing as (
			select t.id, t.date as date_before, o.form as form_before, t.pending and not i.pending as posted,
				nullif(concat_ws('; ', case when t.amount <> i.amount then 'amount ' || t.amount end, case
					when t.currency <> i.currency then 'currency ' || t.currency end,
					case when t.date <> i.date then 'date ' || t.date end, case
						when o.name <> i.name then 'name ' || o.name end,
					case when o.merchant_name <> i.merchant_name then 'merchant_name ' || o.merchant_name end, case
						when o.detail <> i.detail then 'detail ' || o.detail end), '') as was,
				nullif(concat_ws('; ', case when t.amount <> i.amount then 'amount ' || i.amount end, case
					when t.currency <> i.currency then 'currency ' || i.currency end,
					case when t.date <> i.date then 'date ' || i.date end, case
						when o.name <> i.name then 'name ' || i.name end,
					case when o.merchant_name <> i.merchant_name then 'merchant_name ' || i.merchant_name end, case
						when o.detail <> i.detail then 'detail ' || i.detail end), '') as "is",
				`+stagedFacts+`, d.id as descriptor_id, m.category_id as mapped,
				t.category_id as category_before, t.category_source as source_before,
					coalesce(t.category_source, 'provider') = 'provider' as follows,
				case when t.deleted_source = 'provider' or i.again then t.deleted_at end as lifted,
					t.deleted_source as lifted_source,
				(`+storedRuled+`, t.descriptor_id) is distinct from (`+stagedRuled+`, d.id) as heard,
				o.detail = '' and i.detail <> '' as detailed,
				case when t.is_split and i.amount <> t.amount then t.amount end as amount_before
			from incoming i
			join transaction t on t.account_id = i.account_id and t.provider_id = i.provider_id
			join descriptor d on `+wordedAlike+`
			join descriptor o on o.id = t.descriptor_id
			join account a on a.id = i.account_id
			left join category_mapping m on `+mappedTo+`
			where `+differs+`)
		update transaction t set
			`+factsFromStage+`, descriptor_id = f.descriptor_id,
			category_id = case when f.follows then f.mapped else t.category_id end,
			category_source = case when not f.follows then t.category_source when f.mapped is not null then 'provider' end,
			deleted_at = case when f.lifted is null then t.deleted_at end,
			deleted_source = case when f.lifted is null then t.deleted_source end, updated_at = clock_timestamp()
		from differing f where t.id = f.id
		returning t.id, f.heard, f.category_before::text as category_before, t.category_id::text as category_after,
			f.source_before, t.category_source as source_after, f.lifted::text as lifted, f.lifted_source,
			t.account_id, f.form_before, f.date_before, t.date, f.posted, f.detailed, f.amount_before::text as amount_before, f.was, f."is"`)
	if err != nil {
		return err
	}
	if err := wroteChanged(ctx, tx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Heard || r.Lifted != nil {
			out.Changed = append(out.Changed, r.ID)
			out.touch(r.Account, r.DateBefore)
			out.touch(r.Account, r.Date)
		} else {
			out.Touched++
		}
		if r.Detailed {
			out.Detailed++
		}
		if r.AmountBefore != nil {
			out.previous[r.ID] = *r.AmountBefore
		}
		if r.Heard {
			event := journal.Event{Transaction: r.ID, Action: journal.Updated, Before: r.Was, After: r.Is}
			if r.Posted {
				event.Action = journal.Posted
			}
			out.Events = append(out.Events, event)
		}
		if !equal(r.CategoryBefore, r.CategoryAfter) {
			out.Entries = append(out.Entries, journal.Entry{
				Subject: journal.Transaction, SubjectID: r.ID, Field: journal.FieldCategory,
				Before: r.CategoryBefore, After: r.CategoryAfter, BeforeSource: r.SourceBefore,
				AfterSource: r.SourceAfter,
			})
		}
		if r.Lifted != nil {
			out.restored(r.ID, r.Lifted, r.LiftedSource)
		}
	}
	return nil
}

// restored records a transaction whose tombstone was lifted.
func (out *Merged) restored(u id.ID, lifted, source *string) {
	out.Restored++
	out.lifted = append(out.lifted, u)
	out.Entries = append(out.Entries, journal.Entry{
		Subject: journal.Transaction, SubjectID: u, Field: journal.FieldDeleted, Before: lifted,
		BeforeSource: source,
	})
}

// Rekey replaces the bank's ids of an account's transactions: now[i] replaces was[i].
func (b *Books) Rekey(ctx context.Context, tx pg.Tx, account id.ID, was, now []string) error {
	_, err := pg.Exec(ctx, tx, `
		update transaction t set provider_id = v.now, updated_at = clock_timestamp()
		from unnest($2::text[], $3::text[]) v (was, now) where t.account_id = $1
			and t.provider_id = v.was`, account, was, now)
	return err
}
