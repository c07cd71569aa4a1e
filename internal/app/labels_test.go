package app_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
)

// labels numbers ids in the order in which they appear, so that a story reads the same on every
// database.
type labels struct {
	shorts, full []string
	cursor       string // the last cursor; a step refers to it as $cursor
}

// aboutRule matches the summary of a change to one rule. A rule has no slug, so the summary
// contains its id.
var aboutRule = regexp.MustCompile(`^(.* rule )([0-9A-Za-z]{8})$`)

var timestamp = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`)

// nobody is an id that no record has. Stories send it.
const nobody = "gone0000"

func (l *labels) number(short, full string) int {
	i := slices.Index(l.shorts, short)
	if i < 0 {
		l.shorts, l.full = append(l.shorts, short), append(l.full, full)
		i = len(l.shorts) - 1
	}
	return i + 1
}

// meet numbers the ids of a shaped response in the order of the route's response. It does so before
// the tool's shorter result is read, which may leave some ids out.
func (l *labels) meet(t *testing.T, w *world, o *op.Op, st *step, run player) {
	t.Helper()
	if !o.Writes && o.IsShaped() && reflectsTool(o, "", run) {
		_, body := playFunction(t, w, o, l.args(t, st.args))
		l.normal(t, o, pick(t, body, st.pick))
	}
}

// args reads a step's arguments, with $N replaced by the Nth id.
func (l *labels) args(t *testing.T, text string) map[string]any {
	t.Helper()
	for i := len(l.full); i > 0; i-- {
		text = strings.ReplaceAll(text, fmt.Sprintf("$%d", i), l.full[i-1])
	}
	text = strings.ReplaceAll(text, "$cursor", l.cursor)
	args, err := op.ParseObject([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return args
}

func (l *labels) normal(t *testing.T, _ *op.Op, body string) string {
	t.Helper()
	v, ok := decode(body)
	if !ok {
		return body // text, or nothing
	}
	return pretty(l.walk("", v))
}

// decode reads JSON and keeps the spelling of its numbers.
func decode(body string) (any, bool) {
	var v any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	err := d.Decode(&v)
	return v, err == nil
}

func (l *labels) walk(key string, v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(mapKeys(v)) { // id comes before short_id
			if key == "ids" { // the values of this map are ids
				v[k] = l.walk("id", v[k])
				continue
			}
			v[k] = l.walk(k, v[k])
		}
	case []any:
		for i := range v {
			v[i] = l.walk(key, v[i])
		}
	case string:
		named := key == "id" || strings.HasSuffix(key, "_id") || strings.HasSuffix(key, "_ids") || key == "reverts" ||
			key == "reverted_by" || key == "accounts"
		if u, err := id.Parse(v); err == nil {
			return fmt.Sprintf("<id %d>", l.number(u.Short(), v))
		}
		switch m := aboutRule.FindStringSubmatch(v); {
		case key == "summary" && m != nil:
			return fmt.Sprintf("%s<short %d>", m[1], l.number(m[2], m[2]))
		case named && id.IsShort(v) && v != nobody:
			return fmt.Sprintf("<short %d>", l.number(v, v))
		case timestamp.MatchString(v):
			return "<time>"
		case key == "next_cursor" && v != "":
			l.cursor = v
			return "<cursor>"
		case key == "cause" && (v == "api" || v == "tool"):
			return "<api or tool>"
		case key == "see":
			return "<route or tool>"
		case key == "qr":
			return "<rows>"
		case key == "url" && strings.Contains(fmt.Sprint(v), "/join/"):
			return "<link>"
		case key == "key" || key == "key_prefix":
			return "<" + key + ">"
		}
	}
	return v
}

func mapKeys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func pretty(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(v)
	return b.String()
}
