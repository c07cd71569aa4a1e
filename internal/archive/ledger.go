package archive

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode"

	"coffer/internal/books/journal"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// A dialect is the ledger format of another program.
type dialect interface {
	head(w *bufio.Writer, b *book)
	entry(w *bufio.Writer, b *book, e *entry)
	tail(w *bufio.Writer, b *book)
}

// A book contains what a ledger needs besides its entries.
type book struct {
	accounts   []bookAccount
	categories []bookCategory
	currencies []string
	first      *pg.Date // the day before all entries; nil if there is nothing
	account    map[id.ID]*bookAccount
	category   map[id.ID]*bookCategory
}

// A bookAccount is an account of the household in a ledger. Amounts have the ledger's sign: money
// in is positive, and debt is negative.
type bookAccount struct {
	ID       id.ID  `db:"id"`
	Name     string `db:"name"`
	Type     string `db:"type"`
	Currency string `db:"currency"`
	// The posted entries add up to the bank's balance from this amount; nil if the bank states no
	// balance.
	Opening *string `db:"opening"`
	Closing *string `db:"closing"` // the balance after all entries
	Before  pg.Date `db:"before"`  // the day before its first entry; without entries, the day of its balance
	After   pg.Date `db:"after"`   // the day after its last entry
	path    string  // its name in the dialect
}

// A bookCategory is the category on the other side of an entry.
type bookCategory struct {
	ID     id.ID   `db:"id"`
	Name   string  `db:"name"`
	Parent *string `db:"parent"`
	Kind   string  `db:"kind"`
	path   string
}

// An entry is a transaction: the change of the account's balance, and the reason. Texts come from a
// bank or a person and may contain any characters.
type entry struct {
	ShortID      string   `db:"short_id"`
	Date         pg.Date  `db:"date"`
	In           string   `db:"money_in"`  // change of the account
	Out          string   `db:"money_out"` // the same amount with the opposite sign
	Currency     string   `db:"currency"`
	Name         string   `db:"name"`
	Merchant     string   `db:"merchant_name"`
	Detail       string   `db:"detail"`
	AccountID    id.ID    `db:"account_id"`
	CategoryID   *id.ID   `db:"category_id"`
	Counterparty *string  `db:"counterparty"`
	Pending      bool     `db:"pending"`
	Excluded     bool     `db:"excluded"`
	Transfer     bool     `db:"transfer"`
	Tags         []string `db:"tags"`
	Parts        []share  `db:"parts"`
	parent       string   // the transaction of a part
}

// A share holds the fields of a part of a split transaction.
type share struct {
	ShortID      string   `json:"short_id"`
	Out          string   `json:"money_out"`
	CategoryID   *id.ID   `json:"category_id"`
	Counterparty *string  `json:"counterparty"`
	Tags         []string `json:"tags"`
}

// leaves returns the entries that count: the transaction's parts, or the transaction itself.
func (e *entry) leaves() []entry {
	if len(e.Parts) == 0 {
		return []entry{*e}
	}
	out := make([]entry, len(e.Parts))
	for i, p := range e.Parts {
		leaf := *e
		leaf.parent, leaf.ShortID, leaf.Out, leaf.Parts = e.ShortID, p.ShortID, p.Out, nil
		leaf.CategoryID, leaf.Counterparty, leaf.Tags = p.CategoryID, p.Counterparty, p.Tags
		out[i] = leaf
	}
	return out
}

// payee returns the best known name of the other party.
func (e *entry) payee() string {
	switch {
	case e.Counterparty != nil:
		return *e.Counterparty
	case e.Merchant != "":
		return e.Merchant
	}
	return e.Name
}

// entries selects the bank's transactions, each with its parts, sorted by day in the order of an
// index.
const entries = `
	select t.short_id, t.date, (-t.amount)::text as money_in, t.amount::text as money_out, t.currency, d.name,
		d.merchant_name, d.detail, t.account_id, t.category_id, p.name as counterparty, t.pending, t.excluded, t.transfer,
		array(select g.slug from transaction_tag tt join tag g on g.id = tt.tag_id
			where tt.transaction_id = t.id and tt.present and g.deleted_at is null order by 1) as tags,
		case when t.is_split then (select json_agg(json_build_object('short_id', s.short_id,
				'money_out', s.amount::text, 'category_id', s.category_id, 'counterparty', sp.name,
				'tags', array(select g.slug from transaction_tag tt join tag g on g.id = tt.tag_id
					where tt.transaction_id = s.id and tt.present and g.deleted_at is null order by 1))
				order by s.remainder, s.id)
			from transaction s left join counterparty sp on sp.id = s.counterparty_id where s.parent_id = t.id) end as parts
	from transaction t join descriptor d on d.id = t.descriptor_id left join counterparty p on p.id = t.counterparty_id
	where t.deleted_at is null and ` + journal.BankRow + ` and ` + counted + ` order by t.date, t.id`

// counted leaves out transactions t that were entered by hand and are matched with one from the
// bank, because the account changed only once.
const counted = `not (t.origin = 'manual' and t.excluded)`

// writeLedger writes the books in another program's format. It streams, and all data is from one
// snapshot.
func (a *Archive) writeLedger(ctx context.Context, w io.Writer, d dialect, moved progress) error {
	return snapshot(ctx, a.db, func(tx pg.Tx) error {
		b, err := readBook(ctx, tx)
		if err != nil {
			return err
		}
		out := bufio.NewWriterSize(w, 64<<10)
		d.head(out, b)
		err = each(ctx, tx, moved, func(e *entry) error {
			d.entry(out, b, e)
			return nil
		})
		if err != nil {
			return err
		}
		d.tail(out, b)
		return out.Flush()
	})
}

// each passes every transaction that is not deleted to f, oldest first.
func each(ctx context.Context, q pg.Querier, moved progress, f func(*entry) error) error {
	rows, err := q.Query(ctx, entries)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer rows.Close()
	n := int64(0)
	for rows.Next() {
		e, err := pgx.RowToStructByName[entry](rows)
		if err != nil {
			return fmt.Errorf("read transaction: %w", err)
		}
		if err := f(&e); err != nil {
			return err
		}
		if n++; n == 1000 && moved != nil {
			moved(n)
			n = 0
		}
	}
	if moved != nil {
		moved(n)
	}
	return rows.Err()
}

// readBook reads categories, and accounts with their opening balances. For a card or a loan, the
// bank's balance is the debt. Neither a bank's balance nor an opening balance includes pending
// transactions. If the bank states none, the last balance from a statement or a person is used,
// plus everything posted since.
func readBook(ctx context.Context, tx pg.Tx) (*book, error) {
	b := &book{account: map[id.ID]*bookAccount{}, category: map[id.ID]*bookCategory{}}
	var err error
	b.accounts, err = pg.All[bookAccount](ctx, tx, `
		with owned as (
			select a.id, coalesce(nullif(a.display_name, ''), a.name) as name, a.type, a.currency, case
				when a.type in ('credit', 'loan') then -coalesce(a.balance_current, st.current)
					else coalesce(a.balance_current, st.current) end
					- case when a.balance_current is null and a.balance_method = 'transactions'
						then coalesce(sum(t.amount) filter (where not t.pending and t.currency = a.currency
						and t.date > st.day), 0) else 0 end as balance,
				coalesce(sum(t.amount) filter (where not t.pending and t.currency = a.currency), 0) as posted,
					coalesce(sum(t.amount) filter (where t.currency = a.currency), 0) as moved,
				coalesce(min(t.date) - 1, a.balance_as_of::date, st.day, a.created_at::date) as before,
					coalesce(max(t.date) + 1, a.balance_as_of::date + 1, st.day + 1, a.created_at::date + 1) as after
			from account a left join transaction t on t.account_id = a.id and t.deleted_at is null
				and `+journal.BankRow+` and `+counted+`
			left join lateral (select b.day, b.current from account_balance b
				where b.account_id = a.id and b.current is not null
				order by b.day desc, array_position(array['manual', 'statement', 'provider'], b.source) limit 1) st on true
				where a.deleted_at is null group by a.id, st.day, st.current)
		select id, name, type, currency, (balance + posted)::text as opening,
			(coalesce(balance + posted, 0) - moved)::text as closing, before, after from owned order by id`)
	if err != nil {
		return nil, err
	}
	b.categories, err = pg.All[bookCategory](ctx, tx, `
		select c.id, c.display_name as name, p.display_name as parent, coalesce(c.kind, p.kind) as kind
			from category c left join category p on p.id = c.parent_id order by c.id`)
	if err != nil {
		return nil, err
	}
	b.currencies, err = pg.Values[string](ctx, tx, `select distinct currency from transaction
		where deleted_at is null union select currency from account where deleted_at is null order by 1`)
	if err != nil {
		return nil, err
	}
	for i := range b.accounts {
		b.account[b.accounts[i].ID] = &b.accounts[i]
	}
	for i := range b.categories {
		b.category[b.categories[i].ID] = &b.categories[i]
	}
	for _, a := range b.accounts {
		if b.first == nil || a.Before.Time().Before(b.first.Time()) {
			b.first = &a.Before
		}
	}
	return b, nil
}

// roots holds a dialect's top-level names for the kinds of accounts.
type roots struct{ assets, debts, spent, earned, equity string }

// name gives every account and category a unique path. If two would get the same path, their short
// ids are added.
func (b *book) name(r roots, part func(string) string) {
	taken := map[string]bool{}
	give := func(path string, own id.ID) string {
		if taken[strings.ToLower(path)] {
			path += "-" + own.Short()
		}
		taken[strings.ToLower(path)] = true
		return path
	}
	for i := range b.accounts {
		a := &b.accounts[i]
		root := r.assets
		if a.Type == "credit" || a.Type == "loan" {
			root = r.debts
		}
		a.path = give(root+":"+part(a.Name), a.ID)
	}
	kinds := map[string]string{"expense": r.spent, "income": r.earned, "transfer": r.equity + ":" + part("transfers")}
	for i := range b.categories {
		c := &b.categories[i]
		path := kinds[c.Kind]
		if c.Parent != nil {
			path += ":" + part(*c.Parent)
		}
		c.path = give(path+":"+part(c.Name), c.ID)
	}
}

// other returns the account on the other side of the entry. An entry that mirrors another account's
// entry is not spending, because it would count twice. A transfer between two own accounts is not
// spending either, whatever its category: both sides use the same transfer account.
func (b *book) other(r roots, part func(string) string, e *entry) string {
	switch {
	case e.Excluded:
		return r.equity + ":" + part("mirrored")
	case e.Transfer:
		return r.equity + ":" + part("transfers")
	case e.CategoryID == nil || b.category[*e.CategoryID] == nil:
		return r.spent + ":" + part("uncategorized")
	}
	return b.category[*e.CategoryID].path
}

// plain returns a text on one line, without invisible characters.
func plain(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) ||
			r == unicode.ReplacementChar
	}), " ")
}
