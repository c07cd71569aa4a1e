package manual

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"coffer/internal/books/ledger"
	"coffer/internal/books/search"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// incoming returns the transaction in the form that the ledger stores.
func (in AddTransaction) incoming(ctx context.Context, tx pg.Tx) (ledger.Incoming, error) {
	if err := in.once(); err != nil {
		return ledger.Incoming{}, err
	}
	a, err := in.account(ctx, tx)
	if err != nil {
		return ledger.Incoming{}, err
	}
	row := ledger.Incoming{AccountID: a.ID, Currency: a.Currency}
	if in.Date != nil {
		row.Date = *in.Date
	} else if row.Date, err = pg.Value[pg.Date](ctx, tx, `select (now() at time zone time_zone)::date
		from setting`); err != nil {
		return row, err
	}
	if in.Amount != nil {
		row.Amount = *in.Amount
	} else if row.Amount, row.Currency, err = amountOf(*in.AmountText, a.Currency); err != nil {
		return row, err
	}
	if in.Currency != nil {
		row.Currency = *in.Currency
	}
	field, name := "name", in.Name
	if name == nil {
		field, name = "payee", in.Payee
	}
	if row.Name = text.Name(*name); row.Name == "" {
		return row, errs.Field(field, "empty", "must contain a letter or digit")
	}
	if in.MerchantName != nil {
		row.MerchantName = text.Name(*in.MerchantName)
	}
	if in.Detail != nil {
		row.Detail = text.Detail(*in.Detail, row.Name)
	}
	return row, nil
}

// once checks that exactly one of the two forms of each fact is given.
func (in AddTransaction) once() error {
	var faults []errs.Detail
	for _, f := range []struct {
		name, other string
		both, none  bool
	}{
		{"account_id", "card", in.AccountID != nil && in.Card != nil, in.AccountID == nil && in.Card == nil},
		{"amount", "amount_text", in.Amount != nil && in.AmountText != nil, in.Amount == nil && in.AmountText == nil},
		{"name", "payee", in.Name != nil && in.Payee != nil, in.Name == nil && in.Payee == nil},
	} {
		switch {
		case f.both:
			faults = append(faults, errs.Detail{
				Field: f.other, Code: "conflict", Message: "can't be combined with " + f.name,
			})
		case f.none:
			faults = append(faults, errs.Detail{
				Field: f.name, Code: "required", Message: "is missing; give it, or " + f.other,
			})
		}
	}
	return errs.Faults(faults)
}

// A place is the account that a transaction goes to.
type place struct {
	ID       id.ID          `db:"id"`
	Currency money.Currency `db:"currency"`
}

// account returns the account and locks it, so that nobody can remove it until the transaction
// ends.
func (in AddTransaction) account(ctx context.Context, tx pg.Tx) (place, error) {
	if in.AccountID != nil {
		a, err := pg.One[place](ctx, tx, `select id, currency from account
			where deleted_at is null and (id = $1 or short_id = $2) for no key update`,
			pg.RefTo(*in.AccountID).IDArgs()...)
		return a, pg.Named(err, "account_id", "account", "{account.list} lists them")
	}
	// Phones show a card as "Visa •••• 1234", or only by a name. If several accounts have the same
	// digits or name, the caller's own account is used.
	type match struct {
		place
		Own bool `db:"own"`
	}
	found, err := pg.All[match](ctx, tx, `
		select a.id, a.currency, coalesce(coalesce(a.owner_id, c.member_id) = $3, false) as own
		from account a left join connection c on c.id = a.connection_id
		where a.deleted_at is null and a.closed_on is null and (
			$1 <> '' and right(regexp_replace(a.mask, '\D', '', 'g'), 4) = $1
			or lower(coalesce(nullif(a.display_name, ''), a.name)) = lower($2) or lower(a.name) = lower($2))
		order by a.id limit 20 for no key update of a`, digits(*in.Card), strings.TrimSpace(*in.Card),
		op.ActorOf(ctx).Member)
	if err != nil {
		return place{}, err
	}
	if len(found) > 1 {
		if own := slices.DeleteFunc(slices.Clone(found), func(m match) bool { return !m.Own }); len(own) == 1 {
			found = own
		}
	}
	switch len(found) {
	case 0:
		return place{}, errs.Field("card", "unknown", "no account has this number or name; {account.list} lists them")
	case 1:
		return found[0].place, nil
	}
	return place{}, errs.Field("card", "conflict", "several accounts have this number or name; use account_id")
}

// digits returns the last four digits at the end of a card's name; "" if it does not end with at
// least four.
func digits(card string) string {
	card = strings.TrimRightFunc(card, func(r rune) bool { return !unicode.IsDigit(r) && !unicode.IsLetter(r) })
	end := card[len(strings.TrimRight(card, "0123456789")):]
	if len(end) < 4 {
		return ""
	}
	return end[len(end)-4:]
}

// signs maps each currency sign to the currencies that it can mean, the usual one first.
var signs = map[string][]money.Currency{
	"€": {"EUR"}, "£": {"GBP"}, "$": {"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"}, "US$": {"USD"},
	"¥": {"JPY", "CNY"}, "₹": {"INR"}, "₽": {"RUB"}, "₺": {"TRY"}, "₴": {"UAH"}, "₩": {"KRW"}, "₪": {"ILS"},
	"KR": {"SEK", "NOK", "DKK", "ISK"}, "ZŁ": {"PLN"}, "KČ": {"CZK"}, "FT": {"HUF"}, "FR": {"CHF"}, "R$": {"BRL"},
}

// amountOf reads an amount as a person or a phone wrote it. If the text has no currency, or a sign
// that can mean the account's currency, the amount is in the account's currency.
func amountOf(written string, usual money.Currency) (money.Amount, money.Currency, error) {
	amount, direction, sign, ok := search.ParseMoney(written)
	if !ok || amount.IsZero() {
		return amount, "", errs.Field("amount_text", "pattern", "must be one amount, such as 12.50 or €12,50")
	}
	if direction > 0 {
		amount = amount.Neg()
	}
	if sign == "" {
		return amount, usual, nil
	}
	sign = strings.ToUpper(sign)
	if meant := signs[sign]; meant != nil {
		if slices.Contains(meant, usual) {
			return amount, usual, nil
		}
		return amount, meant[0], nil
	}
	currency, err := money.ParseCurrency(sign)
	if err != nil {
		return amount, "", errs.Field("amount_text", "pattern",
			"has a currency that can't be read; write its code, such as EUR, or set iso_currency_code")
	}
	return amount, currency, nil
}

// known sets the counterparty that has the payee's name, unless the caller gave one.
func (in *AddTransaction) known(ctx context.Context, tx pg.Tx) error {
	if in.Payee == nil || in.CounterpartyID != nil {
		return nil
	}
	other, err := pg.Value[string](ctx, tx, `select coalesce(canonical_id, id)::text from counterparty
		where lower(name) = lower($1) and deleted_at is null`, strings.TrimSpace(*in.Payee))
	if errors.Is(err, pg.ErrNoRow) {
		return nil
	}
	in.CounterpartyID = &other
	return err
}
