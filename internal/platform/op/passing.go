package op

import (
	"context"
	"errors"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// Passing turns temporary failures into errors that report them: an unreachable database, other
// calls using the same records, a canceled call.
func Passing(err error) error {
	err = pg.Contended(err)
	switch {
	case pg.Full(err):
		return err
	case pg.TimedOut(err):
		return errs.Wrap(err, errs.Unavailable,
			"the request timed out; narrow it or try again")
	case err != nil && pg.Away(err):
		return errs.Wrap(err, errs.Unavailable, "the database can't be reached right now; try again")
	case errors.Is(err, context.Canceled):
		// canceled by the caller, who will not read this, or by our shutdown
		return errs.Wrap(err, errs.Unavailable, "the call was canceled")
	}
	return err
}

// ended adds the reason why ctx ended to an error that this caused. The driver ends a statement by
// setting a deadline on its connection, and its error does not always contain the reason. Without
// the reason the error would look like an unreachable database.
func ended(ctx context.Context, err error) error {
	if why := ctx.Err(); err != nil && why != nil && !errors.Is(err, why) && pg.Away(err) {
		return errors.Join(err, why)
	}
	return err
}
