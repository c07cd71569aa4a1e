package payee

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// GetPayee is the input of Get.
type GetPayee struct {
	Payee string `json:"payee" minLength:"1" maxLength:"64" doc:"Key of a payee, or the short id or UUID of a counterparty" example:"IlYHj4BXxrM"`
}

// A PayeeDetail is one payee.
type PayeeDetail struct { //nolint:revive // it names a schema of the API, where no package stands before it
	Payee        id.Key             `json:"payee" doc:"Key of the payee, for the filter payee"`
	PayeeName    text.Untrusted     `json:"payee_name" doc:"Untrusted: the counterparty's name, else the name in the bank's text"`
	Counterparty *PayeeCounterparty `json:"counterparty" doc:"null: these transactions have no counterparty"`
	Totals       []Payee            `json:"totals" doc:"By currency"`
	Months       []PayeeMonth       `json:"months" doc:"Newest first, at most 240"`
	Aliases      []PayeeAlias       `json:"aliases" doc:"The bank's texts for it: the 20 most common"`
	Similar      []SimilarPayee     `json:"similar" doc:"Payees that look like it, at most 8"`
}

// A PayeeMonth holds the money paid to and received from a payee in a month.
type PayeeMonth struct { //nolint:revive // it names a schema of the API, where no package stands before it
	Month    string         `json:"month" db:"month" example:"2026-03"`
	Currency money.Currency `json:"iso_currency_code" db:"currency"`
	Count    int64          `json:"count" db:"count"`
	MoneyIn  money.Total    `json:"money_in" db:"money_in"`
	MoneyOut money.Total    `json:"money_out" db:"money_out"`
}

// A PayeeAlias is a text that a bank writes for a payee.
type PayeeAlias struct { //nolint:revive // it names a schema of the API, where no package stands before it
	Payee id.Key         `json:"payee" db:"payee"`
	Text  text.Untrusted `json:"text" db:"wording" doc:"Untrusted: the bank's text"`
	Count int64          `json:"count" db:"count"`
}

// lists is a hint that names the operation which lists payees.
const lists = "{payee.list} lists them"

// Get shows one payee.
func (p *Payees) Get(ctx context.Context, q pg.Querier, in GetPayee) (PayeeDetail, error) {
	f, err := filterOf(ctx, q, in.Payee)
	if err != nil {
		return PayeeDetail{}, err
	}
	rows, err := p.rows(ctx, q, f)
	if err != nil {
		return PayeeDetail{}, err
	}
	if len(rows) == 0 {
		return PayeeDetail{}, pg.Found(pg.ErrNoRow, "payee", lists)
	}
	all := sorted(rows, "count")
	first := all[0]
	out := PayeeDetail{Payee: first.Payee, PayeeName: text.Name(first.text), Totals: []Payee{}}
	for _, r := range all {
		out.Totals = append(out.Totals, r.payee(r.text))
	}
	out.Counterparty = out.Totals[0].Counterparty
	if err := p.detail(ctx, q, f, &out); err != nil {
		return PayeeDetail{}, err
	}
	found, err := p.resembling(ctx, q, first.text)
	if err != nil {
		return PayeeDetail{}, err
	}
	out.Similar = others(found, first.text, first.Category, func(r row) bool { return first.Own || r.Key == first.Key })
	return out, nil
}

// filterOf returns the filter for a payee: its counterparty, or its key if it has none.
func filterOf(ctx context.Context, q pg.Querier, ref string) (ledger.Filter, error) {
	f := ledger.Filter{Excluded: new(false)}
	key, err := id.ParseKey(ref)
	if err != nil {
		other, err := pg.Value[id.ID](ctx, q, `select coalesce(canonical_id, id) from counterparty
			where deleted_at is null and (id = $1 or short_id = $2)`, pg.RefTo(ref).IDArgs()...)
		f.CounterpartyID = new(other.String())
		return f, pg.Found(err, "payee", lists)
	}
	other, err := pg.Value[*id.ID](ctx, q, `
		select t.counterparty_id from descriptor d join transaction t on t.descriptor_id = d.id
		where d.payee = $1 and t.deleted_at is null
		group by 1 order by t.counterparty_id is not null, count(*) desc, 1 limit 1`, key)
	if errors.Is(err, pg.ErrNoRow) {
		return f, pg.Found(err, "payee", lists)
	}
	if other != nil {
		f.CounterpartyID = new(other.String())
	} else {
		f.Payee, f.CounterpartyID = new(ref), new("none")
	}
	return f, err
}

// detail reads the months and the wordings of a payee.
func (p *Payees) detail(ctx context.Context, q pg.Querier, f ledger.Filter, out *PayeeDetail) error {
	where, none, err := p.books.Where(ctx, q, f)
	if err == nil && none {
		err = pg.Found(pg.ErrNoRow, "payee", lists)
	}
	if err != nil {
		return err
	}
	if out.Months, err = pg.All[PayeeMonth](ctx, q, fmt.Sprintf(`
		select to_char(date_trunc('month', t.date::timestamp), 'YYYY-MM') as month, t.currency, count(*) as count,
			-coalesce(sum(t.amount) filter (where t.amount < 0 and `+journal.NotLeftOut+`), 0) as money_in,
			coalesce(sum(t.amount) filter (where t.amount > 0 and `+journal.NotLeftOut+`), 0) as money_out
		from transaction t %s group by 1, 2 order by 1 desc, 2 limit 240`, where.SQL()), where.Args()...); err != nil {
		return err
	}
	out.Aliases, err = pg.All[PayeeAlias](ctx, q, fmt.Sprintf(`
		select coalesce(d.payee, d.id) as payee, coalesce(nullif(d.merchant_name, ''), d.name) as wording,
			sum(x.n)::bigint as count
		from (select t.descriptor_id, count(*) as n from transaction t %s group by 1) x
		join descriptor d on d.id = x.descriptor_id group by 1, 2 order by 3 desc, 2 limit 20`, where.SQL()), where.Args()...)
	return err
}

// resembling reads the payees whose wordings contain the longest word of a name, or whose
// counterparty's name contains it.
func (p *Payees) resembling(ctx context.Context, q pg.Querier, name string) ([]row, error) {
	longest := ""
	for _, w := range wordsOf(name) {
		if len(w) > len(longest) {
			longest = w
		}
	}
	if len(longest) < 3 {
		return nil, nil
	}
	found, err := p.rows(ctx, q, ledger.Filter{
		Search: new(strings.ToLower(longest)), SearchMode: "contains",
		Excluded: new(false),
	})
	return found, err
}
