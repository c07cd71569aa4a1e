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

// encode prints an answer. Lean is for tools: it prints every id in its short form and leaves out
// short_id, which would repeat it.
func encode(v any, lean bool) ([]byte, error) {
	if lean {
		p := reflect.New(reflect.TypeOf(v))
		p.Elem().Set(reflect.ValueOf(v))
		shorten(p.Elem())
		v = p.Elem().Interface()
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

var (
	idType  = reflect.TypeFor[id.ID]()
	rawType = reflect.TypeFor[json.RawMessage]()

	// rawID finds record ids in JSON that is already printed. Quotes in strings are escaped, so
	// text cannot look like an id. The before and after of changes are slugs, which never look like
	// ids, or ids.
	rawID = regexp.MustCompile(`("(?:(?:[a-z_]+_)?id|before|after)": ?")([0-9a-f-]{36})"`)
	// rawIDs finds lists of them, and bareID each.
	rawIDs = regexp.MustCompile(`"(?:[a-z_]+_)?ids": ?\[[" ,0-9a-f-]*\]`)
	bareID = regexp.MustCompile(`"[0-9a-f-]{36}"`)
)

// shortenRaw does for printed JSON, such as a job's result, what shorten does for values.
func shortenRaw(raw json.RawMessage) json.RawMessage {
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

// A leaner contains ids that are not of type id.ID, and shortens them itself.
type leaner interface{ Lean() }

// shorten marks every id in v as lean. An answer is made for one call, so changing it in place
// affects nobody.
func shorten(v reflect.Value) {
	if v.CanAddr() {
		if l, ok := reflect.TypeAssert[leaner](v.Addr()); ok {
			l.Lean()
		}
	}
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
	case reflect.Map:
		for key, value := range v.Seq2() { // what is in a map cannot be changed in place
			lean := reflect.New(value.Type()).Elem()
			lean.Set(value)
			shorten(lean)
			v.SetMapIndex(key, lean)
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

// etag identifies this version of a record: it changes with the answer and with nothing else.
func etag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}
