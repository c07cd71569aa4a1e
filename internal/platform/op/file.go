package op

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
)

// A File is an input field that takes a file unchanged, in any encoding. Files are large, so a call
// passes the received bytes from the request to the use case without copying them into text or
// JSON.
type File []byte

// UnmarshalJSON reads a file that came as a JSON string.
func (f *File) UnmarshalJSON(b []byte) error {
	var s string
	err := json.Unmarshal(b, &s)
	*f = File(s)
	return err
}

// MarshalJSON prints a file as a JSON string.
func (f File) MarshalJSON() ([]byte, error) { return json.Marshal(string(f)) }

// An input holds a call's arguments in the form that the use case takes: the canonical JSON and,
// separately, the raw body, which the JSON represents by a digest.
type input struct {
	json []byte
	body any // File, string, or nil for an op without a raw body
}

// lift removes the raw body from the arguments and leaves its digest in its place.
func (o *Op) lift(args map[string]any) any {
	body, ok := args[o.bodyField]
	if o.bodyField == "" || !ok {
		return nil
	}
	sum := sha256.New()
	switch b := body.(type) {
	case File:
		_, _ = sum.Write(b) // a hash never fails
	case string:
		_, _ = io.Copy(onlyWriter{sum}, strings.NewReader(b)) // in chunks, because a conversion to bytes would copy it
	default:
		return nil
	}
	args[o.bodyField] = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	return body
}

// An onlyWriter hides a writer's other methods, so that io.Copy copies in pieces.
type onlyWriter struct{ io.Writer }

// read fills the input struct that in points at.
func (o *Op) read(args input, in any) error {
	if err := json.Unmarshal(args.json, in); err != nil {
		return err
	}
	if args.body == nil {
		return nil
	}
	field := fieldOf(reflect.ValueOf(in).Elem(), o.bodyField)
	body := reflect.ValueOf(args.body)
	if !field.IsValid() || !body.CanConvert(field.Type()) {
		return errors.New("the field of the raw body takes no text")
	}
	field.Set(body.Convert(field.Type()))
	return nil
}

// fieldOf returns the field of a struct that has that name in JSON.
func fieldOf(v reflect.Value, name string) reflect.Value {
	for f, fv := range v.Fields() {
		if named, _, _ := strings.Cut(f.Tag.Get("json"), ","); named == name {
			return fv
		}
	}
	return reflect.Value{}
}

// longText is the number of bytes from which a JSON string is treated as a file.
const longText = 64 << 10

// ParseFileObject is ParseObject for a body that may contain a file as a string. A long string
// becomes a File within raw, which must not be used afterwards.
func ParseFileObject(raw []byte) (map[string]any, error) {
	mark := id.Base62(22) + ":" // cannot be guessed
	var files []File
	short := make([]byte, 0, min(len(raw), longText))
	for i := 0; i < len(raw); {
		if raw[i] != '"' {
			short = append(short, raw[i])
			i++
			continue
		}
		end := endOfText(raw, i+1)
		if end-i <= longText || end == len(raw) {
			short = append(short, raw[i:min(end+1, len(raw))]...)
			i = end + 1
			continue
		}
		file, ok := unquote(raw[i+1 : end])
		if !ok {
			return nil, errs.New(errs.InvalidBody,
				"the body is not valid JSON: a long string is not valid UTF-8 or has a bad escape; a file can also "+
					"be sent unencoded, as text/csv")
		}
		short = append(short, '"')
		short = append(append(short, mark...), byte('0'+len(files)%10))
		short = append(short, '"')
		files = append(files, file)
		if i = end + 1; len(files) > 10 {
			return nil, errs.New(errs.InvalidBody, "the body has too many long strings; send one file")
		}
	}
	args, err := ParseObject(short)
	for name, v := range args {
		args[name] = restore(v, mark, files)
	}
	return args, err
}

// restore puts the long strings back: as a File in the file's field, as text anywhere else.
func restore(v any, mark string, files []File) any {
	switch v := v.(type) {
	case string:
		if n, ok := strings.CutPrefix(v, mark); ok {
			return files[n[0]-'0']
		}
	case []any:
		for i := range v {
			v[i] = plain(restore(v[i], mark, files))
		}
	case map[string]any:
		for name := range v {
			v[name] = plain(restore(v[name], mark, files))
		}
	}
	return v
}

func plain(v any) any {
	if f, ok := v.(File); ok {
		return string(f)
	}
	return v
}

// endOfText returns the position of the quote that ends the string in b from i on, or len(b).
func endOfText(b []byte, i int) int {
	for ; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return min(i, len(b))
}

// unquote decodes the inside of a JSON string in place: a decoded escape is never longer than the
// escape.
func unquote(b []byte) (File, bool) {
	if !utf8.Valid(b) {
		return nil, false
	}
	n := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c < ' ':
			return nil, false
		case c != '\\':
			b[n] = c
			n, i = n+1, i+1
		default:
			r, size := escape(b[i:])
			if size == 0 {
				return nil, false
			}
			n += utf8.EncodeRune(b[n:], r)
			i += size
		}
	}
	return File(b[:n]), true
}

// escape decodes the escape that b begins with and returns its length; 0 means that it is not an
// escape.
func escape(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return 0, 0
	}
	if at := strings.IndexByte(`"\/bfnrt`, b[1]); at >= 0 {
		return rune("\"\\/\b\f\n\r\t"[at]), 2
	}
	r, ok := hexRune(b)
	if !ok {
		return 0, 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hexRune(b[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12
			}
		}
		return utf8.RuneError, 6
	}
	return r, 6
}

// hexRune reads \uXXXX.
func hexRune(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var two [2]byte
	if _, err := hex.Decode(two[:], b[2:6]); err != nil {
		return 0, false
	}
	return rune(two[0])<<8 | rune(two[1]), true
}
