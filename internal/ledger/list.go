package ledger

import (
	"context"
	"fmt"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// ListTransactions asks for a page of transactions.
type ListTransactions struct {
	Filter
	SortBy    *string `json:"sort_by,omitempty" enum:"date,amount,name,created_at" doc:"date is the default and the only one with further pages"`
	SortOrder *string `json:"sort_order,omitempty" enum:"asc,desc" doc:"desc by default; asc for name"`
	Fields    string  `json:"fields,omitempty" maxLength:"1000" screen:"core" doc:"Comma-separated fields, or minimal, core, all; ids always come"`
	CountOnly bool    `json:"count_only,omitempty" doc:"Only say how many there are"`
	Cursor    string  `json:"cursor,omitempty" maxLength:"1024" doc:"next_cursor of the page before, with the same filters"`
	Limit     int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"How many on a page"`
}

// Transactions is a page of transactions.
type Transactions struct {
	Transactions []Transaction `json:"transactions" partial:"id,short_id"`
	NextCursor   string        `json:"next_cursor" doc:"Empty on the last page"`
	HasMore      bool          `json:"has_more"`
	Count        *int64        `json:"count,omitempty" doc:"With count_only"`
	fields       fieldSet
}

// Transactions is a page of transactions.
func (b *Books) Transactions(ctx context.Context, q pg.Querier, in ListTransactions) (Transactions, error) {
	if in.CountOnly {
		n, err := b.Count(ctx, q, in.Filter)
		return Transactions{Transactions: []Transaction{}, Count: &n.Count}, err
	}
	if in.Fields == "" && op.SurfaceOf(ctx) == op.Tool {
		in.Fields = "core"
	}
	fields, err := fieldsNamed(in.Fields)
	if err != nil {
		return Transactions{}, err
	}
	order, paged := in.order()
	if in.Cursor != "" && !paged {
		return Transactions{}, errs.New(errs.InvalidCursor, "only the sort by date has further pages; leave sort_by or the cursor out")
	}
	pager, err := b.db.Pager(ctx, "transactions", struct {
		Filter
		Order string
	}{in.Filter, order})
	if err != nil {
		return Transactions{}, err
	}
	s, err := b.resolve(ctx, q, in.Filter)
	if err != nil {
		return Transactions{}, err
	}
	if in.Cursor != "" {
		if err := b.after(ctx, q, s, pager, in.Cursor, strings.Contains(order, "asc")); err != nil {
			return Transactions{}, err
		}
	}
	out := Transactions{Transactions: []Transaction{}, fields: fields}
	if s.none {
		return out, nil
	}
	rows, err := b.page(ctx, q, s, order, in.Limit)
	if err != nil {
		return Transactions{}, err
	}
	out.Transactions = rows[:min(len(rows), in.Limit)]
	out.HasMore = len(rows) > in.Limit
	if op.SurfaceOf(ctx) == op.Tool {
		out.cut(toolBytes)
	}
	if out.HasMore && paged {
		last := out.Transactions[len(out.Transactions)-1]
		out.NextCursor, err = pager.Encode(last.Date.String(), last.ID.String())
	}
	return out, err
}

// toolBytes is where a tool's page ends early: what is larger crowds an agent's mind.
const toolBytes = 60_000

// order is the sort as SQL, and whether it has further pages.
func (in ListTransactions) order() (sql string, paged bool) {
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
	columns := map[string]string{"date": "t.date %[1]s, t.id %[1]s", "amount": "t.amount %[1]s, t.id %[1]s", "name": "lower(d.name) %[1]s, t.id %[1]s", "created_at": "t.created_at %[1]s, t.id %[1]s"}
	return fmt.Sprintf(columns[by], direction), by == "date"
}

// after narrows to what comes behind the cursor. A cursor whose row is gone for good is invalid; a deleted row still marks its place.
func (b *Books) after(ctx context.Context, q pg.Querier, s *selection, pager pg.Pager, cursor string, ascending bool) error {
	at, err := pager.Decode(cursor, 2)
	if err != nil {
		return err
	}
	there, err := pg.Value[bool](ctx, q, `select exists (select from transaction where id = $1::uuid)`, at[1])
	if err != nil {
		return err
	}
	if !there {
		return errs.New(errs.InvalidCursor, "the transaction that this cursor points at is gone; start again without a cursor")
	}
	if ascending {
		s.And("(t.date, t.id) > ($?::date, $?::uuid)", at[0], at[1])
	} else {
		s.And("(t.date, t.id) < ($?::date, $?::uuid)", at[0], at[1])
	}
	return nil
}

// fewDescriptors is up to how many wordings a search goes through them one by one; beyond, what it looks for is common and found soon by walking the dates.
const fewDescriptors = 64

// page reads one row more than limit, so that its caller sees whether there are more.
func (b *Books) page(ctx context.Context, q pg.Querier, s *selection, order string, limit int) ([]Transaction, error) {
	size := pageSize(limit + 1)
	// The ids of the page first, from the narrow index; names are joined for what is shown and nothing else.
	inner := "select t.id, t.date, t.amount, t.created_at, d.name from transaction t join descriptor d on d.id = t.descriptor_id"
	if strings.HasPrefix(order, "t.date") {
		inner = "select t.* from transaction t"
	}
	var sql string
	switch {
	case s.searched && len(s.descriptors) <= fewDescriptors && strings.HasPrefix(order, "t.date"):
		sql = fmt.Sprintf(`select %s from (
			select x.* from unnest($%d::int[]) w (id)
			cross join lateral (select t.* from transaction t %s and t.descriptor_id = w.id order by %s limit %d) x) t
			%s order by %s limit %d`, transactionColumns, len(s.Args())+1, s.SQL(), order, size, transactionJoins, order, size)
		return rowsOf(ctx, q, sql, append(s.Args(), s.descriptors), size)
	case s.searched:
		s.And("t.descriptor_id + 0 = any($?)", s.descriptors) // + 0: the index on it would give every match, to be sorted
	}
	if strings.HasPrefix(order, "t.date") {
		sql = fmt.Sprintf(`select %s from (%s %s order by %s limit %d) t %s order by %s`, transactionColumns, inner, s.SQL(), order, size, transactionJoins, order)
	} else {
		sql = fmt.Sprintf(`select %s from transaction t %s %s order by %s limit %d`, transactionColumns, transactionJoins, s.SQL(), order, size)
	}
	return rowsOf(ctx, q, sql, s.Args(), size)
}

func rowsOf(ctx context.Context, q pg.Querier, statement string, args []any, size int) ([]Transaction, error) {
	rows, err := q.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	return scanTransactions(rows, size)
}

// pageSize rounds up to one of a few literals: with LIMIT as an argument the planner distrusts its own plan, at twice the cost.
func pageSize(n int) int {
	for _, size := range []int{51, 101, 201} {
		if n <= size {
			return size
		}
	}
	return 501
}

// A Count is how many transactions a filter means.
type Count struct {
	Count int64 `json:"count"`
}

// Count counts the transactions of a filter.
func (b *Books) Count(ctx context.Context, q pg.Querier, in Filter) (Count, error) {
	s, err := b.resolve(ctx, q, in)
	if err != nil || s.none {
		return Count{}, err
	}
	s.If(s.searched, "t.descriptor_id = any($?)", s.descriptors)
	n, err := pg.Value[int64](ctx, q, `select count(*) from transaction t `+s.SQL(), s.Args()...)
	return Count{n}, err
}
