package ledger

import (
	"context"
	"slices"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// Heads maps each counterparty to the one that stands for it: the one that it was merged into, or
// itself. Those counterparties stay in use until the transaction ends. Deleted ones are left out.
func Heads(ctx context.Context, tx pg.Tx, ids []id.ID) (map[id.ID]id.ID, error) {
	type pair struct {
		From id.ID `db:"from_id"`
		To   id.ID `db:"to_id"`
	}
	asked := slices.Clone(ids)
	for {
		pairs, err := pg.All[pair](ctx, tx, `
			select id as from_id, coalesce(canonical_id, id) as to_id from counterparty
				where id = any($1) and deleted_at is null order by id for share`, asked)
		if err != nil {
			return nil, err
		}
		to := make(map[id.ID]id.ID, len(pairs))
		for _, p := range pairs {
			to[p.From] = p.To
		}
		// Lock the counterparty that took over too, and check it again. Another transaction may
		// have been merging or deleting it.
		known := len(asked)
		for _, p := range pairs {
			if !slices.Contains(asked, p.To) {
				asked = append(asked, p.To)
			}
		}
		if len(asked) > known {
			continue
		}
		heads := make(map[id.ID]id.ID, len(ids))
		for _, u := range ids {
			if head, ok := to[u]; ok && to[head] == head {
				heads[u] = head
			}
		}
		return heads, nil
	}
}

// ResolveTransactions turns references into ids, all in one query, in the order given. A reference
// without a transaction becomes the zero id.
func ResolveTransactions(ctx context.Context, q pg.Querier, refs []string) ([]id.ID, error) {
	type named struct {
		ID    id.ID  `db:"id"`
		Short string `db:"short_id"`
	}
	texts, uuids := pg.Split(refs)
	rows, err := pg.All[named](ctx, q, `select id, short_id from transaction
		where id = any($1::uuid[]) or short_id = any($2)`, uuids, texts)
	if err != nil {
		return nil, err
	}
	known := make(map[string]id.ID, 2*len(rows))
	for _, r := range rows {
		known[r.ID.String()], known[r.Short] = r.ID, r.ID
	}
	out := make([]id.ID, len(refs))
	for i, ref := range refs {
		if u, ok := known[ref]; ok {
			out[i] = u
		} else {
			out[i] = known[strings.ToLower(ref)]
		}
	}
	return out, nil
}

func noTransaction(field string) error {
	return pg.Named(pg.ErrNoRow, field, "transaction", "{transaction.list} lists them")
}
