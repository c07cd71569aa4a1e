// Package sift turns searches into conditions on transactions. It does not know how pages of
// transactions are read.
package sift

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/books/search"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"github.com/jackc/pgx/v5"
)

// Many is the largest number of wordings that a search lists. If more wordings match, the search
// checks the wording of each transaction instead.
const Many = 10_000

// mostLookups is the largest number of lookups of wordings in one search. Each term that matches
// names or amounts besides texts requires a lookup. A search can have a hundred terms, and each
// lookup could read all wordings.
const mostLookups = 16

// A Condition is a condition with an argument for each $? in it. The zero Condition is no
// condition.
type Condition struct {
	SQL  string
	Args []any
}

// And adds another condition.
func (c *Condition) And(other Condition) { c.join(" and ", other) }

func (c *Condition) join(by string, other Condition) {
	if c.SQL != "" && other.SQL != "" {
		c.SQL += by
	}
	c.SQL, c.Args = c.SQL+other.SQL, append(c.Args, other.Args...)
}

// A Search is the result of reading a search: a condition on the wording and one on the
// transaction. Both must be fulfilled. Most searches only have words that occur in wordings alone,
// and an index finds those.
type Search struct {
	Wording Condition // on wording w
	Rest    Condition // on transaction t
	Tag     *id.ID    // set if the whole search is one tag
}

// For reads a search. The mode is contains, words or fuzzy. field is the caller's name of the
// argument, for errors.
func For(ctx context.Context, q pg.Querier, field, typed, mode string) (Search, error) {
	if mode == "fuzzy" {
		return Search{Wording: Condition{"$? <% w.folded", []any{text.Fold(typed)}}}, nil
	}
	query := search.Parse(typed, mode != "words")
	if len(query) == 0 {
		return Search{}, errs.Field(field, "empty", "must contain a word")
	}
	all, err := readNames(ctx, q)
	if err != nil {
		return Search{}, err
	}
	f := finder{ctx: ctx, q: q, field: field}
	var ways []way
	plain := true
	for _, terms := range query {
		w := wayOf(terms, all)
		plain = plain && len(w.meanings) == 0
		ways = append(ways, w)
	}
	switch {
	case plain:
		return Search{Wording: eitherWording(ways)}, nil
	case len(ways) > 1:
		rest, err := f.either(ways)
		return Search{Rest: rest}, err
	}
	out := Search{Wording: ways[0].wording()}
	if one := ways[0]; len(one.words) == 0 && len(one.meanings) == 1 && one.meanings[0].onlyTag() {
		out.Tag = &one.meanings[0].tags[0]
		return out, nil
	}
	out.Rest, err = f.every(ways[0].meanings)
	return out, err
}

// Unlike returns a condition on transaction t that the typed search does not match.
func Unlike(ctx context.Context, q pg.Querier, field, typed, mode string) (Condition, error) {
	s, err := For(ctx, q, field, typed, mode)
	if err != nil {
		return Condition{}, err
	}
	whole := s.Rest
	if s.Wording.SQL != "" {
		whole.And(OnTransaction(s.Wording))
	}
	if s.Tag != nil {
		whole.And(tagged([]id.ID{*s.Tag}))
	}
	return Condition{"(" + whole.SQL + ") is not true", whole.Args}, nil
}

// A way is an alternative of a search: words that can only occur in wordings, and terms that can
// also match something else.
type way struct {
	words    []string
	meanings []meaning
}

// A meaning holds everything that a term can match.
type meaning struct {
	text                                       string // searched in wordings; "" if wordings are not searched
	categories, accounts, counterparties, tags []id.ID
	amount                                     *search.Amount
}

func (m meaning) onlyTag() bool {
	others := len(m.categories) + len(m.accounts) + len(m.counterparties)
	return m.text == "" && m.amount == nil && len(m.tags) == 1 && others == 0
}

func wayOf(terms search.All, all []named) way {
	var w way
	for _, t := range terms {
		m := meaning{text: t.Text, amount: t.Amount}
		if tag, ok := tagNamed(all, t.Tag); ok {
			m = meaning{tags: []id.ID{tag}}
		} else if t.Text != "" {
			m.find(all)
		}
		if m.amount == nil && len(m.categories)+len(m.accounts)+len(m.counterparties)+len(m.tags) == 0 {
			w.words = append(w.words, m.text)
		} else {
			w.meanings = append(w.meanings, m)
		}
	}
	return w
}

// inWording returns the condition that a wording contains a text. This is the only place that names
// the searched column.
func inWording(part string) Condition { return Condition{"w.folded like $?", []any{Pattern(part)}} }

// wording returns the condition that a wording contains all words.
func (w way) wording() Condition {
	var c Condition
	for _, word := range w.words {
		c.And(inWording(word))
	}
	return c
}

// eitherWording returns the condition that a wording fulfills one of the ways, all of which consist
// only of words.
func eitherWording(ways []way) Condition {
	if len(ways) == 1 {
		return ways[0].wording()
	}
	var c Condition
	for _, w := range ways {
		one := w.wording()
		c.join(" or ", Condition{"(" + one.SQL + ")", one.Args})
	}
	return Condition{"(" + c.SQL + ")", c.Args}
}

// OnTransaction turns a condition on wordings into a condition on transaction t.
func OnTransaction(wording Condition) Condition {
	return Condition{
		"exists (select from descriptor w where w.id = t.descriptor_id and " + wording.SQL + ")",
		wording.Args,
	}
}

// A finder looks up wordings for one search.
type finder struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	q       pg.Querier
	field   string
	lookups int
}

// either returns the condition that a transaction fulfills one of the ways.
func (f *finder) either(ways []way) (Condition, error) {
	var c Condition
	for _, w := range ways {
		one, err := f.every(w.meanings)
		if err == nil && len(w.words) > 0 {
			var words Condition
			words, err = f.worded(w.wording())
			one.And(words)
		}
		if err != nil {
			return c, err
		}
		c.join(" or ", Condition{"(" + one.SQL + ")", one.Args})
	}
	return Condition{"(" + c.SQL + ")", c.Args}, nil
}

// every returns the condition that a transaction matches all meanings.
func (f *finder) every(meanings []meaning) (Condition, error) {
	var c Condition
	for _, m := range meanings {
		one, err := f.any(m)
		if err != nil {
			return c, err
		}
		c.And(Condition{"(" + one.SQL + ")", one.Args})
	}
	return c, nil
}

// any returns the condition that a transaction matches at least one part of a meaning.
func (f *finder) any(m meaning) (Condition, error) {
	var c Condition
	if m.text != "" {
		words, err := f.worded(inWording(m.text))
		if err != nil {
			return c, err
		}
		c = words
	}
	for column, ids := range map[string][]id.ID{
		"t.category_id": m.categories, "t.account_id": m.accounts, "t.counterparty_id": m.counterparties,
	} {
		if len(ids) > 0 {
			c.join(" or ", Condition{column + " in (select unnest($?::uuid[]))", []any{ids}})
		}
	}
	if len(m.tags) > 0 {
		c.join(" or ", tagged(m.tags))
	}
	if m.amount != nil {
		c.join(" or ", amount(*m.amount))
	}
	return c, nil
}

// worded returns the condition that a transaction's wording fulfills a condition on wordings.
// PostgreSQL looks up a subselect in a hash table, even with a cached plan.
func (f *finder) worded(wording Condition) (Condition, error) {
	if f.lookups++; f.lookups > mostLookups {
		return Condition{}, errs.Field(f.field, "words", "has too many words; use at most %d", mostLookups)
	}
	ids, more, err := Wordings(f.ctx, f.q, wording, Many)
	if more {
		return OnTransaction(wording), err
	}
	return Condition{"t.descriptor_id in (select unnest($?::int[]))", []any{ids}}, err
}

func tagged(tags []id.ID) Condition {
	return Condition{
		"exists (select from transaction_tag tt where tt.transaction_id = t.id and tt.tag_id = any($?) and tt.present)",
		[]any{tags},
	}
}

// Amount returns the condition for the amount or range of a filter.
func Amount(field, typed string) (Condition, error) {
	a, ok := search.ParseAmount(strings.TrimSpace(typed))
	if !ok {
		return Condition{}, errs.Field(field, "format",
			"must be an amount or a range, such as 75.05, -75 (money out), >100 or 100..200")
	}
	return amount(a), nil
}

// amount returns the condition that a transaction's amount is in the range. In the books, positive
// amounts are money out. A single amount also finds the parts of a split transaction, because a
// receipt shows the whole amount.
func amount(a search.Amount) Condition {
	if a.Low != nil && a.High != nil && a.Low.Cmp(*a.High) == 0 {
		low, high := *a.Low, a.Low.Neg()
		switch a.Direction {
		case 1:
			low = high
		case -1:
			high = low
		}
		return Condition{"(t.amount in ($?, $?) or t.parent_id in (select s.id from transaction s where s.is_split " +
			"and s.amount in ($?, $?)))", []any{low, high, low, high}}
	}
	size := map[int]string{0: "abs(t.amount)", 1: "(-t.amount)", -1: "t.amount"}[a.Direction]
	var c Condition
	switch a.Direction {
	case 1:
		c.SQL = "t.amount <= 0"
	case -1:
		c.SQL = "t.amount >= 0"
	}
	if a.Low != nil {
		above := map[bool]string{false: " >= $?", true: " > $?"}[a.Above]
		c.And(Condition{size + above, []any{*a.Low}})
	}
	if a.High != nil {
		below := map[bool]string{false: " <= $?", true: " < $?"}[a.Below]
		c.And(Condition{size + below, []any{*a.High}})
	}
	return Condition{"(" + c.SQL + ")", c.Args}
}

// Wordings lists the wordings that fulfill the condition. If there are more than limit, more is
// true. The statement is planned each time: PostgreSQL can choose between the table and its index
// only if it sees the text.
func Wordings(ctx context.Context, q pg.Querier, c Condition, limit int) (ids []int32, more bool, err error) {
	var where pg.Where
	where.And(c.SQL, c.Args...)
	sql := fmt.Sprintf(`select array(select w.id from descriptor w %s limit %d)`, where.SQL(), limit+1)
	ids, err = pg.Value[[]int32](ctx, q, sql, append([]any{
		pgx.QueryExecModeExec,
		pgx.QueryResultFormats{pgx.BinaryFormatCode},
	}, where.Args()...)...)
	return ids, len(ids) > limit, err
}

var likeLiteral = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Pattern returns a LIKE pattern that finds a literal text, folded.
func Pattern(part string) string { return "%" + likeLiteral.Replace(text.Fold(part)) + "%" }

// named is a record with a name that searches can match.
type named struct {
	Kind string `db:"kind"`
	ID   id.ID  `db:"id"`
	Name string `db:"name"`
}

// readNames reads the names with which transactions are shown, besides their wordings. They are
// few. They are folded here, because the database would use the rules of its locale.
func readNames(ctx context.Context, q pg.Querier) ([]named, error) {
	all, err := pg.All[named](ctx, q, `
		select 'category' as kind, id, display_name as name from category
		union all
		select 'account', id, coalesce(nullif(display_name, ''), name) from account
		union all
		select 'tag', id, slug from tag where deleted_at is null
		union all
		select 'counterparty', id, name from counterparty where deleted_at is null and canonical_id is null`)
	for i := range all {
		all[i].Name = text.Fold(all[i].Name)
	}
	return all, err
}

// find adds the records whose names contain the term's text.
func (m *meaning) find(all []named) {
	part := text.Fold(m.text)
	into := map[string]*[]id.ID{
		"category": &m.categories, "account": &m.accounts, "counterparty": &m.counterparties, "tag": &m.tags,
	}
	for _, n := range all {
		if strings.Contains(n.Name, part) {
			*into[n.Kind] = append(*into[n.Kind], n.ID)
		}
	}
}

// tagNamed returns the tag with that slug.
func tagNamed(all []named, slug string) (id.ID, bool) {
	i := slices.IndexFunc(all, func(n named) bool { return slug != "" && n.Kind == "tag" && n.Name == slug })
	if i < 0 {
		return id.ID{}, false
	}
	return all[i].ID, true
}
