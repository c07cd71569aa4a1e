package op

import (
	"crypto/sha256"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"coffer/internal/platform/id"
)

// encode prints an answer. With short set, for tools, it prints every id in its short form and
// omits short_id, which would repeat it.
func encode(v any, short bool) ([]byte, error) {
	if short {
		return Short(v)
	}
	if fast, ok := v.(interface{ AppendJSON(b []byte) []byte }); ok {
		return fast.AppendJSON(nil), nil // json.Marshal would read the whole answer again to check that it is JSON
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode response: %w", err)
	}
	return b, nil
}

// A shortPrinter prints itself with short ids. A type needs it if its JSON is not made from its
// fields, or if its ids are not of type id.ID.
type shortPrinter interface{ ShortJSON() ([]byte, error) }

// Short is json.Marshal with short ids, and without the fields short_id that would repeat them,
// because agents pay for every character. Values of interface type are printed as they are.
func Short(v any) ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	root := reflect.New(reflect.TypeOf(v)).Elem() // an addressable value has all its methods
	root.Set(reflect.ValueOf(v))
	b, err := appendShort(nil, root)
	if err != nil {
		return nil, fmt.Errorf("encode response: %w", err)
	}
	return b, nil
}

var (
	rawType  = reflect.TypeFor[json.RawMessage]()
	idType   = reflect.TypeFor[id.ID]()
	jsonType = reflect.TypeFor[json.Marshaler]()
	textType = reflect.TypeFor[encoding.TextMarshaler]()
)

// appendShort appends the JSON of a value.
func appendShort(b []byte, v reflect.Value) ([]byte, error) {
	t := v.Type()
	if t.Kind() != reflect.Interface && t.Kind() != reflect.Pointer {
		if p, ok := reflect.TypeAssert[shortPrinter](v); ok {
			printed, err := p.ShortJSON()
			return append(b, printed...), err
		}
	}
	switch {
	case t == idType:
		u, _ := reflect.TypeAssert[id.ID](v)
		return append(append(append(b, '"'), u.Short()...), '"'), nil
	case t == rawType:
		printed, err := json.Marshal(v.Interface())
		return append(b, shortenRaw(printed)...), err
	case t.Kind() == reflect.Pointer && !v.IsNil():
		return appendShort(b, v.Elem())
	case t.Implements(jsonType) || t.Implements(textType):
	case t.Kind() == reflect.Struct:
		b, err := appendFields(append(b, '{'), v)
		return append(b, '}'), err
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8 && !v.IsNil():
		return appendElements(b, v)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String && !v.IsNil():
		return appendMap(b, v)
	}
	printed, err := json.Marshal(v.Interface())
	return append(b, printed...), err
}

// appendFields appends the fields of a struct, and those of structs embedded in it.
func appendFields(b []byte, v reflect.Value) (_ []byte, err error) {
	for f, value := range v.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "" && reflect.Indirect(value).Kind() == reflect.Struct:
			if b, err = appendFields(b, reflect.Indirect(value)); err != nil {
				return nil, err
			}
			continue
		case f.Anonymous && name == "" && value.Kind() == reflect.Pointer: // nil
			continue
		case !f.IsExported(), name == "-" && options == "":
			continue
		case name == "short_id" && options == "omitempty":
			continue
		case strings.Contains(options, "omitempty") && isEmpty(value),
			strings.Contains(options, "omitzero") && value.IsZero():
			continue
		case name == "":
			name = f.Name
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), name...), '"', ':')
		if b, err = appendShort(b, value); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// isEmpty reports whether encoding/json considers the value empty.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}

func appendElements(b []byte, v reflect.Value) (_ []byte, err error) {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendShort(b, v.Index(i)); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, v reflect.Value) (_ []byte, err error) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := json.Marshal(k.String())
		if err != nil {
			return nil, err
		}
		if b, err = appendShort(append(append(b, name...), ':'), v.MapIndex(k)); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

var (
	// rawID finds record ids in JSON that is already printed. Quotes in strings are escaped, so
	// text cannot look like an id. The before and after of changes are ids or slugs, and a slug
	// never looks like an id.
	rawID = regexp.MustCompile(`("(?:(?:[a-z_]+_)?id|before|after)": ?")([0-9a-f-]{36})"`)
	// rawIDs finds lists of ids, and bareID finds each id in such a list.
	rawIDs = regexp.MustCompile(`"(?:[a-z_]+_)?ids": ?\[[" ,0-9a-f-]*\]`)
	bareID = regexp.MustCompile(`"[0-9a-f-]{36}"`)
)

// shortenRaw shortens the ids in printed JSON, such as a job's result, as appendShort does for
// values.
func shortenRaw(raw []byte) []byte {
	short := func(found []byte) []byte {
		m := rawID.FindSubmatch(found)
		u, err := id.Parse(string(m[2]))
		if err != nil {
			return found
		}
		return append(append(slices.Clone(m[1]), u.Short()...), '"')
	}
	listed := func(list []byte) []byte {
		return bareID.ReplaceAllFunc(list, func(found []byte) []byte {
			u, err := id.Parse(string(found[1 : len(found)-1]))
			if err != nil {
				return found
			}
			return []byte(`"` + u.Short() + `"`)
		})
	}
	return rawIDs.ReplaceAllFunc(rawID.ReplaceAllFunc(raw, short), listed)
}

// etag returns a tag that identifies this version of a record: it changes if and only if the answer
// changes.
func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}
