package payeename

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var entities = strings.NewReplacer("&amp;", "&", "&AMP;", "&", "&apos;", "'", "&#39;", "'", "&quot;", `"`, "&nbsp;", " ")

// tidy returns a wording as normal text, with proper letters and single spaces. Several spaces are
// the gap between two columns of the bank's text and become a tab.
func tidy(s string) string {
	if s = strings.ToValidUTF8(s, "\uFFFD"); utf8.RuneCountInString(s) > longest {
		s = string([]rune(s)[:longest])
	}
	if strings.IndexByte(s, '&') >= 0 {
		s = entities.Replace(s)
	}
	s = mended(s)
	s = norm.NFC.String(s)
	if strings.ContainsAny(s, "[]{}~") {
		s = national(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	spaces, column := 0, false
	for _, r := range s {
		switch {
		case r == '\t' || r == '\n':
			spaces, column = spaces+1, true
		case unicode.IsSpace(r):
			spaces++
		case unicode.Is(unicode.Cf, r) || unicode.IsControl(r):
		default:
			if spaces > 0 && b.Len() > 0 {
				if column || spaces > 1 {
					b.WriteByte('\t')
				} else {
					b.WriteByte(' ')
				}
			}
			spaces, column = 0, false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// windows maps characters that Windows-1252 has between 0x80 and 0x9F to their bytes.
var windows = map[rune]byte{
	'€': 0x80, '‚': 0x82, 'ƒ': 0x83, '„': 0x84, '…': 0x85, '†': 0x86, '‡': 0x87, 'ˆ': 0x88, '‰': 0x89, 'Š': 0x8A,
	'‹': 0x8B, 'Œ': 0x8C, 'Ž': 0x8E, '‘': 0x91, '’': 0x92, '“': 0x93, '”': 0x94, '•': 0x95, '–': 0x96, '—': 0x97,
	'˜': 0x98, '™': 0x99, 'š': 0x9A, '›': 0x9B, 'œ': 0x9C, 'ž': 0x9E, 'Ÿ': 0x9F,
}

// mended repairs a text that was read in the wrong encoding: "MÃ¼ller" is Müller.
func mended(s string) string {
	if !strings.ContainsAny(s, "ÃÂÅÄÆâ") {
		return s
	}
	b := make([]byte, 0, len(s))
	for _, r := range s {
		switch w, known := windows[r]; {
		case known:
			b = append(b, w)
		case r < 0x100:
			b = append(b, byte(r))
		default:
			return s
		}
	}
	if !utf8.Valid(b) {
		return s
	}
	return string(b)
}

// national repairs a text in the German seven-bit alphabet: "M}ller" is Müller.
func national(s string) string {
	rs := []rune(s)
	square := strings.ContainsRune(s, '[') && strings.ContainsRune(s, ']')
	for i := 1; i+1 < len(rs); i++ {
		if !unicode.IsLetter(rs[i-1]) || !unicode.IsLetter(rs[i+1]) {
			continue
		}
		switch r := rs[i]; {
		case r == '[' && !square:
			rs[i] = 'Ä'
		case r == ']' && !square:
			rs[i] = 'Ü'
		case r == '{':
			rs[i] = 'ä'
		case r == '}':
			rs[i] = 'ü'
		case r == '~':
			rs[i] = 'ß'
		}
	}
	return string(rs)
}

// bases maps letters with accents to those without, for the languages of the tables.
var bases = map[rune]rune{
	'á': 'a', 'à': 'a', 'â': 'a', 'ä': 'a', 'ã': 'a', 'å': 'a', 'ą': 'a', 'ç': 'c', 'ć': 'c', 'č': 'c', 'é': 'e',
	'è': 'e', 'ê': 'e', 'ë': 'e', 'ę': 'e', 'í': 'i', 'ì': 'i', 'î': 'i', 'ï': 'i', 'ł': 'l', 'ñ': 'n', 'ń': 'n',
	'ó': 'o', 'ò': 'o', 'ô': 'o', 'ö': 'o', 'õ': 'o', 'ø': 'o', 'ś': 's', 'š': 's', 'ß': 's', 'ú': 'u', 'ù': 'u',
	'û': 'u', 'ü': 'u', 'ý': 'y', 'ź': 'z', 'ż': 'z', 'ž': 'z', '’': '\'', '´': '\'', '`': '\'', '–': '-',
}

// plainFold returns a text in lower case without accents.
func plainFold(s string) string {
	simple := true
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			simple = false
			break
		}
	}
	if simple {
		return s
	}
	var room [64]byte
	b := room[:0]
	for _, r := range s {
		if r < utf8.RuneSelf {
			if 'A' <= r && r <= 'Z' {
				r += 'a' - 'A'
			}
			b = append(b, byte(r))
			continue
		}
		r = unicode.ToLower(r)
		if base, ok := bases[r]; ok {
			r = base
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b)
}

// foldWord returns a word in the form in which the tables have it.
func foldWord(s string) string {
	if s == "&" {
		return s
	}
	return strings.Trim(plainFold(s), ".,:;-*#_()\"")
}
