package ledger

import "strings"

// facts are the columns that banks deliver. Five kinds of SQL are made from this list: the table of
// staged rows, COPY, the comparison with stored rows, the update of rows that differ, and the copy
// into the parts of a split. TestFactSQL writes them to factsql.go.
var facts = func() (out []column) {
	for _, c := range columns {
		if c.fact != nil {
			out = append(out, c)
		}
	}
	return out
}()

// stored is the name of the column in the table.
func (c column) stored() string { return strings.TrimPrefix(c.sql, "t.") }

// withFacts returns the names of columns with those of the facts after the first few.
func withFacts(before []string, after ...string) []string {
	for _, c := range facts {
		before = append(before, c.stored())
	}
	return append(before, after...)
}

// appendFacts appends the values of the facts in that order.
func appendFacts(row []any, in *Incoming) []any {
	for i := range facts {
		row = append(row, facts[i].fact(in))
	}
	return row
}
