package household

import (
	"slices"
	"time"

	"coffer/internal/platform/text"
)

// The family's accounts, by their index.
const (
	famJoint = iota
	famAnna
	famSavings
	famHoliday
	famGold
	famFund
	famMortgage
	famDaniel
	famRainy
	famBlue
	famGoldCopy
	famKim
	famAccounts
)

// newFamily returns the household of a family that owns a house. Recurring payments follow the
// calendar. The random payments of a day depend only on its date. A few events happen a fixed
// number of days before Options.Family. So the same family with a later end has the same past and
// some more days.
func newFamily(o Options) *Household {
	d := newDice(o.Seed, 4)
	h := &Household{
		Options: o, Start: o.Family.AddDate(-o.Years, 0, 1), Members: members(), Connections: connections(d),
	}
	h.Connections[sparkasse].Institution = "Sparkasse Mönchhain"
	h.Accounts = familyAccounts(d)
	f := &story{h: h, dice: d, balance: familyOpening}
	for day := h.Start; !day.After(o.End); day = day.AddDate(0, 0, 1) {
		f.today = day
		f.live()
	}
	slices.SortStableFunc(f.rows, func(a, b Transaction) int { return a.Date.Compare(b.Date) })
	h.familyRows = slices.DeleteFunc(f.rows, func(t Transaction) bool { return t.Date.After(o.End) })
	h.Options.Transactions = len(h.familyRows)
	f.settle()
	return h
}

// familyOpening are the balances at the beginning of the story, in cents. Money is positive and
// debt negative.
var familyOpening = [famAccounts]int64{
	famJoint: 2_450_00, famAnna: 2_380_00, famSavings: 9_800_00, famHoliday: 1_350_00, famGold: -612_00,
	famFund: 11_900_00, famDaniel: 1_960_00, famRainy: 6_400_00, famBlue: -388_00, famKim: 640_00,
}

func familyAccounts(d *dice) []Account {
	at := func(connection int, name text.Untrusted, kind, subtype, mask string) Account {
		id := d.id("", base62, 37)
		switch connection {
		case harbour:
			id = d.id("acc_", base32, 21)
		case sparkasse:
			id = d.id("DE00", digits, 14) + mask
		}
		return Account{
			Connection: connection, ProviderID: id, Name: name, Type: kind, Subtype: subtype, Mask: mask,
			Owner: None, MirrorOf: None, Currency: "EUR",
		}
	}
	out := []Account{
		famJoint:    at(nordbank, "Joint account", "depository", "checking", "0071"),
		famAnna:     at(nordbank, "Anna's account", "depository", "checking", "2206"),
		famSavings:  at(nordbank, "Savings", "depository", "savings", "2214"),
		famHoliday:  at(nordbank, "Holiday fund", "depository", "savings", "2230"),
		famGold:     at(nordbank, "Visa Gold", "credit", "credit card", "4421"),
		famFund:     at(nordbank, "Index fund", "investment", "brokerage", "5539"),
		famMortgage: at(nordbank, "Mortgage", "loan", "mortgage", "9003").owes("176840.00", ""),
		famDaniel:   at(harbour, "Daniel Everyday", "depository", "checking", "7857"),
		famRainy:    at(harbour, "Rainy Day", "depository", "savings", "7865"),
		famBlue:     at(harbour, "Blue Cash Card", "credit", "credit_card", "1009"),
		famGoldCopy: at(harbour, "Visa Gold (additional card)", "credit", "credit_card", "4439"),
		famKim:      at(sparkasse, "Kim's savings", "depository", "savings", "5512"),
	}
	out[famGoldCopy].MirrorOf = famGold
	return out
}

// A story generates the days of a family, one after another.
type story struct {
	*dice   // of today only
	h       *Household
	today   time.Time
	number  int // number of today's rows so far
	balance [famAccounts]int64
	rows    []Transaction
	pairs   int64
}

// The dates of events, in days before Options.Family.
const (
	daysSinceDouble = 5
	daysSinceRefund = 3
	daysSinceBought = 17
	// the price of a subscription rose before its last payment, or before the last two
	daysSinceRise = 34
)

// live makes today's rows.
func (f *story) live() {
	_, month, day := f.today.Date()
	f.dice, f.number = newDice(f.h.Options.Seed+uint64(monthOf(f.today))*100+uint64(day), 5), 0
	for i := range bills {
		b := &bills[i]
		if b.day != day || b.every > 1 && (int(month)+12-b.in)%b.every != 0 {
			continue
		}
		f.pay(b.account, b.kind, b.cents-b.rise*f.cheaper(), b.name, b.payee, b.category)
	}
	f.subscription(day)
	for i := range errands {
		f.run(&errands[i])
	}
	f.events()
	f.move(day)
}

// cheaper returns how many price rises are still to come today. Prices rose seven months before
// Options.Family, and a year before that, and so on.
func (f *story) cheaper() (times int64) {
	for years := range f.h.Options.Years {
		if f.today.Before(f.h.Options.Family.AddDate(-years, -7, 0)) {
			times++
		}
	}
	return times
}

// run makes the payment of an errand, on some days.
func (f *story) run(e *errand) {
	busy := e.week[f.today.Weekday()]
	if e.kind == Online && f.today.Month() == time.December {
		busy *= 2
	}
	if !f.chance(busy) {
		return
	}
	cents := int64(e.low + min(f.below(e.high-e.low), f.below(e.high-e.low)))
	if e.step == 100 {
		cents = cents/100*100 + 99
	} else {
		cents = cents / int64(e.step) * int64(e.step)
	}
	name, payee, _ := cut(e.shops[f.below(len(e.shops))])
	account := e.accounts[f.below(len(e.accounts))]
	row := f.pay(account, e.kind, cents, name, payee, e.category)
	if account == famGold && f.chance(450) { // paid with the additional card, which also shows it
		f.pairs++
		f.rows[row].PairID = f.pairs
		again := f.pay(famGoldCopy, e.kind, cents, name, payee, e.category)
		f.rows[again].PairID = f.pairs
	}
}

func cut(shop string) (name, payee string, ok bool) {
	for i := range shop {
		if shop[i] == '|' {
			return shop[:i], shop[i+1:], true
		}
	}
	return shop, "", false
}

// subscription pays the subscription whose price has risen recently.
func (f *story) subscription(day int) {
	if day != 13 {
		return
	}
	cents := int64(13_99)
	if f.today.After(f.h.Options.Family.AddDate(0, 0, -daysSinceRise)) {
		cents = 15_99
	}
	f.pay(famGold, Subscription, cents, "NETFLIX.COM", "Netflix", catFilm)
}

// events makes recent events for the screens to show: a charge that came twice, a refunded
// purchase, a carpenter whose bill made last month more expensive than this one, and tickets that
// exceed a budget.
func (f *story) events() {
	storyEnd := f.h.Options.Family
	ago := int(storyEnd.Sub(f.today).Hours()) / 24
	switch ago {
	case daysSinceDouble:
		f.pay(famBlue, Shopping, 89_95, "ZALANDO SE", "Zalando", catClothing)
		f.pay(famBlue, Shopping, 89_95, "ZALANDO SE", "Zalando", catClothing)
	case daysSinceBought:
		f.pay(famGold, Shopping, 129_00, "MEDIAMARKT ONLINE", "MediaMarkt", catElectronics)
	case daysSinceRefund:
		f.pay(famGold, Refund, -129_00, "MEDIAMARKT ONLINE", "MediaMarkt", catElectronics)
		f.pay(famJoint, Groceries, 83_47, "REWE MARKT 4402", "REWE", catGroceries)
	}
	if carpenter := time.Date(storyEnd.Year(), storyEnd.Month()-1, 1, 0, 0, 0, 0, time.UTC); f.today.Equal(carpenter) {
		f.pay(famJoint, Invoice, 462_00, "TISCHLEREI KRAFT", "Tischlerei Kraft", catRepair)
	}
	if tickets := storyEnd.AddDate(0, 0, -min(storyEnd.Day()-1, 2)); f.today.Equal(tickets) {
		f.pay(famGold, Leisure, 124_00, "EVENTIM TICKETS", "Eventim", catOutings)
	}
}

// move moves money between the family's accounts. The last two kinds are rare and have unclear
// texts, so that a person must decide what they are.
func (f *story) move(day int) {
	switch day {
	case 1:
		f.transfer(TransferOut, famAnna, famJoint, 1_900_00, 0, "Household money", catOut, catIn)
		f.transfer(TransferOut, famAnna, famFund, 250_00, 0, "Savings plan Index fund", catInvest, catIn)
	case 2:
		f.transfer(TransferOut, famJoint, famKim, 50_00, 1, "Pocket money Kim", catSave, catIn)
		f.transfer(TransferOut, famJoint, famHoliday, 160_00, 0, "Holiday fund", catSave, catIn)
	case 16:
		if needs := (3_600_00 - f.balance[famJoint]) / 50_00 * 50_00; needs > 0 {
			f.transfer(TransferOut, famDaniel, famJoint, needs, 1, "Household money", catOut, catIn)
		}
		f.clear(famBlue, famDaniel, "Card payment 1009")
		f.sweep(famDaniel, famRainy, 1_500_00, "Rainy Day")
	case 20:
		f.clear(famGold, famAnna, "Visa Gold 4421")
		if cents := -f.balance[famGoldCopy]; cents > 0 {
			f.pay(famGoldCopy, CardPaymentIn, -cents, "PAYMENT RECEIVED VISA GOLD 4439", "", catCard)
		}
	case 27:
		f.sweep(famAnna, famSavings, 1_600_00, "Savings")
	}
	month := int(f.today.Month())
	if day == 11 && month%4 == 1 {
		cents := int64(18_00 + f.below(30)*1_50)
		f.transfer(TransferOut, famAnna, famDaniel, cents, 4, "Dinner with friends", catPeerOut, catPeerIn)
	}
	if day == 23 && month%6 == 3 {
		cents := int64(140_00 + f.below(12)*10_00)
		f.transfer(TransferOut, famRainy, famJoint, cents, 4, "Garden and roof", catOut, catIn)
	}
	if month == 7 && day == 19 { // the fund is for the summer
		f.transfer(TransferOut, famHoliday, famAnna, 1_240_00, 0, "Summer holiday", catOut, catIn)
	}
}

// sweep moves the balance of an account above keep to another account.
func (f *story) sweep(from, to int, keep int64, name string) {
	if cents := (f.balance[from] - keep) / 10_00 * 10_00; cents > 0 {
		f.transfer(TransferOut, from, to, cents, 0, name, catSave, catUnsave)
	}
}

// clear pays off a card.
func (f *story) clear(card, from int, name string) {
	if cents := -f.balance[card]; cents > 0 {
		f.transfer(CardPaymentOut, from, card, cents, 1, name, catCard, catCard)
	}
}

// transfer makes the two rows of money that moves from one account to another. The second row is
// that many days later.
func (f *story) transfer(kind Kind, from, to int, cents int64, days int, name string, out, in category) {
	f.pairs++
	gone := f.pay(from, kind, cents, name, "", out)
	f.rows[gone].PairID = f.pairs
	came := f.pay(to, kind.other(), -cents, name, "", in)
	f.rows[came].PairID, f.rows[came].Date = f.pairs, f.today.AddDate(0, 0, days)
}

// pay makes a row and returns its index.
func (f *story) pay(account int, kind Kind, cents int64, name, payee string, class category) int {
	f.number++
	t := Transaction{
		AccountIndex: account, Date: f.today, Amount: amount(cents), PendingAmount: amount(cents), Currency: "EUR",
		Name: text.Name(name), MerchantName: text.Name(payee), Kind: kind, Truth: class.detailed,
	}
	switch sources[f.h.Provider(account)] {
	case fromPlaid:
		t.ProviderID = f.id("", base62, 37)
		t.RawPrimary, t.RawDetailed, t.PaymentChannel = class.primary, class.detailed, "other"
		if f.h.Accounts[account].Type == "credit" {
			t.PaymentChannel = inStore
		}
	case fromTeller:
		t.ProviderID = f.id("txn_", base32, 21)
		t.RawPrimary = class.teller
	case fromFile:
		t.ProviderID = f.id("", base62, 22)
	}
	f.rows = append(f.rows, t)
	f.balance[account] -= cents
	return len(f.rows) - 1
}

// settle sets the balances of the accounts to those that follow from the rows.
func (f *story) settle() {
	end := familyOpening
	for i := range f.h.familyRows {
		end[f.h.familyRows[i].AccountIndex] -= f.h.familyRows[i].Amount.Cents()
	}
	for i := range f.h.Accounts {
		a := &f.h.Accounts[i]
		switch {
		case i == famMortgage:
		case a.Type == "credit":
			limit := "6000.00"
			if i == famBlue {
				limit = "4000.00"
			}
			*a = a.owes(amount(-end[i]).String(), limit)
		default:
			*a = a.holds(amount(end[i]).String())
		}
	}
}
