package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// revertSeed creates n worlds in one database. Their names have different prefixes: s000- and so
// on.
func revertSeed(t *testing.T, w *world, n int) {
	t.Helper()
	err := w.DB.InTx(t.Context(), func(tx pg.Tx) error {
		accounts, err := w.Accounts.AddAccounts(t.Context(), tx,
			[]account.Incoming{{
				Provider: "plaid", ProviderID: "a", Name: text.Name("Everyday"), Type: "depository",
				Currency: "EUR",
			}})
		if err != nil {
			return err
		}
		_, err = w.Books.Load(t.Context(), tx, func(yield func(ledger.Incoming) bool) {
			for i := range n * revertTransactions {
				if !yield(ledger.Incoming{
					AccountID: accounts[0], ProviderID: fmt.Sprintf("s%03d-%d", i/revertTransactions,
						i%revertTransactions), Date: pg.Day(time.Now()),
					Amount: money.MustParse("1.00"), Currency: "EUR", Name: text.Name("shop"),
				}) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		_, err = tx.Exec(t.Context(), strings.ReplaceAll(revertSeedSQL, "$N", fmt.Sprint(n-1)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

const revertSeedSQL = `
	create temporary table s on commit drop as select n, 's' || lpad(n::text, 3, '0') || '-' as p
		from generate_series(0, $N) n;
	insert into category (id, short_id, slug, display_name, kind)
		select gen_random_uuid(), 'c' || p || v, p || v, v, k
			from s, (values ('a', 'expense'), ('b', 'income')) v (v, k);
	insert into category (id, short_id, slug, display_name, parent_id)
		select gen_random_uuid(), 'c' || p || v, p || v, v, c.id
			from s, (values ('aa', 'a'), ('ab', 'a'), ('ba', 'b')) v (v, k), category c where c.slug = p || k;
	insert into tag (id, short_id, slug, display_name) select gen_random_uuid(), 't' || p || v, p || v, v
		from s, (values ('x'), ('y'), ('z')) v (v);
	insert into counterparty (id, short_id, name, category_id)
		select gen_random_uuid(), 'p' || p || v, p || v, case v when 'One' then c.id end
			from s, (values ('One'), ('Two'), ('Three')) v (v), category c where c.slug = p || 'ab';
	update transaction t set category_id = c.id, category_source = v.source
		from s, (values ('0', 'aa', 'provider'), ('1', 'ab', 'user'), ('2', 'ba', 'agent'), ('3', 'b', 'rule')) v (t,
			c, source), category c where t.provider_id = p || v.t and c.slug = p || v.c;
	update transaction t set counterparty_id = o.id, counterparty_source = v.source
		from s, (values ('1', 'One', 'agent'), ('2', 'Two', 'user'), ('4', 'One', 'rule')) v (t, c, source),
			counterparty o where t.provider_id = p || v.t and o.name = p || v.c;
	update transaction t set deleted_at = now(), deleted_source = 'user' from s where t.provider_id = p || '5';
	insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, present, source
			from s, (values ('0', 'x', true, 'rule'), ('1', 'y', true, 'user'), ('2', 'y', true, 'agent'),
			('3', 'z', false, 'user')) v (t, g, present, source), transaction t, tag g
		where t.provider_id = p || v.t and g.slug = p || v.g;
	insert into comment (id, short_id, transaction_id, content, author_type, author_name)
		select gen_random_uuid(), 'o' || p || who, t.id, 'said by ' || who, who, who
			from s, (values ('0', 'agent'), ('1', 'user'), ('2', 'system')) v (t, who), transaction t
			where t.provider_id = p || v.t;`
