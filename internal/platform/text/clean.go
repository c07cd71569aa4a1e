package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// visible yields the runes of s that may stay. It drops invalid UTF-8, whole terminal escape
// sequences, controls other than white space, and characters that a reader cannot see but a model
// or a terminal obeys. A variation selector stays only after a character that it can vary, because
// chains of selectors can smuggle whole messages.
func visible(s string) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		last := ' '
		for rest := s; rest != ""; {
			if n := escape(rest); n > 0 {
				rest = rest[n:]
				continue
			}
			r, size := utf8.DecodeRuneInString(rest)
			rest = rest[size:]
			if r == utf8.RuneError && size == 1 || hidden(r) {
				continue
			}
			if isSelector(r) && (unicode.IsSpace(last) || isSelector(last)) {
				continue
			}
			if !yield(r) {
				return
			}
			last = r
		}
	}
}

// hidden reports whether r is a control or default-ignorable in Unicode: bidi controls, zero-width
// characters, soft hyphens, fillers, tags. Prepended marks (U+0600 and its kin) are in the format
// class but visible.
func hidden(r rune) bool {
	switch {
	case ' ' <= r && r <= '~', unicode.IsSpace(r):
		return false
	case unicode.Is(unicode.Cf, r):
		return !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
	}
	return unicode.IsControl(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

func isSelector(r rune) bool { return r > '~' && unicode.Is(unicode.Variation_Selector, r) }

func isBreak(r rune) bool {
	switch r {
	case '\n', '\r', '\v', '\f', '\u0085', '\u2028', '\u2029':
		return true
	}
	return false
}

// escape returns the length of the terminal escape sequence (ECMA-48) that s begins with, or 0. An
// introducer is either ESC and a letter or one C1 character. An unterminated string sequence counts
// as its introducer only, so one stray byte cannot swallow a name.
func escape(s string) int {
	kind, n := introducer(s)
	switch kind {
	case '[':
		for n < len(s) && ' ' <= s[n] && s[n] <= '?' {
			n++
		}
		if n < len(s) && '@' <= s[n] && s[n] <= '~' {
			n++
		}
	case ']', 'P', 'X', '^', '_':
		end := strings.IndexFunc(s[n:], unicode.IsControl)
		if end < 0 {
			break
		}
		for _, terminator := range []string{"\a", "\x1b\\", "\u009c"} {
			if strings.HasPrefix(s[n+end:], terminator) {
				return n + end + len(terminator)
			}
		}
	case ' ':
		for n < len(s) && ' ' <= s[n] && s[n] <= '/' {
			n++
		}
		if n < len(s) && '0' <= s[n] && s[n] <= '~' {
			n++
		}
	}
	return n
}

// introducer returns the kind and the length of the introducer that s begins with. The kind is the
// letter after ESC, or ' ' for the short sequences.
func introducer(s string) (kind byte, n int) {
	if len(s) > 1 && s[0] == '\x1b' {
		if strings.IndexByte("[]PX^_", s[1]) >= 0 {
			return s[1], 2
		}
		return ' ', 1
	}
	if len(s) > 1 && s[0] == 0xc2 && strings.IndexByte("[]PX^_", s[1]-'@') >= 0 {
		return s[1] - '@', 2
	}
	return 0, 0
}

// A clip collects runes up to a limit and drops leading spaces. It takes one rune more than the
// limit. That rune shows whether cutting at the limit would split a character.
type clip struct {
	runes []rune
	limit int
}

func newClip(s string, limit int) clip {
	limit = max(limit, 0)
	return clip{make([]rune, 0, min(len(s), limit)+1), limit}
}

// last returns the last rune. An empty clip returns a space, because a space would not show at the
// start either.
func (c *clip) last() rune {
	if len(c.runes) == 0 {
		return ' '
	}
	return c.runes[len(c.runes)-1]
}

// add adds a rune, and reports whether the clip can take more.
func (c *clip) add(r rune) bool {
	if len(c.runes) == 0 && unicode.IsSpace(r) {
		return true
	}
	c.runes = append(c.runes, r)
	return len(c.runes) <= c.limit
}

// text cuts before a character that would lose its accents. If accents on one letter fill the whole
// limit, it cuts at the limit.
func (c *clip) text() Untrusted {
	if len(c.runes) > c.limit {
		end := c.limit
		for end > 0 && extends(c.runes[end]) {
			end--
		}
		if end == 0 {
			end = c.limit
		}
		c.runes = c.runes[:end]
	}
	return Untrusted(strings.TrimRightFunc(string(c.runes), unicode.IsSpace))
}

// extends reports whether r changes the look of the rune before it: accents, selectors, skin tones.
func extends(r rune) bool { return unicode.IsMark(r) || 0x1f3fb <= r && r <= 0x1f3ff }
