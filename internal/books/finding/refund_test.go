package finding

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/books/ledger"
)

// A refund is found if its wording contains a word for refund, in several languages and at any
// position. A payment and its refund with the same wording stay together. Money in that only shares
// a word with a purchase is not a refund.
func TestRefundsThatSaySo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	a := h.account()
	now := dayOf(time.Now()) - 19723
	rows := []ledger.Incoming{payment(a, "old", "START", "", now-300, 1_00)}
	for i, wordings := range [][2]string{
		{"ELEKTRO MEIER TV 4K", "ELEKTRO MEIER TV 4K GUTSCHRIFT"},
		{"SHOE PALACE", "REFUND SHOE PALACE"},
		{"LIBRAIRIE DU PORT", "LIBRAIRIE DU PORT REMBOURSEMENT"},
		{"GARDEN WORLD", "GARDEN WORLD 0815 REVERSAL"},
		{"MÖBELHAUS NORD", "MÖBELHAUS NORD RÜCKERSTATTUNG"},
		{"MERCADO SUR", "DEVOLUCIÓN MERCADO SUR"},
		{"TAX RETURN SERVICE", "TAX RETURN SERVICE"},
	} {
		cents := int64(100+i) * 100
		rows = append(rows, payment(a, fmt.Sprint("p", i), wordings[0], "", now-20, cents),
			payment(a, fmt.Sprint("r", i), wordings[1], "", now-17, -cents))
	}
	rows = append(rows, payment(a, "wage", "GARDEN CENTRE CREDIT", "", now-10, -100_00),
		payment(a, "credit", "CREDIT", "", now-9, -100_00), payment(a, "plain", "SHOE PALACE BONUS", "", now-8, -20_00))
	h.merge(rows...)
	h.sweep()
	_, words := h.findings(a, open)
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, string(refund)) })
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("refund in_full -%d.00 2", 100+i))
	}
	if !slices.Equal(words, want) {
		t.Errorf("found %q, want %q", words, want)
	}
}
