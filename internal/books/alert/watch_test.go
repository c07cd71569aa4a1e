package alert

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/books/recurring"
	"coffer/internal/notify"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// books creates an account that was added 80 days ago, with rows of every kind. All texts of the
// bank contain the word canary.
const books = `
	insert into connection (id, short_id, member_id, provider, institution_name, created_at, consent_expires_at)
		select '01900000-0000-7000-8000-000000000001', 'conn0001', id, 'plaid', 'canary bank', now() - interval '80 days',
			now() + interval '5 days' from member limit 1;
	insert into account (id, short_id, connection_id, provider, provider_id, name, display_name, type, currency, created_at)
		values ('01900000-0000-7000-8000-000000000002', 'acct0001', '01900000-0000-7000-8000-000000000001', 'plaid', '1',
			'canary account', 'Joint', 'depository', 'EUR', now() - interval '80 days'),
			('01900000-0000-7000-8000-000000000003', 'acct0002', '01900000-0000-7000-8000-000000000001', 'plaid', '2',
			'canary fresh', null, 'depository', 'EUR', now());
	insert into descriptor (name, merchant_name, folded) values ('canary shop', 'canary merchant', 'canary');
	insert into counterparty (id, short_id, name) values ('01900000-0000-7000-8000-000000000005', 'part0001', 'The Bakery');
	insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id, pending, excluded,
		transfer, origin)
	select gen_random_uuid(), 'told' || x.name, x.account::uuid, x.name, current_date - x.ago, x.amount, x.currency,
		(select max(id) from descriptor), x.name = 'pend', x.name = 'excl', x.name = 'tran',
		case x.name when 'hand' then 'manual' else 'bank' end
	from (values
		('larg', '01900000-0000-7000-8000-000000000002', 2, 500.00, 'EUR'),
		('smal', '01900000-0000-7000-8000-000000000002', 2, 499.99, 'EUR'),
		('inco', '01900000-0000-7000-8000-000000000002', 2, -900.00, 'EUR'),
		('doll', '01900000-0000-7000-8000-000000000002', 2, 900.00, 'USD'),
		('pend', '01900000-0000-7000-8000-000000000002', 2, 900.00, 'EUR'),
		('excl', '01900000-0000-7000-8000-000000000002', 2, 900.00, 'EUR'),
		('tran', '01900000-0000-7000-8000-000000000002', 2, 900.00, 'EUR'),
		('hand', '01900000-0000-7000-8000-000000000002', 2, 900.00, 'EUR'),
		('savi', '01900000-0000-7000-8000-000000000002', 2, 900.00, 'EUR'),
		('befo', '01900000-0000-7000-8000-000000000002', 2, 900.00, 'EUR'),
		('hist', '01900000-0000-7000-8000-000000000003', 9, 900.00, 'EUR')) x (name, account, ago, amount, currency);
	update transaction set category_id = (select id from category where slug = 'transfers_savings')
		where short_id = 'toldsavi';
	update transaction set created_at = now() - interval '2 days' where short_id = 'toldbefo';
	insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, true, 'rule' from transaction t, tag g where g.slug = 'needs-review' and t.short_id <> 'toldlarg';
	insert into proof (account_id, status, gap_after, gap_until)
		values ('01900000-0000-7000-8000-000000000002', 'gap', array[current_date - 100, current_date - 75, current_date - 9],
			array[current_date - 90, current_date - 70, current_date - 8]),
		('01900000-0000-7000-8000-000000000003', 'gap', array[current_date - 9], array[current_date - 8]);
	insert into recurring (id, short_id, account_id, currency, direction, cadence, party, forms, fixed, amount,
		first_date, last_date, next_date, occurrences, sure, price_changes, found, name)
	values ('01900000-0000-7000-8000-000000000004', 'recu0001', '01900000-0000-7000-8000-000000000002', 'EUR', 'out',
		'monthly', 1, array[1::bigint], true, 12, current_date - 200, current_date - 45, current_date - 15, 6, true,
		jsonb_build_array(
			jsonb_build_object('date', current_date - 150, 'before', 9, 'after', 10, 'percent', 11, 'provisional', false),
			jsonb_build_object('date', current_date - 70, 'before', 10, 'after', 11, 'percent', 10, 'provisional', false),
			jsonb_build_object('date', current_date - 50, 'before', 10, 'after', 12, 'percent', 20, 'provisional', false),
			jsonb_build_object('date', current_date - 40, 'before', 12, 'after', 13, 'percent', 8, 'provisional', true)),
		true, 'Music');`

// Each event is reported once if it is newer than the day on which its account was added. Reduced
// event data contains no text of a bank.
func TestWatch(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	exec := func(sql string) {
		t.Helper()
		if _, err := db.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	exec(books)
	files := category.New()
	accounts := account.New(db)
	w := New(db, recurring.New(db, ledger.New(db, files)), accounts)
	told := func() []string {
		t.Helper()
		if err := w.Look(t.Context()); err != nil {
			t.Fatal(err)
		}
		list, err := pg.Values[string](t.Context(), db, `select type || ' ' || coalesce(data ->> 'amount', data ->> 'after',
			data ->> 'count', '') from notification order by 1`)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if got := told(); len(got) != 0 {
		t.Errorf("without an endpoint it reported %q", got)
	}
	ring, err := seal.NewRing("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	n := notify.New(notify.Config{DB: db, Ring: ring, Log: slog.New(slog.DiscardHandler)})
	err = db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := n.CreateEndpoint(t.Context(), tx, notify.CreateEndpoint{URL: "http://127.0.0.1:9/", Content: "lean"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	exec(`update endpoint set created_at = now() - interval '1 day'`)
	day := func(ago string) string {
		s, err := pg.Value[string](t.Context(), db, `select (current_date - `+ago+`)::text`)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	want := []string{
		"books.gap " + day("9"), "connection.expiring ", "recurring.missed 12.00", "recurring.price_changed 12.00",
	}
	if got := told(); !slices.Equal(got, want) {
		t.Errorf("reported %q, not %q", got, want)
	}
	exec(`update setting set large_charge = '[{"iso_currency_code": "EUR", "amount": 500}]', review_digest_hour = 0,
		review_digest_min = 11`)
	want = append([]string{want[0], "charge.large 500.00"}, want[1:]...)
	if got := told(); !slices.Equal(got, want) {
		t.Errorf("reported %q, not %q", got, want)
	}
	exec(`update setting set review_digest_min = 10`)
	want = append(want, "review.waiting 10")
	for range 2 {
		if got := told(); !slices.Equal(got, want) {
			t.Errorf("reported %q, not %q", got, want)
		}
	}
	// A balance falls below its limit, varies around it, recovers and falls again.
	stands := func(balance string, times int) {
		t.Helper()
		exec(`insert into account_balance (account_id, day, source, current, stated_at)
			values ('01900000-0000-7000-8000-000000000002', current_date, 'manual', ` + balance + `, now())
			on conflict (account_id, day, source) do update set current = excluded.current`)
		n := 0
		for _, x := range told() {
			if strings.HasPrefix(x, "balance.low ") {
				n++
			}
		}
		if n != times {
			t.Errorf("at %s it was reported %d times, not %d", balance, n, times)
		}
	}
	stands("99", 0)
	exec(`update account set low_balance = 100 where short_id = 'acct0001'`)
	stands("100", 0)
	stands("99.99", 1)
	stands("50", 1)
	stands("109.99", 1)
	stands("99", 1)
	stands("110", 1)
	stands("99", 2)
	payee := func() string {
		t.Helper()
		s, err := pg.Value[string](t.Context(), db, `select full_data ->> 'payee_name' from notification
			where type = 'charge.large'`)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if got := payee(); got != "Canary Merchant" {
		t.Errorf("the payee is %q", got)
	}
	exec(`delete from notification where type = 'charge.large'`)
	exec(`update transaction set counterparty_id = '01900000-0000-7000-8000-000000000005' where short_id = 'toldlarg'`)
	told()
	if got := payee(); got != "The Bakery" {
		t.Errorf("the named payee is %q", got)
	}
	lean, full := texts(t, db, "data"), texts(t, db, "full_data")
	if strings.Contains(lean, "canary") {
		t.Errorf("bank text in lean data: %s", lean)
	}
	if strings.Count(full, "canary") < 3 { // the control
		t.Errorf("no bank text in full data: %s", full)
	}
	if !strings.Contains(lean, "Joint") || !strings.Contains(lean, "Music") {
		t.Errorf("the household's own names are missing: %s", lean)
	}
}

func texts(t *testing.T, db *pg.DB, column string) string {
	t.Helper()
	s, err := pg.Value[string](context.WithoutCancel(t.Context()), db,
		`select string_agg(case $1 when 'data' then data else full_data end::text, ' ') from notification`, column)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
