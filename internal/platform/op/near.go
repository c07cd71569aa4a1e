package op

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"coffer/internal/platform/errs"
)

const (
	mostNear = 3
	longest  = 40
	nearness = 450 // of 1,000
)

// Nearest returns the candidates closest to a word by trigrams, nearest first and at most three.
//
// A word that is too long gets no candidates: names are short, so it may be a secret, and a similar
// candidate could reveal it.
func Nearest(word string, all []Candidate) []Candidate {
	if len(word) > longest {
		return nil
	}
	given := trigrams(word)
	type scored struct {
		Candidate
		score int
	}
	var found []scored
	for _, c := range all {
		if s := max(alike(given, trigrams(c.Value)), alike(given, trigrams(c.Name))); s >= nearness {
			found = append(found, scored{c, s})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	var out []Candidate
	for _, f := range found[:min(len(found), mostNear)] {
		if 10*f.score >= 8*found[0].score { // a much weaker match is not meant
			out = append(out, f.Candidate)
		}
	}
	return out
}

// near returns the words of a list that are close to another word.
func near(word string, list []string) []string {
	all := make([]Candidate, len(list))
	for i, w := range list {
		all[i] = Candidate{Value: w}
	}
	return values(Nearest(word, all))
}

// alike returns how much of the given word is in the other word, out of 1,000. Anything else in the
// other word lowers the score: groceries is in food_and_drink_groceries.
func alike(given, other map[string]bool) int {
	if len(given) == 0 || len(other) == 0 {
		return 0
	}
	common := 0
	for t := range given {
		if other[t] {
			common++
		}
	}
	both := len(given) + len(other) - common
	return 600*common/len(given) + 400*common/both
}

// trigrams returns the runs of three characters in a text's words, each word with two spaces before
// it and one after.
func trigrams(text string) map[string]bool {
	set := map[string]bool{}
	words := strings.FieldsFunc(strings.ToLower(text),
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, w := range words {
		padded := []rune("  " + w + " ")
		for i := range len(padded) - 2 {
			set[string(padded[i:i+3])] = true
		}
	}
	return set
}

// wordsAt returns the words in the arguments at the path of a fault, one or a list.
func wordsAt(args map[string]any, path string) []string {
	switch v := valueAt(args, path).(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, item := range v {
			if w, ok := item.(string); ok {
				out = append(out, w)
			}
		}
		return out
	}
	return nil
}

// valueAt returns the argument at the path of a fault: operations[1].category.
func valueAt(args map[string]any, path string) any {
	var at any = args
	for part := range strings.SplitSeq(path, ".") {
		name, index, indexed := strings.Cut(part, "[")
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[name]
		if indexed {
			n, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			list, ok := at.([]any)
			if err != nil || !ok || n < 0 || n >= len(list) {
				return nil
			}
			at = list[n]
		}
	}
	return at
}

// NoField returns the error for a field selection that names an unknown field. It lists the valid
// ones.
func NoField(given, records string, sets, fields []string) error {
	d := errs.Detail{
		Field: "fields", Code: "enum", Suggestions: near(given, append(slices.Clone(sets), fields...)),
		Message: "unknown field of " + records + "; use " + strings.Join(sets, ", ") + ", or any of " +
			strings.Join(fields, ", "),
	}
	if len(d.Suggestions) > 0 {
		meant := "; did you mean " + strings.Join(d.Suggestions, " or ") + "? Use"
		d.Message = strings.Replace(d.Message, "; use", meant, 1)
	}
	return errs.Faults([]errs.Detail{d})
}
