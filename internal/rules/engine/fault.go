package engine

import (
	"fmt"
	"strconv"
)

// A Fault is one error in a rule. It never repeats the offending value.
type Fault struct {
	Path    string // for example conditions.and[1].value
	Code    string // one word, as in errs.Detail
	Message string // what to do about it
}

// faults collects the errors of a rule.
type faults []Fault

func (f *faults) add(path, code, format string, args ...any) {
	*f = append(*f, Fault{path, code, fmt.Sprintf(format, args...)})
}

// at appends a member to a path. The path of the whole rule may be empty.
func at(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func nth(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
