package engine_test

import (
	"fmt"
	"time"

	"coffer/internal/rules/engine"
)

func Example() {
	parse := func(conditions, actions string) engine.Rule {
		tree, faults := engine.ParseTree("conditions", []byte(conditions))
		list, more := engine.ParseActions("actions", []byte(actions))
		if len(faults)+len(more) > 0 {
			panic("a rule is wrong")
		}
		return engine.Rule{Conditions: tree, Actions: list}
	}
	work := parse(`{"field": "account_name", "op": "contains", "value": "company card"}`,
		`[{"type": "add_tag", "tag_slug": "work"}]`)
	meals := parse(`{"and": [{"field": "tags", "op": "contains", "value": "work"}, {"field": "category", "op": "eq", "value": "restaurants"}]}`,
		`[{"type": "set_category", "category_slug": "business-meals"}]`)
	work.Priority, meals.Priority = 10, 50

	set := engine.Compile([]engine.Rule{meals, work})
	lunch := engine.Draft{
		Facts:    engine.Facts{Name: "OSTERIA DA FORTUNATA", AccountName: "Company Card", Cents: 23_50},
		Category: "restaurants",
	}
	out := set.Run(&lunch, engine.Pass{Event: engine.Created})
	fmt.Println("rules", out.Hits, "made it", out.Category.Value, "and tagged it", out.Tags[0].Tag)
	// Output:
	// rules [0 1] made it business-meals and tagged it work
}

func ExampleParseTree() {
	_, faults := engine.ParseTree("conditions",
		[]byte(`{"and": [{"field": "name", "op": "contains", "value": 5}, {"field": "amount", "op": "like", "value": 5}]}`))
	for _, f := range faults {
		fmt.Println(f.Path, f.Code, f.Message)
	}
	// Output:
	// conditions.and[0].value type must be a string
	// conditions.and[1].op enum must be one of these for amount: eq, neq, gt, gte, lt, lte
}

func ExampleSet_Run_held() {
	tree, _ := engine.ParseTree("conditions", []byte(`{"field": "name", "op": "contains", "value": "edeka"}`))
	actions, _ := engine.ParseActions("actions", []byte(`[{"type": "set_category", "category_slug": "groceries"}]`))
	set := engine.Compile([]engine.Rule{{CreatedAt: time.Unix(0, 0), Conditions: tree, Actions: actions}})

	d := engine.Draft{Facts: engine.Facts{Name: "EDEKA 4111"}, Category: "party", HeldCategory: true}
	out := set.Run(&d, engine.Pass{Trace: true})
	fmt.Println(len(out.Hits), "hit,", out.Attempts[0].Fate, d.Category)
	// Output:
	// 1 hit, held party
}

func ExampleTree_Needs() {
	tree, _ := engine.ParseTree("conditions",
		[]byte(`{"and": [{"field": "name", "op": "matches", "value": "(?i)^(edeka|rewe)\\b"}, {"field": "amount", "op": "gt", "value": 50}]}`))
	need := tree.Needs()
	for _, n := range need.Of[0].Of {
		fmt.Println(n.Field, "contains", n.Literal)
	}
	fmt.Println("cents from", need.Of[1].Low)
	// Output:
	// name contains edeka
	// name contains rewe
	// cents from 5001
}
