package archive

import (
	"bufio"
	"fmt"
	"strings"
	"unicode"
)

// hledger writes a journal for hledger's strict mode: accounts and commodities are declared.
type hledger struct{}

var hledgerRoots = roots{"assets", "liabilities", "expenses", "income", "equity"}

// hledgerPart converts s to a part of an account's name: letters, digits and few other characters.
// Words are separated by single spaces, because two spaces end the name. A colon would begin the
// next part.
func hledgerPart(s string) string {
	kept := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r) ||
			strings.ContainsRune("-_.&'/#+", r) {
			return r
		}
		return ' '
	}, s)
	if kept = strings.Join(strings.Fields(kept), " "); kept == "" {
		return "unnamed"
	}
	return kept
}

// hledgerText returns s as a description. A semicolon would begin a comment, and a bar would
// separate the payee from a note.
func hledgerText(s string) string { return hledgerEscape.Replace(plain(s)) }

var hledgerEscape = strings.NewReplacer(";", ",", "|", "/")

func (hledger) head(w *bufio.Writer, b *book) {
	b.name(hledgerRoots, hledgerPart)
	fmt.Fprint(w, "; Written by coffer. Amounts are from the accounts' view: money in is positive, money owed is "+
		"negative.\n; Pending transactions are marked !; the banks' balances do not include them. --cleared leaves "+
		"them out.\ndecimal-mark .\n\n")
	for _, c := range b.currencies {
		fmt.Fprintf(w, "commodity 1000.00 %s\n", c)
	}
	fmt.Fprintln(w)
	for _, path := range b.paths(hledgerRoots, hledgerPart) {
		fmt.Fprintf(w, "account %s\n", path)
	}
	for _, a := range b.accounts {
		if a.Opening != nil {
			fmt.Fprintf(w, "\n%s * opening balance\n    %s  %s %s\n    %s\n", a.Before, a.path, *a.Opening, a.Currency,
				hledgerRoots.equity+":"+hledgerPart("opening"))
		}
	}
}

func (hledger) entry(w *bufio.Writer, b *book, e *entry) {
	mark := "*"
	if e.Pending {
		mark = "!"
	}
	fmt.Fprintf(w, "\n%s %s (%s) %s\n", e.Date, mark, e.ShortID, hledgerText(e.payee()))
	if text := hledgerText(e.Name); text != hledgerText(e.payee()) {
		fmt.Fprintf(w, "    ; %s\n", strings.ReplaceAll(text, ":", " ")) // a colon would make a tag
	}
	if e.Detail != "" {
		fmt.Fprintf(w, "    ; %s\n", strings.ReplaceAll(hledgerText(e.Detail), ":", " "))
	}
	if len(e.Tags) > 0 {
		fmt.Fprintf(w, "    ; tag:%s\n", strings.Join(e.Tags, ", tag:"))
	}
	fmt.Fprintf(w, "    %s  %s %s\n", b.account[e.AccountID].path, e.In, e.Currency)
	for _, leaf := range e.leaves() {
		fmt.Fprintf(w, "    %s  %s %s", b.other(hledgerRoots, hledgerPart, &leaf), leaf.Out, e.Currency)
		if leaf.parent != "" && len(leaf.Tags) > 0 {
			fmt.Fprintf(w, "  ; tag:%s", strings.Join(leaf.Tags, ", tag:"))
		}
		fmt.Fprintln(w)
	}
}

func (hledger) tail(*bufio.Writer, *book) {}

// paths returns all accounts that a ledger of this book may use.
func (b *book) paths(r roots, part func(string) string) []string {
	var out []string
	for _, a := range b.accounts {
		out = append(out, a.path)
	}
	for _, c := range b.categories {
		out = append(out, c.path)
	}
	return append(out, r.spent+":"+part("uncategorized"), r.equity+":"+part("mirrored"), r.equity+":"+part("opening"),
		r.equity+":"+part("transfers"))
}
