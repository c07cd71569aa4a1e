package ledger

import (
	"context"
	"fmt"
	"strings"

	"coffer/internal/pg"
)

// A reader reads one page: which one, in which order, and how many rows.
type reader struct {
	books     *Books
	q         pg.Querier
	in        ListTransactions
	pager     pg.Pager
	order     string
	ascending bool
	size      int // a literal of the statement, so it is one of a few
}

// byDate says whether the pages follow the dates, for which there are indexes.
func (r reader) byDate() bool { return strings.HasPrefix(r.order, "t.date") }

// rows reads one row more than the page has, so that its caller sees whether there are more.
// What a search or a tag finds may be every tenth row or three in ten years, and no statistics tell which. So the nearest rows are looked through first;
// what is common is found there. Otherwise it is not common, and all that was found can be sorted.
func (r reader) rows(ctx context.Context) ([]Transaction, error) {
	alone := r.byDate() && r.in.alone()
	for i := 0; alone && i < len(reaches); i++ {
		rows, err := r.near(ctx, reaches[i])
		if err != nil || len(rows) > r.in.Limit {
			return rows, err
		}
		if len(rows) < r.size/sparse {
			break
		}
	}
	f, tag := r.in.Filter, []string(nil)
	if alone && f.Search == nil {
		f.Tags, tag = nil, f.Tags
	}
	s, err := r.selected(ctx, f)
	if err != nil || s.none {
		return nil, err
	}
	switch {
	case tag != nil:
		ids, err := tagIDs(ctx, r.q, "tags", tag)
		if err != nil {
			return nil, err
		}
		from := `(select transaction_id from transaction_tag where tag_id = (select $%d::uuid) and present offset 0) k
			cross join lateral (select t.* from transaction t where t.id = k.transaction_id offset 0) t`
		return r.read(ctx, s, fmt.Sprintf(from, len(s.Args())+1), ids[0])
	case s.wide:
		// As a value of the row, which keeps it a look at each row on the way; as a join, all of the books would be matched and then sorted.
		s.And("(select "+s.wording.sql+" from descriptor w where w.id = t.descriptor_id)", s.wording.args...)
	case r.byDate() && s.searched && (alone || len(s.descriptors) <= fewDescriptors):
		s.flat()
		return r.through(ctx, s, "t.descriptor_id", "int[]", s.descriptors)
	case s.searched:
		// "is true" keeps it a look-up in a table of hashes; the index on it would give every match, to be sorted.
		s.And("(t.descriptor_id in (select unnest($?::int[]))) is true", s.descriptors)
	}
	if r.byDate() && s.set != "" {
		return r.through(ctx, s, s.set, "uuid[]", s.ids)
	}
	s.flat()
	if r.byDate() {
		return r.read(ctx, s, "transaction t")
	}
	return r.run(ctx, fmt.Sprintf(`select %s from transaction t %s %s order by %s limit %d`, transactionColumns, transactionJoins, s.SQL(), r.order, r.size), s.Args())
}

// fewDescriptors is up to how many wordings a search with other filters goes through them one by one; beyond, it walks the dates.
const fewDescriptors = 500

// alone says whether a search by text or one tag is all that narrows the list, but for the dates.
func (in ListTransactions) alone() bool {
	f := in.Filter
	search := f.Search != nil && f.SearchMode != "fuzzy" && len(f.Tags) == 0
	tag := f.Search == nil && len(f.Tags) == 1
	return (search || tag) && len(f.AccountID)+len(f.AnyTag)+len(f.ExcludeTag) == 0 && f.ConnectionID == nil && f.UserID == nil && f.Category == nil &&
		f.Uncategorized == nil && f.CounterpartyID == nil && f.Provider == nil && f.MinAmount == nil && f.MaxAmount == nil && f.Direction == nil &&
		f.Currency == nil && f.ExcludeSearch == nil && f.Pending == nil && f.UpdatedSince == nil && f.Deleted != "include"
}

// reaches are how many rows near looks through for each row of the page. The first is a probe: where it finds less than a part of the page, what is looked for is not common.
var reaches = []int{5, 40}

const sparse = 8

// near looks for the page among the nearest rows only. "offset 0" keeps the planner from hashing all wordings to look at some hundred of them.
func (r reader) near(ctx context.Context, reach int) ([]Transaction, error) {
	f := r.in.Filter
	f.Search, f.Tags = nil, nil
	s, err := r.selected(ctx, f)
	if err != nil {
		return nil, err
	}
	nearest := fmt.Sprintf(`(select t.* from transaction t %s order by %s limit %d) t`, s.SQL(), r.order, r.size*reach)
	n := len(s.Args())
	found := selection{}
	if r.in.Search == nil {
		ids, err := tagIDs(ctx, r.q, "tags", r.in.Tags)
		if err != nil {
			return nil, err
		}
		nearest += fmt.Sprintf(` cross join lateral (select from transaction_tag k where k.transaction_id = t.id and k.tag_id = (select $%d::uuid) and k.present offset 0) k`, n+1)
		return r.read(ctx, &found, nearest, append(s.Args(), ids[0])...)
	}
	args := s.Args()
	c, err := inWording("search", *r.in.Search, r.in.SearchMode)
	if err != nil {
		return nil, err
	}
	for i := range c.args {
		c.sql = strings.Replace(c.sql, "$?", fmt.Sprintf("$%d", len(args)+i+1), 1)
	}
	nearest += ` cross join lateral (select from descriptor w where w.id = t.descriptor_id and ` + c.sql + ` offset 0) w`
	return r.read(ctx, &found, nearest, append(args, c.args...)...)
}

// selected is the filter as conditions, behind the cursor.
func (r reader) selected(ctx context.Context, f Filter) (*selection, error) {
	s, err := r.books.resolve(ctx, r.q, f)
	if err != nil || r.in.Cursor == "" {
		return s, err
	}
	return s, r.books.after(ctx, r.q, s, r.pager, r.in.Cursor, r.ascending)
}

// read reads a page of what from gives as t. The rows of the page come first; names are joined for what is shown and nothing else.
func (r reader) read(ctx context.Context, s *selection, from string, args ...any) ([]Transaction, error) {
	sql := fmt.Sprintf(`select %[1]s from (select t.* from %[2]s %[3]s order by %[4]s limit %[5]d) t %[6]s order by %[4]s`,
		transactionColumns, from, s.SQL(), r.order, r.size, transactionJoins)
	return r.run(ctx, sql, append(s.Args(), args...))
}

// through reads a page by going through the values of a column that has an index by date: the first rows of each, then the first of these.
// The planner would walk the dates instead, through all of the books if the values are rare; and a subselect keeps it from planning anew for every set of values.
func (r reader) through(ctx context.Context, s *selection, column, kind string, values any) ([]Transaction, error) {
	s.And(column + " = v.id")
	sql := fmt.Sprintf(`select %[1]s from (
			select x.id from unnest((select $%[2]d::%[3]s)) v (id)
			cross join lateral (select t.id, t.date from transaction t %[4]s order by %[5]s limit %[6]d) x
			order by %[7]s limit %[6]d) k
		join transaction t on t.id = k.id %[8]s order by %[5]s`,
		transactionColumns, len(s.Args())+1, kind, s.SQL(), r.order, r.size, strings.ReplaceAll(r.order, "t.", "x."), transactionJoins)
	return r.run(ctx, sql, append(s.Args(), values))
}

func (r reader) run(ctx context.Context, statement string, args []any) ([]Transaction, error) {
	rows, err := r.q.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	return scanTransactions(rows, r.size)
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

// flat makes the set of ids that a page could go through a condition like every other.
func (s *selection) flat() {
	s.If(s.set != "", s.set+" = any($?)", s.ids)
	s.set = ""
}

// all is flat, with the wordings that a search found.
func (s *selection) all() {
	s.flat()
	switch {
	case s.wide:
		s.And(existsWording(s.wording.sql), s.wording.args...)
	case s.searched:
		s.And("t.descriptor_id = any($?)", s.descriptors)
	}
}
