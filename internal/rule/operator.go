package rule

import (
	"math"
	"slices"
)

// A test is how a leaf compares. Several operators share one: neq is eq turned round, in is eq with several values.
type test uint8

const (
	testIn       test = iota // the text is one of the values
	testContains             // the text contains the value
	testMatches              // the regular expression matches somewhere in the text
	testRange                // the amount lies between two bounds, both included
	testTruth                // the flag is as given
	testTags                 // one of the tags is there
)

// A form is what the value of a leaf looks like in JSON.
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
	negate bool                                // the leaf holds where the test fails
	span   func(cents int64) (low, high int64) // of amounts
	doc    string
}

var (
	textual = []kind{kindText, kindCategory, kindIdentity}
	numeric = []kind{kindAmount}
	flag    = []kind{kindBool}
	tagged  = []kind{kindTags}
)

// operators is the table. The same name may stand there once for each kind of field.
var operators = []operator{
	{"eq", textual, formText, testIn, false, nil, "is the text, whatever its case"},
	{"neq", textual, formText, testIn, true, nil, "is another text"},
	{"contains", textual, formText, testContains, false, nil, "has the text somewhere in it, whatever its case"},
	{"not_contains", textual, formText, testContains, true, nil, "has the text nowhere in it"},
	{"matches", textual, formPattern, testMatches, false, nil, "matches the RE2 regular expression somewhere; case counts unless it begins with (?i)"},
	{"in", textual, formTexts, testIn, false, nil, "is one of the texts, whatever its case"},

	{"eq", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return c, c }, "is the amount"},
	{"neq", numeric, formAmount, testRange, true, func(c int64) (int64, int64) { return c, c }, "is another amount"},
	{"gt", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return c + 1, math.MaxInt64 }, "is more"},
	{"gte", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return c, math.MaxInt64 }, "is as much or more"},
	{"lt", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return math.MinInt64, c - 1 }, "is less"},
	{"lte", numeric, formAmount, testRange, false, func(c int64) (int64, int64) { return math.MinInt64, c }, "is as much or less"},

	{"eq", flag, formBool, testTruth, false, nil, "is so"},
	{"neq", flag, formBool, testTruth, true, nil, "is not so"},

	{"contains", tagged, formText, testTags, false, nil, "has the tag"},
	{"not_contains", tagged, formText, testTags, true, nil, "lacks the tag"},
	{"in", tagged, formTexts, testTags, false, nil, "has any of the tags"},
}

func (o *operator) takes(k kind) bool { return slices.Contains(o.kinds, k) }

// operatorOf finds the line for that name and kind of field.
func operatorOf(name string, k kind) *operator {
	for i := range operators {
		if operators[i].name == name && operators[i].takes(k) {
			return &operators[i]
		}
	}
	return nil
}

// operatorsFor names the operators of a kind of field.
func operatorsFor(k kind) []string {
	var names []string
	for i := range operators {
		if operators[i].takes(k) {
			names = append(names, operators[i].name)
		}
	}
	return names
}
