package ruleview

import (
	"context"
	"fmt"
	"math"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"github.com/jackc/pgx/v5"
)

// manyWordings is the largest number of wordings that a search lists. If there are more, it reads
// the text with each transaction instead.
const manyWordings = 200_000

// Wordings are the bank texts that a match can have. Every transaction with a wording in Sure
// matches. For a wording in Maybe, the rest of the condition decides.
type Wordings struct {
	Sure, Maybe []int32
	All         bool // the wordings do not narrow the search
}

// Words evaluates the condition for every distinct bank text, with all other fields unknown. A
// million transactions have a few thousand texts. The database leaves out texts that the condition
// rules out.
func Words(ctx context.Context, q pg.Querier, t engine.Tree) (Wordings, error) {
	if t.Reads()&engine.WordingFields == 0 {
		return Wordings{All: true}, nil
	}
	var w pg.Where
	if need := texts(t.Needs()); need.Kind != engine.NeedAny {
		var c condition
		c.text(need)
		w.And(c.sql.String(), c.args...)
	}
	rows, err := q.Query(ctx, `select d.id, d.name, d.merchant_name, d.detail from descriptor d `+w.SQL(), w.Args()...)
	if err != nil {
		return Wordings{}, fmt.Errorf("read wordings: %w", err)
	}
	var out Wordings
	var number int32
	var d engine.Draft
	_, err = pgx.ForEachRow(rows, []any{&number, &d.Name, &d.MerchantName, &d.Detail}, func() error {
		if err := ctx.Err(); err != nil { // because reading the rows that have already arrived does not check ctx
			return err
		}
		switch t.Eval(&d, engine.WordingFields) {
		case engine.True:
			out.Sure = append(out.Sure, number)
		case engine.Unknown:
			out.Maybe = append(out.Maybe, number)
		}
		return nil
	})
	out.All = len(out.Sure)+len(out.Maybe) > manyWordings
	return out, err
}

// The fields of needs that have a list of values.
const (
	accountID = "account_id"
	userID    = "user_id"
	category  = "category"
	currency  = "iso_currency_code"
)

// Narrow adds the conditions of a need to a filter of transactions t. It uses the transactions' own
// columns and, if worded is set, their wordings. The evaluator checks everything else.
func (l *Lens) Narrow(w *pg.Where, n engine.Need, worded bool) {
	if n.Kind == engine.NeedAny {
		return
	}
	c := condition{worded: worded}
	c.transaction(n, l)
	w.And(c.sql.String(), c.args...)
}

// texts returns the part of a need about the wording alone.
func texts(n engine.Need) engine.Need {
	switch n.Kind {
	case engine.NeedText, engine.NeedNone:
		return n
	case engine.NeedAnd:
		out := engine.Need{Kind: engine.NeedAnd}
		for _, k := range n.Of {
			if t := texts(k); t.Kind != engine.NeedAny {
				out.Of = append(out.Of, t)
			}
		}
		if len(out.Of) > 0 {
			return out
		}
	case engine.NeedOr:
		out := engine.Need{Kind: engine.NeedOr}
		for _, k := range n.Of {
			t := texts(k)
			if t.Kind == engine.NeedAny {
				return t
			}
			out.Of = append(out.Of, t)
		}
		return out
	}
	return engine.Need{}
}

// A condition is SQL that is being written, with $? for each argument.
type condition struct {
	sql    strings.Builder
	args   []any
	worded bool // also write what a need requires of the wording
}

func (c *condition) add(part string, args ...any) {
	c.sql.WriteString(part)
	c.args = append(c.args, args...)
}

// join writes the parts of a need in parentheses, and calls one for each.
func (c *condition) join(n engine.Need, one func(engine.Need)) {
	word := " and "
	if n.Kind == engine.NeedOr {
		word = " or "
	}
	c.add("(")
	for i, k := range n.Of {
		if i > 0 {
			c.add(word)
		}
		one(k)
	}
	c.add(")")
}

// text writes a need about the wording as a condition on descriptor d. One column has all texts,
// folded in the same way as by the engine.
func (c *condition) text(n engine.Need) {
	switch n.Kind {
	case engine.NeedAnd, engine.NeedOr:
		c.join(n, c.text)
	case engine.NeedText:
		c.add("d.folded like $?", "%"+strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(n.Literal)+"%")
	case engine.NeedNone:
		c.add("false")
	default:
		c.add("true")
	}
}

// transaction writes a need as a condition on the columns of transaction t. Parts of the need that
// these columns cannot check count as true.
func (c *condition) transaction(n engine.Need, l *Lens) {
	switch n.Kind {
	case engine.NeedAnd, engine.NeedOr:
		c.join(n, func(k engine.Need) { c.transaction(k, l) })
	case engine.NeedAmount:
		c.bound("t.amount >= $?", n.Low)
		c.add(" and ")
		c.bound("t.amount <= $?", n.High)
	case engine.NeedFlag:
		c.add("t.pending = $?", n.Flag)
	case engine.NeedOneOf:
		c.oneOf(n, l)
	case engine.NeedNone:
		c.add("false")
	case engine.NeedText:
		if !c.worded {
			c.add("true")
			return
		}
		c.add("t.descriptor_id in (select d.id from descriptor d where ")
		c.text(n)
		c.add(")")
	default:
		c.add("true")
	}
}

// bound writes one end of a range. An end outside the range of the column needs no condition.
func (c *condition) bound(part string, cents int64) {
	if a, err := money.FromCents(cents); err == nil && cents != math.MinInt64 && cents != math.MaxInt64 {
		c.add(part, a)
		return
	}
	c.add("true")
}

// oneOf writes the condition for a list of currencies, categories, or values that depend on the
// account. Values without a record match nothing.
func (c *condition) oneOf(n engine.Need, l *Lens) {
	wanted := map[string]bool{}
	for _, v := range n.Values {
		wanted[v] = true
	}
	if n.Field == currency {
		codes := make([]string, len(n.Values))
		for i, v := range n.Values {
			codes[i] = strings.ToUpper(v)
		}
		c.add("t.currency = any($?)", codes)
		return
	}
	ids := []id.ID{}
	if n.Field == category {
		for u, slug := range l.categories {
			if wanted[slug] {
				ids = append(ids, u)
			}
		}
		c.add("(t.category_id = any($?)", ids)
		if wanted[""] {
			c.add(" or t.category_id is null")
		}
		c.add(")")
		return
	}
	for u, h := range l.accounts {
		value := h.Provider
		switch n.Field {
		case accountID:
			value = u.String()
		case userID:
			value = ""
			if h.UserID != nil {
				value = h.UserID.String()
			}
		}
		if wanted[value] {
			ids = append(ids, u)
		}
	}
	c.add("t.account_id = any($?)", ids)
}
