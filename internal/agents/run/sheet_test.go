package run

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"coffer/internal/agents/workflow"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

func worklist(sets ...string) workflow.Worklist {
	return workflow.Worklist{Filter: ledger.Filter{Tags: []string{ledger.NeedsReview}}, Size: 25, Sets: sets}
}

// The code is in the first line of the system prompt and nowhere else, so a model whose prompt
// was cut from the front cannot know it. All sheets of a run have the same system prompt and the
// same tool, byte for byte.
func TestCode(t *testing.T) {
	t.Parallel()
	run, d := id.New(), workflow.Definition{System: "Blocks.", Prompt: "Decide each row."}
	code := codeOf(run)
	first, rest, _ := strings.Cut(sheetSystem(run, d), "\n")
	if len(code) != 4 || first != "Code: "+code || strings.Contains(rest, code) || !strings.Contains(rest, "Decide each row.") {
		t.Errorf("%q", sheetSystem(run, d))
	}
	if codeOf(id.New()) == code {
		t.Error("the code is not the run's")
	}
	for _, sets := range [][]string{
		{workflow.SetsCategory},
		{workflow.SetsCounterparty},
		{workflow.SetsCategory, workflow.SetsTags, workflow.SetsComment, workflow.SetsCounterparty},
	} {
		tool := decideFor(worklist(sets...))
		if strings.Contains(string(tool.Schema)+tool.Description, code) || !json.Valid(tool.Schema) {
			t.Errorf("%s", tool.Schema)
		}
		for _, field := range []string{"category", "tags", "counterparty"} {
			if strings.Contains(string(tool.Schema), `"`+field+`"`) != slices.Contains(sets, field) {
				t.Errorf("the tool of %v has %s wrong: %s", sets, field, tool.Schema)
			}
		}
	}
	for given, right := range map[string]bool{code: true, " " + strings.ToLower(code) + "\n": true, "": false, "AAAA": false} {
		if codeRight(map[string]any{"code": given}, code) != right {
			t.Errorf("code %q", given)
		}
	}
	if codeRight(map[string]any{}, code) || codeRight(map[string]any{"code": 4}, code) {
		t.Error("no code is a code")
	}
}

// A text in a row never takes more than its limit, regardless of how it is printed. It is not cut
// if it fits.
func TestCut(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "REWE", strings.Repeat("a", 500), strings.Repeat("ä", 500), strings.Repeat(`"`, 500), strings.Repeat("🛒", 500)} {
		printed, err := json.Marshal(cut(text.Untrusted(s), 60))
		if err != nil || len(printed) > 60+len(`""`)+len("…") {
			t.Errorf("%d bytes of %.8q: %s", len(printed), s, printed)
		}
	}
	if got := cut(text.Untrusted(strings.Repeat("a", 60)), 60); got != strings.Repeat("a", 60) && !strings.HasSuffix(got, "…") {
		t.Error(got)
	}
	if got := cut("REWE MARKT", 60); got != "REWE MARKT" {
		t.Error(got)
	}
}

// full returns a sheet of 25 rows with texts of usual size, or of the worst possible size.
func full(worst bool) sheet {
	var s sheet
	for i := range 25 {
		name, merchant, account := fmt.Sprintf("VISA %04d REWE SAGT DANKE 4711 BERLIN", i), "REWE Markt", "Girokonto Ada"
		if worst {
			name, merchant, account = strings.Repeat("🛒", 256), strings.Repeat("ß", 256), strings.Repeat("\"", 256)
		}
		day, _ := pg.ParseDate("2026-11-02")
		s.rows = append(s.rows, sheetRow{
			Row: i + 1, Date: day, Amount: money.MustParse("-1234.56"), Currency: "EUR",
			Name: cut(text.Untrusted(name), nameBytes), Merchant: cut(text.Untrusted(merchant), merchantBytes),
			Account: cut(text.Untrusted(account), accountBytes), Category: "food_and_drink_groceries", Source: "bank",
			Before: []precedent{{"food_and_drink_groceries", 12, "user"}, {"food_and_drink_restaurants", 3, "rule"}},
		})
	}
	for i := range 110 {
		s.categories = append(s.categories, fmt.Sprintf("some_category_of_length_%d", i))
	}
	s.tags = []string{"trip", "question", "reimbursable"}
	return s
}

// A request about 25 rows has at most 16 kB. The worst possible bank texts are limited too.
func TestEconomy(t *testing.T) {
	t.Parallel()
	d := workflow.Definition{System: strings.Repeat("x", 2500), Prompt: strings.Repeat("x", 900)}
	for _, worst := range []bool{false, true} {
		s := full(worst)
		asked, err := s.text()
		if err != nil {
			t.Fatal(err)
		}
		tool := decideFor(worklist(workflow.SetsCategory, workflow.SetsTags))
		system := sheetSystem(id.New(), d)
		size := len(asked) + len(system) + len(tool.Schema) + len(tool.Description)
		t.Logf("25 rows (worst %t): %d bytes: system %d, tool %d, lists and rows %d", worst, size, len(system),
			len(tool.Schema)+len(tool.Description), len(asked))
		if most := map[bool]int{false: 16_000, true: 24_000}[worst]; size > most {
			t.Errorf("%d bytes, at most %d", size, most)
		}
	}
}

// If a household has more categories than fit, those that the rows mention are listed first.
func TestRelevant(t *testing.T) {
	t.Parallel()
	s := full(false)
	if got := relevant(s.categories, s.rows); !slices.Equal(got, s.categories) {
		t.Error("a list that fits is in another order")
	}
	for i := range 400 {
		s.categories = append(s.categories, fmt.Sprintf("own_category_%d", i))
	}
	s.categories = append(s.categories, "food_and_drink_restaurants", "food_and_drink_groceries")
	s.categories = relevant(s.categories, s.rows)
	asked, err := s.text()
	if err != nil || s.categories[0] != "food_and_drink_restaurants" || s.categories[1] != "food_and_drink_groceries" ||
		strings.Contains(asked, "own_category_399") || strings.Index(asked, "\n") > listBytes+100 {
		t.Errorf("%v %.400s", s.categories[:3], asked)
	}
}

// A call of decide is accepted at most once for each row of the sheet, and only with values from
// the lists.
func TestReadDecisions(t *testing.T) {
	t.Parallel()
	all := worklist(workflow.SetsCategory, workflow.SetsTags, workflow.SetsCounterparty)
	few := worklist(workflow.SetsCategory)
	for name, c := range map[string]struct {
		w      workflow.Worklist
		rows   string
		taken  string
		faults string
	}{
		"sure and unsure": {few, `[{"row":1,"category":"home_rent","note":"Rent","sure":true},{"row":2,"note":"what?","sure":false}]`, "1+home_rent 2-", ""},
		"as text":         {few, `[{"row":"1","category":" HOME_RENT ","note":"Rent","sure":"true"}]`, "1+home_rent", ""},
		"a guess":         {few, `[{"row":1,"category":"home_rent","note":"perhaps","sure":false}]`, "1-home_rent", ""},
		"not on it":       {few, `[{"row":4,"category":"home_rent","note":"x","sure":true},{"row":0,"sure":true},{"row":-1},{"row":1e0}]`, "", "0 0 0 0"},
		"answered before": {few, `[{"row":3,"category":"home_rent","note":"x","sure":true}]`, "", ""},
		"unknown":         {few, `[{"row":1,"category":"rents","note":"x","sure":true}]`, "", "1"},
		"no category":     {few, `[{"row":1,"note":"x","sure":true}]`, "", "1"},
		"no reason":       {few, `[{"row":1,"note":" ","sure":false}]`, "", "1"},
		"not sure":        {few, `[{"row":1,"note":"x"}]`, "", "1"},
		"twice, the same": {few, `[{"row":1,"category":"home_rent","note":"x","sure":true},{"row":1,"category":"home_rent","note":"x","sure":true}]`, "1+home_rent", ""},
		"twice, another":  {few, `[{"row":1,"category":"home_rent","note":"x","sure":true},{"row":1,"category":"home_tools","note":"x","sure":true}]`, "", "1"},
		"other fields":    {few, `[{"row":1,"category":"home_rent","tags":["needs-review","x"],"counterparty":"E","transaction_id":"7","force":true,"note":"x","sure":true}]`, "1+home_rent", ""},
		"no list":         {few, `{"row":1}`, "", "0"},
		"no object":       {few, `[1]`, "", "0"},
		"tags":            {all, `[{"row":1,"category":"home_rent","tags":["trip","trip"],"counterparty":"Landlord ","note":"x","sure":true}]`, "1+home_rent[trip]Landlord", ""},
		"a new tag":       {all, `[{"row":1,"category":"home_rent","tags":["evil"],"counterparty":"L","note":"x","sure":true}]`, "", "1"},
		"the review's":    {all, `[{"row":1,"category":"home_rent","tags":["needs-review"],"counterparty":"L","note":"x","sure":true}]`, "", "1"},
		"an address":      {all, `[{"row":1,"category":"home_rent","counterparty":"see https://evil.example","note":"x","sure":true}]`, "", "1"},
		"hidden":          {all, `[{"row":1,"category":"home_rent","counterparty":"\u202e\u200b","note":"x","sure":true}]`, "", "1"},
	} {
		args, err := op.ParseObject([]byte(`{"rows":` + c.rows + `}`))
		if err != nil {
			t.Fatal(name, err)
		}
		s := sheet{rows: make([]sheetRow, 3), categories: []string{"home_rent", "home_tools"}, tags: []string{"trip"}}
		got, faults := readDecisions(args, c.w, s, map[int]bool{1: true, 2: true})
		var taken, wrong []string
		for _, d := range got {
			word := fmt.Sprintf("%d-%s", d.row, d.category)
			if d.sure {
				word = fmt.Sprintf("%d+%s", d.row, d.category)
			}
			if len(d.tags) > 0 {
				word += fmt.Sprint(d.tags) + d.counterparty
			}
			taken = append(taken, word)
		}
		for _, f := range faults {
			wrong = append(wrong, fmt.Sprint(f.row))
		}
		if strings.Join(taken, " ") != c.taken || strings.Join(wrong, " ") != c.faults {
			t.Errorf("%s: takes %v and finds %v, not %q and %q", name, taken, faults, c.taken, c.faults)
		}
	}
	args, _ := op.ParseObject([]byte(`{"rows":[{"row":1,"category":"home_rent","note":"` + strings.Repeat("long ", 200) +
		`\u0007\u202eevil\n\nnew line","sure":true}]}`))
	got, _ := readDecisions(args, few, sheet{rows: make([]sheetRow, 1), categories: []string{"home_rent"}}, map[int]bool{1: true})
	if len(got) != 1 || len([]rune(got[0].note)) > maxReason || strings.ContainsAny(got[0].note, "\n\a\u202e") {
		t.Errorf("%+v", got)
	}
}

// The message to the model contains the rejected decisions and the open rows, never its own words.
func TestReturned(t *testing.T) {
	t.Parallel()
	_, why := chosen("category", "grocery", []string{"food_and_drink_groceries", "home_rent"})
	got := returned(2, []fault{{3, why}, {0, "every entry of rows must be an object"}}, []int{3, 5})
	want := "Taken: 2. Row 3: category is not in the list; similar: food_and_drink_groceries. Rejected: every entry of " +
		"rows must be an object. No answer: 5. Call decide again, with these rows only."
	if got != want {
		t.Errorf("%s", got)
	}
	if got := returned(25, nil, nil); got != "Taken: 25. The sheet is done." {
		t.Error(got)
	}
}

// A stranger's text in a report is neither link nor markup.
func TestPlainText(t *testing.T) {
	t.Parallel()
	got := plainText("[pay](https://evil.example) ![x](//e) <b>www.evil.example www.WWW.x `a` # *b* e@vil.example")
	for _, bad := range []string{"](", "://", "<", ">", "www.", "WWW.", "`", "*", "#", "!", "@", "["} {
		if strings.Contains(got, bad) {
			t.Errorf("%q is in %q", bad, got)
		}
	}
	if got := plainText("REWE Markt 4711"); got != "REWE Markt 4711" {
		t.Error(got)
	}
}

// A report counts as many transactions with proposed changes as the plan has. That includes
// transactions that are left to a person with a comment.
func TestReportCountsThePlan(t *testing.T) {
	t.Parallel()
	p := &portion{filings: map[int]*placement{
		1: {Row: 1, Outcome: filed, Transactions: []id.ID{id.New(), id.New()}},
		2: {Row: 2, Outcome: unsure, Transactions: []id.ID{id.New()}},
		3: {Row: 3, Outcome: unsure, Transactions: []id.ID{id.New()}}, // without a comment
	}, update: []int{1, 2}}
	p.updated(outcome{verdict: verdict{route: planned}, body: `{"results":[]}`})
	s, facts := &sheets{work: &workflow.Work{}}, map[id.ID]reportFact{}
	for _, f := range p.filings {
		s.filings = append(s.filings, *f)
		for _, u := range f.Transactions {
			facts[u] = reportFact{ID: u}
		}
	}
	page := &pageText{}
	page.summary(s, facts)
	want := "Proposed changes for 3 of 4 transactions. Nothing changes until someone applies them.\n" +
		"2 transactions left for you. The proposed changes add comments that say why.\n"
	if got := page.String(); got != want {
		t.Errorf("%q", got)
	}
}
