package household

import (
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// The accounts, by their index.
const (
	joint = iota
	annaCurrent
	annaSavings
	goldCard
	homeLoan // Plaid returns only its balance
	danielCurrent
	danielSavings
	blueCard
	goldCopy
	dollars
	kitty
	depot
	carLoan
	accountCount
)

// The connections, by their index.
const (
	nordbank = iota
	harbour
	sparkasse
)

func members() []Member {
	return []Member{
		{Name: "Anna Berger", Email: "anna@example.org"},
		{Name: "Daniel Okafor", Email: "daniel@example.org"},
	}
}

func connections(d *dice) []Connection {
	return []Connection{
		nordbank: {Provider: "plaid", ProviderID: d.id("", base62, 37), Institution: "Nordbank", Member: 0},
		harbour: {
			Provider: "teller", ProviderID: d.id("enr_", base32, 21), Institution: "Harbour Credit Union",
			Member: 1,
		},
		sparkasse: {Provider: "csv", Institution: "Kreissparkasse Mönchhain", Member: 0},
	}
}

func accounts(d *dice) []Account {
	plaid := func(name, official text.Untrusted, kind, subtype, mask string) Account {
		return Account{
			Connection: nordbank, ProviderID: d.id("", base62, 37), Name: name, OfficialName: official,
			Type: kind, Subtype: subtype, Mask: mask,
		}
	}
	teller := func(name text.Untrusted, kind, subtype, mask string) Account {
		return Account{
			Connection: harbour, ProviderID: d.id("acc_", base32, 21), Name: name, Type: kind,
			Subtype: subtype, Mask: mask,
		}
	}
	csv := func(name text.Untrusted, kind, subtype, mask string) Account {
		return Account{
			Connection: sparkasse, ProviderID: d.id("DE00", digits, 14) + mask, Name: name, Type: kind,
			Subtype: subtype, Mask: mask,
		}
	}
	out := []Account{
		joint: plaid("Gemeinschaftskonto", "Nordbank GiroDuo", "depository", "checking",
			"0071").holds("4684.22"),
		annaCurrent: plaid("Girokonto Anna", "Nordbank GiroPlus", "depository", "checking", "2206").holds("3467.90"),
		annaSavings: plaid("Tagesgeld", "Nordbank TagesgeldPlus", "depository", "savings", "2214").holds("28450.00"),
		goldCard: plaid("Visa Gold", "Nordbank Visa Gold", "credit", "credit card", "4421").owes("1212.35",
			"6000.00"),
		homeLoan: plaid("Baufinanzierung", "Nordbank Annuitätendarlehen", "loan", "mortgage",
			"9003").owes("148322.17", ""),
		danielCurrent: teller("Daniel Everyday", "depository", "checking", "7857").holds("3933.08"),
		danielSavings: teller("Rainy Day", "depository", "savings", "7865").holds("19720.50"),
		blueCard:      teller("Blue Cash Card", "credit", "credit_card", "1009").owes("864.40", "4000.00"),
		// The balance is on the first card.
		goldCopy: teller("Visa Gold (additional card)", "credit", "credit_card", "4439"),
		dollars:  teller("US Dollar Checking", "depository", "checking", "3320").holds("2840.75"),
		kitty:    csv("Haushaltskasse", "depository", "checking", "5512").holds("612.66"),
		depot:    csv("Wertpapierdepot", "investment", "brokerage", "5539").holds("41876.03"),
		carLoan:  csv("Autokredit", "loan", "auto", "5547").owes("7420.88", ""),
	}
	for i := range out {
		out[i].Owner, out[i].MirrorOf, out[i].Currency = None, None, "EUR"
	}
	out[carLoan].Owner = 1
	out[goldCopy].MirrorOf = goldCard
	out[dollars].Currency = "USD"
	return out
}

// holds sets the balance of an account with money in it.
func (a Account) holds(current string) Account {
	now := money.MustParse(current)
	a.Current = &now
	if a.Type == "depository" {
		free := now
		a.Available = &free
	}
	return a
}

// owes sets the balance of an account with a debt, and the limit of a card.
func (a Account) owes(current, limit string) Account {
	owed := money.MustParse(current)
	a.Current = &owed
	if limit != "" {
		creditLimit := money.MustParse(limit)
		free := amount(creditLimit.Cents() - owed.Cents())
		a.Limit, a.Available = &creditLimit, &free
	}
	return a
}

// amount converts cents. The tables keep them far below the maximum of an Amount.
func amount(cents int64) money.Amount {
	a, err := money.FromCents(cents)
	if err != nil {
		panic(err)
	}
	return a
}
