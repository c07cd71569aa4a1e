package payeename

import (
	"strings"
)

// processor removes the name of the service that took the payment for a shop: "SQ *BLUE BOTTLE".
// Some shops write an asterisk themselves, as in "UBER *TRIP". After it comes a code or a part of
// the name.
func (n *namer) processor() {
	for i, w := range n.words {
		if !strings.HasPrefix(w.text, "*") {
			continue
		}
		after := append([]word{}, n.words[i:]...)
		after[0].text = strings.TrimLeft(after[0].text, "*")
		after[0].gap = false
		for j := range after[1:] {
			if t := strings.TrimLeft(after[j+1].text, "*"); t != "" {
				after[j+1].text, after[j+1].fold = t, foldWord(t)
			}
		}
		if after[0].fold = foldWord(after[0].text); after[0].text == "" {
			if after = after[1:]; len(after) == 0 {
				break
			}
			after[0].gap = false
		}
		before := n.words[:i]
		if skip := n.leadWords(); skip < i {
			before = n.words[skip:i]
		}
		switch name := joined(before); {
		case name == "" || processors.set[name] && letters(after) && (kindOf(after[0].text) == plain ||
			kindOf(after[0].text) == domain):
			n.words, n.card = after, true
		case stars[name+" "+after[0].fold]:
			n.words = append(append([]word{}, before...), after[0])
		case kindOf(after[0].text) != plain || wares[after[0].fold] || brands[name] && len(after) > 1:
			n.words = before
		default:
			n.words = append(append([]word{}, before...), after...)
		}
		return
	}
	if i := starts(n.words, processors); i > 0 && i < len(n.words) && n.words[0].fold != "paypal" &&
		bare[joined(n.words[:i])] && kindOf(n.words[i].text) == plain {
		n.words, n.card = n.words[i:], true
	}
}

// leadWords returns how many words at the beginning describe the kind of payment and not the payee.
func (n *namer) leadWords() int {
	at, joins := 0, false // joins: one connector may follow
	for at < len(n.words) && starts(n.words[at:], numbered) == 0 {
		rest := n.words[at:]
		kind := kindOf(rest[0].text)
		switch k := starts(rest, leads); {
		case k > 0:
			at, joins = at+k, true
		case at > 0 && rest[0].fold == "":
			at++
		case joins && starts(rest, connectors) > 0:
			at, joins = at+starts(rest, connectors), false
		case (kind == noise || kind == small && at > 0) && (at > 0 || longNumber(rest[0].text)):
			at, joins = at+1, at > 0
		case at > 0 && len(rest) > 1 && labels[rest[0].fold] && kindOf(rest[1].text) == noise:
			at += 2
		default:
			return at
		}
	}
	return at
}

// lead removes the words at the beginning that describe the kind of payment. It reports whether the
// wording is about cash from a machine, which has no other payee.
func (n *namer) lead() bool {
	if k := starts(n.words, cash); k > 0 {
		n.words = n.words[:k]
		return true
	}
	k := n.leadWords()
	if k == 0 {
		return false
	}
	if c := starts(n.words[k:], cash); c > 0 {
		n.words = n.words[k : k+c]
		return true
	}
	if rest := n.words[k:]; letters(rest) && !onlyTier(rest) {
		n.words, n.card = rest, true
	}
	return false
}

// onlyTier reports whether words are only the kind of a card: "Visa Gold 4421" names no payee but
// the card, and "Gold" would not say so.
func onlyTier(words []word) bool { return tiers[words[0].fold] && !letters(words[1:]) }

// cut ends the name before anything that is never part of a name: a column, a reference, the number
// of a shop, a legal form.
func (n *namer) cut() {
	kept := n.words[:0:0]
	if k := starts(n.words, numbered); k > 0 { // "Motel 6"
		n.words = n.words[:k]
		return
	}
	for i, w := range n.words {
		named := letters(kept)
		if named && n.ends(i, w) {
			break
		}
		switch kindOf(w.text) {
		case plain:
			kept = append(kept, w)
		case small: // "Les 3 Brasseurs"
			if i == 0 || i+1 < len(n.words) && kindOf(n.words[i+1].text) == plain && !n.words[i+1].gap || !named {
				kept = append(kept, w)
			}
		case domain:
			if !named {
				w.text = host(w.text)
				w.fold = foldWord(w.text)
				kept = append(kept, w)
			}
			n.words = kept
			return
		case glued: // "WOOLWORTHS1234"
			w.text = unglued(w.text)
			w.fold = foldWord(w.text)
			kept = append(kept, w)
			n.words = kept
			return
		case noise:
			if named { // a town follows the number of a shop
				n.words = kept
				return
			}
		}
	}
	n.words = kept
}

// ends reports whether the name ends before the ith word.
func (n *namer) ends(i int, w word) bool {
	rest := n.words[i:]
	switch {
	case w.gap, cuts[w.fold], starts(rest, legal) > 0, strings.HasPrefix(w.text, "("),
		strings.ContainsRune(w.text, '+') && cuts[w.fold[:max(0, strings.IndexByte(w.fold, '+'))]]:
		return true
	case len(rest) > 1 && labels[w.fold] && kindOf(rest[1].text) != plain:
		return true
	}
	return starts(rest, thanks) > 0
}

// trail removes the country, the state and the town at the end.
func (n *namer) trail() {
	placed := false
	for again := true; again; {
		again = false
		n.words = trimmed(n.words)
		last := len(n.words) - 1
		if last < 1 {
			return
		}
		w := n.words[last]
		switch {
		case !placed && (states[w.fold] || countries[w.fold]) && upper(w.text) && n.placed(last):
			n.words = n.words[:last]
			if k := n.town(); k > 0 {
				n.words = n.words[:len(n.words)-k]
			} else if len(n.words) > 1 && states[w.fold] {
				n.words = n.words[:len(n.words)-1]
			}
			again, placed = true, true
		case last == 1 && cards[n.words[0].fold] && payments[w.fold]: // "Card payment" names no payee
			return
		case last == 1 && w.fold == "company" && len(n.words[0].fold) <= 3: // "Bio" alone would be no name
			return
		case endings[w.fold] && n.words[last-1].fold != "&" && n.words[last-1].fold != "and":
			n.words, again = n.words[:last], true
		case !placed && n.card && !civic[n.words[0].fold] && !joining[n.words[last-1].fold]:
			if k := n.town(); k > 0 {
				n.words, again, placed = n.words[:len(n.words)-k], true, true
			}
		}
	}
}

// placed reports whether a code at the end stands for a place. For example, not every OR is Oregon.
func (n *namer) placed(last int) bool {
	m := namer{words: n.words[:last]}
	if m.town() > 0 {
		return true
	}
	for _, w := range n.words {
		if !upper(w.text) {
			return n.card && countries[n.words[last].fold] && !doubtful[n.words[last].fold]
		}
	}
	return !doubtful[n.words[last].fold] && (n.card || states[n.words[last].fold] && last > 1)
}

// town returns how many words at the end are a town. At least one word must remain before them.
func (n *namer) town() int {
	for k := min(3, len(n.words)-1); k > 0; k-- {
		if towns[joined(n.words[len(n.words)-k:])] {
			return k
		}
	}
	return 0
}

// tails removes words that are written twice, and replaces a shop's aliases by its usual name.
func (n *namer) tails() {
	n.words = trimmed(n.words)
	if half := len(n.words) / 2; half > 0 && len(n.words)%2 == 0 &&
		joined(n.words[:half]) == joined(n.words[half:]) {
		n.words = n.words[:half]
	}
	if len(n.words) > 2 && n.words[0].fold == n.words[1].fold {
		n.words = n.words[1:]
	}
	for k := min(3, len(n.words)); k > 0; k-- {
		name, known := aliases[joined(n.words[:k])]
		if !known || strings.Count(joined(n.all), "")-1 < len(name) {
			continue
		}
		var out []word
		for part := range strings.FieldsSeq(name) {
			out = append(out, word{text: part, fold: foldWord(part)})
		}
		n.words = out
		return
	}
}

// trimmed removes words that are only punctuation, and punctuation at the ends of the name.
func trimmed(words []word) []word {
	const marks = ".,:;-–—*/_'\"()[]{}<>&+=!?#@|~^`´’"
	for len(words) > 0 && strings.Trim(words[0].text, marks) == "" {
		words = words[1:]
	}
	for len(words) > 0 && strings.Trim(words[len(words)-1].text, marks) == "" {
		words = words[:len(words)-1]
	}
	if len(words) == 0 {
		return words
	}
	out := append([]word{}, words...)
	first, last := &out[0], &out[len(out)-1]
	first.text = strings.TrimLeft(first.text, ".,:;-–—*/_\"()]{}<>=#|")
	if t := strings.TrimRight(last.text, ".,:;-–—*/_\"([{}<>=#|&"); t != "" {
		last.text = t
	}
	if strings.HasSuffix(last.text, ")") && !strings.Contains(last.text, "(") {
		last.text = strings.TrimRight(last.text, ")")
	}
	first.fold, last.fold = foldWord(first.text), foldWord(last.text)
	if first.text == "" {
		return trimmed(out[1:])
	}
	if last.text == "" {
		return trimmed(out[:len(out)-1])
	}
	return out
}
