package rule

import (
	"fmt"
	"strconv"
)

// A Fault is one thing wrong with a rule as it was written. It never repeats the offending value.
type Fault struct {
	Path    string // leads to it: conditions.and[1].value
	Code    string // one word, as in errs.Detail
	Message string // what to do about it
}

// faults collects what is wrong.
type faults []Fault

func (f *faults) add(path, code, format string, args ...any) {
	*f = append(*f, Fault{path, code, fmt.Sprintf(format, args...)})
}

// at leads from a path to a member; the path of the whole may be empty.
func at(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func nth(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
