package household

// decoys makes what a search for transfers and mirrored charges must not fall for: a rent that
// equals what moves between own accounts on the same day, a bill that two split and a friend pays a
// share of, a purchase that comes back at once. Only the rent hides a pair of its own; the rest are
// none.
func (w *walk) decoys(today *day) {
	date := today.date.Day()
	switch {
	case w.room() < 4 || w.last-w.today < 5:
	case date == 2 && today.month%3 == 0:
		cents := int64(w.between(300, 900)) * 1_00
		w.move(TransferOut, annaCurrent, joint, cents, cents)
		w.bill(danielCurrent, Rent, cents, "RENT GARAGE AND WORKSHOP", catRent, 0)
	case date == 10 || date == 21:
		cents := int64(w.between(1100, 6400))
		w.bill(annaCurrent, Restaurant, cents, "GASTHAUS GETRENNT GEZAHLT", catRestaurant, 0)
		w.bill(danielCurrent, Restaurant, cents, "GASTHAUS CARD SPLIT BILL", catRestaurant, 0)
		w.bill(joint, Peer, -cents, "ANTEIL ESSEN DANKE", catPeerIn, w.between(0, 2))
	case date == 6 || date == 17:
		cents := int64(w.between(900, 12900))
		card := []int{goldCard, blueCard, annaCurrent, danielCurrent}[w.below(4)]
		bought := w.bill(card, Shopping, cents, "KAUFHAUS AM PLATZ", catClothing, 0)
		back := bought
		back.ProviderID, back.RefundOf, back.Kind, back.Amount = "", bought.ProviderID, Refund, amount(-cents)
		back.PendingAmount = back.Amount
		w.put(&back, w.between(1, 4))
	}
}

// bill makes one row that is nobody's other side.
func (w *walk) bill(account int, kind Kind, cents int64, name string, class category, days int) Transaction {
	t := w.row(account, kind, cents)
	t.Name = w.writer.write(name, "")
	w.classify(&t, class, wired)
	w.put(&t, days)
	return t
}
