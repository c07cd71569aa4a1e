package household

// decoys makes rows that look like transfers or mirrored charges, but are not: a rent with the same
// amount as a transfer on the same day; a bill that two people split, with a friend's share; and a
// purchase that is refunded soon. The only true pair is the transfer on the day of the rent.
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

// bill makes one row that does not belong to a pair.
func (w *walk) bill(account int, kind Kind, cents int64, name string, class category, days int) Transaction {
	t := w.row(account, kind, cents)
	t.Name = w.writer.write(name, "")
	w.classify(&t, class, wired)
	w.put(&t, days)
	return t
}

// lookalikes makes payments that recur in two accounts with equal amounts although no money moves
// between the accounts. It also makes card payments with equal amounts on one day, where nothing
// says which row belongs to which.
func (w *walk) lookalikes(today *day) {
	date := today.date.Day()
	fixed := int64(w.h.Options.Seed%40) * 5_00 // differs by household
	switch {
	case w.room() < 4 || w.last-w.today < 5:
	case date == 4: // the parents' gift equals the cost of the garage
		w.bill(kitty, Peer, -(150_00 + fixed), "ELTERN ZUSCHUSS MONATLICH", catPeerIn, 0)
		w.bill(danielCurrent, Rent, 150_00+fixed, "GARAGE RENT PARK LANE", catRent, 0)
	case date == 7: // two subscriptions of the same service
		w.bill(annaCurrent, Subscription, 12_99, "FITNESS APP ABO", catGym, 0)
		w.bill(danielCurrent, Subscription, 12_99, "FITNESS APP MEMBERSHIP", catGym, 0)
		w.bill(goldCard, Subscription, 9_99, "CLOUD STORAGE 2TB", catSoftware, 0)
		w.bill(blueCard, Subscription, 9_99, "CLOUD STORAGE 2TB", catSoftware, 0)
	case date == 11: // a wage that the employer pays into two accounts
		w.bill(joint, Salary, -(400_00 + fixed), "GEHALT TEILBETRAG 1", catSalary, 0)
		w.bill(danielCurrent, Salary, -(400_00 + fixed), "PAYROLL PART 2", catSalary, 0)
	case date == 13 && today.month%2 == 0: // one person's refund equals the other's purchase
		cents := int64(w.between(1500, 15900))
		w.bill(annaCurrent, Refund, -cents, "SCHUHHAUS RETOURE", catClothing, 0)
		w.bill(danielCurrent, Shopping, cents, "SHOE STORE EXCHANGE", catClothing, 0)
	case date == 16: // the interest on savings equals a payment from another account
		cents := int64(w.between(400, 1900))
		w.bill(danielSavings, Interest, -cents, "BONUS INTEREST", catInterest, 0)
		w.bill(danielCurrent, Leisure, cents, "CINEMA CITY CENTRE", catOutings, 0)
	case date == 19 && today.month%3 == 1: // both pay the same amount toward their cards
		cents := int64(w.between(4, 20)) * 25_00
		w.move(CardPaymentOut, annaCurrent, goldCard, cents, cents)
		w.move(CardPaymentOut, danielCurrent, blueCard, cents, cents)
	case date == 23 || date == 29: // the same shop on the same day
		cents := int64(w.between(700, 6900))
		w.bill(annaCurrent, Groceries, cents, "MARKTHALLE", catGroceries, 0)
		w.bill(blueCard, Groceries, cents, "MARKTHALLE", catGroceries, 0)
	}
}
