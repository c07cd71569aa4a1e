package errs

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Panicked turns a recovered value into an error for the log, with the place and the stack. The
// value may contain a secret or a stranger's text, so only the runtime's own errors, which quote no
// data, are printed; for all others only the type is.
func Panicked(where string, value any) error {
	if e, ok := value.(runtime.Error); ok {
		return fmt.Errorf("panic in %s: %w\n%s", where, e, debug.Stack())
	}
	return fmt.Errorf("panic in %s: a %T\n%s", where, value, debug.Stack())
}
