package payee_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/analytics"
	"coffer/internal/books/category"
	"coffer/internal/books/finding"
	"coffer/internal/books/ledger"
	"coffer/internal/books/payee"
	"coffer/internal/books/recurring"
	"coffer/internal/books/reviewgroup"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A payee has the same name everywhere.
func TestNamesAgree(t *testing.T) {
	t.Parallel()
	s := newTown(t)
	books := ledger.New(s.db, category.New(ledger.CategoryUser{}))
	payments := recurring.New(s.db, books)
	var rows []ledger.Incoming
	pay := func(name, merchant string, cents int64, daysAgo int) {
		amount, err := money.FromCents(cents)
		if err != nil {
			t.Fatal(err)
		}
		day, err := pg.ParseDate(time.Now().AddDate(0, 0, -daysAgo).Format(time.DateOnly))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, ledger.Incoming{
			AccountID: s.account, ProviderID: fmt.Sprint(len(rows)), Date: day, Amount: amount, Currency: "EUR",
			Name: text.Name(name), MerchantName: text.Name(merchant),
		})
	}
	pay("START", "", 1_00, 300)
	for i := range 9 {
		price := int64(12_99)
		if i < 2 {
			price = 15_99
		}
		pay("KARTENZAHLUNG 2394 STREAMFLIX.COM 5426", "", price, 10+30*i)
		pay("LASTSCHRIFT STADTWERKE 77", "Stadtwerke Musterstadt GmbH", price, 12+30*i)
	}
	for i := range 2 {
		pay("CARD PAYMENT 4421 EDEKA 5426 SAGT DANKE", "", 50_00, 20+i)
		pay("SQ *BAKERY", "", 30_00, 25+i)
	}
	err := s.db.InTx(s.ctx, func(tx pg.Tx) error {
		if _, err := books.Merge(s.ctx, tx, slices.Values(rows)); err != nil {
			return err
		}
		return payments.Sweep(s.ctx, tx)
	})
	if err != nil {
		t.Fatal(err)
	}
	// The household gives the bakery a name that looks like a bank's wording.
	own := id.New()
	s.exec(`insert into counterparty (id, short_id, name) values ($1, $2, 'CARD 4421 the bakery')`, own, own.Short())
	s.exec(`update transaction t set counterparty_id = $1, counterparty_source = 'user' from descriptor d
		where d.id = t.descriptor_id and d.name like 'SQ%'`, own)
	s.exec(`insert into transaction_tag (transaction_id, tag_id, present, source)
		select t.id, g.id, true, 'rule' from transaction t, tag g where g.slug = 'needs-review'`)

	page, err := books.Transactions(s.ctx, s.db, ledger.ListTransactions{Limit: 500, Fields: "all"})
	if err != nil {
		t.Fatal(err)
	}
	byKey, byID, all := map[id.Key]string{}, map[id.ID]string{}, []string{}
	for _, r := range page.Transactions {
		byKey[r.Payee], byID[r.ID] = r.PayeeName.Plain(), r.PayeeName.Plain()
		all = append(all, r.PayeeName.Plain())
	}
	slices.Sort(all)
	want := []string{"CARD 4421 the bakery", "Edeka", "Stadtwerke Musterstadt", "Start", "Streamflix"}
	if all = slices.Compact(all); !slices.Equal(all, want) {
		t.Fatalf("transactions have the payees %q, want %q", all, want)
	}
	told := map[string][]string{}
	tell := func(where, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, but transactions say %q", where, got, want)
		}
		told[where] = append(told[where], got)
	}
	in := func(f func(ctx context.Context) error) {
		t.Helper()
		if err := f(s.ctx); err != nil {
			t.Fatal(err)
		}
	}
	in(func(ctx context.Context) error {
		groups, err := reviewgroup.New(s.db, books).ReviewGroups(ctx, s.db, reviewgroup.ListReviewGroups{Limit: 100})
		for _, g := range groups.Groups {
			tell("review groups", g.PayeeName.Plain(), byKey[g.Payee])
		}
		return err
	})
	in(func(ctx context.Context) error {
		list, err := s.List(ctx, s.db, payee.ListPayees{Limit: 100})
		for _, p := range list.Payees {
			tell("payees", p.PayeeName.Plain(), byKey[p.Payee])
		}
		return err
	})
	in(func(ctx context.Context) error {
		sums, err := analytics.New(books, account.New(s.db)).Summary(ctx, s.db,
			analytics.SummaryRequest{GroupBy: []string{"payee"}})
		for _, g := range sums.Groups {
			want := "CARD 4421 the bakery"
			if g.Payee != nil {
				want = byKey[*g.Payee]
			}
			tell("summary", g.Keys["payee"].Plain(), want)
		}
		return err
	})
	in(func(ctx context.Context) error {
		list, err := payments.List(ctx, s.db, recurring.ListRecurring{Limit: 100})
		for _, r := range list.Recurring {
			tell("recurring", r.PayeeName.Plain(), byKey[r.Payee])
		}
		return err
	})
	in(func(ctx context.Context) error {
		desk := finding.New(s.db, books, account.New(s.db), payments)
		list, err := desk.Findings(ctx, s.db, finding.ListFindings{State: "open", Limit: 100})
		for _, f := range list.Findings {
			tell("findings", f.PayeeName.Plain(), byID[f.TransactionIDs[0]])
		}
		return err
	})
	for where, least := range map[string]int{
		"review groups": 5, "payees": 5, "summary": 5, "recurring": 2, "findings": 4,
	} {
		if len(told[where]) < least {
			t.Errorf("%s name only %q", where, told[where])
		}
	}
}
