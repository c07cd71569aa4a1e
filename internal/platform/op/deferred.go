package op

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"unicode/utf8"

	"coffer/internal/platform/errs"
)

// A Deferred is a part of an input that its use case reads itself, so that one bad part among many
// need not fail the call. It is documented as T.
type Deferred[T any] struct{ raw json.RawMessage }

// UnmarshalJSON implements json.Unmarshaler.
func (l *Deferred[T]) UnmarshalJSON(b []byte) error {
	l.raw = bytes.Clone(b)
	return nil
}

// MarshalJSON implements json.Marshaler.
func (l Deferred[T]) MarshalJSON() ([]byte, error) {
	if l.raw == nil {
		return []byte("null"), nil
	}
	return l.raw, nil
}

// Line returns the text of a field of a part that can't be read, so that an error can identify the
// part. It returns "" if the text is not a valid name.
func (l Deferred[T]) Line(field string) string {
	var given map[string]any
	if json.Unmarshal(l.raw, &given) != nil {
		return ""
	}
	t, _ := given[field].(string)
	if !IsLine(t) || utf8.RuneCountInString(t) > 200 {
		return ""
	}
	return t
}

// Read validates the part against T's schema, with defaults filled in, and returns it or all its
// faults. Paths start at the part itself.
func (l Deferred[T]) Read() (T, error) {
	var out T
	v, err := parse(l.raw)
	if err != nil {
		return out, fmt.Errorf("op: read a part: %w", err) // parse has already accepted it
	}
	s := SchemaOf[T]()
	given, ok := v.(map[string]any)
	if !ok {
		return out, errs.Field("", "type", "must be an object")
	}
	args := s.filled(given)
	var faults []errs.Detail
	s.validate(args, "", &faults)
	if err := errs.Faults(faults); err != nil {
		return out, err
	}
	b, err := json.Marshal(args)
	if err != nil {
		return out, fmt.Errorf("op: print a part: %w", err)
	}
	err = json.Unmarshal(b, &out)
	return out, err
}

func (Deferred[T]) loose() reflect.Type { return reflect.TypeFor[T]() }

type looser interface{ loose() reflect.Type }

// filled returns the given values, with the schema's defaults for missing ones.
func (s *Schema) filled(given map[string]any) map[string]any {
	args := make(map[string]any, len(given)+2)
	for _, p := range s.Props {
		if p.Default != nil {
			args[p.Name] = p.Default
		}
	}
	maps.Copy(args, given)
	return args
}
