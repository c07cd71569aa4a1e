package workflow

import (
	"context"
	"fmt"

	"coffer/internal/conduct"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/report"
)

// mostWrong is how many of the newest decisions that people looked at may be wrong before a
// workflow only plans.
const mostWrong = 5

// distrust sets dry_run of a workflow that writes, if people found too many of its decisions wrong,
// tells the household, and returns why. Only a person turns it off again.
//
// The column distrusted_at is the moment since which decisions count: when coffer set dry_run, and
// then when a person turned it off. What was wrong before was known to that person.
func (w *Workflows) distrust(ctx context.Context, tx pg.Tx, d *Workflow) (why string, err error) {
	if d.DryRun || d.Scope != op.Full.String() {
		return "", nil
	}
	since, err := pg.Value[*pg.Time](ctx, tx, `select distrusted_at from workflow where id = $1`, d.ID)
	if err != nil {
		return "", err
	}
	found, err := conduct.LookAt(ctx, tx, d.ID, since)
	if err != nil || found.Wrong < mostWrong {
		return "", err
	}
	_, err = pg.Exec(ctx, tx, `update workflow set dry_run = true, distrusted_at = clock_timestamp(),
		version = version + 1, updated_at = clock_timestamp() where id = $1`, d.ID)
	if err != nil {
		return "", err
	}
	why = fmt.Sprintf("Of the last %d decisions of this workflow that people looked at, %d were corrected, reverted "+
		"or dropped. So it plans its changes again, until a person turns dry_run off.", found.Looked, found.Wrong)
	_, err = w.reports.Create(op.Acting(ctx, op.Actor{Type: op.System, Name: "coffer"}), tx, report.CreateReport{
		Title: d.Name + " plans its changes again", Body: why, Kind: "alert",
	})
	if err != nil {
		return "", err
	}
	*d, err = w.byID(ctx, tx, d.ID)
	return why, err
}
