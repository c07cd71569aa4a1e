package rulebook_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"coffer/internal/rules/rulebook"
)

// An expiring is a context that ends after a number of calls of Err. Its Done channel does not show
// that. So only code that calls Err notices the end, as it must while it reads rows that have
// already arrived from the database.
type expiring struct {
	context.Context //nolint:containedctx // the type is itself a context
	left            atomic.Int64
}

func (c *expiring) Err() error {
	if c.left.Add(-1) < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

// A preview stops between two rows when its time is over, whether it reads wordings or
// transactions.
func TestPreviewEndsWithItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(seeded(3), 400)
	for name, condition := range map[string]any{
		"wordings":     map[string]any{"field": "name", "op": "matches", "value": "[a-z]?[0-9]?~"},
		"transactions": map[string]any{"field": "account_name", "op": "matches", "value": "[a-z]?[0-9]?~"},
	} {
		count := func(most int64) (asked int64, err error) {
			ctx := &expiring{Context: w.ctx}
			ctx.left.Store(most)
			_, err = w.rules.Preview(ctx, w.db, rulebook.PreviewRule{
				Conditions: w.conditions(condition),
				SampleSize: 1,
			})
			return most - ctx.left.Load(), err
		}
		whole, err := count(1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		if whole < 100 {
			t.Errorf("%s: the context was checked only %d times for a few hundred rows", name, whole)
		}
		if asked, err := count(whole / 2); !errors.Is(err, context.DeadlineExceeded) || asked > whole/2+10 {
			t.Errorf("%s: checked %d times although it ended after %d: %v", name, asked, whole/2, err)
		}
	}
}
