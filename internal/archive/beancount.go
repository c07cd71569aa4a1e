package archive

import (
	"bufio"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// beancount writes a ledger in Beancount's format. At its end it asserts every account's balance,
// so bean-check also verifies coffer's sums.
type beancount struct{}

var beancountRoots = roots{"Assets", "Liabilities", "Expenses", "Income", "Equity"}

// beancountPart converts s to a part of an account's name: a capital or a digit, followed by
// letters, digits and dashes.
func beancountPart(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.Nd, r) })
	name := []rune(strings.Join(words, "-"))
	if len(name) == 0 {
		return "Unnamed"
	}
	name[0] = unicode.ToUpper(name[0])
	if !unicode.Is(unicode.Lu, name[0]) && !unicode.Is(unicode.Nd, name[0]) { // a script without capitals
		return "X" + string(name)
	}
	return string(name)
}

var beancountEscape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func beancountText(s string) string { return `"` + beancountEscape.Replace(plain(s)) + `"` }

func (beancount) head(w *bufio.Writer, b *book) {
	b.name(beancountRoots, beancountPart)
	fmt.Fprint(w, "; Written by coffer. Amounts are from the accounts' view: money in is positive, money owed is "+
		"negative.\n; Pending transactions are marked !; the banks' balances do not include them.\noption \"title\" "+
		"\"coffer\"\n")
	for _, c := range b.currencies {
		fmt.Fprintf(w, "option \"operating_currency\" \"%s\"\n", c)
	}
	if b.first == nil {
		return
	}
	fmt.Fprintln(w)
	for _, path := range b.paths(beancountRoots, beancountPart) {
		fmt.Fprintf(w, "%s open %s\n", b.first, path)
	}
	for _, a := range b.accounts {
		if a.Opening != nil {
			fmt.Fprintf(w, "\n%s * \"opening balance\"\n  %s  %s %s\n  %s\n", a.Before, a.path, *a.Opening, a.Currency,
				beancountRoots.equity+":"+beancountPart("opening"))
		}
	}
}

func (beancount) entry(w *bufio.Writer, b *book, e *entry) {
	mark := "*"
	if e.Pending {
		mark = "!"
	}
	fmt.Fprintf(w, "\n%s %s %s %s", e.Date, mark, beancountText(e.payee()), beancountText(e.Name))
	leaves, tags := e.leaves(), slices.Clone(e.Tags) // postings cannot have tags
	for _, leaf := range leaves {
		tags = append(tags, leaf.Tags...)
	}
	slices.Sort(tags)
	for _, tag := range slices.Compact(tags) {
		fmt.Fprintf(w, " #%s", strings.ReplaceAll(tag, ":", "/"))
	}
	fmt.Fprintf(w, "\n  coffer: \"%s\"\n", e.ShortID)
	if e.Detail != "" {
		fmt.Fprintf(w, "  detail: %s\n", beancountText(e.Detail))
	}
	fmt.Fprintf(w, "  %s  %s %s\n", b.account[e.AccountID].path, e.In, e.Currency)
	for _, leaf := range leaves {
		fmt.Fprintf(w, "  %s  %s %s\n", b.other(beancountRoots, beancountPart, &leaf), leaf.Out, e.Currency)
		if leaf.parent != "" {
			fmt.Fprintf(w, "    coffer: \"%s\"\n", leaf.ShortID)
		}
	}
}

func (beancount) tail(w *bufio.Writer, b *book) {
	fmt.Fprintln(w)
	for _, a := range b.accounts {
		if a.Closing != nil {
			fmt.Fprintf(w, "%s balance %s  %s %s\n", a.After, a.path, *a.Closing, a.Currency)
		}
	}
}
