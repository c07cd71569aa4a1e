package rule

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A value is JSON as it was written: members in order, doubled ones too, and numbers as their
// digits.
type value struct {
	kind    byte   // n null, t true, f false, 0 number, " string, [ array, { object
	text    string // of a string, the digits of a number
	items   []value
	members []member
}

type member struct {
	key string
	value
}

// readJSON reads any bytes. What the standard library found to be JSON needs no second check, and
// its limit on nesting bounds the recursion.
func readJSON(raw []byte) (value, bool) {
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return value{}, false
	}
	r := reader{raw}
	return r.value(), true
}

// A reader takes JSON that is known to be sound off the front of its rest.
type reader struct{ rest []byte }

func (r *reader) value() value {
	r.skip(" \t\r\n")
	switch c := r.rest[0]; c {
	case '{', '[':
		r.rest = r.rest[1:]
		return r.container(c)
	case '"':
		return value{kind: c, text: r.text()}
	case 'n', 't', 'f':
		r.skip("nulltruefase")
		return value{kind: c}
	}
	end := 1
	for end < len(r.rest) && strings.IndexByte("0123456789+-.eE", r.rest[end]) >= 0 {
		end++
	}
	digits := string(r.rest[:end])
	r.rest = r.rest[end:]
	return value{kind: '0', text: digits}
}

func (r *reader) container(kind byte) value {
	v := value{kind: kind}
	for {
		r.skip(" \t\r\n,")
		switch {
		case r.rest[0] == '}' || r.rest[0] == ']':
			r.rest = r.rest[1:]
			return v
		case kind == '{':
			key := r.text()
			r.skip(" \t\r\n:")
			v.members = append(v.members, member{key, r.value()})
		default:
			v.items = append(v.items, r.value())
		}
	}
}

// text takes a string; the standard library unescapes those that need it.
func (r *reader) text() string {
	end, escaped := 1, false
	for ; r.rest[end] != '"'; end++ {
		if r.rest[end] == '\\' {
			end, escaped = end+1, true
		}
	}
	quoted := r.rest[:end+1]
	r.rest = r.rest[end+1:]
	if !escaped {
		return string(quoted[1:end])
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		panic(err) // it was sound a moment ago
	}
	return s
}

func (r *reader) skip(bytes string) {
	for len(r.rest) > 0 && strings.IndexByte(bytes, r.rest[0]) >= 0 {
		r.rest = r.rest[1:]
	}
}

// printable is a stranger's key as far as a path may show it.
func printable(key string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '?'
	}, key[:min(len(key), 40)])
	return clean
}

// appendText appends s as a JSON string, with no more escapes than JSON asks for.
func appendText(b []byte, s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string can always be written
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
