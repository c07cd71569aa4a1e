package op

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"coffer/internal/platform/errs"
)

const maxDepth = 32

// ParseObject reads the JSON object of a body or of a tool call. Numbers keep their notation. A
// repeated name is an error, and so is anything after the object.
func ParseObject(raw []byte) (map[string]any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return map[string]any{}, nil
	}
	v, err := parse(raw)
	if err != nil {
		return nil, errs.Wrap(err, errs.InvalidBody, "the body is not valid JSON: %s", Shown(err))
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, errs.New(errs.InvalidBody, "the body must be a JSON object, such as {\"name\": \"value\"}")
	}
	return m, nil
}

// ParseValue reads one JSON value as ParseObject reads an object.
func ParseValue(raw []byte) (any, error) { return parse(raw) }

// A shapeError is a fault of the text whose message repeats only field names.
type shapeError struct{ msg string }

func (e shapeError) Error() string { return e.msg }

// Shown returns a parser's error without the text that it parsed.
func Shown(err error) string {
	if s, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("the fault is at byte %d", s.Offset)
	}
	if s, ok := errors.AsType[shapeError](err); ok {
		return s.msg
	}
	return "it ends too early"
}

func parse(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	v, err := parseValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, shapeError{"there is more text after the first value"}
	}
	return v, nil
}

func parseValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, shapeError{fmt.Sprintf("it is nested deeper than %d levels", maxDepth)}
	}
	tok, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch tok {
	case json.Delim('{'):
		return parseMembers(d, depth)
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err = d.Token()
		return list, err
	}
	return tok, nil
}

func parseMembers(d *json.Decoder, depth int) (any, error) {
	m := map[string]any{}
	for d.More() {
		tok, err := d.Token()
		if err != nil {
			return nil, err
		}
		key, ok := tok.(string)
		if !ok {
			return nil, shapeError{"a name must be a string"}
		}
		if _, twice := m[key]; twice {
			return nil, shapeError{"a name appears twice in one object"}
		}
		if m[key], err = parseValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token()
	return m, err
}
