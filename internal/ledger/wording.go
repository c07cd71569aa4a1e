package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/pg"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5"
)

// The most wordings that a search lists. A page reads the transactions of few wordings one wording
// at a time. If a search matches many, each transaction's wording is checked instead.
const (
	fewDescriptors  = 200
	manyDescriptors = 10_000
)

// worded collects the conditions on wordings. For a million transactions there are a few thousand
// wordings.
func (b *Books) worded(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if f.Search != nil {
		wanted, err := inWording("search", *f.Search, f.SearchMode)
		if err != nil {
			return err
		}
		s.wording.and(wanted)
	}
	if f.Merchant != nil {
		// The condition on the folded text can use an index.
		s.wording.and(textCondition{
			"w.folded like $? and coalesce(nullif(w.merchant_name, ''), w.name) = $?",
			[]any{pattern(*f.Merchant), *f.Merchant},
		})
	}
	if f.Payee != nil {
		key, err := id.ParseKey(*f.Payee)
		if err != nil {
			return errs.Field("payee", "pattern", "must be the payee of a review group: 11 letters and digits")
		}
		s.wording.and(textCondition{"w.payee = $?", []any{int64(key)}})
	}
	if f.SimilarTo != nil {
		return s.similar(ctx, q, *f.SimilarTo)
	}
	return nil
}

// similar narrows to transactions like the named one: with its counterparty, or else its payee, and
// in its direction.
func (s *selection) similar(ctx context.Context, q pg.Querier, ref string) error {
	one, err := pg.One[struct {
		Counterparty *id.ID  `db:"counterparty_id"`
		Payee        *id.Key `db:"payee"`
		Direction    int     `db:"direction"`
	}](ctx, q, `select t.counterparty_id, d.payee, sign(t.amount)::int as direction
		from transaction t join descriptor d on d.id = t.descriptor_id
		where t.id = $1 or t.short_id = $2`, pg.RefTo(ref).IDArgs()...)
	if err != nil {
		return pg.Named(err, "similar_to", "transaction", lister("transaction"))
	}
	s.If(one.Direction < 0, "t.amount < 0").If(one.Direction > 0, "t.amount > 0")
	switch {
	case one.Counterparty != nil:
		among(s, "t.counterparty_id", []id.ID{*one.Counterparty})
	case one.Payee != nil:
		s.wording.and(textCondition{"w.payee = $?", []any{int64(*one.Payee)}})
	default:
		s.none = true
	}
	return nil
}

// A textCondition is a condition on wording w, with an argument for each $? in it.
type textCondition struct {
	sql  string
	args []any
}

// and adds another condition.
func (c *textCondition) and(other textCondition) {
	if c.sql != "" {
		c.sql += " and "
	}
	c.sql, c.args = c.sql+other.sql, append(c.args, other.args...)
}

func existsWording(condition string) string {
	return "exists (select from descriptor w where w.id = t.descriptor_id and " + condition + ")"
}

// inWording returns a search as a condition on the folded text of wordings.
func inWording(field, search, mode string) (textCondition, error) {
	var c textCondition
	switch mode {
	case "words":
		for word := range strings.FieldsSeq(search) {
			c.args = append(c.args, pattern(word))
		}
		c.sql = strings.Join(slices.Repeat([]string{"w.folded like $?"}, len(c.args)), " and ")
	case "fuzzy":
		c = textCondition{"$? <% w.folded", []any{text.Fold(search)}}
	default:
		var terms []string
		for term := range strings.SplitSeq(search, ",") {
			if term = strings.TrimSpace(term); term != "" {
				terms = append(terms, pattern(term))
			}
		}
		switch len(terms) {
		case 0:
		case 1:
			c = textCondition{"w.folded like $?", []any{terms[0]}}
		default:
			c = textCondition{"w.folded like any($?)", []any{terms}}
		}
	}
	if len(c.args) == 0 {
		return c, errs.Field(field, "empty", "must contain a word")
	}
	return c, nil
}

// wordings lists the wordings that fulfill the condition, unless there are more than most.
// PostgreSQL can only choose between the table and its index when it sees the text, so the
// statement is planned each time.
func wordings(ctx context.Context, q pg.Querier, c textCondition, most int) (ids []int32, more bool, err error) {
	var where pg.Where
	where.And(c.sql, c.args...)
	sql := fmt.Sprintf(`select array(select w.id from descriptor w %s limit %d)`, where.SQL(), most+1)
	ids, err = pg.Value[[]int32](ctx, q, sql, append([]any{
		pgx.QueryExecModeExec,
		pgx.QueryResultFormats{pgx.BinaryFormatCode},
	}, where.Args()...)...)
	return ids, len(ids) > most, err
}

var likeLiteral = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// pattern returns a LIKE pattern for a literal part, folded.
func pattern(part string) string { return "%" + likeLiteral.Replace(text.Fold(part)) + "%" }

// folded returns the searchable text of a wording: a line for the name, one for the merchant, and
// one for the purpose if there is one.
func folded(name, merchant, detail text.Untrusted) string {
	s := text.Fold(name.Plain()) + "\n" + text.Fold(merchant.Plain())
	if detail != "" {
		s += "\n" + text.Fold(detail.Plain())
	}
	return s
}

// keys returns the keys by which a wording is grouped: the form of its name, and its payee, which
// is the form of the merchant name if there is one.
func keys(name, merchant string) (form, payee id.Key) {
	form = id.KeyOf(text.Form(name))
	if merchant == "" {
		return form, form
	}
	return form, id.KeyOf(text.Form(merchant))
}

// fillBatch is how many wordings FillPayees locks at a time.
const fillBatch = 2000

// FillPayees computes the keys of wordings that were stored without them: by an older version, or
// from an archive of one. It returns how many. Each batch is committed on its own, and servers that
// start at the same time share the work.
func (b *Books) FillPayees(ctx context.Context) (int, error) {
	type row struct {
		ID       int32  `db:"id"`
		Name     string `db:"name"`
		Merchant string `db:"merchant_name"`
	}
	filled := 0
	missing, err := pg.Value[bool](ctx, b.db, `select exists (select from descriptor where payee is null)`)
	for last := int32(-1 << 31); err == nil && missing; {
		err = b.db.InTx(ctx, func(tx pg.Tx) error {
			rows, err := pg.All[row](ctx, tx, `select id, name, merchant_name from descriptor
				where payee is null and id > $1 order by id limit $2 for update skip locked`, last, fillBatch)
			if missing = len(rows) > 0; err != nil || !missing {
				return err
			}
			ids, forms, payees := make([]int32, len(rows)), make([]int64, len(rows)), make([]int64, len(rows))
			for i, r := range rows {
				form, payee := keys(r.Name, r.Merchant)
				ids[i], forms[i], payees[i] = r.ID, int64(form), int64(payee)
			}
			last = ids[len(ids)-1]
			n, err := pg.Exec(ctx, tx, `update descriptor d set form = v.form, payee = v.payee
				from unnest($1::int[], $2::bigint[], $3::bigint[]) v (id, form, payee) where d.id = v.id`, ids, forms,
				payees)
			filled += int(n)
			if err != nil {
				return err
			}
			_, err = pg.Exec(ctx, tx, `insert into form_due (account_id, form)
				select distinct t.account_id, d.form from transaction t join descriptor d on d.id = t.descriptor_id
				where d.id = any($1) and t.deleted_at is null`, ids)
			return err
		})
	}
	return filled, err
}
