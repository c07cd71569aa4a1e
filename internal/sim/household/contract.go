package household

import "time"

// A dated row is one payment of a contract, or of a habit that looks like one.
type dated struct {
	series  int // 0: a habit
	account int
	cents   int64
	name    string
	payee   string
}

// firstContract is the number of the first contract; lower ones are standing orders.
const firstContract = 1000

// contracts makes payments for contracts that are hard to recognize, for different reasons, and for
// habits that look like contracts.
type contracts struct {
	*dice
	start, end time.Time
	series     int
	rows       map[time.Time][]dated
}

func newContracts(d *dice, start, end time.Time) map[time.Time][]dated {
	c := &contracts{dice: d, start: start, end: end, series: firstContract, rows: map[time.Time][]dated{}}
	c.sharedWordings()
	c.changed()
	c.interrupted()
	c.rare()
	c.byWeeks()
	c.habits()
	return c.rows
}

// pay adds a payment unless it falls outside the household's days.
func (c *contracts) pay(at time.Time, row dated) {
	if !at.Before(c.start) && !at.After(c.end) {
		c.rows[at] = append(c.rows[at], row)
	}
}

// next begins another contract and returns its number.
func (c *contracts) next() int {
	c.series++
	return c.series
}

// monthly calls pay for each month, on that day or on the next business day.
func (c *contracts) monthly(day, every, shift int, pay func(number int, at time.Time)) {
	for k := 0; ; k += every {
		at := workday(time.Date(c.start.Year(), c.start.Month()+time.Month(k), day, 0, 0, 0, 0, time.UTC), shift)
		if at.After(c.end) {
			return
		}
		pay(k/every, at)
	}
}

// prices returns a function for the price in each month. The price rises twice, in random months.
func (c *contracts) prices(cents, step int64, between int) func(int) int64 {
	first := c.between(between, between+8)
	second := first + c.between(between, between+8)
	return func(k int) int64 {
		switch {
		case k >= second:
			return cents + 2*step
		case k >= first:
			return cents + step
		}
		return cents
	}
}

// sharedWordings makes two contracts under one wording, then three under another, among purchases.
func (c *contracts) sharedWordings() {
	day := c.between(1, 9)
	for i, cents := range []int64{2_99, 9_99} {
		n := c.next()
		c.monthly(day+i*14, 1, 0, func(_ int, at time.Time) {
			c.pay(at, dated{n, blueCard, cents, "PADDLE.NET* SOFTWARE", "Paddle"})
		})
	}
	c.purchases(60, blueCard, "PADDLE.NET* SOFTWARE", "Paddle", 99, 1_99, 4_99, 5_99, 12_99, 19_99)

	day = c.between(1, 8)
	for i, cents := range []int64{4_99, 11_99, 24_90} {
		n := c.next()
		price := func(int) int64 { return cents }
		if i == 1 {
			price = c.prices(cents, 1_00, 8)
		}
		c.monthly(day+i*9, 1, 0, func(k int, at time.Time) {
			c.pay(at, dated{n, goldCard, price(k), "FASTSPRING STORE", "FastSpring"})
		})
	}
	c.purchases(40, goldCard, "FASTSPRING STORE", "FastSpring", 99, 1_49, 3_49, 8_99, 54_90)
}

// purchases makes purchases on random days, each at one of the prices.
func (c *contracts) purchases(n, account int, name, payee string, prices ...int64) {
	days := int(c.end.Sub(c.start).Hours() / 24)
	for range n * days / 1096 {
		c.pay(c.start.AddDate(0, 0, c.below(days)), dated{0, account, prices[c.below(len(prices))], name, payee})
	}
}

// changed makes contracts in which something changes: the wording, the exchange rate, the usage,
// the price after a trial, the amount of a single month, or the price of the last month.
func (c *contracts) changed() {
	worded, price := c.between(9, 20), c.between(9, 22)
	n := c.next()
	c.monthly(c.between(5, 25), 1, 1, func(k int, at time.Time) {
		row := dated{n, goldCard, 12_99, "MAXFILM.COM", "Maxfilm"}
		if k >= worded {
			row.name = "MAXFILM INTERNATIONAL B.V."
		}
		if k >= price {
			row.cents = 13_99
		}
		c.pay(at, row)
	})
	n = c.next()
	c.monthly(c.between(5, 25), 1, 1, func(_ int, at time.Time) {
		c.pay(at, dated{n, goldCard, 21_42 * int64(c.between(970, 1030)) / 1000, "NOTEBOARD LABS INC", "Noteboard"})
	})
	n = c.next()
	c.monthly(c.between(3, 20), 1, 1, func(_ int, at time.Time) {
		c.pay(at.AddDate(0, 0, c.below(4)), dated{
			n, joint, 80_00 * int64(c.between(600, 1400)) / 1000, "ABRECHNUNG LADESTROM", "",
		})
	})
	n = c.next()
	begins := c.between(4, 16)
	c.monthly(c.between(3, 25), 1, 0, func(k int, at time.Time) {
		switch {
		case k == begins:
			c.pay(at, dated{n, blueCard, 99, "STREAMHOUSE TRIAL", "Streamhouse"})
		case k > begins:
			c.pay(at, dated{n, blueCard, 9_99, "STREAMHOUSE TRIAL", "Streamhouse"})
		}
	})
	n = c.next()
	odd, rises := c.between(5, 14), c.prices(39_00, 3_00, 10)
	c.monthly(c.between(3, 20), 1, 1, func(k int, at time.Time) {
		cents := rises(k)
		if k == odd {
			cents -= 11_37
		}
		c.pay(at, dated{n, danielCurrent, cents, "KLETTERHALLE BEITRAG", "Kletterhalle"})
	})
	n = c.next()
	c.monthly(c.between(3, 20), 1, 1, func(_ int, at time.Time) {
		cents := int64(17_90)
		if at.AddDate(0, 1, 0).After(c.end) {
			cents = 19_90
		}
		c.pay(at, dated{n, annaCurrent, cents, "HOSTING PAKET WEB", "Hosting"})
	})
}

// interrupted makes contracts that pause, skip a month, charge twice or end.
func (c *contracts) interrupted() {
	n, pause := c.next(), c.between(8, 20)
	c.monthly(1, 1, 1, func(k int, at time.Time) {
		if k != pause && k != pause+1 {
			c.pay(at, dated{n, danielCurrent, 34_90, "YOGA STUDIO MONATSKARTE", "Yoga Studio"})
		}
	})
	n, skip := c.next(), c.between(5, 14)
	twice := skip + c.between(4, 12)
	c.monthly(c.between(4, 24), 1, 1, func(k int, at time.Time) {
		row := dated{n, joint, 29_90, "WOCHENBLATT ABONNEMENT", "Wochenblatt"}
		if k != skip {
			c.pay(at, row)
		}
		if k == twice {
			c.pay(at.AddDate(0, 0, 1), row)
		}
	})
	n, first := c.next(), c.between(4, 16)
	c.monthly(15, 1, 1, func(k int, at time.Time) {
		if first <= k && k < first+12 {
			c.pay(at, dated{n, annaCurrent, 83_25, "RATENKAUF FINANZIERUNG", "Ratenkauf"})
		}
	})
}

// rare makes contracts that are paid every quarter, half year or year.
func (c *contracts) rare() {
	n, day := c.next(), c.between(3, 24)
	price := c.prices(62_40, 4_10, 3)
	c.monthly(day, 3, 1, func(k int, at time.Time) {
		c.pay(at, dated{n, joint, price(k), "TIERVERSICHERUNG QUARTALSBEITRAG", "Tierversicherung"})
	})
	n = c.next()
	c.monthly(c.between(3, 24), 6, 1, func(_ int, at time.Time) {
		c.pay(at, dated{n, joint, 118_20, "GRUNDSTEUER HALBJAHR", "Stadtkasse"})
	})
	n, month := c.next(), c.between(1, 10)
	for k := 0; ; k++ {
		at := time.Date(c.start.Year()+k, c.start.Month()+time.Month(month), 12, 0, 0, 0, 0, time.UTC)
		if at.After(c.end) {
			break
		}
		row := dated{n, blueCard, 89_00 + 5_00*int64(k), "PANNENHILFE CLUB", "Pannenhilfe"}
		c.pay(at.AddDate(0, 0, c.between(-3, 3)), row)
	}
}

// byWeeks makes contracts that recur after weeks or days instead of months.
func (c *contracts) byWeeks() {
	n := c.next()
	at := c.start.AddDate(0, 0, c.below(7))
	for week := 0; !at.After(c.end); week, at = week+1, at.AddDate(0, 0, 7) {
		if holiday := week%52 >= 4 && week%52 < 10; !holiday && !c.chance(60) {
			c.pay(at, dated{n, danielCurrent, 30_00, "PIANO LESSON STUDIO", "Piano Studio"})
		}
	}
	for _, e := range []struct {
		days, account int
		cents         int64
		name, payee   string
	}{
		{14, danielCurrent, -1420_00, "WAGES HARBOUR CAFE", "Harbour Cafe"},
		{30, goldCard, 4_99, "VPN TUNNEL SERVICE", "VPN Tunnel"},
		{28, annaCurrent, 7_99, "PREPAID MOBIL AUFLADUNG", "Prepaid Mobil"},
	} {
		n := c.next()
		for at := c.start.AddDate(0, 0, c.below(e.days)); !at.After(c.end); at = at.AddDate(0, 0, e.days) {
			c.pay(at, dated{n, e.account, e.cents, e.name, e.payee})
		}
	}
}

// habits makes payments that are not contracts: the hairdresser, the shop on Saturdays, a coffee a
// day, cash.
func (c *contracts) habits() {
	for _, h := range []struct {
		account   int
		name      string
		least     int // the fewest days between
		spread    int
		low, high int // whole units; if equal, always that amount
		cents     bool
	}{
		{account: danielCurrent, name: "SALON SCHNITT UND FARBE", least: 22, spread: 28, low: 25, high: 33},
		{account: joint, name: "MARKTHALLE SAMSTAG", least: 6, spread: 2, low: 20, high: 120, cents: true},
		{account: danielCurrent, name: "CANTEEN CARD RELOAD", least: 5, spread: 35, low: 50, high: 50},
		{account: joint, name: "TANKHOF SUED", least: 6, spread: 16, low: 40, high: 70, cents: true},
		{account: annaCurrent, name: "GELDAUTOMAT AM MARKT", least: 12, spread: 36, low: 200, high: 200},
		{account: goldCard, name: "FLOHMARKT ONLINE", least: 3, spread: 22, low: 5, high: 90, cents: true},
		{account: joint, name: "STERN APOTHEKE FILIALE", least: 12, spread: 36, low: 4, high: 30, cents: true},
	} {
		at := c.start.AddDate(0, 0, c.below(h.least))
		for ; !at.After(c.end); at = at.AddDate(0, 0, h.least+c.below(h.spread+1)) {
			cents := int64(c.between(h.low, h.high)) * 1_00
			if h.cents {
				cents += int64(c.below(100))
			}
			c.pay(at, dated{0, h.account, cents, h.name, ""})
		}
	}
	for at := c.start; !at.After(c.end); at = at.AddDate(0, 0, 1) {
		if weekday := at.Weekday(); weekday != time.Saturday && weekday != time.Sunday && c.chance(700) {
			c.pay(at, dated{0, danielCurrent, 2_80, "COFFEE KIOSK STATION", "Coffee Kiosk"})
		}
	}
}

// payContract makes the row of a payment.
func (w *walk) payContract(d *dated) {
	if w.room() < 1 {
		return
	}
	kind, class := Subscription, catSoftware
	switch {
	case d.cents < 0:
		kind, class = Salary, catSalary
	case d.series == 0:
		kind, class = Shopping, catGoods
	}
	t := w.row(d.account, kind, d.cents)
	t.Series = d.series
	m := standing(d.name, d.payee)
	w.describe(&t, &m, class, wired)
	w.put(&t, 0)
}
