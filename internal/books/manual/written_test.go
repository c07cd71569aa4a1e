package manual_test

import (
	"strings"
	"testing"

	"coffer/internal/books/account"
	"coffer/internal/books/manual"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A phone gives an amount as text, a card and a payee.
func TestWhatAPhoneGives(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	more := as(w, ada, account.New(w.db).AddAccounts, []account.Incoming{
		{Provider: "csv", ProviderID: "visa", Name: "Visa Gold", Type: "credit", Currency: "EUR", Mask: "1234"},
		{Provider: "csv", ProviderID: "dollars", Name: "Travel", Type: "credit", Currency: "CAD", Mask: "••77 7788"},
		{Provider: "csv", ProviderID: "twin", Name: "Twin", Type: "credit", Currency: "EUR", Mask: "5555"},
		{Provider: "csv", ProviderID: "twin2", Name: "Twin", Type: "credit", Currency: "EUR", Mask: "5555"},
	})
	for _, c := range []struct{ card, amount, want string }{
		{"1234", "€12,50", "visa 12.50 EUR"},
		{"Visa •••• 1234", "12.50", "visa 12.50 EUR"},
		{"visa gold", "+12,50 €", "visa -12.50 EUR"},
		{"•7788", "$1,234.50", "dollars 1234.50 CAD"},
		{"7788", "€5", "dollars 5.00 EUR"},
		{"7788", "US$5", "dollars 5.00 USD"},
		{"7788", "5 sek", "dollars 5.00 SEK"},
		{"7788", "-5 kr", "dollars 5.00 SEK"},
		{"Giro", "1 234,56 €", "giro 1234.56 EUR"},
		{"5555", "5", "card: several"},
		{"Twin", "5", "card: several"},
		{"9999", "5", "card: no account"},
		{"34", "5", "card: no account"},
		{"1234", "0", "amount_text: must be one"},
		{"1234", "lots", "amount_text: must be one"},
		{"1234", "5 doubloons", "amount_text: has a currency"},
		{"1234", "99999999999", "amount_text: must be one"},
	} {
		made, err := try(w, ada, w.hand.Add, manual.AddTransaction{
			Card: &c.card, AmountText: &c.amount, Payee: new("Market"),
		})
		var got string
		if err != nil {
			e := errs.Public(err, "")
			if len(e.Details) != 1 {
				t.Fatal(err)
			}
			got = e.Details[0].Field + ": " + e.Details[0].Message
		} else {
			provider, err := pg.Value[string](t.Context(), w.db, `select provider_id from account where id = $1`, made.AccountID)
			if err != nil {
				t.Fatal(err)
			}
			got = provider + " " + made.Amount.String() + " " + string(made.Currency)
		}
		if got != c.want && (err == nil || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s with %s is %s, want %s", c.amount, c.card, got, c.want)
		}
	}
	// Each fact can be given in only one form.
	for _, in := range []manual.AddTransaction{
		{},
		{Card: new("1234"), AmountText: new("5")},
		{Card: new("1234"), Payee: new("x")},
		{
			Card: new("1234"), AccountID: new(more[0].String()), AmountText: new("5"), Payee: new("x"),
		},
		{Card: new("1234"), AmountText: new("5"), Payee: new("x"), Name: new("y")},
	} {
		if _, err := try(w, ada, w.hand.Add, in); !errs.Is(err, errs.ValidationError) {
			t.Errorf("%+v: %v", in, err)
		}
	}
}

// A transaction with the caller's own id is added only once, even if several callers send it again.
// If it was removed, it stays removed.
func TestReferences(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := w.cash(3, "12.50")
	in.Reference = new("9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")
	first := as(w, ada, w.hand.Add, in)
	for _, who := range []op.Actor{ada, {Type: op.User, Name: "Anna's other phone"}} {
		if again := as(w, who, w.hand.Add, in); again.ID != first.ID {
			t.Errorf("it is added again: %s and %s", again.ID, first.ID)
		}
	}
	in.Reference = new("another1")
	if other := as(w, ada, w.hand.Add, in); other.ID == first.ID {
		t.Error("another one is not added")
	}
	if n, err := pg.Value[int](t.Context(), w.db, `select count(*)::int from transaction`); err != nil || n != 2 {
		t.Errorf("%d transactions (%v)", n, err)
	}
}
