package errs

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Panicked makes an error of what recover gave, for the log: where it happened, and the stack. What somebody panicked with may hold a secret or a stranger's words,
// so only the runtime's own complaints, which quote no data, are told; of all else the type.
func Panicked(where string, value any) error {
	if e, ok := value.(runtime.Error); ok {
		return fmt.Errorf("panic in %s: %w\n%s", where, e, debug.Stack())
	}
	return fmt.Errorf("panic in %s: a %T\n%s", where, value, debug.Stack())
}
