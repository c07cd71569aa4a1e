package household

import (
	"strings"

	"coffer/internal/platform/text"
)

// A market is where the household spends: the merchants of each trade, with their names on
// statements.
type market struct {
	merchants [][]merchant // by trade
	sums      [][]int      // of the merchants' weights
	orders    []merchant   // by order
	german    []bankWords  // by account that the texts are about
	english   []bankWords
}

// A merchant has a name for people and one for machines, and one or several names on statements.
type merchant struct {
	clean text.Untrusted   // Plaid's cleaned name; empty if Plaid does not know it
	loud  text.Untrusted   // Teller's name
	names []text.Untrusted // on statements; empty if each row has its own text …
	forms []string         // … in one of these forms
	label string           // the value of %N and %n
}

// A bankWords is the texts that one bank writes about one of our accounts, or on its rows.
type bankWords struct{ to, from, paid, received, rate, traded, cash, abroad text.Untrusted }

// plainForms are the forms of a shop's name on a statement, if its trade has no others.
var plainForms = []string{
	"%N %4 %C DE", "CARD PAYMENT 4421 %N %4", "%N SAGT DANKE %4 %C", "%N//%C/DE", "%n %C",
	"%N %C",
}

// smallForms are the forms of a small shop's name.
var smallForms = []string{"%N %C", "SQ *%N", "SumUp *%N", "%N %C DE", "%n", "%N"}

func newMarket(d *dice, household []Account) market {
	var m market
	w := writer{dice: d}
	for i := range trades {
		t := &trades[i]
		var list []merchant
		for _, b := range t.brands {
			list = append(list, w.brand(b, max(1, t.stores)))
		}
		for n := range t.count {
			list = append(list, w.local(t.locals[n%len(t.locals)]))
		}
		sums := make([]int, len(list))
		sum := 0
		for rank := range sums {
			sum += 100_000 / (rank + 3) // Zipf: a few merchants get most payments, but nearly all get some
			sums[rank] = sum
		}
		m.merchants, m.sums = append(m.merchants, list), append(m.sums, sums)
	}
	for _, o := range orders {
		m.orders = append(m.orders, standing(o.name, o.merchant))
	}
	for _, a := range household {
		m.german = append(m.german, bankWords{
			to: text.Name("ÜBERWEISUNG AN " + a.Name.Plain()), from: text.Name("GUTSCHRIFT VON " + a.Name.Plain()),
			paid: text.Name("LASTSCHRIFT KREDITKARTE " + a.Mask), received: "ZAHLUNG ERHALTEN - DANKE",
			rate:   text.Name("RATE DARLEHEN " + a.Mask),
			traded: "WISE EUROPE SA EUR/USD", cash: "ENTGELT FREMDAUTOMAT", abroad: "AUSLANDSEINSATZENTGELT 1,75%",
		})
		m.english = append(m.english, bankWords{
			to: text.Name("Transfer to " + a.Name.Plain()), from: text.Name("Transfer from " + a.Name.Plain()),
			paid: text.Name("Card payment " + a.Mask), received: "PAYMENT THANK YOU",
			rate:   text.Name("Loan payment " + a.Mask),
			traded: "WISE US INC EUR/USD", cash: "ATM FEE", abroad: "FOREIGN TRANSACTION FEE",
		})
	}
	return m
}

// standing returns the merchant of a standing order. It has one name, which changes per row if it
// contains a month or a number.
func standing(form, clean string) merchant {
	m := merchant{clean: text.Name(clean), loud: text.Name(strings.ToUpper(clean))}
	if strings.Contains(form, "%") {
		m.forms = []string{form}
	} else {
		m.names = []text.Untrusted{text.Name(form)}
	}
	return m
}

// A writer fills in forms: %N a merchant's name in capitals, %n the name unchanged, %C a city, %S a
// surname, %G a given name, %M and %Y the month and the year, %1 to %9 that many digits, and %D and
// %R a reference that no other row has.
type writer struct {
	*dice
	month int
	buf   []byte
}

func (w *writer) write(form, label string) text.Untrusted { return text.Name(w.fill(form, label)) }

func (w *writer) fill(form, label string) string {
	out := w.buf[:0]
	for i := 0; i < len(form); i++ {
		if form[i] != '%' {
			out = append(out, form[i])
			continue
		}
		i++
		switch c := form[i]; c {
		case 'N':
			out = append(out, strings.ToUpper(label)...)
		case 'n':
			out = append(out, label...)
		case 'C':
			out = append(out, strings.ToUpper(cities[w.small(len(cities))])...)
		case 'S':
			out = append(out, surnames[w.below(len(surnames))]...)
		case 'G':
			out = append(out, given[w.below(len(given))]...)
		case 'M', 'Y':
			year, month := w.month/12, w.month%12+1
			if c == 'M' {
				out = append(out, byte('0'+month/10), byte('0'+month%10), '/')
			}
			out = append(out, byte('0'+year/1000%10), byte('0'+year/100%10), byte('0'+year/10%10), byte('0'+year%10))
		case 'R':
			out = w.letters(out, upper, 9)
		case 'D':
			out = w.letters(out, digits, 12)
		default:
			out = w.letters(out, digits, int(c-'0'))
		}
	}
	w.buf = out
	return string(out)
}

// brand reads the specification of a brand, and gives each of its stores a name on statements. The
// specification is "Name", "Name=FORM|FORM", or "=FORM" for a brand whose name no provider knows.
func (w *writer) brand(spec string, stores int) merchant {
	name, own, _ := strings.Cut(spec, "=")
	forms := plainForms
	if own != "" {
		forms = strings.Split(own, "|")
	}
	m := merchant{clean: text.Name(name), loud: text.Name(strings.ToUpper(name)), label: name}
	if makesNames(forms[0]) {
		m.forms = forms
		return m
	}
	for n := range stores {
		m.names = append(m.names, w.write(forms[n%len(forms)], name))
	}
	return m
}

// local invents a merchant from a specification: "FORM" for its name, or "=FORM=FORM" for its name
// and its name on statements. Plaid does not know all of these merchants.
func (w *writer) local(form string) merchant {
	own := smallForms[w.below(len(smallForms))]
	if named, ok := strings.CutPrefix(form, "="); ok {
		form, own, _ = strings.Cut(named, "=")
	}
	name := w.fill(form, "")
	m := merchant{loud: text.Name(strings.ToUpper(name)), label: name}
	if !w.chance(250) {
		m.clean = text.Name(name)
	}
	if makesNames(own) {
		m.forms = []string{own}
		return m
	}
	m.names = []text.Untrusted{w.write(own, name)}
	if w.chance(400) { // the card terminal was replaced
		m.names = append(m.names, w.write("%N %3 %C", name))
	}
	return m
}

// makesNames reports whether a form makes a new name for each row.
func makesNames(form string) bool {
	return strings.Contains(form, "%R") || strings.Contains(form, "%D")
}
