package payee_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"coffer/internal/books/category"
	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/payee"
	"coffer/internal/books/payeename"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/rules/rulebook"
)

// A town is the environment of these tests, with a database of its own.
type town struct {
	*payee.Payees
	t       *testing.T
	db      *pg.DB
	others  *counterparty.Counterparties
	rules   *rulebook.Rulebook
	journal *journal.Journal
	account id.ID
	ctx     context.Context //nolint:containedctx // the test's own, with a person in it
	day     int
}

func newTown(t *testing.T) *town {
	t.Helper()
	db := pgtest.New(t)
	files := category.New(ledger.CategoryUser{}, counterparty.CategoryUser{}, rulebook.CategoryUser{})
	books := ledger.New(db, files)
	s := &town{t: t, db: db, others: counterparty.New(files, books), account: id.New()}
	s.rules = rulebook.New(db, files, books, job.New(db, slog.New(slog.DiscardHandler)))
	s.Payees = payee.New(db, books, s.others, s.rules)
	s.journal = journal.New(journal.Config{
		DB: db, Subjects: slices.Concat(files.Subjects(), books.Subjects(), s.others.Subjects(), s.rules.Subjects()),
	})
	s.ctx = op.WithActor(t.Context(), op.Actor{Type: op.User, ID: id.New(), Name: "Robin", Scope: op.Full})
	s.exec(`insert into account (id, short_id, provider, provider_id, name, type, currency)
		values ($1, $2, 'csv', 'a', 'a', 'depository', 'EUR')`, s.account, s.account.Short())
	return s
}

func (s *town) exec(sql string, args ...any) {
	s.t.Helper()
	if _, err := pg.Exec(s.t.Context(), s.db, sql, args...); err != nil {
		s.t.Fatal(err)
	}
}

// paid stores a transaction.
func (s *town) paid(name, merchant, amount, currency string) {
	s.t.Helper()
	form, key := payeename.Keys(name, merchant)
	folded := strings.ToLower(name + "\n" + merchant)
	s.exec(`insert into descriptor (name, merchant_name, folded, form, payee) values ($1, $2, $3, $4, $5)
		on conflict do nothing`, name, merchant, folded, form, key)
	s.day++
	u := id.New()
	s.exec(`insert into transaction (id, short_id, account_id, provider_id, date, amount, currency, descriptor_id)
		select $1, $2, $3, $2, '2026-01-01'::date + $4::int, $5::numeric, $6, d.id from descriptor d
			where d.name = $7 and d.merchant_name = $8`, u, u.Short(), s.account, s.day, amount, currency, name, merchant)
}

func (s *town) list(in payee.ListPayees) string {
	s.t.Helper()
	if in.Limit == 0 {
		in.Limit = 50
	}
	out, err := s.List(s.ctx, s.db, in)
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	for _, p := range out.Payees {
		names = append(names, fmt.Sprintf("%s %d %s/%s %s", p.PayeeName.Plain(), p.Count, p.MoneyOut, p.MoneyIn, p.Currency))
	}
	return strings.Join(names, ", ")
}

func (s *town) name(in payee.NamePayees) (out payee.NamedPayees, err error) {
	s.t.Helper()
	err = s.db.InTx(s.ctx, func(tx pg.Tx) error {
		out, err = s.Name(s.ctx, tx, in)
		return err
	})
	return out, err
}

func (s *town) undo(change *id.ID) {
	s.t.Helper()
	err := s.db.InTx(s.ctx, func(tx pg.Tx) error {
		out, err := s.journal.Revert(s.ctx, tx, journal.RevertChange{ChangeID: change.Short()})
		if err == nil && len(out.Skipped) > 0 {
			err = fmt.Errorf("skipped: %v", out.Skipped)
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
}

func keyOf(name string) string {
	_, key := payeename.Keys(name, "")
	return key.String()
}

func TestList(t *testing.T) {
	t.Parallel()
	s := newTown(t)
	if got := s.list(payee.ListPayees{}); got != "" {
		t.Errorf("of nothing: %s", got)
	}
	s.paid("EDEKA", "", "10", "EUR")
	s.paid("EDEKA", "", "5.50", "EUR")
	s.paid("CARD PAYMENT 4421 EDEKA 5426", "", "7", "EUR")
	s.paid("CARD PAYMENT 4421 EDEKA 5427", "", "-2", "EUR")
	s.paid("PAYPAL *SPOTIFY", "", "9.99", "USD")
	s.paid("SALARY", "Acme GmbH", "-2000", "EUR")
	for by, want := range map[string]string{
		"":      "Edeka 2 15.50/0.00 EUR, Edeka 2 7.00/2.00 EUR, Acme 1 0.00/2000.00 EUR, Spotify 1 9.99/0.00 USD",
		"count": "Edeka 2 ",
		"name":  "Acme 1 0.00/2000.00 EUR, Edeka 2 ",
		"last":  "Acme 1 0.00/2000.00 EUR, Spotify 1 9.99/0.00 USD, ",
	} {
		if got := s.list(payee.ListPayees{SortBy: by}); !strings.HasPrefix(got, want) {
			t.Errorf("by %q: %s, want %s", by, got, want)
		}
	}
	var pages []string
	for cursor := ""; ; {
		out, err := s.List(s.ctx, s.db, payee.ListPayees{SortBy: "name", Limit: 1, Cursor: cursor, Similar: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Similar) != 1 || len(out.Similar[0]) != 2 || out.Total != 4 {
			t.Errorf("look alike: %+v of %d", out.Similar, out.Total)
		}
		pages = append(pages, out.Payees[0].PayeeName.Plain())
		if cursor = out.NextCursor; !out.HasMore {
			break
		}
	}
	if got := strings.Join(pages, ","); got != "Acme,Edeka,Edeka,Spotify" {
		t.Errorf("pages: %s", got)
	}
	got, err := s.Get(s.ctx, s.db, payee.GetPayee{Payee: keyOf("EDEKA")})
	if err != nil || got.PayeeName.Plain() != "Edeka" || len(got.Months) != 1 || got.Months[0].Count != 2 ||
		len(got.Similar) != 1 || got.Similar[0].Payee.String() != keyOf("CARD PAYMENT 4421 EDEKA 5426") ||
		len(got.Aliases) != 1 {
		t.Errorf("one payee: %+v, %v", got, err)
	}
	for _, ref := range []string{"nothing0", "00000000000", "00000000-0000-7000-8000-0000000000ad"} {
		if _, err := s.Get(s.ctx, s.db, payee.GetPayee{Payee: ref}); !errs.Is(err, errs.NotFound) {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// The household's own accounts are listed as payees, but never proposed as similar ones.
func TestOwnAccountsAreNotSimilar(t *testing.T) {
	t.Parallel()
	s := newTown(t)
	s.exec(`update account set name = 'Savings', display_name = 'Rainy-Day' where id = $1`, s.account)
	const card = "CARD PAYMENT 4421 %s 5426"
	for _, name := range []string{"SAVINGS", "RAINY-DAY", "POT", "EDEKA"} {
		s.paid(name, "", "10", "EUR")
		s.paid(fmt.Sprintf(card, name), "", "10", "EUR")
	}
	s.exec(`update transaction set category_id = (select id from category where kind = 'transfer' order by slug limit 1)
		where descriptor_id in (select id from descriptor where name like '%POT%')`)
	out, err := s.List(s.ctx, s.db, payee.ListPayees{Limit: 50, Similar: true})
	if err != nil || out.Total != 8 || len(out.Similar) != 1 || out.Similar[0][0].PayeeName.Plain() != "Edeka" {
		t.Errorf("of %d payees look alike: %+v, %v", out.Total, out.Similar, err)
	}
	for name, want := range map[string]int{"EDEKA": 1, "POT": 0, "SAVINGS": 0, fmt.Sprintf(card, "RAINY-DAY"): 0} {
		if got, err := s.Get(s.ctx, s.db, payee.GetPayee{Payee: keyOf(name)}); err != nil || len(got.Similar) != want {
			t.Errorf("%s looks like %+v, %v", name, got.Similar, err)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	s := newTown(t)
	s.paid("EDEKA", "", "10", "EUR")
	s.paid("CARD PAYMENT 4421 EDEKA 5426", "", "7", "EUR")
	s.paid("EDEKABANK BONN", "", "3", "EUR") // contains the name, but is another payee
	before := s.list(payee.ListPayees{SortBy: "name"})
	keys := []string{keyOf("EDEKA"), keyOf("CARD PAYMENT 4421 EDEKA 5426")}

	merged, err := s.name(payee.NamePayees{Payees: keys, Name: new("Edeka Nord")})
	if err != nil || merged.Linked != 2 || merged.RuleID == nil || merged.ChangeID == nil || merged.Merged != 0 {
		t.Fatalf("named: %+v, %v", merged, err)
	}
	const want = "Edeka Nord 2 17.00/0.00 EUR, Edekabank Bonn 1 3.00/0.00 EUR"
	if got := s.list(payee.ListPayees{SortBy: "name"}); got != want {
		t.Errorf("named: %s, want %s", got, want)
	}
	got, err := s.Get(s.ctx, s.db, payee.GetPayee{Payee: merged.Counterparty.ShortID})
	if err != nil || len(got.Aliases) != 2 || got.Totals[0].Count != 2 {
		t.Errorf("one payee: %+v, %v", got, err)
	}
	// A new name for a payee that has one only renames it. It does not need a second rule.
	renamed, err := s.name(payee.NamePayees{Payees: keys[:1], Name: new("EDEKA nord")})
	if err != nil || renamed.Counterparty.ID != merged.Counterparty.ID || renamed.RuleID != nil ||
		renamed.Linked+renamed.Merged != 0 {
		t.Errorf("renamed: %+v, %v", renamed, err)
	}
	if got := s.list(payee.ListPayees{SortBy: "name"}); !strings.HasPrefix(got, "EDEKA nord 2 ") {
		t.Errorf("renamed: %s", got)
	}
	// Two payees with names become one.
	bank, err := s.name(payee.NamePayees{Payees: []string{keyOf("EDEKABANK BONN")}, Name: new("Bank")})
	if err != nil {
		t.Fatal(err)
	}
	both, err := s.name(payee.NamePayees{
		Payees: append([]string{keyOf("EDEKABANK BONN")}, keys...), CounterpartyID: new(bank.Counterparty.ShortID),
	})
	if err != nil || both.Merged != 1 || both.Counterparty.ID != bank.Counterparty.ID {
		t.Errorf("both: %+v, %v", both, err)
	}
	if got := s.list(payee.ListPayees{}); got != "Bank 3 20.00/0.00 EUR" {
		t.Errorf("both: %s", got)
	}
	for _, change := range []*id.ID{both.ChangeID, bank.ChangeID, renamed.ChangeID, merged.ChangeID} {
		s.undo(change)
	}
	if got := s.list(payee.ListPayees{SortBy: "name"}); got != before {
		t.Errorf("undone: %s, want %s", got, before)
	}
	n, err := pg.Value[int](t.Context(), s.db, `select count(*) from rule where deleted_at is null
		and actions @> '[{"type": "assign_counterparty"}]'`)
	if err != nil || n != 0 {
		t.Errorf("%d rules are left, %v", n, err)
	}
}

// If a person linked one transaction of a payee to another counterparty, it keeps that one, and
// that counterparty keeps its name.
func TestNameLeavesStrays(t *testing.T) {
	t.Parallel()
	s := newTown(t)
	for range 3 {
		s.paid("AMZN MKTP DE", "", "10", "EUR")
	}
	s.exec(`insert into counterparty (id, short_id, name) values ($1, 'Dad00000', 'Dad')`, s.account)
	s.exec(`update transaction set counterparty_id = $1, counterparty_source = 'user'
		where id = (select id from transaction order by date limit 1)`, s.account)
	out, err := s.name(payee.NamePayees{Payees: []string{keyOf("AMZN MKTP DE")}, Name: new("Amazon")})
	if err != nil || out.Linked != 2 || out.Merged != 0 {
		t.Errorf("named: %+v, %v", out, err)
	}
	if got := s.list(payee.ListPayees{SortBy: "name"}); got != "Amazon 2 20.00/0.00 EUR, Dad 1 10.00/0.00 EUR" {
		t.Errorf("named: %s", got)
	}
}

// The rule of a name matches every wording of its payees and none of others.
func TestRuleOfName(t *testing.T) {
	t.Parallel()
	s := newTown(t)
	for n := range 3 {
		s.paid(fmt.Sprintf("KARTENZAHLUNG %d LIDL %04d", 2000+n, n), "", "7", "EUR")
		s.paid(fmt.Sprintf("ROSSMANN %04d SAGT DANKE", n), "", "7", "EUR")
	}
	s.paid("LIDL REISEN", "", "300", "EUR")
	for _, c := range []struct{ wording, op string }{
		{"KARTENZAHLUNG 2000 LIDL 0000", "matches"}, {"ROSSMANN 0001 SAGT DANKE", "contains"}, {"LIDL REISEN", "eq"},
	} {
		out, err := s.name(payee.NamePayees{Payees: []string{keyOf(c.wording)}, Name: new("The " + c.wording)})
		if err != nil {
			t.Fatal(err)
		}
		tree, err := pg.Value[string](t.Context(), s.db, `select conditions::text from rule where id = $1`, out.RuleID)
		if err != nil || !strings.Contains(tree, `"`+c.op+`"`) {
			t.Errorf("%s: %s, %v", c.wording, tree, err)
		}
	}
}

func TestNameRefuses(t *testing.T) {
	t.Parallel()
	s := newTown(t)
	s.paid("EDEKA", "", "10", "EUR")
	for what, c := range map[string]struct {
		in   payee.NamePayees
		code errs.Code
	}{
		"neither": {payee.NamePayees{Payees: []string{keyOf("EDEKA")}}, errs.ValidationError},
		"no key":  {payee.NamePayees{Payees: []string{"short"}, Name: new("x")}, errs.ValidationError},
		"nobody":  {payee.NamePayees{Payees: []string{keyOf("nobody")}, Name: new("x")}, errs.InvalidReference},
		"no counterparty": {
			payee.NamePayees{Payees: []string{keyOf("EDEKA")}, CounterpartyID: new("nothing0")}, errs.NotFound,
		},
	} {
		if _, err := s.name(c.in); !errs.Is(err, c.code) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
