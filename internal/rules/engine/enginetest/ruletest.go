// Package enginetest generates conditions and actions for tests from few words, so that rules match
// transactions often. It is for tests only and does not know what a rule means.
package enginetest

import (
	"encoding/json"
	"math/rand/v2"
	"strings"

	"coffer/internal/rules/engine"
)

// A Vocabulary holds the values that generated rules use.
type Vocabulary struct {
	Words      []string // of texts, in many spellings
	Patterns   []string
	Categories []string // slugs, "" for none
	Tags       []string // slugs
	Accounts   []string // ids
	Users      []string // ids, "" for none
	Parts      []string // of ids
	Providers  []string
	Amounts    []string
}

// Pick returns a random element of the list.
func Pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// Phrase returns up to three words, as a bank may write them.
func (v Vocabulary) Phrase(r *rand.Rand) string {
	words := make([]string, r.IntN(4))
	for i := range words {
		words[i] = Pick(r, v.Words)
	}
	return strings.Join(words, " ")
}

// Operators lists the operators of a field, as documented and not as in the engine's tables.
func Operators(field string) []string {
	switch field {
	case "amount":
		return []string{"eq", "neq", "gt", "gte", "lt", "lte"}
	case "pending":
		return []string{"eq", "neq"}
	case "tags":
		return []string{"contains", "not_contains", "in"}
	}
	return []string{"eq", "neq", "contains", "not_contains", "matches", "in"}
}

// Leaf returns a condition on the field as decoded JSON.
func (v Vocabulary) Leaf(r *rand.Rand, field, op string) map[string]any {
	leaf := map[string]any{"field": field, "op": op}
	switch op {
	case "matches":
		leaf["value"] = Pick(r, v.Patterns)
	case "in":
		list := make([]any, 1+r.IntN(12))
		for i := range list {
			list[i] = v.value(r, field, op)
		}
		leaf["value"] = list
	default:
		leaf["value"] = v.value(r, field, op)
	}
	return leaf
}

func (v Vocabulary) value(r *rand.Rand, field, op string) any {
	part := op == "contains" || op == "not_contains"
	switch field {
	case "amount":
		amount := Pick(r, v.Amounts)
		if r.IntN(2) == 0 {
			return json.Number(amount)
		}
		return amount
	case "pending":
		return r.IntN(2) == 0
	case "tags":
		return Pick(r, v.Tags)
	case "category":
		return Pick(r, v.Categories)
	case "provider":
		return Pick(r, v.Providers)
	case "iso_currency_code":
		if part {
			return Pick(r, []string{"e", "US", "d"})
		}
		return Pick(r, []string{"EUR", "eur", "USD", "chf"})
	case "account_id", "user_id":
		switch {
		case part:
			return Pick(r, v.Parts)
		case field == "user_id":
			return Pick(r, v.Users)
		}
		return Pick(r, v.Accounts)
	}
	if r.IntN(2) == 0 {
		return Pick(r, v.Words)
	}
	return v.Phrase(r)
}

// Tree returns a condition. Most are small, like those that people write.
func (v Vocabulary) Tree(r *rand.Rand, depth int) map[string]any {
	choice := r.IntN(10)
	if depth == 0 {
		choice += 4
	}
	switch {
	case choice == 0:
		return map[string]any{"not": v.Tree(r, depth-1)}
	case choice <= 3:
		list := make([]any, 1+r.IntN(3))
		for i := range list {
			list[i] = v.Tree(r, depth-1)
		}
		return map[string]any{Pick(r, []string{"and", "or"}): list}
	case r.IntN(25) == 0:
		return map[string]any{}
	}
	field := Pick(r, engine.AllFields.Names())
	return v.Leaf(r, field, Pick(r, Operators(field)))
}

// Actions returns the actions of a rule, at least one.
func (v Vocabulary) Actions(r *rand.Rand) []engine.Action {
	var out []engine.Action
	for len(out) == 0 {
		if r.IntN(2) == 0 {
			out = append(out, engine.Action{Type: engine.SetCategory, CategorySlug: Pick(r, v.Categories[1:])})
		}
		for _, tag := range v.Tags {
			if r.IntN(5) == 0 {
				out = append(out, engine.Action{Type: Pick(r, []string{engine.AddTag, engine.RemoveTag}), TagSlug: tag})
			}
		}
		if r.IntN(8) == 0 {
			out = append(out, engine.Action{Type: engine.AddComment, Content: "looked at"})
		}
		if r.IntN(4) == 0 {
			out = append(out, engine.Action{Type: engine.AssignCounterparty, CounterpartyName: Pick(r, v.Words[:4])})
		}
	}
	return out
}
