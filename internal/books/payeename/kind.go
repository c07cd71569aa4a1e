package payeename

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The kinds of words.
const (
	plain  = iota
	noise  // a number, a date, a card, a code
	small  // a number of one or two digits, which may be part of a name
	domain // a web address
	glued  // a name directly followed by the number of a shop
)

// kindOf returns the kind of a word, judged by its characters.
func kindOf(s string) int {
	t := strings.Trim(s, ".,:;()[]#*/-_'\"")
	if t == "" {
		return plain
	}
	digits, alphas, runs, last := 0, 0, 0, 0
	lead, tail := 0, 0 // letters before the first digit, digits at the end
	marks := 0
	for _, r := range t {
		class := 0
		switch {
		case unicode.IsNumber(r):
			class = 1
			digits++
			tail++
		case unicode.IsLetter(r), unicode.IsMark(r):
			class = 2
			alphas++
			tail = 0
			if digits == 0 {
				lead++
			}
		default:
			marks++
			if r != '.' && r != '-' && r != '/' && r != '_' && r != '#' {
				tail = 0
			}
		}
		if class != last && class != 0 {
			runs++
			last = class
		}
	}
	switch {
	case digits == 0:
		if isDomain(t) {
			return domain
		}
		if alphas > 0 && alphas == strings.Count(strings.ToLower(t), "x") && alphas > 2 {
			return noise // a masked number
		}
		return plain
	case alphas == 0:
		if digits <= 2 && marks == 0 && t == s {
			return small
		}
		if digits <= 2 && strings.ContainsAny(t, "&+") { // 1&1
			return plain
		}
		return noise
	case known[strings.ToLower(t)]:
		return plain
	case isDomain(t):
		return domain
	case months[strings.ToLower(strings.Trim(t, "0123456789"))]: // 12MAR
		return noise
	case unglued(t) != t:
		return glued
	case runs == 2 && lead == 0 && digits <= 4 && alphas >= 4: // 7-Eleven, 1800Flowers
		return plain
	case digits == 1 && alphas >= 1 && (alphas >= 3 || len(t) <= 3): // O2, Phones4u
		return plain
	case runs == 2 && lead == 0 && digits <= 2 && alphas >= 3:
		return plain
	case digits == 2 && len(t) <= 3, digits == 2 && lead >= 3 && tail == 2: // N26, Check24
		return plain
	}
	return noise
}

// unglued returns a name without the number of a shop at its end, such as COOP for COOP-1234. A
// word without such a number is returned unchanged.
func unglued(s string) string {
	begin := strings.IndexFunc(s, unicode.IsLetter)
	if begin < 0 || strings.ContainsFunc(s[:begin], unicode.IsNumber) {
		return s
	}
	end := begin + strings.IndexFunc(s[begin:], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) })
	if end < begin {
		return s
	}
	name, rest := s[begin:end], s[end:]
	if strings.Trim(name, "xX") == "" { // a masked number
		return s
	}
	n, digits := utf8.RuneCountInString(name), 0
	for _, r := range rest {
		if unicode.IsNumber(r) {
			digits++
		}
	}
	separate := strings.ContainsRune("-/#_,:.", rune(rest[0]))
	switch {
	case separate && n >= 3 && digits >= 2,
		!separate && n >= 5 && digits >= 2 && allDigits(rest) && (upper(name) || name[1:] == strings.ToLower(name[1:])),
		!separate && n == 4 && digits >= 3 && allDigits(rest) && upper(name):
		return name
	}
	return s
}

func allDigits(s string) bool {
	return !strings.ContainsFunc(strings.Trim(s, ".,:;-"), func(r rune) bool { return !unicode.IsNumber(r) })
}

// longNumber reports whether a word at the very beginning has so many digits that it must come from
// the bank and not from the shop.
func longNumber(s string) bool {
	digits := 0
	for _, r := range s {
		if unicode.IsNumber(r) {
			digits++
		}
	}
	return digits >= 3
}

// isDomain reports whether a word is an address such as www.shop.de or shop.com/bill.
func isDomain(t string) bool {
	if !strings.Contains(t, ".") {
		return false
	}
	lower := strings.ToLower(t)
	lower = strings.TrimPrefix(strings.TrimPrefix(lower, "https://"), "http://")
	if strings.HasPrefix(lower, "www.") && len(lower) > 5 {
		return true
	}
	name, path, _ := strings.Cut(lower, "/")
	if path != "" && !strings.Contains(name, ".") {
		return false
	}
	dot := strings.LastIndexByte(name, '.')
	return dot > 1 && tops[name[dot+1:]]
}

// host returns the part of an address that is a name: shop of www.shop.co.uk/x.
func host(t string) string {
	s := t
	if at := strings.Index(s, "://"); at >= 0 {
		s = s[at+3:]
	}
	s, _, _ = strings.Cut(s, "/")
	if len(s) > 4 && strings.EqualFold(s[:4], "www.") {
		s = s[4:]
	}
	if domains[strings.ToLower(s)] {
		return s
	}
	for {
		dot := strings.LastIndexByte(s, '.')
		if dot < 2 || !tops[strings.ToLower(s[dot+1:])] && strings.ToLower(s[dot+1:]) != "co" {
			break
		}
		s = s[:dot]
	}
	if dot := strings.LastIndexByte(s, '.'); dot >= 0 && len(s)-dot > 3 {
		s = s[dot+1:]
	}
	if s == "" {
		return t
	}
	return s
}

// upper reports whether a word has no lower case.
func upper(s string) bool { return !strings.ContainsFunc(s, unicode.IsLower) }
