package ledger

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"coffer/internal/books/sift"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// A reader reads one page.
type reader struct {
	books     *Books
	q         pg.Querier
	in        ListTransactions
	pager     pg.Pager
	order     string
	ascending bool
	size      int     // a literal in the statement, so only a few values are used
	known     *naming // used to look up categories until a statement returns another version
}

// byDate reports whether the pages are ordered by date, for which there are indexes.
func (r reader) byDate() bool { return strings.HasPrefix(r.order, "t.date") }

// rows reads one row more than the page has, so its caller sees whether there are more.
func (r reader) rows(ctx context.Context) ([]Transaction, error) {
	p, err := r.page(ctx)
	if err == nil && r.in.byCategory() && r.known != nil && (len(p.rows) == 0 || p.version != r.known.version) {
		r.known = nil
		p, err = r.page(ctx)
	}
	if err != nil || len(p.rows) == 0 {
		return nil, err
	}
	n, err := r.books.names(ctx, r.q, p.version)
	if err != nil {
		return nil, err
	}
	return p.rows, p.name(n)
}

func (r reader) page(ctx context.Context) (*page, error) {
	f, one := r.in.Filter, r.byDate() && r.in.alone() && len(r.in.Tags) == 1
	if one {
		f.Tags = nil
	}
	s, err := r.books.narrow(ctx, r.q, f, r.known)
	if err == nil && r.in.Cursor != "" {
		err = r.after(s)
	}
	if err != nil {
		return nil, err
	}
	s.And(s.rows)
	if s.tag != nil && (s.wording.SQL != "" || !r.byDate() || !r.in.alone()) {
		s.tagged()
	}
	var p *page
	switch {
	case s.none:
		p = &page{}
	case one:
		var ids []id.ID
		if ids, err = tagIDs(ctx, r.q, "tags", r.in.Tags); err == nil {
			p, err = r.tagged(ctx, s, ids[0])
		}
	case s.tag != nil:
		p, err = r.tagged(ctx, s, *s.tag)
	case s.wording.SQL != "":
		p, err = r.searched(ctx, s)
	case r.byDate() && s.set != "":
		p, err = r.through(ctx, s, s.set, "uuid[]", s.ids)
	default:
		s.flat()
		p, err = r.read(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	return p, r.stands(ctx, s, p)
}

// after narrows to rows after the cursor.
func (r reader) after(s *selection) error {
	at, err := r.pager.Decode(r.in.Cursor, 2)
	if err != nil {
		return err
	}
	if r.ascending {
		s.And("(t.date, t.id) > ($?::date, $?::uuid)", at[0], at[1])
	} else {
		s.And("(t.date, t.id) < ($?::date, $?::uuid)", at[0], at[1])
	}
	s.cursor = len(s.Args())
	return nil
}

// stands rejects a cursor whose row was erased. A row that was only deleted still marks its
// position.
func (r reader) stands(ctx context.Context, s *selection, p *page) (err error) {
	if s.cursor == 0 {
		return nil
	}
	there := p.standing
	if len(p.rows) == 0 { // without rows, the statement did not return it
		if there, err = pg.Value[bool](ctx, r.q, `select exists (select from transaction
			where id = $1::uuid)`, s.Args()[s.cursor-1]); err != nil {
			return err
		}
	}
	if !there {
		return errs.New(errs.InvalidCursor,
			"the transaction at this cursor no longer exists; start again without a cursor")
	}
	return nil
}

// searched reads the transactions whose wordings match. If few wordings match, it reads the
// transactions of each wording. If many match, it first searches only the next rows in the order of
// the page. If matches are common, these rows contain enough of them. Statistics cannot show in
// advance whether they are common.
func (r reader) searched(ctx context.Context, s *selection) (*page, error) {
	wanted := s.wording
	ids, more, err := sift.Wordings(ctx, r.q, wanted, fewDescriptors)
	if err != nil || len(ids) == 0 {
		return &page{}, err
	}
	few, alone := !more, r.byDate() && r.in.alone() && !s.mixed
	if more && alone {
		args, condition := slices.Clone(s.Args()), wanted.SQL
		for _, arg := range wanted.Args {
			args = append(args, arg)
			condition = strings.Replace(condition, "$?", fmt.Sprintf("$%d", len(args)), 1)
		}
		if p, err := r.nearer(ctx, s, []int{reach, 8 * reach},
			`descriptor w where w.id = t.descriptor_id and `+condition, args); err != nil || len(p.rows) > 0 {
			return p, err
		}
	}
	if more {
		if ids, more, err = sift.Wordings(ctx, r.q, wanted, sift.Many); err != nil {
			return nil, err
		}
	}
	switch {
	case more:
		each := sift.OnTransaction(wanted)
		s.And(each.SQL, each.Args...)
	case r.byDate() && (few || alone):
		s.flat()
		return r.through(ctx, s, "t.descriptor_id", "int[]", ids)
	default:
		// With "is true", PostgreSQL checks each row in a hash table. Without it, the index would
		// return every match for sorting.
		s.And("(t.descriptor_id in (select unnest($?::int[]))) is true", ids)
		if r.byDate() && s.set != "" {
			return r.through(ctx, s, s.set, "uuid[]", s.ids)
		}
	}
	s.flat()
	return r.read(ctx, s)
}

// tagged reads the transactions with the tag. It first searches only the next rows in the order of
// the page. If these rows do not contain enough matches, the tag is rare, and all its transactions
// can be sorted.
func (r reader) tagged(ctx context.Context, s *selection, tag id.ID) (*page, error) {
	args := append(slices.Clone(s.Args()), tag)
	has := fmt.Sprintf(`transaction_tag k where k.transaction_id = t.id and k.tag_id = (select $%d::uuid) and k.present`, len(args))
	if p, err := r.nearer(ctx, s, []int{5, reach}, has, args); err != nil || len(p.rows) > 0 {
		return p, err
	}
	// With an array, PostgreSQL looks up the transactions by their ids.
	s.And("t.id = any(array(select transaction_id from transaction_tag where tag_id = (select $?::uuid) and present))",
		tag)
	return r.read(ctx, s)
}

// alone reports whether the wording or one tag is the only filter besides the dates.
func (in ListTransactions) alone() bool {
	f := in.Filter
	worded := f.Search != nil || f.Merchant != nil || f.Payee != nil
	if worded == (len(f.Tags) == 1) || f.Search != nil && f.SearchMode == "fuzzy" || f.Deleted == "include" {
		return false
	}
	rest := f
	rest.Search, rest.Merchant, rest.Payee, rest.SearchMode, rest.Deleted = nil, nil, nil, "", ""
	rest.StartDate, rest.EndDate = nil, nil
	if !worded {
		rest.Tags = nil
	}
	return reflect.ValueOf(rest).IsZero()
}

// byCategory reports whether the filter names categories.
func (f Filter) byCategory() bool { return len(f.Category)+len(f.ExcludeCategory) > 0 }

// reach is how many rows the function near searches for each row of the page.
const reach = 60

// nearer searches for the page among the next rows in its order, and then among more of them. If
// the matches do not fill the page, it returns no rows. It stops early if a search finds only a
// small part of the page, because then matches are rare.
func (r reader) nearer(ctx context.Context, s *selection, reaches []int, exists string, args []any) (*page, error) {
	for _, reach := range reaches {
		p, err := r.near(ctx, s, reach, exists, args)
		if err != nil || len(p.rows) > r.in.Limit {
			return p, err
		}
		if len(p.rows) < r.size/8 {
			break
		}
	}
	return &page{}, nil
}

// near searches for the page only among the next rows in its order: reach of them for each row of
// the page. "offset 0" keeps the planner from hashing all wordings only to check a few hundred of
// them.
func (r reader) near(ctx context.Context, s *selection, reach int, exists string, args []any) (*page, error) {
	from := fmt.Sprintf(
		`(select t.* from transaction t %s order by %s limit %d) t cross join lateral (select from %s offset 0) found`,
		s.SQL(), r.order, r.size*reach, exists)
	sql := fmt.Sprintf(pageOf, s.standing(), transactionColumns, from, "", r.order, r.size)
	return r.run(ctx, sql, args)
}

// pageOf selects the rows of the page first, so wordings are joined only for rows that are shown.
const pageOf = `select %[1]s, %[2]s from (select t.* from %[3]s %[4]s order by %[5]s limit %[6]d) t
	join descriptor d on d.id = t.descriptor_id order by %[5]s`

// read reads a page of the selection.
func (r reader) read(ctx context.Context, s *selection) (*page, error) {
	sql := fmt.Sprintf(pageOf, s.standing(), transactionColumns, "transaction t", s.SQL(), r.order, r.size)
	if !r.byDate() {
		sql = fmt.Sprintf(`select %s, %s from transaction t join descriptor d on d.id = t.descriptor_id %s
			order by %s limit %d`, s.standing(), transactionColumns, s.SQL(), r.order, r.size)
	}
	return r.run(ctx, sql, s.Args())
}

// through reads a page one value of a column at a time, using the column's index by date. It reads
// the leading rows of each value and keeps the first of them all. Left alone, the planner would
// walk through the dates, and through all of the books if the values are rare. The subselect keeps
// the planner from planning again for every set of values.
func (r reader) through(ctx context.Context, s *selection, column, kind string, values any) (*page, error) {
	s.And(column + " = v.id")
	sql := fmt.Sprintf(`select %[9]s, %[1]s from (
			select x.id from unnest((select $%[2]d::%[3]s)) v (id)
			cross join lateral (select t.id, t.date from transaction t %[4]s order by %[5]s limit %[6]d) x
			order by %[7]s limit %[6]d) k
		join transaction t on t.id = k.id %[8]s order by %[5]s`,
		transactionColumns, len(s.Args())+1, kind, s.SQL(), r.order, r.size, strings.ReplaceAll(r.order, "t.", "x."),
		"join descriptor d on d.id = t.descriptor_id", s.standing())
	return r.run(ctx, sql, append(s.Args(), values))
}

func (r reader) run(ctx context.Context, statement string, args []any) (*page, error) {
	rows, err := r.q.Query(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	return scanPage(rows, r.size)
}

// pageSize rounds n up to one of a few literals. With LIMIT as an argument, PostgreSQL would not
// trust its cached plan and would plan again for every page, at twice the cost.
func pageSize(n int) int {
	for _, size := range []int{51, 101, 201} {
		if n <= size {
			return size
		}
	}
	return 501
}

// standing returns a column that is true if the row of the cursor exists.
func (s *selection) standing() string {
	if s.cursor == 0 {
		return "true"
	}
	return fmt.Sprintf("(select exists (select from transaction where id = $%d::uuid))", s.cursor)
}

// flat turns the column in s.set into an ordinary condition.
func (s *selection) flat() {
	s.If(s.set != "", s.set+" = any($?)", s.ids)
	s.set = ""
}

// tagged turns the tag of the search into an ordinary condition.
func (s *selection) tagged() {
	if s.tag != nil {
		s.And(hasTag, []id.ID{*s.tag})
		s.tag = nil
	}
}

// all adds every remaining condition: s.rows and those of worded.
func (s *selection) all() {
	s.And(s.rows)
	s.worded()
}

// worded adds the remaining conditions except s.rows: the column set, the tag and the wordings.
func (s *selection) worded() {
	s.flat()
	s.tagged()
	switch {
	case s.wide:
		each := sift.OnTransaction(s.wording)
		s.And(each.SQL, each.Args...)
	case s.wording.SQL != "":
		s.And("t.descriptor_id = any($?)", s.descriptors)
	}
}
