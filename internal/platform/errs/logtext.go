package errs

import (
	"errors"
	"regexp"
	"strings"
)

// A refusal is an error of the database. The method identifies it without importing the driver.
type refusal interface {
	error
	SQLState() string
}

var notEncoded = regexp.MustCompile(`(failed to encode args\[\d+\]):[^\n]*`)

// LogText returns the chain of err for the log. If the database or its driver quotes an invalid
// value, the value is left out: it may be a secret or a stranger's text.
func LogText(err error) string {
	text := err.Error()
	// PostgreSQL's messages about data exceptions quote the data.
	if r, ok := errors.AsType[refusal](err); ok && strings.HasPrefix(r.SQLState(), "22") {
		text = strings.ReplaceAll(text, r.Error(), "an invalid value (SQLSTATE "+r.SQLState()+")")
	}
	return notEncoded.ReplaceAllString(text, "$1")
}
