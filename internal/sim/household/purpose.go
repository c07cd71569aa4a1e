package household

import (
	"fmt"
	"hash/fnv"
	"strings"
	"time"

	"coffer/internal/platform/text"
)

// purpose returns the purpose of the payment in the form of the account's provider: a file has its
// own column, Plaid has the bank's text, and Teller has nothing. It depends only on the row's id,
// so the rest of the household is the same with and without purposes. Most contain a number and
// occur once.
func (w *walk) purpose(t *Transaction) text.Untrusted {
	source := w.source[t.AccountIndex]
	if source == fromTeller {
		return ""
	}
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(t.ProviderID))
	n := sum.Sum64()
	if n%10 < 2 { // many payments have no purpose
		return ""
	}
	month := fmt.Sprintf("%02d/%d", t.Date.Month(), t.Date.Year())
	ref := n / 10 % 100_000_000
	var s string
	switch t.Kind {
	case Rent:
		s = "Miete " + month + " Whg 3 OG"
	case Salary:
		s = "Lohn / Gehalt " + month
	case Utility:
		s = fmt.Sprintf("Abschlag Strom %s VK 3%08d", month, n/10%50)
	case Insurance, Tax:
		s = fmt.Sprintf("Beitrag VS-NR %07d %s", n/10%90, month)
	case Invoice, Freelance, Online:
		s = fmt.Sprintf("Rechnung RE-%d-%08d", t.Date.Year(), ref)
	case Peer:
		s = []string{"danke fürs Essen", "Geschenk Lena", "Konzertkarten", "Anteil Wochenende"}[n/10%4]
	case ATM:
		s = fmt.Sprintf("GA NR%08d BLZ37040044 0", ref)
	default:
		s = fmt.Sprintf("Karte %04d REF %08d %s", n/10%7000, ref, t.Date.Format(time.DateOnly))
	}
	if source == fromPlaid { // in the form of the bank's own system
		s = strings.ToUpper(s)
	}
	return text.Detail(s, t.Name)
}
