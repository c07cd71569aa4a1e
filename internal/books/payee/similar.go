package payee

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"coffer/internal/platform/id"
	"coffer/internal/platform/text"
)

const (
	mostSets    = 20 // the most sets of similar payees
	mostAlike   = 8  // the most payees in one set
	leastLetter = 4  // the fewest letters in a name with which others begin
)

// wordsOf returns a name as words without punctuation, to compare names.
func wordsOf(name string) []string {
	return strings.FieldsFunc(text.Fold(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	})
}

// alike reports whether two payees may be the same. Their names differ only in punctuation and
// case, or one name begins with the other and both have the same category.
func alike(a, b []string, sameCategory bool) bool {
	if strings.Join(a, "") == strings.Join(b, "") {
		return true
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	return sameCategory && len(a) > 0 && len(strings.Join(a, "")) >= leastLetter && slices.Equal(a, b[:len(a)])
}

// proposals returns the sets of payees that may be the same. The household's own accounts are left
// out: two accounts with the same name are different.
func proposals(rows []namedRow) [][]SimilarPayee {
	type one struct {
		SimilarPayee
		words    []string
		category string
	}
	seen, payees := map[string]*one{}, []*one{}
	for _, r := range rows {
		if r.Own {
			continue
		}
		if o := seen[r.Key]; o != nil { // the same payee in another currency
			o.Count += r.Count
			continue
		}
		o := &one{SimilarPayee: SimilarPayee{r.Payee, text.Name(r.text), r.Other, r.Count}, words: wordsOf(r.text)}
		if r.Category != nil {
			o.category = *r.Category
		}
		seen[r.Key], payees = o, append(payees, o)
	}
	// Sort payees with fewer words first. Each payee joins the set of a payee whose name is the
	// beginning of its own.
	slices.SortFunc(payees, func(a, b *one) int {
		return cmp.Or(cmp.Compare(len(a.words), len(b.words)), cmp.Compare(b.Count, a.Count),
			cmp.Compare(a.Payee, b.Payee))
	})
	heads, sets := map[string]int{}, [][]*one{}
	for _, o := range payees {
		at := -1
		for n := len(o.words); n > 0 && at < 0; n-- {
			i, ok := heads[strings.Join(o.words[:n], "")]
			if ok && alike(sets[i][0].words, o.words, o.category != "" && sets[i][0].category == o.category) {
				at = i
			}
		}
		if at < 0 {
			at = len(sets)
			sets = append(sets, nil)
			if whole := strings.Join(o.words, ""); whole != "" {
				if _, taken := heads[whole]; !taken {
					heads[whole] = at
				}
			}
		}
		sets[at] = append(sets[at], o)
	}
	sets = slices.DeleteFunc(sets, func(s []*one) bool { return len(s) < 2 })
	out := make([][]SimilarPayee, 0, len(sets))
	for _, s := range sets {
		slices.SortStableFunc(s, func(a, b *one) int { return cmp.Compare(b.Count, a.Count) })
		set := make([]SimilarPayee, 0, len(s))
		for _, o := range s[:min(len(s), mostAlike)] {
			set = append(set, o.SimilarPayee)
		}
		out = append(out, set)
	}
	slices.SortStableFunc(out, func(a, b []SimilarPayee) int { return cmp.Compare(total(b), total(a)) })
	return out[:min(len(out), mostSets)]
}

func total(set []SimilarPayee) (n int64) {
	for _, s := range set {
		n += s.Count
	}
	return n
}

// others returns those of the found payees that may be the same as one with this name and category.
func others(found []row, name string, category *string, not func(row) bool) []SimilarPayee {
	out, words, at := []SimilarPayee{}, wordsOf(name), map[string]int{}
	for _, r := range found {
		otherName := r.name()
		same := category != nil && r.Category != nil && *category == *r.Category
		if r.Own || not(r) || !alike(words, wordsOf(otherName), same) {
			continue
		}
		if i, again := at[r.Key]; again {
			out[i].Count += r.Count
			continue
		}
		at[r.Key] = len(out)
		out = append(out, SimilarPayee{r.Payee, text.Name(otherName), r.Other, r.Count})
	}
	slices.SortStableFunc(out, func(a, b SimilarPayee) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Payee, b.Payee))
	})
	return out[:min(len(out), mostAlike)]
}

// keysOf reads the keys of payees that a caller names.
func keysOf(refs []string) ([]id.Key, int) {
	var keys []id.Key
	for i, ref := range refs {
		k, err := id.ParseKey(ref)
		if err != nil {
			return nil, i
		}
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return keys, -1
}
