package errs

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Panicked turns a recovered value into an error for the log, with the place and the stack. The
// value may contain a secret or a stranger's text. Only the runtime's own errors are printed,
// because they quote no data; of any other value only the type is printed.
func Panicked(where string, value any) error {
	if e, ok := value.(runtime.Error); ok {
		return fmt.Errorf("panic in %s: %w\n%s", where, e, debug.Stack())
	}
	return fmt.Errorf("panic in %s: a %T\n%s", where, value, debug.Stack())
}
