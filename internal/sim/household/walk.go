package household

import (
	"iter"
	"slices"
	"time"
)

// Transactions yields the household's transactions, oldest first. There are exactly
// Options.Transactions of them, the same ones on every call. Only the rows of a few weeks are in
// memory at a time. The caller may keep the yielded rows.
func (h *Household) Transactions() iter.Seq[Transaction] {
	if h.familyRows != nil {
		return slices.Values(h.familyRows)
	}
	return func(yield func(Transaction) bool) {
		w := newWalk(h)
		for w.today = range h.diary {
			w.begin()
			rows := &w.waiting[w.today%horizon]
			for _, t := range *rows {
				if h.Options.Purposes {
					t.Detail = w.purpose(&t)
				}
				if !yield(t) {
					return
				}
			}
			*rows = (*rows)[:0]
		}
	}
}

// horizon is the maximum number of days that a row can lie ahead: a refund comes within four weeks.
const horizon = 32

// A walk goes through the diary once, day by day.
type walk struct {
	*dice
	h       *Household
	writer  writer
	today   int
	last    int
	waiting [horizon][]Transaction // by day, modulo horizon

	made  int // rows yielded or waiting; at most Options.Transactions
	spent int // everyday rows among them

	flow    [accountCount]int64 // money in less money out since the account was last balanced, in cents
	pair    int64
	seen    map[entry]int // rows of today in csv accounts
	moments []time.Time   // storage for the times that rows point to
	sums    []int         // of the trades' weights today
	source  [accountCount]source
}

func newWalk(h *Household) *walk {
	w := &walk{
		dice: newDice(h.Options.Seed, 2), h: h, last: len(h.diary) - 1, seen: map[entry]int{},
		sums: make([]int, len(trades)),
	}
	w.writer.dice = w.dice
	for i := range w.source {
		w.source[i] = sources[h.Provider(i)]
	}
	// The walk begins with cards that have already been used.
	w.flow[goldCard], w.flow[blueCard] = -48_217, -31_905
	return w
}

// begin makes today's rows. It may also make rows of later days.
func (w *walk) begin() {
	clear(w.seen)
	today := &w.h.diary[w.today]
	w.writer.month = today.month

	came := w.waiting[w.today%horizon]
	for i := range came {
		w.identify(&came[i])
	}
	for _, i := range today.orders {
		w.payOrder(int(i))
	}
	for i := range w.h.dated[today.date] {
		w.payContract(&w.h.dated[today.date][i])
	}
	w.weigh(today)
	target := w.target(today)
	if w.h.Options.Decoys {
		before := w.made
		w.decoys(today)
		w.spent += w.made - before
	}
	if w.h.Options.Lookalikes {
		before := w.made
		w.lookalikes(today)
		w.spent += w.made - before
	}
	for w.made < w.h.Options.Transactions && (w.spent < target || w.today == w.last) {
		before := w.made
		w.event()
		w.spent += w.made - before
	}
}

// target returns how many everyday rows there must be by the end of today.
func (w *walk) target(today *day) int {
	everyday := max(0, w.h.Options.Transactions-w.h.rows)
	return int(int64(everyday) * int64(today.busy) / int64(w.h.diary[w.last].busy))
}

// weigh sets the probability of each trade for today.
func (w *walk) weigh(today *day) {
	sum := 0
	for i := range trades {
		t := &trades[i]
		weight := t.weight * 100
		if t.season != nil {
			weight = t.weight * t.season[today.month%12]
		}
		if t.idle && today.closed {
			weight /= 12
		}
		if t.journey != 0 && today.journey {
			weight = weight * t.journey / 100
		}
		sum += weight
		w.sums[i] = sum
	}
}

// room returns how many rows may still be made.
func (w *walk) room() int { return w.h.Options.Transactions - w.made }

// put adds a row to the day that is that many days ahead, but at most to the last day.
func (w *walk) put(t *Transaction, ahead int) {
	at := min(w.today+ahead, w.last)
	t.Date = w.h.diary[at].date
	if at == w.today {
		w.identify(t)
	}
	w.waiting[at%horizon] = append(w.waiting[at%horizon], *t)
	w.flow[t.AccountIndex] -= t.Amount.Cents()
	w.made++
}

// row returns a plain posted row of an account.
func (w *walk) row(account int, kind Kind, cents int64) Transaction {
	a := amount(cents)
	return Transaction{
		AccountIndex: account, Currency: w.h.Accounts[account].Currency, Amount: a, PendingAmount: a,
		Kind: kind,
	}
}

// moment stores a time for a row to point to.
func (w *walk) moment(t time.Time) *time.Time {
	if len(w.moments) == cap(w.moments) {
		w.moments = make([]time.Time, 0, 256)
	}
	w.moments = append(w.moments, t)
	return &w.moments[len(w.moments)-1]
}

// move makes the two rows of money that moves between two of the household's accounts. The second
// row comes up to three days later.
func (w *walk) move(kind Kind, from, to int, cents, arrives int64) {
	w.pair++
	out, in := w.row(from, kind, cents), w.row(to, kind.other(), -arrives)
	out.PairID, in.PairID = w.pair, w.pair
	outCategory, inCategory := transferCategories(from, to)
	out.Name, in.Name = w.words(from, to).to, w.words(to, from).from
	switch kind {
	case CardPaymentOut:
		out.Name, in.Name = w.words(from, to).paid, w.words(to, to).received
		outCategory, inCategory = catCard, catCard
	case LoanPaymentOut:
		out.Name, in.Name = w.words(from, to).rate, w.words(to, to).rate
		outCategory, inCategory = catCarLoan, catCarLoan
	case ExchangeOut:
		out.Name, in.Name = w.words(from, to).traded, w.words(to, from).traded
	}
	w.classify(&out, outCategory, wired)
	w.classify(&in, inCategory, wired)
	days := 0
	if w.h.Accounts[from].Connection != w.h.Accounts[to].Connection {
		days = w.between(1, 3)
	}
	w.put(&out, 0)
	w.put(&in, days)
}

// words returns the text of one account's bank about another account.
func (w *walk) words(account, about int) *bankWords {
	if w.h.Accounts[account].Connection == harbour {
		return &w.h.market.english[about]
	}
	return &w.h.market.german[about]
}

// payOrder makes the rows of a standing order.
func (w *walk) payOrder(index int) {
	o := &orders[index]
	if w.room() < o.rows() {
		return
	}
	today := &w.h.diary[w.today]
	switch {
	case o.share > 0:
		w.balanceAccount(o, today)
	case o.other != None:
		cents := o.price(today.month)
		w.move(o.kind, o.account, o.other, cents, cents)
	default:
		cents := o.price(today.month)
		if o.wobble > 0 {
			cents += cents * int64(w.between(-o.wobble, o.wobble)) / 1000
		}
		t := w.row(o.account, o.kind, cents)
		t.Series = index + 1
		w.describe(&t, &w.h.market.orders[index], o.category, o.channel)
		w.put(&t, 0)
	}
}

// balanceAccount evens out what an account has gained or lost since it was last balanced. The other
// account pays its deficit or takes its surplus; a card is paid off.
func (w *walk) balanceAccount(o *standingOrder, today *day) {
	from, to := o.other, o.account
	cents := -w.flow[o.account] * int64(o.share) / 100
	if o.kind == CardPaymentOut {
		cents = max(cents, 10_00)
		w.move(o.kind, from, to, cents, cents)
		return
	}
	if cents < 0 {
		from, to, cents = to, from, -cents
	}
	cents = max(25_00, (cents+5_00)/10_00*10_00)
	arrives := cents
	if o.kind == ExchangeOut {
		rate := int64(1040 + today.month*37%90) // dollars for a thousand euro
		if to == dollars {
			arrives = cents * rate / 1000
		} else {
			arrives = cents * 1000 / rate
		}
	}
	w.move(o.kind, from, to, cents, arrives)
}
