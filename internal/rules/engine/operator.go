package engine

import (
	"math"
	"slices"
)

// A test is the comparison of a leaf. Several operators share one: neq is a negated eq, and in is
// eq with several values.
type test uint8

const (
	testIn       test = iota // the text is one of the values
	testContains             // the text contains the value
	testMatches              // the regular expression matches somewhere in the text
	testRange                // the amount lies between two bounds, both included
	testTruth                // the flag has the given value
	testTags                 // one of the tags is set
)

// A form is the JSON type of a leaf's value.
type form uint8

const (
	formText form = iota
	formTexts
	formPattern
	formAmount
	formBool
)

// An operator is a line in the table of comparisons.
type operator struct {
	name   string
	kinds  []kind
	form   form
	test   test
	negate bool                                // the leaf holds if the test fails
	span   func(cents int64) (low, high int64) // of amounts
	doc    string
}

var (
	textual = []kind{kindText, kindCategory, kindIdentity}
	numeric = []kind{kindAmount}
	flag    = []kind{kindBool}
	tagged  = []kind{kindTags}
)

// operators is the table. The same name may occur once for each kind of field.
var operators = []operator{
	{"eq", textual, formText, testIn, false, nil, "equals the text, ignoring case"},
	{"neq", textual, formText, testIn, true, nil, "differs from the text, ignoring case"},
	{"contains", textual, formText, testContains, false, nil, "contains the text, ignoring case"},
	{"not_contains", textual, formText, testContains, true, nil, "does not contain the text, ignoring case"},
	{
		"matches", textual, formPattern, testMatches, false, nil,
		"contains a match of the RE2 regular expression; case matters unless it begins with (?i)",
	},
	{"in", textual, formTexts, testIn, false, nil, "equals one of the texts, ignoring case"},

	{"eq", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return c, c }, "equals the amount"},
	{
		"neq", numeric, formAmount, testRange, true, func(c int64) (int64, int64) { return c, c },
		"differs from the amount",
	},
	{
		"gt", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return c + 1, math.MaxInt64 },
		"is greater",
	},
	{
		"gte", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return c, math.MaxInt64 },
		"is greater or equal",
	},
	{
		"lt", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return math.MinInt64, c - 1 },
		"is less",
	},
	{
		"lte", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return math.MinInt64, c },
		"is less or equal",
	},

	{"eq", flag, formBool, testTruth, false, nil, "equals the value"},
	{"neq", flag, formBool, testTruth, true, nil, "differs from the value"},

	{"contains", tagged, formText, testTags, false, nil, "has the tag"},
	{"not_contains", tagged, formText, testTags, true, nil, "does not have the tag"},
	{"in", tagged, formTexts, testTags, false, nil, "has any of the tags"},
}

func (o *operator) takes(k kind) bool { return slices.Contains(o.kinds, k) }

// operatorOf returns the operator with that name for a kind of field.
func operatorOf(name string, k kind) *operator {
	for i := range operators {
		if operators[i].name == name && operators[i].takes(k) {
			return &operators[i]
		}
	}
	return nil
}

// operatorsFor returns the names of the operators of a kind of field.
func operatorsFor(k kind) []string {
	var names []string
	for i := range operators {
		if operators[i].takes(k) {
			names = append(names, operators[i].name)
		}
	}
	return names
}

// Operators lists the names of all comparisons.
func Operators() []string {
	var names []string
	for i := range operators {
		if !slices.Contains(names, operators[i].name) {
			names = append(names, operators[i].name)
		}
	}
	return names
}
