package household

import (
	"time"

	"coffer/internal/platform/text"
)

// ownTransfers are the pairs of accounts between which the household moves money now and then.
var ownTransfers = [][2]int{
	{annaCurrent, annaSavings},
	{danielCurrent, danielSavings},
	{annaSavings, annaCurrent},
	{danielSavings, danielCurrent},
	{annaCurrent, joint},
	{danielCurrent, joint},
	{joint, kitty},
	{annaCurrent, danielCurrent},
	{joint, annaSavings},
}

// event makes one everyday event: one row, or two rows if they belong together and there is room.
func (w *walk) event() {
	index := w.weighted(w.sums)
	t := &trades[index]
	if t.kind != TransferOut {
		w.purchase(index)
		return
	}
	if w.room() < 2 {
		w.purchase(0)
		return
	}
	way := ownTransfers[w.small(len(ownTransfers))]
	cents := w.price(t)
	if w.chance(600) {
		cents = (cents + 4_99) / 5_00 * 5_00
	}
	w.move(TransferOut, way[0], way[1], cents, cents)
}

// purchase makes a row of a trade, and the rows that follow from it.
func (w *walk) purchase(index int) {
	t := &trades[index]
	account := t.purse.accounts[w.weighted(t.purse.sums)]
	m := &w.h.market.merchants[index][w.weighted(w.h.market.sums[index])]
	cents, class := w.price(t), t.category
	if t.kind == Peer && w.chance(350) {
		cents, class = -cents, catPeerIn
	}
	row := w.row(account, t.kind, cents)
	if t.channel != wired {
		w.swipe(&row)
	}
	if t.kind == Restaurant && w.source[account] != fromFile && w.chance(330) {
		w.tip(&row)
	}
	w.describe(&row, m, class, t.channel)

	if account == goldCard && w.room() > 1 && w.chance(450) {
		w.copied(&row, m, class)
		return
	}
	w.put(&row, 0)
	if w.room() == 0 {
		return
	}
	switch {
	case t.kind == ATM && w.chance(120):
		w.fee(account, int64(w.between(2, 6))*1_00-5, w.words(account, account).cash, catCashFee)
	case t.kind == Foreign && account != dollars && w.chance(300):
		w.fee(account, max(50, cents*175/10_000), w.words(account, account).abroad, catAbroadFee)
	case (t.kind == Shopping || t.kind == Online) && !row.Pending && w.chance(85):
		w.refund(&row)
	}
}

// swipe adds the data of a card payment to a row: the day of authorization, and whether it is still
// pending.
func (w *walk) swipe(t *Transaction) {
	if w.source[t.AccountIndex] == fromFile {
		return
	}
	date := w.h.diary[w.today].date
	if left := w.last - w.today; left < len(stillPending) {
		t.Pending = w.chance(stillPending[left])
	}
	if w.source[t.AccountIndex] != fromPlaid {
		return
	}
	before := 0
	if !t.Pending {
		before = w.small(4)
	}
	t.AuthorizedDate = w.moment(date.Add(-24 * time.Hour * time.Duration(before)))
	if w.chance(400) {
		t.Datetime = w.moment(date.Add(time.Second * time.Duration(w.between(6*3600, 22*3600))))
	}
}

// tip changes a restaurant's row to one that was authorized without the tip.
func (w *walk) tip(t *Transaction) {
	t.Kind = Tip
	if t.Pending {
		return
	}
	cents := t.Amount.Cents()
	t.Amount = amount((cents + cents*int64(w.between(60, 180))/1000 + 50) / 50 * 50)
}

// copied makes a charge with the additional card, which both accounts of the gold card show.
func (w *walk) copied(t *Transaction, m *merchant, class category) {
	w.pair++
	t.PairID = w.pair
	again := *t
	again.AccountIndex, again.AuthorizedDate, again.Datetime, again.PaymentChannel = goldCopy, nil, nil, ""
	again.MerchantName = m.loud
	w.classify(&again, class, "")
	w.put(t, 0)
	w.put(&again, w.small(3))
}

// fee makes a row for a fee that the bank charges for another row.
func (w *walk) fee(account int, cents int64, name text.Untrusted, class category) {
	t := w.row(account, Fee, cents)
	t.Name = name
	w.classify(&t, class, wired)
	w.put(&t, 0)
}

// refund refunds a purchase some days later, usually in full.
func (w *walk) refund(t *Transaction) {
	days := w.between(3, 26)
	if w.today+days > w.last {
		return
	}
	cents := t.Amount.Cents()
	if w.chance(150) {
		cents = max(1_00, cents*int64(w.between(200, 800))/1000)
	}
	back := *t
	back.AuthorizedDate, back.Datetime = nil, nil
	back.ProviderID, back.RefundOf = "", t.ProviderID
	back.Kind, back.Amount = Refund, amount(-cents)
	back.PendingAmount = back.Amount
	w.put(&back, days)
}

// price returns a random amount for a trade, at the prices of the day.
func (w *walk) price(t *trade) int64 {
	span := int64(t.high - t.low)
	for range t.skew {
		span = span * int64(w.below(1<<16)) >> 16
	}
	cents := int64(t.low) + span
	if t.ending == notes {
		return (cents + 9_99) / 10_00 * 10_00
	}
	// Prices rise by two per mille a month, as they have done.
	cents = cents * int64(min(2000, max(500, 1000+2*(w.h.diary[w.today].month-priceMonth)))) / 1000
	switch t.ending {
	case nines:
		cents = cents/100*100 + nineEndings[w.below(len(nineEndings))]
	case tens:
		cents = (cents + 9) / 10 * 10
	case whole:
		cents = (cents + 99) / 100 * 100
	}
	return max(cents, 50)
}

var nineEndings = [...]int64{99, 99, 99, 95, 90, 49, 45, 79}
