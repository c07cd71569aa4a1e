package ledger

import (
	"context"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// store writes the rows and tags that entries changed, each kind in one statement and in the order
// of the entries, so neighboring rows are written together.
func (b *Books) store(ctx context.Context, tx pg.Tx, now *current, entries []journal.Entry) error {
	var rows, moved, divided, rewritten, left []id.ID
	var tags []tagKey
	seen, seenTags, fields := make(map[id.ID]bool, len(entries)), map[tagKey]bool{}, map[string]bool{}
	for _, e := range entries {
		fields[e.Field] = true
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
		if e.Field == journal.FieldExcluded || e.Field == journal.FieldRefund {
			left = append(left, e.SubjectID)
		}
		if isHand(e.Field) {
			rewritten = append(rewritten, e.SubjectID)
		}
		if !seen[e.SubjectID] {
			seen[e.SubjectID], rows = true, append(rows, e.SubjectID)
		}
	}
	if err := storeRows(ctx, tx, now, rows, fields); err != nil {
		return err
	}
	if err := storeTags(ctx, tx, now, tags); err != nil {
		return err
	}
	if err := storeSplits(ctx, tx, now, divided); err != nil {
		return err
	}
	if err := storeLeftOut(ctx, tx, now, left); err != nil {
		return err
	}
	if err := b.storeHand(ctx, tx, now, rewritten); err != nil {
		return err
	}
	return b.followed(ctx, tx, append(moved, rewritten...))
}

// storeRows writes only the columns of the edited fields. Most edits set categories and tags. They
// have statements of their own, because nothing else has to be updated after them.
func storeRows(ctx context.Context, tx pg.Tx, now *current, rows []id.ID, fields map[string]bool) error {
	if len(rows) == 0 {
		return nil
	}
	column := func(of func(*state) *string) []*string {
		out := make([]*string, len(rows))
		for i, u := range rows {
			out[i] = of(now.rows[u])
		}
		return out
	}
	category, source := func(s *state) *string { return s.Category }, func(s *state) *string { return s.CategorySource }
	var err error
	switch {
	case fields[journal.FieldCounterparty] || fields[journal.FieldDeleted]:
		if _, err = pg.Exec(ctx, tx, `
			update transaction t set
				category_id = v.category::uuid, category_source = v.category_source,
					counterparty_id = v.counterparty::uuid, counterparty_source = v.counterparty_source,
				deleted_at = v.deleted::timestamptz, deleted_source = v.deleted_source, updated_at = clock_timestamp()
			from unnest(@ids::uuid[], @categories::text[], @category_sources::text[], @counterparties::text[],
				@counterparty_sources::text[], @deleted::text[], @deleted_sources::text[])
				v (id, category, category_source, counterparty, counterparty_source, deleted, deleted_source)
			where t.id = v.id`, pg.Args{
			"ids": rows, "categories": column(category), "category_sources": column(source),
			"counterparties":       column(func(s *state) *string { return s.Counterparty }),
			"counterparty_sources": column(func(s *state) *string { return s.CounterpartySource }),
			"deleted":              column(func(s *state) *string { return s.Deleted }),
			"deleted_sources":      column(func(s *state) *string { return s.DeletedSource }),
		}); err != nil {
			return err
		}
		if fields[journal.FieldDeleted] {
			return wrote(ctx, tx, rows)
		}
		// A changed counterparty concerns the sweep of forms, but neither parts nor proofs.
		var places []place
		if places, err = placesOf(ctx, tx, rows); err == nil {
			err = noteForms(ctx, tx, write{places: places})
		}
	case fields[journal.FieldCategory]:
		_, err = pg.Exec(ctx, tx, `
			update transaction t set category_id = v.category::uuid, category_source = v.source,
				updated_at = clock_timestamp()
			from unnest($1::uuid[], $2::text[], $3::text[]) v (id, category, source) where t.id = v.id`,
			rows, column(category), column(source))
	default:
		_, err = pg.Exec(ctx, tx, `
			update transaction t set updated_at = clock_timestamp() from unnest($1::uuid[]) v (id)
			where t.id = v.id`, rows)
	}
	return err
}

// storeLeftOut writes fields that few transactions have: the reason why they are left out of
// totals, and the purchase that they refund.
func storeLeftOut(ctx context.Context, tx pg.Tx, now *current, ids []id.ID) error {
	if len(ids) == 0 {
		return nil
	}
	reasons, sources, refunds := make([]*string, len(ids)), make([]*string, len(ids)), make([]*string, len(ids))
	for i, u := range ids {
		s := now.rows[u]
		reasons[i], sources[i], refunds[i] = s.Excluded, s.ExcludedSource, s.Refund
	}
	_, err := pg.Exec(ctx, tx, `
		update transaction t set excluded_reason = v.reason, excluded_source = v.source, refund_of = v.refund::uuid,
			updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) v (id, reason, source, refund) where t.id = v.id`,
		ids, reasons, sources, refunds)
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
		if t.Source == "" { // a revert to the state before the tag was first set or removed
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
