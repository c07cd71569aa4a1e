package workflow

import (
	"context"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// state is SQL for the hash of everything that a workflow considers: the transaction t with its
// wording d, and the workflow's instructions. Comments are not included, because a new comment must
// not make the workflow decide about the transaction again.
const state = "sha256($?" + stateRest

const stateRest = `::bytea || convert_to(concat_ws(E'\x1f', d.name, d.merchant_name, nullif(d.detail, ''), t.amount,
	t.currency, coalesce(t.category_id::text, ''), coalesce(t.counterparty_id::text, ''), array_to_string(array(
		select x.tag_id::text from transaction_tag x where x.transaction_id = t.id and x.present order by 1), ' ')), 'UTF8'))`

// Remember stores that a workflow was asked about these transactions in their current state. It is
// not asked about them again until they or the workflow's instructions change.
func (d Definition) Remember(ctx context.Context, tx pg.Tx, of *id.ID, ids []id.ID) error {
	if of == nil || len(ids) == 0 {
		return nil // a workflow that has been deleted does not run again
	}
	ids = slices.Clone(ids)
	slices.SortFunc(ids, id.ID.Compare)
	_, err := pg.Exec(ctx, tx, `
		insert into workflow_seen as s (workflow_id, transaction_id, state)
		select $1, t.id, sha256($2`+stateRest+`
		from unnest($3::uuid[]) with ordinality v (id, place) join transaction t on t.id = v.id
			join descriptor d on d.id = t.descriptor_id order by v.place
		on conflict (workflow_id, transaction_id) do update set state = excluded.state, at = clock_timestamp()`,
		of, d.asked(), slices.Compact(ids))
	return err
}

// Commented returns those transactions that already have a comment of the workflow. The workflow
// does not add a second comment, because people can already read its reason.
func Commented(ctx context.Context, q pg.Querier, of *id.ID, ids []id.ID) ([]id.ID, error) {
	return pg.Values[id.ID](ctx, q, `
		select distinct c.transaction_id from comment c join workflow_run r on r.id = c.author_id
		where c.transaction_id = any($2) and c.deleted_at is null and c.author_type = 'agent' and r.workflow_id = $1`,
		of, ids)
}

// forget removes what Remember stored for skipped transactions. The workflow's decision about them
// was not applied, so it is asked again if they still match.
func forget(ctx context.Context, tx pg.Tx, of *id.ID, skipped []PlanSkip) error {
	var ids []id.ID
	for _, s := range skipped {
		if s.Subject == journal.Transaction {
			ids = append(ids, s.SubjectID)
		}
	}
	if of == nil || len(ids) == 0 {
		return nil
	}
	_, err := pg.Exec(ctx, tx, `delete from workflow_seen where workflow_id = $1 and transaction_id = any($2)`, of, ids)
	return err
}
