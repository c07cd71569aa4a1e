package csv

// decideDecimal determines the decimal separator from all numbers of the mapped columns.
func (i *inspection) decideDecimal() {
	p := &i.plan
	if o := i.options.DecimalSeparator; o != "" {
		p.decimal = o[0]
		return
	}
	m := &p.mapping
	point, comma, openPoint, openComma := 0, 0, 0, 0
	for _, c := range []*Column{m.Amount, m.OtherAmount, m.Debit, m.Credit, m.Fee, m.Balance} {
		if c != nil {
			s := &i.columns[c.Index]
			point, comma = point+s.point, comma+s.comma
			openPoint, openComma = openPoint+s.openPoint, openComma+s.openComma
		}
	}
	silent := point == 0 && comma == 0
	p.decimal = '.'
	if comma > point || silent && (openPoint > openComma || openPoint == openComma && p.comma == ';') {
		p.decimal = ','
	}
	switch {
	case point > 0 && comma > 0:
		i.guesses++
		i.warn("decimal_mixed",
			"some amounts have a decimal point and others a decimal comma; the more common one is used, and "+
				"rows with the other are rejected")
	case silent && openPoint+openComma > 0:
		// Statements have two decimals, hardly ever three.
		i.blind++
		i.warn("decimal_ambiguous",
			"the amounts don't show whether a separator before three digits means thousands or decimals; it "+
				"is read as thousands unless you set decimal_separator")
	}
}

// kindOfSign returns how the direction is marked, if the columns alone show it.
func (i *inspection) kindOfSign() string {
	m := &i.plan.mapping
	switch sign := i.options.AmountSign; {
	case m.Amount == nil:
		return Split
	case sign == Flag && m.Flag != nil, sign == PositiveOut, sign == NegativeOut:
		return sign
	case m.Flag != nil:
		return Flag
	}
	return NegativeOut
}

// decideSign uses the caller's choice, the format, the balance, the words and the majority, in this
// order.
func (i *inspection) decideSign(v *verdict) {
	p := &i.plan
	proof, _, proven := v.proven()
	f := i.layout.known
	switch {
	case p.sign == Split:
		i.checkSplit(v, proof, proven)
	case p.sign == Flag || i.options.AmountSign != "":
	case f != nil && f.names != "" && (f.sign == NegativeOut || f.sign == PositiveOut):
		p.sign = f.sign
		if proven && proof != f.sign && v.pairs >= 3 {
			i.blind++
			i.warn("sign_contradicts_balance",
				"the known format and the running balance disagree on which sign is money out; check the "+
					"sample and set amount_sign")
		}
	case proven:
		p.sign = proof
	case f != nil && f.sign != "":
		p.sign = f.sign
	case v.negativeOut > 2*v.positiveOut:
		p.sign = NegativeOut
		i.guesses++
		i.warn("sign_inferred", "the descriptions suggest that negative amounts are money out; set amount_sign if "+
			"this is wrong")
	case v.positiveOut > 2*v.negativeOut:
		p.sign = PositiveOut
		i.guesses++
		i.warn("sign_inferred", "the descriptions suggest that positive amounts are money out; set amount_sign if "+
			"this is wrong")
	case v.negative >= v.positive:
		p.sign = NegativeOut
		i.guesses++
		i.warn("sign_inferred",
			"the file doesn't show which sign is money out; a minus is assumed, as with most banks; set "+
				"amount_sign if this is wrong")
	default:
		p.sign = PositiveOut
		i.blind++
		i.warn("sign_ambiguous",
			"the file doesn't show which sign is money out; a plus is assumed, because most rows have one; "+
				"check the sample and set amount_sign")
	}
}

// checkSplit checks the debit and credit columns with the balance. Without a header, the balance
// decides which one is which.
func (i *inspection) checkSplit(v *verdict, proof string, proven bool) {
	m := &i.plan.mapping
	if proven && proof == PositiveOut && v.pairs >= 2 {
		if i.layout.header == 0 && i.options.Mapping == nil {
			m.Debit, m.Credit = m.Credit, m.Debit
		} else {
			i.blind++
			i.warn("sign_contradicts_balance",
				"the running balance rises with money out; check the sample, and swap mapping.debit and "+
					"mapping.credit if they are mixed up")
		}
	}
	if i.layout.header == 0 && i.layout.known == nil && !proven {
		i.blind++
		i.warn("sign_ambiguous",
			"the file doesn't show which of the two amount columns is money out; the first is assumed; check "+
				"the sample")
	}
	if v.mixedDebit || v.mixedCredit {
		i.guesses++
		i.warn("split_signs_mixed",
			"a money-in or money-out column has amounts of both signs; the signs are ignored")
	}
}

// bestOrder returns the order in which most dates of the column are valid.
func (c *column) bestOrder() dateOrder {
	best := ymd
	for o := range orders {
		if c.byOrder[o] > c.byOrder[best] {
			best = o
		}
	}
	return best
}

// decideOrder decides the order of day and month. It uses, in this order: the caller's choice, a
// part above 12 in any row, the other date columns, the format, the order of the rows, and finally
// what is customary. If the balance shows whether the oldest row comes first, that helps with the
// order of the rows.
func (i *inspection) decideOrder(v *verdict, date *column) {
	p := &i.plan
	if o, ok := parseOrder(i.options.DateFormat); ok {
		p.order = o
		return
	}
	d, m := date.byOrder[dmy], date.byOrder[mdy]
	if matching := date.byOrder[p.order]; matching < date.dates {
		i.guesses++
		i.warn("dates_mixed",
			"no date format matches all dates; the most common one is used, and rows with other formats are "+
				"rejected")
	}
	if p.order == ymd || d != m {
		return
	}
	if o, ok := i.otherDates(date); ok {
		p.order = o
		return
	}
	if date.looks.sep == '.' {
		p.order = dmy // nobody writes points after months
		return
	}
	if f := i.layout.known; f != nil && (f.names != "" || f.exact) && (f.order == dmy || f.order == mdy) {
		p.order = f.order
		return
	}
	if o, why := date.sorted(v); why != "" {
		p.order = o
		i.guesses++
		i.warn("date_order_ambiguous", "no date has a day above 12; "+why+" shows that dates are "+
			date.looks.format(o)+"; set date_format if this is wrong")
		return
	}
	if f := i.layout.known; f != nil && (f.order == dmy || f.order == mdy) {
		p.order = f.order
		i.guesses++
		i.warn("date_order_ambiguous",
			"the file doesn't show which number is the day and which the month; "+date.looks.format(p.order)+
				" is used, as is usual for this kind of file; set date_format if this is wrong")
		return
	}
	p.order = i.customaryOrder()
	i.blind++
	i.warn("date_order_ambiguous",
		"the file doesn't show which number is the day and which the month; "+date.looks.format(p.order)+
			" is assumed; check the sample and set date_format")
}

// otherDates tries to distinguish day and month with the file's other date columns, if they are
// written in the same way.
func (i *inspection) otherDates(date *column) (dateOrder, bool) {
	d, m := 0, 0
	for n := range i.columns {
		c := &i.columns[n]
		if c.isDates() && c.looks.sep == date.looks.sep && c.looks.digits[2] == date.looks.digits[2] {
			d, m = d+c.byOrder[dmy], m+c.byOrder[mdy]
		}
	}
	if d > m {
		return dmy, true
	}
	return mdy, m > d
}

// sorted returns the date order in which the rows are best sorted by date, and what decided it.
func (c *column) sorted(v *verdict) (dateOrder, string) {
	breaks := func(o dateOrder) int { return min(c.rises[o], c.falls[o]) }
	why := "the order of the rows"
	if _, oldestFirst, ok := v.proven(); ok && v.ordered() {
		why = "the order of the rows with the running balance"
		breaks = func(o dateOrder) int {
			if oldestFirst {
				return c.falls[o]
			}
			return c.rises[o]
		}
	}
	switch d, m := breaks(dmy), breaks(mdy); {
	case d < m:
		return dmy, why
	case m < d:
		return mdy, why
	}
	return noOrder, ""
}

// customaryOrder guesses the order from anything else that indicates where a file comes from.
func (i *inspection) customaryOrder() dateOrder {
	if i.plan.decimal == ',' || i.plan.comma == ';' {
		return dmy
	}
	dollars := i.plan.fallback == "USD"
	if c := i.plan.mapping.Amount; c != nil && i.plan.currency[c.Index] != "" {
		dollars = i.plan.currency[c.Index] == "USD"
	}
	if c := i.plan.mapping.Currency; c != nil {
		dollars = i.columns[c.Index].values["usd"] > 0
	}
	if dollars {
		return mdy
	}
	return dmy
}
