package engine

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A value is JSON as it was written: members in order, including duplicates, and numbers as digits.
type value struct {
	kind    byte   // n null, t true, f false, 0 number, " string, [ array, { object
	text    string // of a string; the digits of a number
	items   []value
	members []member
}

type member struct {
	key string
	value
}

// readJSON parses JSON. The standard library checks the syntax, so this package does not check it
// again. The library's limit on nesting also bounds the recursion here.
func readJSON(raw []byte) (value, bool) {
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return value{}, false
	}
	r := reader{raw}
	return r.value(), true
}

// A reader consumes valid JSON from the front of its rest.
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

// text reads a string. The standard library unescapes strings that need it.
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
		panic(err) // it was valid before
	}
	return s
}

func (r *reader) skip(bytes string) {
	for len(r.rest) > 0 && strings.IndexByte(bytes, r.rest[0]) >= 0 {
		r.rest = r.rest[1:]
	}
}

// printable returns the part of an unknown key that a path may show.
func printable(key string) string {
	clean := strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '?'
	}, key[:min(len(key), 40)])
	return clean
}

// appendText appends s as a JSON string, with only the escapes that JSON requires.
func appendText(b []byte, s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string can always be encoded
	}
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
