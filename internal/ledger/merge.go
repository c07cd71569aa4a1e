package ledger

import (
	"context"
	"iter"
	"slices"
	"time"

	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/pg"
)

// Merged is what a page of a bank's transactions did to the books.
type Merged struct {
	Inserted  []id.ID         // transactions that are new
	Changed   []id.ID         // transactions of which a field changed that rules read: those run again
	Touched   int64           // transactions of which only other fields changed
	Unchanged int64           // transactions that were stored just so; nothing was written for them
	Posted    int64           // of the changed ones, those that were pending under another id
	Entries   []journal.Entry // for the change that the page is part of

	accounts []id.ID   // of the changed ones
	before   []pg.Date // and their days until now
}

// Merge puts a page of a bank's transactions into the books: COPY into a temporary table, then what differs and what is new, in as many statements for ten thousand as for ten.
// What a person or a rule made of a transaction stays; a category that only followed from the bank's own follows again; a tombstone of the bank's is lifted when it brings the transaction back, and a person's is not.
// One caller at a time may merge into an account. No two rows of a page may have the same identity.
func (b *Books) Merge(ctx context.Context, tx pg.Tx, rows iter.Seq[Incoming]) (Merged, error) {
	var out Merged
	if err := b.stage(ctx, tx, rows); err != nil {
		return out, err
	}
	_, err := pg.Exec(ctx, tx, `
		insert into descriptor (name, merchant_name, folded)
		select distinct on (i.name, i.merchant_name) i.name, i.merchant_name, i.folded from incoming i
		where not exists (select from descriptor d where d.name = i.name and d.merchant_name = i.merchant_name)
		on conflict (name, merchant_name) do nothing`)
	if err != nil {
		return out, err
	}
	// The old id of a transaction that has posted since.
	known, err := pg.Exec(ctx, tx, `delete from incoming i using transaction_alias a where a.account_id = i.account_id and a.provider_id = i.provider_id`)
	if err != nil {
		return out, err
	}
	if out.Posted, err = post(ctx, tx); err != nil {
		return out, err
	}
	if err := out.change(ctx, tx); err != nil {
		return out, err
	}
	err = b.drawn(ctx, tx, func(tx pg.Tx) (err error) {
		out.Inserted, err = pg.Values[id.ID](ctx, tx, insertIncoming+`
			where not exists (select from transaction t where t.account_id = i.account_id and t.provider_id = i.provider_id)
			order by i.date, i.id
			returning id`)
		return err
	})
	if err != nil {
		return out, err
	}
	if ids := slices.Concat(out.Inserted, out.Changed); len(ids) > 0 {
		if err := touch(ctx, tx, ids, out.accounts, out.before); err != nil {
			return out, err
		}
	}
	staged, err := pg.Value[int64](ctx, tx, `select count(*) from incoming`)
	out.Unchanged = staged + known - int64(len(out.Inserted)) - int64(len(out.Changed)) - out.Touched
	return out, err
}

// post gives pending transactions the ids under which the bank has posted them, and remembers the old ones. It stays the same transaction, with all that was made of it.
func post(ctx context.Context, tx pg.Tx) (int64, error) {
	return pg.Exec(ctx, tx, `
		with posted as (
			update transaction t set provider_id = i.provider_id, updated_at = clock_timestamp()
			from incoming i
			where i.pending_id <> '' and t.account_id = i.account_id and t.provider_id = i.pending_id and t.pending
				and not exists (select from transaction x where x.account_id = i.account_id and x.provider_id = i.provider_id)
			returning t.id, t.account_id, i.pending_id)
		insert into transaction_alias (account_id, provider_id, transaction_id) select account_id, pending_id, id from posted`)
}

// change writes what differs from what is stored, and nothing else: a row that is the same is not even locked.
func (out *Merged) change(ctx context.Context, tx pg.Tx) error {
	type changed struct {
		ID             id.ID   `db:"id"`
		Heard          bool    `db:"heard"` // by rules
		CategoryBefore *string `db:"category_before"`
		CategoryAfter  *string `db:"category_after"`
		SourceBefore   *string `db:"source_before"`
		SourceAfter    *string `db:"source_after"`
		Lifted         *string `db:"lifted"` // the tombstone that is gone
		Account        id.ID   `db:"account_id"`
		DateBefore     pg.Date `db:"date_before"`
	}
	rows, err := pg.All[changed](ctx, tx, `
		with fresh as (
			select t.id, t.date as date_before, i.date, i.authorized_date, i.datetime, i.amount, i.currency, d.id as descriptor_id, nullif(i.category_primary, '') as category_primary,
				nullif(i.category_detailed, '') as category_detailed, nullif(i.payment_channel, '') as payment_channel, i.pending, m.category_id as mapped,
				t.category_id as category_before, t.category_source as source_before, coalesce(t.category_source, 'provider') = 'provider' as follows,
				case when t.deleted_source = 'provider' then t.deleted_at end as lifted,
				(t.date, t.authorized_date, t.amount, t.currency, t.descriptor_id, t.category_primary, t.category_detailed, t.pending)
					is distinct from (i.date, i.authorized_date, i.amount, i.currency, d.id, nullif(i.category_primary, ''), nullif(i.category_detailed, ''), i.pending) as heard
			from incoming i
			join transaction t on t.account_id = i.account_id and t.provider_id = i.provider_id
			join descriptor d on d.name = i.name and d.merchant_name = i.merchant_name
			join account a on a.id = i.account_id
			left join category_mapping m on m.provider = a.provider and m.raw_primary = i.category_primary and m.raw_detailed = i.category_detailed
			where (t.date, t.authorized_date, t.datetime, t.amount, t.currency, t.descriptor_id, t.category_primary, t.category_detailed, t.payment_channel, t.pending)
				is distinct from (i.date, i.authorized_date, i.datetime, i.amount, i.currency, d.id, nullif(i.category_primary, ''), nullif(i.category_detailed, ''), nullif(i.payment_channel, ''), i.pending)
				or t.deleted_source = 'provider')
		update transaction t set
			date = f.date, authorized_date = f.authorized_date, datetime = f.datetime, amount = f.amount, currency = f.currency, descriptor_id = f.descriptor_id,
			category_primary = f.category_primary, category_detailed = f.category_detailed, payment_channel = f.payment_channel, pending = f.pending,
			category_id = case when f.follows then f.mapped else t.category_id end,
			category_source = case when not f.follows then t.category_source when f.mapped is not null then 'provider' end,
			deleted_at = case when f.lifted is null then t.deleted_at end, deleted_source = case when f.lifted is null then t.deleted_source end, updated_at = clock_timestamp()
		from fresh f where t.id = f.id
		returning t.id, f.heard, f.category_before::text as category_before, t.category_id::text as category_after, f.source_before, t.category_source as source_after, f.lifted::text as lifted,
			t.account_id, f.date_before`)
	if err != nil {
		return err
	}
	provider := "provider"
	for _, r := range rows {
		if r.Heard || r.Lifted != nil {
			out.Changed = append(out.Changed, r.ID)
			out.accounts, out.before = append(out.accounts, r.Account), append(out.before, r.DateBefore)
		} else {
			out.Touched++
		}
		if !equal(r.CategoryBefore, r.CategoryAfter) {
			out.Entries = append(out.Entries, journal.Entry{
				Subject: journal.Transaction, SubjectID: r.ID, Field: journal.FieldCategory,
				Before: r.CategoryBefore, After: r.CategoryAfter, BeforeSource: r.SourceBefore, AfterSource: r.SourceAfter,
			})
		}
		if r.Lifted != nil {
			out.Entries = append(out.Entries, journal.Entry{Subject: journal.Transaction, SubjectID: r.ID, Field: journal.FieldDeleted, Before: r.Lifted, BeforeSource: &provider})
		}
	}
	return nil
}

// Remove takes transactions that a bank no longer knows out of the books, by the bank's ids. They are tombstones that the bank lifts if it brings them back; what a person deleted stays theirs, and an id from before a posting names nothing.
func (b *Books) Remove(ctx context.Context, tx pg.Tx, account id.ID, providerIDs []string) ([]journal.Entry, error) {
	ids, err := pg.Values[id.ID](ctx, tx, `select id from transaction where account_id = $1 and provider_id = any($2) and deleted_at is null order by id`, account, providerIDs)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	now, provider := pg.At(time.Now()).String(), "provider"
	edits := make([]Edit, len(ids))
	for i, u := range ids {
		edits[i] = Edit{Transaction: u, Field: journal.FieldDeleted, Value: &now, Source: &provider}
	}
	_, entries, err := b.Apply(ctx, tx, edits, false)
	return entries, err
}
