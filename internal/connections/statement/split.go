package statement

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// mostSplits is the maximum number of rows that an import splits, because each split takes several
// SQL statements.
const mostSplits = 1000

// A loss counts details of a file that the books cannot store.
type loss struct {
	splits, categories, memos, classes, transfers int
}

// note counts the details that are lost with a row. The account on the other side of a transfer is
// not lost if the file also contains that account.
func (l *loss) note(row statement.Row, names map[string]bool) {
	if row.Extra == nil {
		return
	}
	other := func(name string) {
		if name != "" && !names[name] {
			l.transfers++
		}
	}
	other(row.Extra.Transfer.Plain())
	l.classes += len(row.Extra.Tags)
	for _, p := range row.Extra.Parts {
		other(p.Transfer.Plain())
		l.classes += len(p.Tags)
		if p.Detail != "" {
			l.memos++
		}
	}
}

// warnings returns a warning that lists the counted details.
func (l *loss) warnings() []statement.Warning {
	var parts []string
	for _, c := range []struct {
		n         int
		one, many string
	}{
		{l.splits, "split", "splits"},
		{l.categories, "category of a part", "categories of parts"},
		{l.memos, "memo of a part", "memos of parts"},
		{l.classes, "class", "classes"},
		{l.transfers, "account on the other side of a transfer", "accounts on the other side of transfers"},
	} {
		switch {
		case c.n == 1:
			parts = append(parts, "1 "+c.one)
		case c.n > 1:
			parts = append(parts, fmt.Sprint(c.n, " ", c.many))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []statement.Warning{{
		Code: "not_kept", Message: "the transactions were imported, but these details of the file were not: " +
			strings.Join(parts, ", "),
	}}
}

// divide splits the new rows of the bundle for which the file states parts.
func (in *taking) divide(ctx context.Context, tx pg.Tx) error {
	if len(in.part.parts) == 0 || len(in.at.inserted) == 0 {
		return nil
	}
	keys := make([]string, 0, len(in.part.parts))
	for key := range in.part.parts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	rows, err := pg.All[struct {
		ID  id.ID  `db:"id"`
		Key string `db:"provider_id"`
	}](ctx, tx, `select id, provider_id from transaction where account_id = $1 and provider_id = any($2) and id = any($3)
		and deleted_at is null order by date, provider_id`, in.account, keys, in.at.inserted)
	if err != nil {
		return err
	}
	for _, r := range rows {
		parts := in.part.parts[r.Key]
		zero := slices.ContainsFunc(parts, func(p statement.Part) bool { return p.Amount.IsZero() })
		if in.splits++; len(parts) > ledger.MaxParts || zero || in.splits > mostSplits {
			in.lost.splits++
			continue
		}
		known, err := in.categoriesOf(ctx, tx, parts)
		if err != nil {
			return err
		}
		to := make([]ledger.SplitPart, len(parts))
		for i, p := range parts {
			to[i].Amount = &p.Amount
			switch slug, ok := known[p.Category.Plain()]; {
			case ok:
				to[i].Category = op.Null[string]{Set: true, Value: &slug}
			case p.Category != "":
				in.lost.categories++
			}
		}
		made, err := in.books.Divide(ctx, tx, r.ID, to)
		if err != nil {
			return err
		}
		in.entries = append(in.entries, made...)
	}
	return nil
}

// categoriesOf returns the categories for the provider categories of some parts. It uses the same
// mapping of the account's provider as for whole rows.
func (in *taking) categoriesOf(ctx context.Context, q pg.Querier, parts []statement.Part) (map[string]string, error) {
	raw := make([]string, len(parts))
	for i, p := range parts {
		raw[i] = p.Category.Plain()
	}
	rows, err := pg.All[struct {
		Raw  string `db:"raw_primary"`
		Slug string `db:"slug"`
	}](ctx, q, `select m.raw_primary, c.slug from category_mapping m join category c on c.id = m.category_id
		join account a on a.id = $1 and a.provider = m.provider
		where m.raw_primary = any($2) and m.raw_detailed = '' and m.raw_primary <> '' and c.deleted_at is null`,
		in.account, raw)
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.Raw] = r.Slug
	}
	return out, err
}
