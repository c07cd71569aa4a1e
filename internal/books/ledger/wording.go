package ledger

import (
	"context"

	"coffer/internal/books/payeename"
	"coffer/internal/books/sift"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// fewDescriptors is the most wordings whose transactions a page reads one wording at a time.
const fewDescriptors = 200

// worded collects the conditions on wordings. A million transactions have only a few thousand
// wordings.
func (b *Books) worded(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if f.Search != nil {
		found, err := sift.For(ctx, q, "search", *f.Search, f.SearchMode)
		if err != nil {
			return err
		}
		s.wording.And(found.Wording)
		s.tag, s.mixed = found.Tag, found.Rest.SQL != ""
		s.If(s.mixed, found.Rest.SQL, found.Rest.Args...)
	}
	if f.Merchant != nil {
		// The condition on the folded text can use an index.
		s.wording.And(sift.Condition{
			SQL:  "w.folded like $? and coalesce(nullif(w.merchant_name, ''), w.name) = $?",
			Args: []any{sift.Pattern(*f.Merchant), *f.Merchant},
		})
	}
	if f.Payee != nil {
		key, err := id.ParseKey(*f.Payee)
		if err != nil {
			return errs.Field("payee", "pattern", "must be the payee of a review group: 11 letters and digits")
		}
		s.wording.And(sift.Condition{SQL: "w.payee = $?", Args: []any{int64(key)}})
	}
	if f.SimilarTo != nil {
		return s.similar(ctx, q, *f.SimilarTo)
	}
	return nil
}

// similar narrows to transactions like the named one: those in the same direction with its
// counterparty, or, if it has none, with its payee.
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
		s.wording.And(sift.Condition{SQL: "w.payee = $?", Args: []any{int64(*one.Payee)}})
	default:
		s.none = true
	}
	return nil
}

// folded returns the searchable text of a wording: a line for the name, one for the merchant, and
// one for the purpose if there is one.
func folded(name, merchant, detail text.Untrusted) string {
	s := text.Fold(name.Plain()) + "\n" + text.Fold(merchant.Plain())
	if detail != "" {
		s += "\n" + text.Fold(detail.Plain())
	}
	return s
}

// fillBatch is how many wordings FillPayees locks at a time.
const fillBatch = 2000

// FillPayees computes the keys of wordings that lack them because they came with an archive of a
// development version. It returns how many it filled. It commits each batch separately, and servers
// that start at the same time share the work.
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
				form, payee := payeename.Keys(r.Name, r.Merchant)
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
