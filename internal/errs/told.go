package errs

import (
	"errors"
	"regexp"
	"strings"
)

// A refusal is an error of the database, whose driver this package does not know.
type refusal interface {
	error
	SQLState() string
}

var notEncoded = regexp.MustCompile(`(failed to encode args\[\d+\]):[^\n]*`)

// Told is the chain of err for the log. Of what the database or its driver says about a value that does not fit, the value is left out: it may be a secret or a stranger's words.
func Told(err error) string {
	text := err.Error()
	if r, ok := errors.AsType[refusal](err); ok && strings.HasPrefix(r.SQLState(), "22") { // data exceptions quote the data
		text = strings.ReplaceAll(text, r.Error(), "a value that does not fit (SQLSTATE "+r.SQLState()+")")
	}
	return notEncoded.ReplaceAllString(text, "$1")
}
