package engine_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"coffer/internal/rules/engine"
)

// The model defines what a rule means in the simplest way. It works on the decoded JSON, one leaf
// at a time, without an index, without folding texts in advance, and without code from the engine.
// It is slow, and meant to be read together with the specification.

// A verdict is nil if the result depends on an unknown field.
type verdict = *bool

func modelEval(c map[string]any, d *engine.Draft, known []string) verdict {
	switch {
	case c["and"] != nil:
		return modelAll(c["and"].([]any), d, known, true)
	case c["or"] != nil:
		return modelAll(c["or"].([]any), d, known, false)
	case c["not"] != nil:
		v := modelEval(c["not"].(map[string]any), d, known)
		if v == nil {
			return nil
		}
		return new(!*v)
	case c["field"] == nil:
		return new(true)
	}
	if !slices.Contains(known, c["field"].(string)) {
		return nil
	}
	return new(modelLeaf(c["field"].(string), c["op"].(string), c["value"], d))
}

// modelAll returns true if all are true, false if one is false, and nil otherwise. If want is
// false, true and false swap roles, which gives the result of "or".
func modelAll(list []any, d *engine.Draft, known []string, want bool) verdict {
	out := new(want)
	for _, c := range list {
		switch v := modelEval(c.(map[string]any), d, known); {
		case v == nil:
			out = nil
		case *v != want:
			return v
		}
	}
	return out
}

func modelLeaf(field, op string, value any, d *engine.Draft) bool {
	switch field {
	case "amount":
		digits := fmt.Sprint(value) // a number, or its text
		whole, cents, _ := strings.Cut(strings.TrimPrefix(digits, "-"), ".")
		x, err := strconv.ParseInt(whole+(cents + "00")[:2], 10, 64)
		if err != nil {
			panic(err)
		}
		if strings.HasPrefix(digits, "-") {
			x = -x
		}
		return map[string]bool{
			"eq": d.Cents == x, "neq": d.Cents != x, "gt": d.Cents > x, "gte": d.Cents >= x,
			"lt": d.Cents < x, "lte": d.Cents <= x,
		}[op]
	case "pending":
		return (d.Pending == value.(bool)) == (op == "eq")
	case "tags":
		has := func(tag any) bool { return slices.Contains(d.Tags, strings.ToLower(tag.(string))) }
		if op == "in" {
			return slices.ContainsFunc(value.([]any), has)
		}
		return has(value) == (op == "contains")
	}
	s := map[string]string{
		"name": d.Name, "merchant_name": d.MerchantName, "detail": d.Detail, "iso_currency_code": d.Currency,
		"category_primary":  d.CategoryPrimary,
		"category_detailed": d.CategoryDetailed, "category": d.Category,
		"provider": d.Provider, "account_id": d.AccountID, "account_name": d.AccountName, "user_id": d.UserID,
		"user_name": d.UserName,
	}[field]
	switch op {
	case "eq":
		return strings.EqualFold(s, value.(string))
	case "neq":
		return !strings.EqualFold(s, value.(string))
	case "contains":
		return modelContains(s, value.(string))
	case "not_contains":
		return !modelContains(s, value.(string))
	case "matches":
		return modelPattern(value.(string)).MatchString(s)
	case "in":
		return slices.ContainsFunc(value.([]any), func(v any) bool { return strings.EqualFold(s, v.(string)) })
	}
	panic(op)
}

var modelCompiled sync.Map

func modelPattern(s string) *regexp.Regexp {
	if re, ok := modelCompiled.Load(s); ok {
		return re.(*regexp.Regexp)
	}
	re := regexp.MustCompile(s)
	modelCompiled.Store(s, re)
	return re
}

// modelContains compares part with every substring of s that has the same number of runes.
func modelContains(s, part string) bool {
	runes, n := []rune(s), utf8.RuneCountInString(part)
	for i := 0; i+n <= len(runes); i++ {
		if strings.EqualFold(string(runes[i:i+n]), part) {
			return true
		}
	}
	return false
}

// modelRun runs the rules of the pipeline one after the other.
func modelRun(set []written, d engine.Draft, p engine.Pass) (engine.Draft, engine.Outcome) {
	var out engine.Outcome
	start := d
	d.Tags = slices.Clone(d.Tags)
	last := map[string]engine.Effect{} // the last effect on the category, the counterparty and each tag
	var attempts []engine.Attempt
	for i, r := range set {
		fires := p.Event == engine.Retroactive || r.Trigger == engine.Always ||
			(r.Trigger == engine.OnChange) == (p.Event == engine.Changed)
		if v := modelEval(r.condition, &d, engine.AllFields.Names()); !fires || v == nil || !*v {
			continue
		}
		out.Hits = append(out.Hits, i)
		for _, a := range r.Actions {
			e := engine.Effect{Rule: i}
			about, free, same := "", true, false
			switch a.Type {
			case "set_category":
				e.Value, about, same = a.CategorySlug, "category", d.Category == a.CategorySlug
				if free = !d.HeldCategory || p.OverwriteManual; free {
					d.Category = a.CategorySlug
				}
			case "add_tag", "remove_tag":
				e.Tag, e.Removed, about = a.TagSlug, a.Type == "remove_tag", "tag"
				same = slices.Contains(d.Tags, a.TagSlug) != e.Removed
				if free = !slices.Contains(d.HeldTags, a.TagSlug) || p.OverwriteManual; free {
					d.Tags = slices.DeleteFunc(d.Tags, func(s string) bool { return s == a.TagSlug })
					if !e.Removed {
						d.Tags = append(d.Tags, a.TagSlug)
					}
				}
			case "assign_counterparty":
				e.CounterpartyID, e.CounterpartyName, about = a.CounterpartyID, a.CounterpartyName, "counterparty"
				held := d.HeldCounterparty && !p.OverwriteManual
				free, same = !d.Counterparty && !held, d.Counterparty && !held
			case "add_comment":
				if p.Event == engine.Retroactive {
					continue
				}
				e.Value, about = a.Content, "comment"
				out.Comments = append(out.Comments, e)
				attempts = append(attempts, engine.Attempt{Effect: e, Field: about, Fate: engine.Applied})
				continue
			}
			fate := engine.Held
			switch {
			case free:
				last[about+e.Tag], fate = e, ""
			case same:
				fate = engine.AlreadySo
			}
			attempts = append(attempts, engine.Attempt{Effect: e, Field: about, Fate: fate})
		}
	}
	slices.Sort(d.Tags)
	modelDifference(&out, start, d, last)
	for i, a := range attempts {
		if a.Fate == "" {
			prevails := last[a.Field+a.Tag].Rule
			if attempts[i].Fate = modelFate(a, start, d, prevails == a.Rule); attempts[i].Fate == engine.Overridden {
				attempts[i].By = prevails
			}
		}
	}
	if p.Trace {
		out.Attempts = attempts
	}
	return d, out
}

// modelDifference adds the differences between the start and the end to the outcome.
func modelDifference(out *engine.Outcome, start, end engine.Draft, last map[string]engine.Effect) {
	if e, ok := last["category"]; ok && start.Category != end.Category {
		out.Category = &e
	}
	if e, ok := last["counterparty"]; ok {
		out.Counterparty = &e
	}
	for _, tag := range modelTags {
		if e := last["tag"+tag]; slices.Contains(start.Tags, tag) != slices.Contains(end.Tags, tag) {
			out.Tags = append(out.Tags, e)
		}
	}
}

func modelFate(a engine.Attempt, start, end engine.Draft, prevails bool) engine.Fate {
	unchanged := false
	switch a.Field {
	case "category":
		unchanged = start.Category == a.Value && end.Category == a.Value
	case "tag":
		unchanged = slices.Contains(start.Tags, a.Tag) == !a.Removed && slices.Contains(end.Tags, a.Tag) == !a.Removed
	}
	switch {
	case unchanged:
		return engine.AlreadySo
	case prevails:
		return engine.Applied
	}
	return engine.Overridden
}

// show prints a value readably.
func show(t testing.TB, v any) string {
	t.Helper()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
