package statement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"coffer/internal/bank"
	"coffer/internal/bank/statement"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// heads returns the names of a table's columns. It returns none if the table has no header, because
// then files with different content look the same.
func heads(p statement.File) (out []string) {
	if p.Table == nil || p.Table.HeaderRow == nil {
		return nil
	}
	for _, c := range p.Table.Columns {
		out = append(out, c.Name.Plain())
	}
	return out
}

// lacks reports whether a file has columns that the last one did not have.
func (r reading) lacks(p statement.File) bool {
	return len(r.Heads) > 0 && slices.ContainsFunc(heads(p), func(name string) bool {
		return !slices.Contains(r.Heads, name)
	})
}

// withCurrency returns the last file's options with the column of currencies that this file has and
// the last one did not have. It returns nil if there is no such column. Nobody chose to ignore that
// column, and without it rows would count in the wrong currency.
func (r reading) withCurrency(p, fresh statement.File) statement.Own {
	at, ok := fresh.Table.Mapping["currency"]
	if _, mapped := p.Table.Mapping["currency"]; !ok || mapped ||
		slices.Contains(r.Heads, fresh.Table.Columns[at].Name.Plain()) {
		return nil
	}
	var mapping FileMapping
	if json.Unmarshal(r.Own["mapping"], &mapping) != nil {
		return nil
	}
	mapping["currency"] = json.RawMessage(strconv.Itoa(at))
	out := maps.Clone(r.Own)
	var err error
	if out["mapping"], err = json.Marshal(mapping); err != nil {
		return nil
	}
	return out
}

// wentInto returns the account that files with the same columns were imported into before. It
// returns nil if there are several, or if the file has another number, bank or currency: then a
// person must choose.
func (s *Statements) wentInto(ctx context.Context, q pg.Querier, p statement.File) (*id.ID, error) {
	same := heads(p)
	if len(same) == 0 {
		return nil, nil //nolint:nilnil // none
	}
	rows, err := pg.All[struct {
		ID      id.ID  `db:"id"`
		Bank    string `db:"bank"`
		Options []byte `db:"statement_options"`
	}](ctx, q, `select id, coalesce(institution_name, '') as bank, statement_options from connection
		where provider = $1 and status <> 'disconnected' and statement_options is not null order by id`, bank.CSV)
	if err != nil {
		return nil, err
	}
	var found []id.ID
	for _, r := range rows {
		var was reading
		if err := json.Unmarshal(r.Options, &was); err != nil {
			return nil, fmt.Errorf("stored mapping: %w", err)
		}
		if !slices.Equal(was.Heads, same) || !sameBank(r.Bank, p.Bank) {
			continue
		}
		accounts, err := s.accountsOf(ctx, q, r.ID)
		if err != nil {
			return nil, err
		}
		for _, a := range distinct(accounts) {
			if a.ofFile(p) == nil && (p.Currency == "" || p.Currency == a.Currency) && !slices.Contains(found, a.Into) {
				found = append(found, a.Into)
			}
		}
	}
	if len(found) != 1 {
		return nil, nil //nolint:nilnil // none, or a choice for a person
	}
	return &found[0], nil
}

// RowsElsewhere is another account that has rows of a file.
type RowsElsewhere struct {
	AccountID id.ID  `json:"account_id" db:"account_id"`
	ShortID   string `json:"short_id" db:"short_id"`
	Rows      int    `json:"rows" db:"rows"`
}

// comparedRows is how many rows of a file are looked for in other accounts.
const comparedRows = 5000

// elsewhere returns the other account that has most of the files' new rows: rows of the same day,
// amount and text. It returns nil if fewer than a fifth of the rows match, because that may be
// chance.
func elsewhere(ctx context.Context, q pg.Querier, account id.ID, files []namedFile) (*RowsElsewhere,
	error,
) {
	var days, names []string
	var cents []int64
	for _, f := range files {
		for row, err := range f.Rows(ctx) {
			if len(days) == comparedRows {
				break
			}
			if _, is := errors.AsType[*statement.RowError](err); is {
				continue
			}
			if err != nil {
				return nil, err
			}
			days, names = append(days, row.Date), append(names, row.Name.Plain())
			cents = append(cents, row.Amount.Cents())
		}
	}
	found, err := pg.All[RowsElsewhere](ctx, q, `
		with f as (select distinct v.day::date as day, v.cents, v.name
			from unnest($2::text[], $3::bigint[], $4::text[]) v (day, cents, name)),
		same as (select f.day, f.cents, f.name, t.account_id from f
			join transaction t on t.date = f.day and t.amount = f.cents / 100.0 and t.deleted_at is null
			join descriptor d on d.id = t.descriptor_id and d.name = f.name)
		select a.id as account_id, a.short_id, count(distinct (s.day, s.cents, s.name))::int as rows
		from same s join account a on a.id = s.account_id
		where a.id <> $1 and a.deleted_at is null and not exists (select from same o where o.account_id = $1
			and (o.day, o.cents, o.name) = (s.day, s.cents, s.name))
		group by a.id order by rows desc, a.id limit 1`, account, days, cents, names)
	if err != nil || len(found) == 0 || found[0].Rows*5 < len(days) {
		return nil, err
	}
	return &found[0], nil
}

// countedTwice warns about rows that another account already has.
func countedTwice(of *RowsElsewhere, rows int) []statement.Warning {
	if of == nil {
		return nil
	}
	return []statement.Warning{{
		Code: "rows_elsewhere",
		Message: fmt.Sprintf("%d of %d rows are already in another account (%s); imported here, they would count twice",
			of.Rows, rows, of.ShortID),
	}}
}
