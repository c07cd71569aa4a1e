package op

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

type told struct {
	Name   text.Untrusted  `json:"name"`
	Lines  []told2         `json:"lines"`
	Notes  []Note          `json:"notes,omitempty"`
	Result json.RawMessage `json:"result,omitempty" object:"any"`
}

type told2 struct {
	Text   string          `json:"text"`
	Detail *text.Untrusted `json:"detail,omitempty"`
}

// finished returns a tool's answer with that value.
func finished(t *testing.T, whole bool, v told) string {
	t.Helper()
	o := Reading(Spec{Tool: "tell", Summary: "Tells.", Whole: whole},
		func(context.Context, pg.Querier, None) (told, error) { return v, nil })
	a, err := o.answer(v, Tool)
	if err != nil {
		t.Fatal(err)
	}
	return string(a.Body)
}

// A result starts with the names of the fields that strangers wrote, and names only fields that are
// in the result.
func TestStrangersAreNamed(t *testing.T) {
	t.Parallel()
	got := finished(t, false, told{Name: text.Name(`Obst & Gemüse <b> \u0026`), Lines: []told2{{Text: "x"}}})
	want := `{"untrusted":"name` + strangersText + `","name":"Obst & Gemüse \u003cb\u003e \\u0026","lines":`
	if !strings.HasPrefix(got, want) || !json.Valid([]byte(got)) {
		t.Errorf("the answer is %s, want %s…", got, want)
	}
	job := finished(t, false, told{Result: json.RawMessage(`{"rows":[{"merchant_name":"Shop"}]}`)})
	if !strings.HasPrefix(job, `{"untrusted":"name, merchant_name`) {
		t.Errorf("a job's result is %s", job)
	}
}

// A result that is too large loses the end of its largest list, at any depth, and gets a note about
// that. A result of an op with Whole is never cut.
func TestResultsAreCut(t *testing.T) {
	t.Parallel()
	long := told{Name: "n", Notes: []Note{{Code: "stale", Message: "old"}}}
	for range 3_000 {
		long.Lines = append(long.Lines, told2{Text: "0123456789"})
	}
	rows, err := json.Marshal(map[string]any{"inner": map[string]any{"rows": long.Lines}, "count": 3_000})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]told{"lines": long, "rows": {Name: "n", Notes: long.Notes, Result: rows}} {
		got := finished(t, false, v)
		if len(got) > ToolBytes || len(got) < ToolBytes/2 || !json.Valid([]byte(got)) ||
			!strings.Contains(got, `"code":"stale"`) || !strings.Contains(got, "more "+name+" than fit") {
			t.Errorf("%s: %d bytes, ending in %s", name, len(got), got[len(got)-200:])
		}
	}
	if whole := finished(t, true, long); len(whole) < 3_000*10 {
		t.Errorf("the whole answer has %d bytes", len(whole))
	}
}

// Each row has a value for every column, even if its object lacks that field.
func TestTabled(t *testing.T) {
	t.Parallel()
	got := string(Tabled([]byte(`{"rows2":[{"a":1.50,"b":"x"},{"a":2,"c":true}],"next_cursor":""}`), "rows2"))
	want := `{"columns":["a","b","c"],"rows":[[1.50,"x",null],[2,null,true]],"rows2":[],"next_cursor":""}`
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
