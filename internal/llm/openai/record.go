package openai

import (
	"bytes"
	"encoding/json"
	"slices"
)

// A fields is a JSON object with unknown members that must be sent back unchanged.
type fields map[string]json.RawMessage

func (f fields) text(name string) string {
	var s string
	_ = json.Unmarshal(f[name], &s) // null and other types are not a text
	return s
}

// A record is an object that arrives in pieces: texts and lists grow, and any other value is
// replaced.
type record struct {
	texts map[string][]byte
	lists map[string][]json.RawMessage
	rest  fields
}

func newRecord() *record {
	return &record{map[string][]byte{}, map[string][]json.RawMessage{}, fields{}}
}

// merge adds a piece, without the members that the caller reads itself.
func (r *record) merge(piece fields, skip ...string) {
	for name, v := range piece {
		v = bytes.TrimSpace(v)
		if slices.Contains(skip, name) || len(v) == 0 || bytes.Equal(v, []byte("null")) {
			continue
		}
		switch v[0] {
		case '"':
			r.texts[name] = append(r.texts[name], piece.text(name)...)
		case '[':
			var list []json.RawMessage
			_ = json.Unmarshal(v, &list) // it is a list, as its first byte shows
			r.lists[name] = append(r.lists[name], list...)
		default:
			r.rest[name] = v
		}
	}
}

// once sets a text that later pieces may repeat.
func (r *record) once(piece fields, names ...string) {
	for _, name := range names {
		if s := piece.text(name); len(r.texts[name]) == 0 && s != "" {
			r.texts[name] = []byte(s)
		}
	}
}

func (r *record) text(name string) string { return string(r.texts[name]) }

func (r *record) set(name, value string) { r.texts[name] = []byte(value) }

// MarshalJSON prints the whole object.
func (r *record) MarshalJSON() ([]byte, error) {
	out := map[string]any{}
	for name, v := range r.rest {
		out[name] = v
	}
	for name, v := range r.lists {
		out[name] = v
	}
	for name, v := range r.texts {
		out[name] = string(v)
	}
	return json.Marshal(out)
}
