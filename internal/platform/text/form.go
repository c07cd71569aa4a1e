package text

import (
	"strings"
	"unicode"
)

// months are the folded names of months in English, German, French, Spanish, Italian and Dutch,
// with and without accents, as banks write them. Abbreviations are missing, because they are also
// names of people and places.
var months = func() map[string]bool {
	set := map[string]bool{}
	for name := range strings.FieldsSeq(`
		january february march april may june july august september october november december
		januar jänner februar feber märz maerz mai juni juli oktober dezember
		janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre decembre
		enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
		gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
		januari februari maart mei augustus`) {
		set[name] = true
	}
	return set
}()

// Form returns the part of a payee's wordings that stays the same: s folded, without words that
// contain a digit, without the names of months, and with everything but letters turned into single
// spaces. If nothing is left, it returns s folded. The form groups wordings; it is not a name to
// show.
func Form(s string) string {
	folded := Fold(s)
	out := make([]byte, 0, len(folded))
	for word := range strings.FieldsSeq(folded) {
		if strings.ContainsFunc(word, unicode.IsNumber) {
			continue
		}
		letters := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
		if len(letters) == 1 && months[letters[0]] {
			continue
		}
		for _, l := range letters {
			if len(out) > 0 {
				out = append(out, ' ')
			}
			out = append(out, l...)
		}
	}
	if len(out) == 0 {
		return folded
	}
	return string(out)
}
