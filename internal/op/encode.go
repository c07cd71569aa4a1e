package op

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"coffer/internal/id"
)

// encode prints an answer. Lean is for tools: every id is its short form, and short_id, which would repeat it, is left out.
func encode(v any, lean bool) ([]byte, error) {
	if lean {
		p := reflect.New(reflect.TypeOf(v))
		p.Elem().Set(reflect.ValueOf(v))
		shorten(p.Elem())
		v = p.Elem().Interface()
	}
	if fast, ok := v.(interface{ AppendJSON(b []byte) []byte }); ok {
		return fast.AppendJSON(nil), nil // json.Marshal would read the whole answer once more to make sure that it is JSON
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode answer: %w", err)
	}
	return b, nil
}

var (
	idType  = reflect.TypeFor[id.ID]()
	rawType = reflect.TypeFor[json.RawMessage]()

	// rawID finds the ids of records in JSON that was printed before: a quote within a string is escaped, so that text cannot look like one.
	rawID = regexp.MustCompile(`("(?:[a-z_]+_)?id": ?")([0-9a-f-]{36})"`)
)

// shortenRaw does for printed JSON, such as the result of a job, what shorten does for values.
func shortenRaw(raw json.RawMessage) json.RawMessage {
	return rawID.ReplaceAllFunc(raw, func(found []byte) []byte {
		m := rawID.FindSubmatch(found)
		u, err := id.Parse(string(m[2]))
		if err != nil {
			return found
		}
		return append(append(slices.Clone(m[1]), u.Short()...), '"')
	})
}

// shorten marks every id in v as lean. Answers are made for one call, so changing them in place disturbs nobody.
func shorten(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() && v.Kind() == reflect.Pointer {
			shorten(v.Elem())
		}
	case reflect.Slice:
		if v.Type() == rawType {
			v.SetBytes(shortenRaw(v.Bytes()))
			return
		}
		for i := range v.Len() {
			shorten(v.Index(i))
		}
	case reflect.Struct:
		if v.Type() == idType {
			if u, ok := reflect.TypeAssert[id.ID](v); ok {
				v.Set(reflect.ValueOf(u.Lean()))
			}
			return
		}
		for f, fv := range v.Fields() {
			switch {
			case !f.IsExported():
			case strings.HasPrefix(f.Tag.Get("json"), "short_id,omitempty"):
				fv.SetZero()
			default:
				shorten(fv)
			}
		}
	}
}

// etag names this very state of a record: it changes with the answer, and with nothing else.
func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}
