package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/text"
)

// A hostileText is a text that a stranger may write, with the shapes in which it must not appear
// outside a JSON value.
type hostileText struct {
	raw    string
	shapes []string
}

func hostileList(t *testing.T) []hostileText {
	t.Helper()
	var list []hostileText
	for _, raw := range hostileTexts(t) {
		h := hostileText{raw: raw}
		for _, s := range []string{
			raw, text.Line(raw, len(raw)).Plain(), text.Prose(raw, len(raw)).Plain(),
			url.QueryEscape(raw), url.PathEscape(raw),
		} {
			quoted, _ := json.Marshal(s)
			for _, shape := range []string{s, string(quoted[1 : len(quoted)-1])} {
				// A shorter shape may appear by chance.
				if utf8.RuneCountInString(shape) > 7 && !slices.Contains(h.shapes, shape) {
					h.shapes = append(h.shapes, shape)
				}
			}
		}
		list = append(list, h)
	}
	if len(list) < 200 {
		t.Fatalf("only %d hostile strings", len(list))
	}
	return list
}

func (h hostileText) in(s string) bool {
	return slices.ContainsFunc(h.shapes, func(shape string) bool { return strings.Contains(s, shape) })
}

// hostileDirty finds a character that cleaned text never contains. It repeats the rules of the
// design page, instead of using the code under test.
func hostileDirty(s string) (rune, bool) {
	for i, r := range s {
		switch {
		case r == '\n', r == '\t':
		case r < 0x20, 0x7f <= r && r <= 0x9f, r == 0x2028, r == 0x2029, 0x202a <= r && r <= 0x202e,
			0x2066 <= r && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c,
			0x200b <= r && r <= 0x200d, r == 0x2060, r == 0xfeff, r == 0xad, 0xe0000 <= r &&
				r <= 0xe007f, r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			return r, true
		}
	}
	return 0, false
}

var (
	hostileKey   = regexp.MustCompile(`^[a-z_]+$`)
	hostileID    = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)
	hostileField = regexp.MustCompile(`^[A-Za-z0-9_?-]{1,40}$`)
	// A summary consists of coffer's words, slugs, short ids, and the name of the payee in the
	// test.
	hostileSummary = regexp.MustCompile(`^(Reverted: )*[A-Z][a-z]+( [a-z0-9:_-]+,?| [A-Za-z0-9]{8}| of Shop,?)*$`)
	hostileHeader  = regexp.MustCompile(`^[\x20-\x7e]*$`)
)

func hostileUUID(word string) bool {
	_, err := id.Parse(word)
	return err == nil
}

// A hostileWatch checks that responses contain hostile text only as JSON values, and counts them.
type hostileWatch struct{ calls, kept, refused atomic.Int64 }

func (w *hostileWatch) check(t *testing.T, h hostileText, a formAnswer) {
	t.Helper()
	w.calls.Add(1)
	if a.status >= http.StatusInternalServerError {
		t.Errorf("%q: %d %.300s", h.raw, a.status, a.body)
	}
	for name, values := range a.header {
		if v := strings.Join(values, "\n"); !hostileHeader.MatchString(v) || name == "X-Request-Id" &&
			!hostileID.MatchString(v) || name != "X-Request-Id" && h.in(v) {
			t.Errorf("%q: the header %s is %q", h.raw, name, v)
		}
	}
	if a.fault.Code != "" || a.status >= http.StatusBadRequest {
		w.refused.Add(1)
		if a.fault.Message == "" || !slices.Contains(errs.Codes(), a.fault.Code) {
			t.Errorf("%q: no refusal of ours: %d %.300s", h.raw, a.status, a.body)
		}
		// Some texts are misspellings of a seeded name. The error suggests that name, which is not
		// a repetition of the text.
		if said := strings.ReplaceAll(fmt.Sprint(a.fault), "needs-review", ""); h.in(said) {
			t.Errorf("%q: the refusal repeats it: %s", h.raw, said)
		}
		return
	}
	w.kept.Add(1)
	if a.status != http.StatusNoContent && a.value == nil && a.block == "" {
		t.Errorf("%q: the answer is no JSON: %d %.300q", h.raw, a.status, a.body)
	}
	w.walk(t, h, "", a.value)
}

// walk checks every name and value in a response.
func (w *hostileWatch) walk(t *testing.T, h hostileText, key string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		for k, item := range v {
			if !hostileKey.MatchString(k) {
				t.Errorf("%q: a name in the answer is %q", h.raw, k)
			}
			w.walk(t, h, k, item)
		}
	case []any:
		for _, item := range v {
			w.walk(t, h, key, item)
		}
	case string:
		if r, dirty := hostileDirty(v); dirty {
			t.Errorf("%q: %s keeps %U: %q", h.raw, key, r, v)
		}
		long := 10_000
		if n := utf8.RuneCountInString(v); n > long || n > text.NameMax && strings.HasSuffix(key, "name") {
			t.Errorf("%q: %s has %d runes", h.raw, key, utf8.RuneCountInString(v))
		}
		if key == "message" && h.in(v) || key == "summary" &&
			(!hostileSummary.MatchString(v) || slices.ContainsFunc(strings.Fields(v), hostileUUID)) {
			t.Errorf("%q: %s is prose of ours and has it: %q", h.raw, key, v)
		}
	}
}

// hostilePages returns the texts that describe the service itself. No data may change them.
func (b *formBook) hostilePages(t *testing.T) string {
	t.Helper()
	pages := ""
	for _, path := range []string{"/docs", "/openapi.json", "/openapi.yaml"} {
		pages += b.serve(t, exchange{method: "GET", path: path}).body
	}
	for tool, err := range b.connect(t, b.key, "").Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		pages += fmt.Sprintf("%s %s %s %v %v\n", tool.Name, tool.Title, tool.Description, tool.InputSchema,
			tool.OutputSchema)
	}
	return pages
}

// hostileKeeps reports whether an accepted text at that place is stored and shown.
func hostileKeeps(p formPlace) bool {
	if p.leaf != "" || p.path[0] == "filter" {
		// There are dozens of conditions, and each gets its share of the strings. Filters are not
		// shown.
		return false
	}
	r, known, looks := p.ref()
	s := formOne(p.prop.Schema)
	return p.op.Writes && len(s.Enum) == 0 && s.Pattern == nil && !strings.HasPrefix(s.Format, "date") &&
		(r.registers || !looks || known && r.kind == "")
}

// call runs the op that a route and a tool both call.
func (b *formBook) call(t *testing.T, o *op.Op, args map[string]any) formAnswer {
	t.Helper()
	answer, err := b.Runner.Call(t.Context(), o, op.Call{Actor: op.Actor{
		Type: op.User, ID: b.account, Name: "me",
		Scope: op.Full,
	}, Surface: op.REST, Args: args, RequestID: "test"})
	a := formAnswer{reply: reply{status: answer.Status, body: string(answer.Body)}}
	_ = json.Unmarshal(answer.Body, &a.value)
	if e, ok := errors.AsType[*errs.Error](err); ok {
		a.fault, a.status = e.Face().Error, e.Code.Status()
	}
	return a
}

// TestHostileInputs puts hostile strings into every string field of every op. Where text is stored,
// it tries a fifth of the strings, so that each string is stored in dozens of places. Elsewhere it
// tries a twentieth. Some calls go by route or by tool, most directly to the op. The long run tries
// all strings everywhere, by route or tool.
func TestHostileInputs(t *testing.T) { //nolint:tparallel // the group waits for its parallel parts, so that their counts can be compared
	t.Parallel()
	b, list, watch := newFormBook(t, 400), hostileList(t), &hostileWatch{}
	pages := b.hostilePages(t)
	places, kept, long := 0, 0, os.Getenv("COFFER_TEST_LONG") != ""
	t.Run("places", func(t *testing.T) {
		for _, o := range b.ops {
			for _, p := range formPlaces(o) {
				places++
				n := places
				keeps, roads := hostileKeeps(p), slices.Collect(maps.Values(b.formSurfaces(o)))
				if keeps {
					kept++
				}
				if !long {
					roads = append(roads, slices.Repeat([]formRoad{b.call}, 8)...)
				}
				t.Run(p.String(), func(t *testing.T) {
					t.Parallel()
					var cast *formCast
					for i, h := range list {
						if i%40 == 0 {
							cast = b.cast(o) // new records, because a transaction with hundreds of tags is slow
						}
						if long || keeps && (i+n)%5 == 0 || (i+n)%20 == 0 {
							args := p.args(h.raw, cast.valid(t))
							b.hostileBeside(t, p, args)
							// Neighboring places use different ways to call.
							answer := roads[(i/5)%len(roads)](t, o, args)
							if o.TextOut != "" {
								answer.block = answer.body // a file, not JSON
							}
							watch.check(t, h, answer)
						}
					}
				})
			}
		}
		t.Run("headers", func(t *testing.T) {
			t.Parallel()
			b.hostileHeaders(t, list, watch)
		})
		t.Run("category file", func(t *testing.T) {
			t.Parallel()
			b.hostileFile(t, list, watch)
		})
	})
	b.hostileReads(t, list, watch)
	if after := b.hostilePages(t); after != pages {
		t.Error("what the service says of itself has changed")
	}
	b.hostileExport(t)
	b.hostileLog(t, list)
	t.Logf("%d strings, %d places of which %d keep text, %d answers: %d kept as data, %d refused", len(list), places,
		kept, watch.calls.Load(), watch.kept.Load(), watch.refused.Load())
	if watch.kept.Load() < 1000 || watch.refused.Load() < 1000 {
		t.Error("control: both must happen")
	}
}

// hostileBeside makes a call with a note also change something, because only then is the note
// stored.
func (b *formBook) hostileBeside(t *testing.T, p formPlace, args map[string]any) {
	t.Helper()
	if p.prop.Name != "note" {
		return
	}
	slug := fmt.Sprintf("beside-%d", formCount.Add(1))
	if _, ok := args["tag_slug"]; ok {
		args["tag_slug"] = slug
	}
	if p.op.ID() == "transaction.untag" {
		b.do(t, "transaction.tag", map[string]any{"transaction_id": args["transaction_id"], "tag_slug": slug})
	}
	if list, ok := args["operations"].([]any); ok {
		list[0].(map[string]any)["tags_to_add"] = []any{slug}
	}
}

// hostileHeaders sends the strings in headers, as far as HTTP allows them, and as names of fields.
func (b *formBook) hostileHeaders(t *testing.T, list []hostileText, watch *hostileWatch) {
	t.Helper()
	for i, h := range list {
		raw := strings.Map(func(r rune) rune {
			if r < ' ' || r == 0x7f {
				return -1
			}
			return r
		}, h.raw)
		x := []exchange{
			{
				method: "GET", path: "/api/v1/tags/needs-review",
				header: map[string]string{"X-Request-Id": raw, "If-None-Match": raw},
			},
			{method: "GET", path: "/api/v1/tags", header: map[string]string{"Accept": raw}},
			{
				method: "PATCH", path: "/api/v1/tags/needs-review", kind: "application/json", body: `{"icon":"eye"}`,
				header: map[string]string{"If-Match": raw},
			},
			{
				method: "POST", path: "/api/v1/tags", kind: "application/json",
				body: fmt.Sprintf(`{"slug":"header-%d"}`, i), header: map[string]string{"Idempotency-Key": raw},
			},
			{method: "POST", path: "/api/v1/tags", body: "x", kind: raw},
		}[i%5]
		watch.check(t, h, b.serve(t, x).read())
		a := b.serve(t, exchange{
			method: "POST", path: "/api/v1/tags", kind: "application/json",
			body: `{"slug":"a",` + formJSON(h.raw) + `:1}`,
		}).read()
		for _, d := range a.fault.Details {
			if !hostileField.MatchString(d.Field) { // only a valid field name is repeated
				t.Errorf("%q as a name is shown as %q", h.raw, d.Field)
			}
		}
		watch.check(t, hostileText{raw: h.raw}, a)
	}
}

// hostileFile puts each string into a cell of a category file.
func (b *formBook) hostileFile(t *testing.T, list []hostileText, watch *hostileWatch) {
	t.Helper()
	o := opNamed(t, b.ops, "category.import")
	columns := []string{"slug", "display_name", "icon", "parent_slug", "merge_into"}
	for i, h := range list {
		cells := []string{fmt.Sprintf("file-%d", i), "Name", "icon", "", ""}
		cells[i%len(cells)] = h.raw
		args := map[string]any{"tsv": strings.Join(columns, "\t") + "\n" + strings.Join(cells, "\t") + "\n"}
		watch.check(t, h, []formRoad{b.rest, b.tool}[i%2](t, o, args))
	}
}

// hostileReads reads everything back, by route and by tool.
func (b *formBook) hostileReads(t *testing.T, list []hostileText, watch *hostileWatch) {
	t.Helper()
	all := hostileText{raw: "reading back"}
	for _, h := range list {
		all.shapes = append(all.shapes, h.shapes...)
	}
	notes := 0
	for _, o := range b.ops {
		if o.Writes || o.TextOut != "" {
			continue
		}
		for _, call := range b.formSurfaces(o) {
			subjects := []string{""}
			if o.In.Prop("transaction_id") != nil {
				subjects = nil
				for _, u := range b.rows[:min(int(b.next.Load()), len(b.rows))] {
					subjects = append(subjects, u.String())
				}
			}
			for _, subject := range subjects {
				args := formPlace{op: o}.args(nil, b.common.valid(t))
				if subject != "" {
					args["transaction_id"] = subject
				}
				if o.In.Prop("limit") != nil {
					args["limit"] = json.Number("500")
				}
				for more := true; more; {
					a := call(t, o, args)
					watch.check(t, all, a)
					page, _ := a.value.(map[string]any)
					next, _ := page["next_cursor"].(string)
					args["cursor"], more = next, next != ""
					notes += strings.Count(a.body, `"note":"`) + strings.Count(a.body, `\"note\":\"`)
				}
			}
		}
	}
	if notes < 200 {
		t.Errorf("control: only %d notes were read back", notes)
	}
}

// hostileExport checks every cell of the exported categories against the stored data.
func (b *formBook) hostileExport(t *testing.T) {
	t.Helper()
	file := b.serve(t, exchange{method: "GET", path: "/api/v1/categories/export"}).body
	rows := strings.Split(strings.TrimSuffix(file, "\n"), "\n")
	quoted := 0
	for _, row := range rows {
		cells := strings.Split(row, "\t")
		if len(cells) != 8 {
			t.Errorf("%q has %d cells", row, len(cells))
		}
		for i, cell := range cells {
			if i != 5 && strings.ContainsAny(string(append([]rune(strings.TrimLeft(cell, " \u00a0\u3000")), ' ')[0]),
				"=+-@\t\r＝＋－＠") {
				t.Errorf("a spreadsheet would run %q", cell)
			}
			if r, dirty := hostileDirty(cell); dirty {
				t.Errorf("%q keeps %U", cell, r)
			}
			if strings.HasPrefix(cell, "'=") {
				quoted++
			}
		}
	}
	if quoted == 0 {
		t.Error("control: no formula is in the file")
	}
	a := b.rest(t, opNamed(t, b.ops, "category.import"), map[string]any{"tsv": file, "dry_run": "true"})
	if v, _ := a.value.(map[string]any); fmt.Sprint(v["unchanged"]) != fmt.Sprint(len(rows)-1) ||
		fmt.Sprint(v["errors"]) != "[]" {
		t.Errorf("the export does not come back as it went: %s", a.body)
	}
}

// hostileLog checks that the log has none of the strings.
func (b *formBook) hostileLog(t *testing.T, list []hostileText) {
	t.Helper()
	said := map[string]bool{}
	for line := range bytes.Lines([]byte(b.log.String())) {
		var attrs map[string]any
		if err := json.Unmarshal(line, &attrs); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		for key, v := range attrs {
			if s, ok := v.(string); ok && key != "time" && key != "request" && key != "actor_id" {
				said[key+"="+s] = true
			}
		}
	}
	if len(said) < 20 || !said["surface=tool"] {
		t.Errorf("control: the log has only %d words", len(said))
	}
	for words := range said {
		if r, dirty := hostileDirty(words); dirty {
			t.Errorf("the log has %U: %q", r, words)
		}
		if i := slices.IndexFunc(list, func(h hostileText) bool { return h.in(words) }); i >= 0 {
			t.Errorf("the log has %q: %q", list[i].raw, words)
		}
		if strings.HasPrefix(words, "level=ERROR") || strings.HasPrefix(words, "level=WARN") {
			t.Errorf("the log has %s", words)
		}
	}
}
