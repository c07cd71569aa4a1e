package ledger

import (
	"context"
	"fmt"
	"iter"

	"coffer/internal/bank"
	"coffer/internal/books/payeename"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"github.com/jackc/pgx/v5"
)

// An Incoming is a transaction on its way into the books, as a bank or a file sent it.
type Incoming struct {
	AccountID        id.ID
	Under            *id.ID // the account that the bank or file names, if it was merged into AccountID
	ProviderID       string
	PendingID        string // the bank's id while it was pending, if the bank sends it
	Reissued         bool   // PendingID is the former id of a posted row, to which the bank has given a new one
	Date             pg.Date
	AuthorizedDate   *pg.Date
	Datetime         *pg.Time
	Amount           money.Amount
	Currency         money.Currency
	Name             text.Untrusted
	MerchantName     text.Untrusted
	Detail           text.Untrusted // the purpose of the payment; if empty, a stored one stays
	CategoryPrimary  text.Untrusted
	CategoryDetailed text.Untrusted
	bank.Extra
	Pending bool
	Tags    []string // slugs of existing tags
	Written *Written // only if entered by hand; ProviderID is then made from the id
}

// Load stores new transactions. The number of statements does not depend on the number of rows:
// COPY into a temporary table, then wordings, then rows with the category to which the provider's
// category maps. It returns how many were new. Rows with the identity of a stored transaction are
// skipped.
func (b *Books) Load(ctx context.Context, tx pg.Tx, rows iter.Seq[Incoming]) (int64, error) {
	err := stage(ctx, tx, func(yield func(id.ID, Incoming) bool) {
		for r := range rows {
			if !yield(b.draw(), r) {
				return
			}
		}
	})
	if err != nil {
		return 0, err
	}
	_, err = pg.Exec(ctx, tx, `
		insert into descriptor (name, merchant_name, detail, folded, form, payee)
		select distinct on (name, merchant_name, detail) name, merchant_name, detail, folded, form, payee from incoming
		on conflict (name, merchant_name, md5(detail)) do nothing`)
	if err != nil {
		return 0, err
	}
	var n int64
	again := false
	err = pg.Redraw(ctx, tx, "transaction_short_id", func(tx pg.Tx) (err error) {
		if again {
			if err := b.redraw(ctx, tx); err != nil {
				return err
			}
		}
		again = true
		n, err = pg.Exec(ctx, tx, `
			insert into transaction (id, short_id, account_id, provider_id, `+factColumns+`, descriptor_id, category_id,
				category_source)
			select i.id, i.short_id, i.account_id, i.provider_id, `+stagedFacts+`, d.id, m.category_id,
				case when m.category_id is not null then 'provider' end
			from incoming i
			join descriptor d on `+wordedAlike+`
			join account a on a.id = i.account_id
			left join category_mapping m on `+mappedTo+`
			order by i.date, i.id on conflict (account_id, provider_id) do nothing`)
		return err
	})
	if err != nil {
		return 0, err
	}
	if _, err := pg.Exec(ctx, tx, `insert into touched (account_id, first, last)
		select account_id, min(date), max(date) from incoming group by account_id`); err != nil {
		return 0, err
	}
	places, err := pg.All[place](ctx, tx, `
		select distinct account_id, case when not pending then form end as form from incoming`)
	if err != nil {
		return 0, err
	}
	if err := (write{places: places}).follow(ctx, tx); err != nil {
		return 0, err
	}
	_, err = pg.Exec(ctx, tx, `
		insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, true, 'rule' from incoming i join transaction t on t.id = i.id
			join tag g on g.slug = any(i.tags) and g.deleted_at is null`)
	return n, err
}

// wordedAlike joins a staged row i with its wording d. Purposes are compared by digest, because an
// index row has no room for three long texts.
const wordedAlike = `d.name = i.name and d.merchant_name = i.merchant_name and md5(d.detail) = md5(i.detail)`

// mappedTo joins a staged row i of an account a with what the provider's own category maps to.
const mappedTo = `m.provider = a.provider and m.raw_primary = coalesce(i.category_primary, '')
				and m.raw_detailed = coalesce(i.category_detailed, '')`

// redraw gives staged rows new ids if a stored transaction or another staged row has the same short
// id.
func (b *Books) redraw(ctx context.Context, tx pg.Tx) error {
	taken, err := pg.Values[id.ID](ctx, tx, `
		select id from (select id, short_id, row_number() over (partition by short_id order by id) as place
			from incoming) i
		where place > 1 or exists (select from transaction t where t.short_id = i.short_id)`)
	if err != nil {
		return err
	}
	ids, shorts := make([]id.ID, len(taken)), make([]string, len(taken))
	for i := range taken {
		ids[i] = b.draw()
		shorts[i] = ids[i].Short()
	}
	_, err = pg.Exec(ctx, tx, `
		update incoming i set id = v.new_id, short_id = v.short_id
			from unnest($1::uuid[], $2::uuid[], $3::text[]) v (id, new_id, short_id)
			where i.id = v.id`, taken, ids, shorts)
	return err
}

// stage copies rows into the temporary table incoming, which lasts until the transaction ends. Each
// row has the id that it gets if it is new.
func stage(ctx context.Context, tx pg.Tx, rows iter.Seq2[id.ID, Incoming]) error {
	_, err := pg.Exec(ctx, tx, `
		create temporary table if not exists incoming (
			id uuid, short_id text, account_id uuid, provider_id text, `+factTypes+`,
			name text, merchant_name text, detail text, folded text, form bigint, payee bigint, tags text[],
			pending_id text, under uuid, reissued boolean, again boolean not null default false
		) on commit delete rows`)
	if err != nil {
		return err
	}
	if _, err := pg.Exec(ctx, tx, `truncate incoming`); err != nil {
		return err
	}
	next, stop := iter.Pull2(rows)
	defer stop()
	var row []any // each row is encoded before the next one is made
	_, err = tx.CopyFrom(ctx, pgx.Identifier{"incoming"}, withFacts(
		[]string{"id", "short_id", "account_id", "provider_id"},
		"name", "merchant_name", "detail", "folded", "form", "payee", "tags", "pending_id", "under", "reissued",
	), pgx.CopyFromFunc(func() ([]any, error) {
		u, r, ok := next()
		if !ok {
			return nil, nil
		}
		r.ProviderID = r.identity(u)
		form, payee := payeename.Keys(r.Name.Plain(), r.MerchantName.Plain())
		row = appendFacts(append(row[:0], u, u.Short(), r.AccountID, r.ProviderID), &r)
		row = append(row, r.Name.Plain(), r.MerchantName.Plain(), r.Detail.Plain(),
			folded(r.Name, r.MerchantName, r.Detail), int64(form), int64(payee), r.Tags, r.PendingID, r.Under,
			r.Reissued)
		return row, nil
	}))
	if err != nil {
		return fmt.Errorf("copy transactions: %w", err)
	}
	return nil
}
