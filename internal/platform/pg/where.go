package pg

import (
	"slices"
	"strconv"
	"strings"
)

// A Where composes a filter: conditions joined by "and", each with its own arguments. Conditions
// are literals of the program; a caller's values are passed only as arguments.
type Where struct {
	conds []string
	args  []any
}

// And adds a condition. Each "$?" in it stands for the next of args, in order.
func (w *Where) And(cond string, args ...any) *Where {
	if strings.Count(cond, "$?") != len(args) {
		panic("pg: condition and arguments do not match: " + cond)
	}
	var b strings.Builder
	for _, arg := range args {
		before, after, _ := strings.Cut(cond, "$?")
		w.args = append(w.args, arg)
		b.WriteString(before)
		b.WriteString("$" + strconv.Itoa(len(w.args)))
		cond = after
	}
	b.WriteString(cond)
	w.conds = append(w.conds, "("+b.String()+")")
	return w
}

// If adds the condition only if wanted is true.
func (w *Where) If(wanted bool, cond string, args ...any) *Where {
	if wanted {
		w.And(cond, args...)
	}
	return w
}

// Clone returns an independent filter with the same conditions.
func (w *Where) Clone() Where { return Where{slices.Clone(w.conds), slices.Clone(w.args)} }

// SQL returns the filter as a clause: "where (a) and (b)", or "" if there are no conditions.
func (w *Where) SQL() string {
	if len(w.conds) == 0 {
		return ""
	}
	return "where " + strings.Join(w.conds, " and ")
}

// Args returns the arguments of SQL's placeholders.
func (w *Where) Args() []any { return w.args }
