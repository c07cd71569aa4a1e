package ruleview

import (
	"fmt"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
)

func tree(t *testing.T, raw string) engine.Tree {
	t.Helper()
	got, faults := engine.ParseTree("", []byte(raw))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return got
}

// The need of a condition becomes conditions on the transactions' own columns.
func TestNarrow(t *testing.T) {
	t.Parallel()
	account, food := id.New(), id.New()
	l := &Lens{
		accounts:   map[id.ID]holder{account: {ID: account, Provider: "plaid"}},
		categories: map[id.ID]string{food: "food"},
	}
	for name, c := range map[string]struct {
		condition string
		worded    bool
		sql       string
		args      []any
	}{
		"everything": {`{}`, false, "", nil},
		"an amount": {
			`{"field":"amount","op":"gte","value":10}`, false,
			"where (t.amount >= $1 and true)",
			[]any{"10.00"},
		},
		"pending": {
			`{"field":"pending","op":"eq","value":true}`, false,
			"where (t.pending = $1)",
			[]any{true},
		},
		"a category": {
			`{"field":"category","op":"eq","value":"food"}`, false,
			"where ((t.category_id = any($1)))",
			[]any{[]id.ID{food}},
		},
		"an unknown category": {
			`{"field":"category","op":"eq","value":"none-such"}`, false,
			"where ((t.category_id = any($1)))",
			[]any{[]id.ID{}},
		},
		"a currency": {
			`{"field":"iso_currency_code","op":"in","value":["eur","Usd"]}`, false,
			"where (t.currency = any($1))",
			[]any{[]string{"EUR", "USD"}},
		},
		"a purpose": {
			`{"field":"detail","op":"contains","value":"Miete"}`, true,
			"where (t.descriptor_id in (select d.id from descriptor d where d.folded like $1))",
			[]any{`%miete%`},
		},
		"a provider": {
			`{"field":"provider","op":"eq","value":"plaid"}`, false,
			"where (t.account_id = any($1))",
			[]any{[]id.ID{account}},
		},
		"a text, left to the evaluator": {
			`{"field":"name","op":"contains","value":"50%_off"}`, false,
			"where (true)", nil,
		},
		"a text": {
			`{"field":"name","op":"contains","value":"50%_off"}`, true,
			"where (t.descriptor_id in (select d.id from descriptor d where d.folded like $1))",
			[]any{`%50\%\_off%`},
		},
	} {
		var w pg.Where
		l.Narrow(&w, tree(t, c.condition).Needs(), c.worded)
		if w.SQL() != c.sql || fmt.Sprint(w.Args()...) != fmt.Sprint(c.args...) {
			t.Errorf("%s: %s %v, want %s %v", name, w.SQL(), w.Args(), c.sql, c.args)
		}
	}
}

// texts reduces a need to the part about the wording, and never loses a match by that.
func TestTexts(t *testing.T) {
	t.Parallel()
	const shop, dear = `{"field":"name","op":"contains","value":"shop"}`, `{"field":"amount","op":"gt","value":9}`
	for condition, want := range map[string]engine.NeedKind{
		shop:                                  engine.NeedText,
		dear:                                  engine.NeedAny,
		`{"and":[` + shop + `,` + dear + `]}`: engine.NeedAnd,
		`{"or":[` + shop + `,` + dear + `]}`:  engine.NeedAny, // an expensive transaction may have any name
		`{"or":[` + shop + `,` + shop + `]}`:  engine.NeedOr,
		`{"not":` + shop + `}`:                engine.NeedAny,
		`{"and":[` + dear + `,` + dear + `]}`: engine.NeedAny,
	} {
		if got := texts(tree(t, condition).Needs()).Kind; got != want {
			t.Errorf("%s: kind %d, want %d", condition, got, want)
		}
	}
}

// complete fills in the fields that follow from the account, the category and the tags.
func TestComplete(t *testing.T) {
	t.Parallel()
	account, robin, food := id.New(), id.New(), id.New()
	l := &Lens{
		fields: engine.AllFields,
		accounts: map[id.ID]holder{
			account: {ID: account, Name: "Card", Provider: "teller", UserID: &robin, UserName: new("Robin")},
		},
		categories: map[id.ID]string{food: "food"},
	}
	var s Stored
	l.complete(&s, account, &food, []string{"+ trip", "+!work", "-!old"})
	d := s.Draft
	if d.AccountName != "Card" || d.Provider != "teller" || d.UserName != "Robin" || d.UserID != robin.String() ||
		d.Category != "food" {
		t.Errorf("%+v", d)
	}
	if fmt.Sprint(d.Tags) != "[trip work]" || fmt.Sprint(d.HeldTags) != "[work old]" {
		t.Errorf("tags %v, of which people hold %v", d.Tags, d.HeldTags)
	}
	kept := s.Clone()
	if l.complete(&s, id.New(), nil, nil); s.Draft.UserName != "" || s.Draft.Category != "" || len(s.Draft.Tags) != 0 {
		t.Errorf("the next draft has values of the one before: %+v", s.Draft)
	}
	if fmt.Sprint(kept.Draft.Tags) != "[trip work]" {
		t.Errorf("the copy became %v", kept.Draft.Tags)
	}
}
