package csvfile

// decideDecimal counts what all numbers of the mapped columns say.
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
			"some amounts have a decimal point and others a decimal comma; the more common one was used, and rows "+
				"with "+
				"the other are rejected")
	case silent && openPoint+openComma > 0:
		// Statements have two decimals, hardly ever three.
		i.blind++
		i.warn("decimal_ambiguous",
			"no amount shows whether a separator before three digits marks thousands or decimals; it was read as "+
				"thousands unless decimal_separator says otherwise")
	}
}

// kindOfSign is what tells the direction, as far as the columns alone say it.
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

// decideSign asks the caller, the format, the balance, the words and the majority, in that order.
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
				"the known format and the running balance disagree about which sign is money out; check the sample "+
					"and "+
					"set amount_sign")
		}
	case proven:
		p.sign = proof
	case f != nil && f.sign != "":
		p.sign = f.sign
	case v.negativeOut > 2*v.positiveOut:
		p.sign = NegativeOut
		i.guesses++
		i.warn("sign_inferred", "the rows' texts suggest that a minus is money out; set amount_sign if it is not")
	case v.positiveOut > 2*v.negativeOut:
		p.sign = PositiveOut
		i.guesses++
		i.warn("sign_inferred", "the rows' texts suggest that a plus is money out; set amount_sign if it is not")
	case v.negative >= v.positive:
		p.sign = NegativeOut
		i.guesses++
		i.warn("sign_inferred",
			"nothing in the file proves which sign is money out; a minus was assumed, as most banks write it")
	default:
		p.sign = PositiveOut
		i.blind++
		i.warn("sign_ambiguous",
			"nothing in the file proves which sign is money out; a plus was assumed, because most rows have one; "+
				"check "+
				"the sample and set amount_sign")
	}
}

// checkSplit holds two columns against the balance. Where there is no header, the balance says
// which is which.
func (i *inspection) checkSplit(v *verdict, proof string, proven bool) {
	m := &i.plan.mapping
	if proven && proof == PositiveOut && v.pairs >= 2 {
		if i.layout.header == 0 && i.options.Mapping == nil {
			m.Debit, m.Credit = m.Credit, m.Debit
		} else {
			i.blind++
			i.warn("sign_contradicts_balance",
				"the running balance rises with what the file calls money out; check the sample and swap "+
					"mapping.debit "+
					"and mapping.credit if they are the wrong way round")
		}
	}
	if i.layout.header == 0 && i.layout.known == nil && !proven {
		i.blind++
		i.warn("sign_ambiguous",
			"nothing in the file says which of the two amount columns is money out; the first was assumed")
	}
	if v.mixedDebit || v.mixedCredit {
		i.guesses++
		i.warn("split_signs_mixed",
			"a column of money out or money in has amounts of both signs; the signs are ignored")
	}
}

// bestOrder is the order in which most dates of the column exist.
func (c *column) bestOrder() dateOrder {
	best := ymd
	for o := range orders {
		if c.byOrder[o] > c.byOrder[best] {
			best = o
		}
	}
	return best
}

// decideOrder settles day and month: by the caller, by a part above 12 in any row, by the other
// dates of the file, by the format, by the order of the rows, which are sorted and whose direction
// the balance may tell, and at last by custom.
func (i *inspection) decideOrder(v *verdict, date *column) {
	p := &i.plan
	if o, ok := parseOrder(i.options.DateFormat); ok {
		p.order = o
		return
	}
	d, m := date.byOrder[dmy], date.byOrder[mdy]
	if most := date.byOrder[p.order]; most < date.dates {
		i.guesses++
		i.warn("dates_mixed",
			"no single date format fits all dates; the one that fits most was used, and the others are rejected")
	}
	if p.order == ymd || d != m {
		return
	}
	if o, ok := i.otherDates(date); ok {
		p.order = o
		return
	}
	if date.looks.sep == '.' {
		p.order = dmy // nobody puts points behind months
		return
	}
	if f := i.layout.known; f != nil && (f.names != "" || f.exact) && (f.order == dmy || f.order == mdy) {
		p.order = f.order
		return
	}
	if o, why := date.sorted(v); why != "" {
		p.order = o
		i.guesses++
		i.warn("date_order_ambiguous", "no date has a day above 12; "+why+" decided that dates are "+
			date.looks.format(o)+"; set date_format if they are not")
		return
	}
	if f := i.layout.known; f != nil && (f.order == dmy || f.order == mdy) {
		p.order = f.order
		i.guesses++
		i.warn("date_order_ambiguous", "nothing in the file tells day and month apart; "+date.looks.format(p.order)+
			" was used, as usual for the format that the columns look like; set date_format if this is wrong")
		return
	}
	p.order = i.customaryOrder()
	i.blind++
	i.warn("date_order_ambiguous", "nothing in the file tells day and month apart; "+date.looks.format(p.order)+
		" was assumed by convention; check the sample and set date_format")
}

// otherDates lets the other date columns of the file, if they are written alike, tell day and month
// apart.
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

// sorted finds the order in which the rows are sorted by date, and says what decided.
func (c *column) sorted(v *verdict) (dateOrder, string) {
	breaks := func(o dateOrder) int { return min(c.rises[o], c.falls[o]) }
	why := "the order of the rows"
	if _, oldestFirst, ok := v.proven(); ok && v.ordered() {
		why = "the order of the rows, whose direction the running balance shows,"
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

// customaryOrder is a guess from whatever else shows where a file comes from.
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
