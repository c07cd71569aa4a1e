package app_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"coffer/internal/platform/errs"
)

// formLeaves are the conditions in which the tests try strings: each field that names a record,
// each operator, and the fields of a condition itself.
var formLeaves = []string{
	"account_id eq", "account_id in", "account_id contains", "user_id neq", "user_id matches", "category eq",
	"category in", "category contains", "name eq", "name neq", "merchant_name contains",
	"account_name not_contains", "provider in", "category_primary matches", "tags contains", "tags in", "amount gte",
	"pending eq", "op", "field",
}

// matchNothing is a condition that no transaction meets. With hundreds of rules that match, every
// response would list them.
var matchNothing = map[string]any{"field": "name", "op": "eq", "value": "nothing"}

// condition returns a tree with value in its leaf, two levels deep, so that an error needs a path.
func (p formPlace) condition(value any) any {
	field, test, _ := strings.Cut(p.leaf, " ")
	leaf := map[string]any{"field": field, "op": test, "value": value}
	switch {
	case test == "in":
		leaf["value"] = []any{value}
	case field == "op":
		leaf = map[string]any{"field": "name", "op": value, "value": "a"}
	case field == "field":
		leaf = map[string]any{"field": value, "op": "eq", "value": "a"}
	}
	return map[string]any{"and": []any{matchNothing, map[string]any{"not": leaf}}}
}

// actionTypes maps a field of an action to the type of the action.
var actionTypes = map[string]string{
	"category_slug": "set_category", "tag_slug": "add_tag", "content": "add_comment",
	"counterparty_id": "assign_counterparty", "counterparty_name": "assign_counterparty",
}

// outcome returns the error code of the call, also if it is only in the result of the call's one
// operation.
func (a formAnswer) outcome() errs.Code {
	v, _ := a.value.(map[string]any)
	results, _ := v["results"].([]any)
	for _, r := range results {
		if e, _ := r.(map[string]any)["error"].(map[string]any); e != nil {
			return errs.Code(e["code"].(string))
		}
	}
	lists := []any{v["errors"]}
	if a.fault.Code == errs.ValidationError {
		lists = append(lists, []any{map[string]any{"details": a.details()}})
	}
	for _, list := range lists {
		faults, _ := list.([]any)
		for _, f := range faults {
			f, _ := f.(map[string]any)
			details, _ := f["details"].([]any)
			for _, d := range details {
				if d.(map[string]any)["code"] == "reference" &&
					formPath.MatchString(fmt.Sprint(d.(map[string]any)["field"])) {
					return errs.InvalidReference
				}
			}
			if code, ok := f["code"].(string); ok {
				return errs.Code(code)
			}
		}
	}
	return a.fault.Code
}

// formPath matches the path of an error in a rule.
var formPath = regexp.MustCompile(
	`^(rules\[0\]\.)?(conditions\.and\[1\]\.not\.value(\[0\])?|actions\[0\]\.(category_slug|counterparty_id)|category_slug)$`)

// details returns the details of an error in the form in which responses print them.
func (a formAnswer) details() []any {
	var out []any
	for _, d := range a.fault.Details {
		out = append(out, map[string]any{"code": d.Code, "field": d.Field})
	}
	return out
}

// cash returns the arguments of a payment entered by hand.
func (b *formBook) cash() map[string]any {
	return map[string]any{
		"account_id": b.account.String(), "date": "2025-02-03", "amount": json.Number("7.77"), "name": "Market",
	}
}
