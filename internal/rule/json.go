package rule

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// A value is JSON as it was written: members in order, doubled ones too, and numbers as their digits.
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

// readJSON reads any bytes. The standard library's limit on nesting bounds the recursion.
func readJSON(raw []byte) (value, bool) {
	if !utf8.Valid(raw) || !json.Valid(raw) {
		return value{}, false
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := readValue(d)
	return v, err == nil
}

func readValue(d *json.Decoder) (value, error) {
	token, err := d.Token()
	if err != nil {
		return value{}, err
	}
	switch t := token.(type) {
	case bool:
		if t {
			return value{kind: 't'}, nil
		}
		return value{kind: 'f'}, nil
	case json.Number:
		return value{kind: '0', text: t.String()}, nil
	case string:
		return value{kind: '"', text: t}, nil
	case json.Delim:
		return readContainer(d, byte(t))
	}
	return value{kind: 'n'}, nil
}

func readContainer(d *json.Decoder, kind byte) (value, error) {
	v := value{kind: kind}
	for d.More() {
		var key string
		if kind == '{' {
			token, err := d.Token()
			if err != nil {
				return v, err
			}
			key, _ = token.(string)
		}
		item, err := readValue(d)
		if err != nil {
			return v, err
		}
		if kind == '{' {
			v.members = append(v.members, member{key, item})
		} else {
			v.items = append(v.items, item)
		}
	}
	_, err := d.Token()
	return v, err
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
