package finding

import (
	"context"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// refundWords are words in bank texts for a refund, in the form in which wordings are compared.
var refundWords = func() map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(`
		refund refunded reversal reversed return returned returns credit credited chargeback cancellation
		gutschrift storno stornierung rückerstattung erstattung retoure rückzahlung rückbuchung
		remboursement avoir retour annulation reembolso devolución abono anulación estorno devolução
		rimborso accredito reso terugbetaling restitutie creditering zwrot återbetalning tilbagebetaling refusjon`) {
		set[text.Form(word)] = true
	}
	return set
}()

// bought returns the key of the payee of a purchase whose refund has this wording: the form without
// the words for refund. It returns false if the wording has no such words, or only such words.
func bought(wording string) (id.Key, bool) {
	words := strings.Fields(text.Form(wording))
	kept := words[:0:0]
	for _, w := range words {
		if !refundWords[w] {
			kept = append(kept, w)
		}
	}
	if len(kept) == len(words) || len(kept) == 0 {
		return 0, false
	}
	return id.KeyOf(strings.Join(kept, " ")), true
}

// asBought gives a refund the payee of its purchase, if the wording of the refund contains a word
// for refund and that of the purchase does not. of maps indexes of such rows to their wordings. If
// the household also pays the payee under the wording of the refund, the payee stays.
func asBought(ctx context.Context, q pg.Querier, rows []charge, of map[int]int32) error {
	if len(of) == 0 {
		return nil
	}
	paid := map[id.Key]bool{}
	for _, c := range rows {
		if c.Cents > 0 {
			paid[c.Party] = true
		}
	}
	seen := map[int32]bool{}
	var wordings []int32
	for i, w := range of {
		if paid[rows[i].Party] {
			delete(of, i)
		} else if !seen[w] {
			seen[w], wordings = true, append(wordings, w)
		}
	}
	type row struct {
		ID   int32          `db:"id"`
		Name text.Untrusted `db:"name"`
	}
	names, err := pg.All[row](ctx, q, `select d.id, coalesce(nullif(d.merchant_name, ''), d.name) as name
		from unnest($1::int[]) w (id) cross join lateral (select x.* from descriptor x where x.id = w.id offset 0) d`,
		wordings)
	if err != nil {
		return err
	}
	parties := map[int32]id.Key{}
	for _, r := range names {
		if k, says := bought(r.Name.Plain()); says {
			parties[r.ID] = k
		}
	}
	for i, w := range of {
		if k, says := parties[w]; says {
			rows[i].Party = k
		}
	}
	return nil
}
