package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/books/phrase"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// ListTransactions asks for a page of transactions.
type ListTransactions struct {
	Filter
	SortBy    *string `json:"sort_by,omitempty" enum:"date,amount,name,created_at" doc:"date is the default and the only order with more pages" agent:"Only date, the default, has more pages"`
	SortOrder *string `json:"sort_order,omitempty" enum:"asc,desc" doc:"desc by default; asc for name" agent:"-"`
	Fields    string  `json:"fields,omitempty" maxLength:"1000" screen:"core,detail,payee_name,category_display_name" doc:"Comma-separated fields, or minimal, core, review (with the memo), all; ids are always included" agent:"Comma-separated, or minimal, core, review (with the memo), all"`
	Format    string  `json:"format,omitempty" enum:"objects,table" default:"objects" doc:"table: columns and rows instead of objects, half as long" agent:"table: half as long"`
	CountOnly bool    `json:"count_only,omitempty" doc:"Return only the number of matches" agent:"-"`
	Totals    bool    `json:"totals,omitempty" doc:"With count_only: also the sums of the matches" agent:"With count_only: their sums too"`
	Cursor    string  `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same filters" agent:"-"`
	Limit     int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size" agent:"-"`
}

// Transactions is a page of transactions.
type Transactions struct {
	Transactions []Transaction `json:"transactions" partial:"id,short_id"`
	NextCursor   string        `json:"next_cursor" doc:"Empty on the last page"`
	HasMore      bool          `json:"has_more"`
	Count        *int64        `json:"count,omitempty" doc:"The number of matches; only with count_only"`
	Totals       []CountTotal  `json:"totals,omitzero" doc:"The sums of the matches by currency; only with totals"`
	Notes        []op.Note     `json:"notes,omitempty" doc:"Present if rows were left out"`
	// op.Tabled makes Columns and Rows from Transactions; the fields only describe them.
	Columns []string            `json:"columns,omitempty" doc:"With format table: the names of the fields"`
	Rows    [][]json.RawMessage `json:"rows,omitempty" doc:"With format table: the transactions, each a list of values in the order of columns"`
	fields  fieldSet
	table   bool
}

// Transactions returns a page of transactions.
func (b *Books) Transactions(ctx context.Context, q pg.Querier, in ListTransactions) (Transactions, error) {
	if in.CountOnly {
		n, err := b.Counted(ctx, q, CountRequest{Filter: in.Filter, Totals: in.Totals})
		return Transactions{Transactions: []Transaction{}, Count: &n.Count, Totals: n.Totals, Notes: n.Notes}, err
	}
	if in.Fields == "" && op.SurfaceOf(ctx) == op.Tool {
		in.Fields = "core"
	}
	fields, err := fieldsNamed(in.Fields)
	if err != nil {
		return Transactions{}, err
	}
	order, paged := in.orderSQL()
	if in.Cursor != "" && !paged {
		return Transactions{}, errs.New(errs.InvalidCursor,
			"only the date order has more pages; omit sort_by or the cursor")
	}
	pager, err := b.db.Pager(ctx, "transactions", struct {
		Filter
		Order string
	}{in.Filter, order})
	if err != nil {
		return Transactions{}, err
	}
	r := reader{
		books: b, q: q, in: in, pager: pager, order: order, ascending: strings.Contains(order, "asc"),
		size: pageSize(in.Limit + 1), known: b.known(q),
	}
	rows, err := r.rows(ctx)
	if err != nil {
		return Transactions{}, err
	}
	out := Transactions{Transactions: []Transaction{}, fields: fields, table: in.Format == "table"}
	if len(rows) == 0 {
		return out, nil
	}
	out.Transactions = rows[:min(len(rows), in.Limit)]
	out.HasMore = len(rows) > in.Limit
	// A caller that asks for the first page of an order without pages gets all rows, because it
	// cannot get the rest in any other way.
	if op.SurfaceOf(ctx) == op.Tool && (paged || !op.Given(ctx, "limit")) && out.cut(op.PageBytes) && !paged {
		out.Notes = op.Truncated()
	}
	if out.HasMore && paged {
		last := out.Transactions[len(out.Transactions)-1]
		out.NextCursor, err = pager.Encode(last.Date.String(), last.ID.String())
	}
	return out, err
}

// orderSQL returns the sort order as SQL, and whether it has further pages.
func (in ListTransactions) orderSQL() (sql string, paged bool) {
	by, direction := "date", "desc"
	if in.SortBy != nil {
		by = *in.SortBy
	}
	if by == "name" {
		direction = "asc"
	}
	if in.SortOrder != nil {
		direction = *in.SortOrder
	}
	columns := map[string]string{
		"date": "t.date %[1]s, t.id %[1]s", "amount": "t.amount %[1]s, t.id %[1]s",
		"name": "lower(d.name) %[1]s, t.id %[1]s", "created_at": "t.created_at %[1]s, t.id %[1]s",
	}
	return fmt.Sprintf(columns[by], direction), by == "date"
}

// A CountRequest asks how many transactions match a filter.
type CountRequest struct {
	Filter
	Totals bool `json:"totals,omitempty" doc:"Return the sums of the matches by currency too"`
}

// A Count is the number of transactions that match a filter.
type Count struct {
	Count  int64        `json:"count"`
	Totals []CountTotal `json:"totals,omitzero" doc:"With totals: the sums of the same transactions, by currency"`
	Notes  []op.Note    `json:"notes,omitempty" doc:"Present if transactions are left out of the sums"`
}

// A CountTotal adds up the matches in one currency: all rows of a list, except those that somebody
// left out of totals.
type CountTotal struct {
	Currency money.Currency `json:"iso_currency_code" db:"currency"`
	MoneyIn  money.Total    `json:"money_in" db:"money_in" doc:"Money in, as a positive number"`
	MoneyOut money.Total    `json:"money_out" db:"money_out" doc:"Money out, as a positive number"`
	Net      money.Total    `json:"net" db:"net" doc:"money_in minus money_out"`
	Count    int64          `json:"-" db:"count"`
	Counted  CountedSums    `json:"counted" db:"-" doc:"Only those that totals of income and spending count: no transfers, no duplicates, nothing excluded, no hidden accounts"`
}

// CountedSums adds up, in one currency, the part of a list that counts as income or spending. The
// list also shows money that moved between the household's own accounts, which a reader could
// mistake for income and spending.
type CountedSums struct {
	MoneyIn  money.Total `json:"money_in" doc:"Money in, as a positive number"`
	MoneyOut money.Total `json:"money_out" doc:"Money out, as a positive number"`
	Net      money.Total `json:"net" doc:"money_in minus money_out"`
	Count    int64       `json:"count"`
}

// CountedColumns are CountedSums as CountedSQL returns them.
type CountedColumns struct {
	MoneyIn  money.Total `db:"counted_in"`
	MoneyOut money.Total `db:"counted_out"`
	Net      money.Total `db:"counted_net"`
	Count    int64       `db:"counted"`
}

// CountedSQL returns the SQL of CountedColumns, for a group of the transactions t of a filter. A
// hidden account counts only if the filter names accounts, as in a summary.
func (f Filter) CountedSQL() string {
	counted := journal.Counted + ` and not t.transfer and (t.category_id in (select c.id from category c
		left join category p on p.id = c.parent_id where coalesce(p.kind, c.kind) = 'transfer')) is not true`
	if len(f.AccountID) == 0 {
		counted += " and t.account_id not in (select id from account where hidden)"
	}
	return fmt.Sprintf(`coalesce(-sum(t.amount) filter (where t.amount < 0 and %[1]s), 0) as counted_in,
		coalesce(sum(t.amount) filter (where t.amount > 0 and %[1]s), 0) as counted_out,
		coalesce(-sum(t.amount) filter (where %[1]s), 0) as counted_net, count(*) filter (where %[1]s) as counted`,
		counted)
}

// Summed returns the condition for the transactions t that sums of the list count. Transactions
// that somebody left out of totals count only if the filter asks for them.
func (f Filter) Summed() string {
	if f.ExcludedReason != nil && *f.ExcludedReason != "none" {
		return "true"
	}
	return journal.NotLeftOut
}

// Counted counts the transactions of a filter, and adds them up if asked to.
func (b *Books) Counted(ctx context.Context, q pg.Querier, in CountRequest) (Count, error) {
	if in.Totals {
		return b.totals(ctx, q, in.Filter)
	}
	return b.Count(ctx, q, in.Filter)
}

// Count counts the transactions of a filter.
func (b *Books) Count(ctx context.Context, q pg.Querier, in Filter) (Count, error) {
	known := b.known(q)
	n, version, err := b.count(ctx, q, in, known)
	if err == nil && known != nil && version != known.version {
		known = nil
		n, version, err = b.count(ctx, q, in, nil)
	}
	// Keep the names for the next call, so that a server which only counts has them too.
	if err == nil && known == nil && !version.IsZero() && q == pg.Querier(b.db) {
		_, err = b.names(ctx, q, version)
	}
	return Count{Count: n}, err
}

// totals counts and adds up in one statement, so that both see the same transactions.
func (b *Books) totals(ctx context.Context, q pg.Querier, in Filter) (out Count, err error) {
	where, none, err := b.Where(ctx, q, in)
	if err != nil || none {
		return Count{Totals: []CountTotal{}}, err
	}
	type row struct {
		CountTotal
		CountedColumns
		LeftOut int64 `db:"left_out"`
	}
	rows, err := pg.All[row](ctx, q, fmt.Sprintf(`
		select t.currency, -t.negative as money_in, t.total - t.negative as money_out, -t.total as net, t.count,
			t.left_out, t.counted_in, t.counted_out, t.counted_net, t.counted
		from (
			select t.currency, coalesce(sum(t.amount) filter (where t.amount < 0 and %[2]s), 0) as negative,
				coalesce(sum(t.amount) filter (where %[2]s), 0) as total, count(*) as count,
				count(*) filter (where not (%[2]s)) as left_out, %[3]s
			from transaction t %[1]s group by 1) t
		order by t.currency`, where.SQL(), in.Summed(), in.CountedSQL()), where.Args()...)
	var left int64
	out.Totals = make([]CountTotal, len(rows))
	for i, r := range rows {
		out.Totals[i] = r.CountTotal
		out.Totals[i].Counted = CountedSums(r.CountedColumns)
		out.Count += r.CountTotal.Count
		left += r.LeftOut
	}
	if left > 0 {
		out.Notes = []op.Note{{
			Code: "excluded", Count: &left,
			Message: phrase.Several(int(left)) + " counted, but left out of the sums; list with excluded_reason any",
		}}
	}
	return out, err
}

// count counts the transactions of the filter, using the known names, and returns the version of
// the names that applies.
func (b *Books) count(ctx context.Context, q pg.Querier, in Filter, known *naming) (n int64, version id.ID, err error) {
	s, err := b.resolve(ctx, q, in, known)
	if err != nil || s.none {
		return 0, version, err
	}
	s.worded()
	// PostgreSQL can count all rows of the filter from an index alone. The few split transactions
	// and parts among them that do not count are then subtracted.
	off := s.Clone()
	off.And("not (" + s.rows + ") and " + journal.Divided)
	rows, err := q.Query(ctx, `select count(*) - (select count(*) from transaction t `+off.SQL()+`),
		(select version from naming) from transaction t `+s.SQL(), s.Args()...)
	if err != nil {
		return 0, version, err
	}
	_, err = pgx.ForEachRow(rows, []any{&n, &version}, func() error { return nil })
	return n, version, err
}
