package household

import "time"

// A standingOrder is a payment that follows the calendar: wages, rent, subscriptions, the payment
// of card balances.
type standingOrder struct {
	kind    Kind
	day     int // of the month; 0 is the last one
	every   int // months; 0 is 1
	in      int // one of those months, from 0
	shift   int // for weekends and holidays: -1 earlier, +1 later
	from    int // the first month, as year*100 + month; 0 means no limit
	until   int // the first month without it
	account int
	other   int // None, or the account at the other end

	cents  int64 // in June 2026; negative is money in
	step   int64 // by how much the price changes …
	period int   // … after each period of this many months; 0 means never
	raise  int   // per mille a year, in January
	wobble int   // random variation of each amount, per mille
	share  int   // percent of the account's deficit that other pays, instead of cents

	name     string
	merchant string
	category category
	channel  string
}

// priceMonth is the month to which the prices in the tables apply.
const priceMonth = 2026*12 + 5

const (
	inStore = "in store"
	online  = "online"
	wired   = "other"
)

// orders are in the order of a day's rows: a row that balances an account comes after the rows that
// change its balance.
var orders = []standingOrder{
	{
		kind: Salary, day: 25, shift: -1, account: annaCurrent, other: None, cents: -3690_00, raise: 31,
		name: "LOHN/GEHALT %M NORDLICHT ENERGIE AG", merchant: "Nordlicht Energie AG", category: catSalary,
		channel: wired,
	},
	{
		kind: Salary, day: 25, every: 12, in: 10, shift: -1, account: annaCurrent, other: None, cents: -1845_00,
		raise: 31,
		name:  "WEIHNACHTSGELD %M NORDLICHT ENERGIE AG", merchant: "Nordlicht Energie AG", category: catSalary,
		channel: wired,
	},
	{
		kind: Salary, day: 0, shift: -1, account: danielCurrent, other: None, cents: -2987_14, raise: 26,
		name: "PAYROLL %M BRIGHTWATER STUDIOS LTD", merchant: "Brightwater Studios", category: catSalary,
		channel: wired,
	},
	{
		kind: Freelance, day: 12, shift: 1, account: dollars, other: None, cents: -640_00, wobble: 300,
		name: "ACH CREDIT PELICAN PRESS LLC INV %D", merchant: "Pelican Press LLC", category: catFreelance,
		channel: wired,
	},
	{
		kind: Rental, day: 3, shift: 1, account: annaCurrent, other: None, cents: -815_00, step: -15_00, period: 24,
		name: "MIETE WOHNUNG 12 FAM. DÖRR", category: catRental, channel: wired,
	},
	{
		kind: Benefit, day: 9, shift: 1, account: joint, other: None, cents: -255_00, step: -5_00, period: 36,
		name: "FAMILIENKASSE KINDERGELD", merchant: "Familienkasse", category: catBenefit, channel: wired,
	},
	{
		kind: Benefit, day: 18, every: 12, in: 8, shift: 1, account: joint, other: None, cents: -684_20, wobble: 400,
		name: "FINANZAMT ERSTATTUNG EST %Y", merchant: "Finanzamt", category: catTaxRefund, channel: wired,
	},
	{
		kind: Interest, day: 0, every: 3, in: 2, account: annaSavings, other: None, cents: -121_40, wobble: 200,
		name: "HABENZINSEN", category: catInterest, channel: wired,
	},
	{
		kind: Interest, day: 0, account: danielSavings, other: None, cents: -23_15, wobble: 200, name: "INTEREST PAID",
		category: catInterest, channel: wired,
	},
	{
		kind: Interest, day: 16, every: 3, in: 1, shift: 1, account: depot, other: None, cents: -186_00, wobble: 350,
		name: "ERTRÄGNISAUSSCHÜTTUNG ETF WELT", category: catDividend, channel: wired,
	},
	{
		kind: Interest, day: 0, account: carLoan, other: None, cents: 27_10, wobble: 60, name: "SOLLZINSEN DARLEHEN",
		category: catLoanCost, channel: wired,
	},

	{
		kind: Rent, day: 1, shift: 1, account: joint, other: None, cents: 1420_00, step: 30_00, period: 24,
		name: "DAUERAUFTRAG MIETE LINDENHOF WOHNUNGSBAU", merchant: "Lindenhof Wohnungsbau", category: catRent,
		channel: wired,
	},
	{
		kind: Mortgage, day: 15, shift: 1, account: annaCurrent, other: None, cents: 689_50,
		name: "DARLEHEN 9003 ANNUITÄT NORDBANK", merchant: "Nordbank", category: catMortgage, channel: wired,
	},
	{
		kind: Utility, day: 5, shift: 1, account: joint, other: None, cents: 96_00, step: 8_00, period: 12,
		name: "SEPA-LASTSCHRIFT STADTWERKE STROM", merchant: "Stadtwerke", category: catEnergy, channel: wired,
	},
	{
		kind: Utility, day: 5, shift: 1, account: joint, other: None, cents: 84_00, step: 12_00, period: 12,
		name: "SEPA-LASTSCHRIFT STADTWERKE GAS", merchant: "Stadtwerke", category: catEnergy, channel: wired,
	},
	{
		kind: Utility, day: 14, every: 3, shift: 1, account: joint, other: None, cents: 71_30, wobble: 120,
		name: "WASSERBETRIEBE ABSCHLAG %M", merchant: "Wasserbetriebe", category: catWater, channel: wired,
	},
	{
		kind: Utility, day: 7, shift: 1, account: joint, other: None, cents: 44_95, step: 5_00, period: 24,
		name: "TELEKOM FESTNETZ RG %D", merchant: "Telekom", category: catInternet, channel: wired,
	},
	{
		kind: Utility, day: 19, shift: 1, account: annaCurrent, other: None, cents: 19_99, name: "CONGSTAR MOBILFUNK",
		merchant: "congstar", category: catPhone, channel: wired,
	},
	{
		kind: Utility, day: 21, shift: 1, account: blueCard, other: None, cents: 24_99, step: 5_00, period: 30,
		name: "VODAFONE MOBILE BILL", merchant: "Vodafone", category: catPhone, channel: wired,
	},
	{
		kind: Utility, day: 11, every: 3, in: 1, shift: 1, account: joint, other: None, cents: 55_08,
		name: "RUNDFUNK ARD ZDF DRADIO", merchant: "Rundfunkbeitrag", category: catInternet, channel: wired,
	},
	{
		kind: Insurance, day: 2, every: 3, shift: 1, account: joint, other: None, cents: 214_70, step: 18_00,
		period: 12,
		name:   "HUK24 KFZ-VERSICHERUNG", merchant: "HUK24", category: catInsurance, channel: wired,
	},
	{
		kind: Insurance, day: 2, every: 12, shift: 1, account: joint, other: None, cents: 68_40, step: 3_00, period: 12,
		name: "ALLIANZ HAFTPFLICHT JAHRESBEITRAG", merchant: "Allianz", category: catInsurance, channel: wired,
	},
	{
		kind: Insurance, day: 2, shift: 1, account: danielCurrent, other: None, cents: 31_12, name: "DEBEKA ZAHNZUSATZ",
		merchant: "Debeka", category: catInsurance, channel: wired,
	},
	{
		kind: Childcare, day: 4, shift: 1, account: joint, other: None, cents: 238_00, step: 10_00, period: 12,
		name: "KITA REGENBOGEN E.V. BEITRAG", merchant: "Kita Regenbogen", category: catChildcare, channel: wired,
	},
	{
		kind: Tax, day: 15, every: 12, in: 4, shift: 1, account: joint, other: None, cents: 128_00,
		name: "HAUPTZOLLAMT KFZ-STEUER", merchant: "Hauptzollamt", category: catTax, channel: wired,
	},

	{
		kind: Subscription, day: 6, account: goldCard, other: None, cents: 10_99, step: 1_00, period: 19,
		name: "PAYPAL *SPOTIFY", merchant: "Spotify", category: catMusic, channel: online,
	},
	{
		kind: Subscription, day: 13, account: goldCard, other: None, cents: 13_99, step: 1_00, period: 17,
		name: "NETFLIX.COM", merchant: "Netflix", category: catFilm, channel: online,
	},
	{
		kind: Subscription, day: 22, account: blueCard, other: None, from: 2023_11, cents: 9_99, step: 1_00, period: 23,
		name: "DISNEY PLUS", merchant: "Disney+", category: catFilm, channel: online,
	},
	{
		kind: Subscription, day: 3, account: blueCard, other: None, cents: 2_99, name: "APPLE.COM/BILL",
		merchant: "Apple",
		category: catSoftware, channel: online,
	},
	{
		kind: Subscription, day: 17, account: goldCard, other: None, cents: 8_99, step: 1_00, period: 29,
		name: "AMZNPRIME DE*PRIME", merchant: "Amazon Prime", category: catFilm, channel: online,
	},
	{
		kind: Subscription, day: 24, account: blueCard, other: None, until: 2025_04, cents: 11_99,
		name: "PLAYSTATION NETWORK", merchant: "PlayStation", category: catGames, channel: online,
	},
	{
		kind: Subscription, day: 8, account: annaCurrent, other: None, cents: 63_00, step: 9_00, period: 20,
		name: "BVG DEUTSCHLANDTICKET ABO", merchant: "BVG", category: catTransit, channel: wired,
	},
	{
		kind: Subscription, day: 8, account: danielCurrent, other: None, cents: 63_00, step: 9_00, period: 20,
		name: "BVG DEUTSCHLANDTICKET", merchant: "BVG", category: catTransit, channel: wired,
	},
	{
		kind: Subscription, day: 1, shift: 1, account: danielCurrent, other: None, cents: 34_90, step: 5_00, period: 18,
		name: "FITX STUDIO BERLIN MITGLIEDSBEITRAG", merchant: "FitX", category: catGym, channel: wired,
	},
	{
		kind: Subscription, day: 20, account: goldCard, other: None, from: 2024_02, cents: 21_42,
		name: "OPENAI *CHATGPT SUBSCR", merchant: "OpenAI", category: catSoftware, channel: online,
	},
	{
		kind: Subscription, day: 27, account: dollars, other: None, cents: 4_00, name: "GITHUB.COM SPONSORS",
		merchant: "GitHub", category: catSoftware, channel: online,
	},
	{
		kind: Subscription, day: 10, shift: 1, account: joint, other: None, cents: 29_90, step: 2_00, period: 14,
		name: "TAGESZEITUNG ABO DIGITAL + WOCHENENDE", merchant: "Tageszeitung", category: catPress, channel: wired,
	},
	{
		kind: Subscription, day: 26, every: 12, in: 1, account: blueCard, other: None, cents: 99_00, step: 10_00,
		period: 24, name: "ADAC JAHRESBEITRAG", merchant: "ADAC", category: catInsurance, channel: online,
	},

	{
		kind: Fee, day: 0, shift: -1, account: joint, other: None, cents: 6_90, step: 1_00, period: 26,
		name: "ENTGELT KONTOFÜHRUNG", category: catAccountFee, channel: wired,
	},
	{
		kind: Fee, day: 0, every: 3, in: 2, shift: -1, account: kitty, other: None, cents: 8_85,
		name: "ABSCHLUSS LT. ANLAGE", category: catAccountFee, channel: wired,
	},
	{
		kind: Fee, day: 4, every: 12, in: 6, shift: 1, account: goldCard, other: None, cents: 59_00,
		name: "JAHRESPREIS VISA GOLD", category: catAccountFee, channel: wired,
	},

	{kind: TransferOut, day: 2, shift: 1, account: annaCurrent, other: depot, cents: 200_00, step: 50_00, period: 30},
	{kind: LoanPaymentOut, day: 15, shift: 1, account: danielCurrent, other: carLoan, cents: 289_00},
	{kind: CardPaymentOut, day: 20, shift: 1, account: goldCard, other: annaCurrent, share: 100},
	{kind: CardPaymentOut, day: 23, shift: 1, account: blueCard, other: danielCurrent, share: 100},
	{kind: TransferOut, day: 24, shift: 1, account: kitty, other: joint, share: 100},
	{kind: TransferOut, day: 26, shift: 1, account: joint, other: annaCurrent, share: 50},
	{kind: TransferOut, day: 26, shift: 1, account: joint, other: danielCurrent, share: 100},
	{kind: ExchangeOut, day: 14, every: 3, in: 1, shift: 1, account: dollars, other: danielCurrent, share: 100},
	{kind: TransferOut, day: 28, account: annaCurrent, other: annaSavings, share: 100},
	{kind: TransferOut, day: 0, account: danielCurrent, other: danielSavings, share: 100},
}

func (o *standingOrder) rows() int {
	if o.other == None {
		return 1
	}
	return 2
}

// due reports whether the order is due on a date. The days in the table are chosen so that a shift
// stays within the month.
func (o *standingOrder) due(date time.Time) bool {
	year, month, _ := date.Date()
	if named := year*100 + int(month); named < o.from || o.until != 0 && named >= o.until {
		return false
	}
	if o.every > 1 && (int(month)-1)%o.every != o.in {
		return false
	}
	nominal := time.Date(year, month, o.day, 0, 0, 0, 0, time.UTC)
	if o.day == 0 {
		nominal = time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC)
	}
	return workday(nominal, o.shift).Equal(date)
}

// price returns the cost of the order in a month, before random variation.
func (o *standingOrder) price(month int) int64 {
	cents := o.cents
	if o.period > 0 {
		cents += o.step * int64(month/o.period-priceMonth/o.period)
	}
	for year := priceMonth / 12; year < month/12; year++ {
		cents += cents * int64(o.raise) / 1000
	}
	for year := month / 12; year < priceMonth/12; year++ {
		cents -= cents * int64(o.raise) / (1000 + int64(o.raise))
	}
	if least := o.cents / 3; (least > 0 && cents < least) || (least < 0 && cents > least) {
		return least
	}
	return cents
}
