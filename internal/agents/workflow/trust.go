package workflow

import (
	"context"
	"fmt"

	"coffer/internal/books/report"
	"coffer/internal/people/trackrecord"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// mostWrong is the number of wrong decisions, among the newest that people looked at, from which on
// a workflow only plans.
const mostWrong = 5

// distrust sets dry_run of a workflow that writes, if people found too many of its decisions wrong.
// It then writes a report for the household and returns the reason. Only a person can turn dry_run
// off again.
//
// Only decisions after distrusted_at count. That is the time when coffer set dry_run, and later the
// time when a person turned it off, because that person knew the earlier mistakes.
func (w *Workflows) distrust(ctx context.Context, tx pg.Tx, d *Workflow) (why string, err error) {
	if d.DryRun || d.Scope != op.Full.String() {
		return "", nil
	}
	since, err := pg.Value[*pg.Time](ctx, tx, `select distrusted_at from workflow where id = $1`, d.ID)
	if err != nil {
		return "", err
	}
	found, err := trackrecord.LookAt(ctx, tx, d.ID, since)
	if err != nil || found.Wrong < mostWrong {
		return "", err
	}
	_, err = pg.Exec(ctx, tx, `update workflow set dry_run = true, distrusted_at = clock_timestamp(),
		version = version + 1, updated_at = clock_timestamp() where id = $1`, d.ID)
	if err != nil {
		return "", err
	}
	why = fmt.Sprintf("%d of its last %d reviewed changes were corrected, undone or discarded, so coffer turned "+
		"approval back on. A person can turn it off in the workflow's settings (dry_run).", found.Wrong, found.Looked)
	_, err = w.reports.Create(op.Acting(ctx, op.Actor{Type: op.System, Name: "coffer"}), tx, report.CreateReport{
		Title: d.Name + " needs approval again", Body: why, Kind: "alert",
	})
	if err != nil {
		return "", err
	}
	*d, err = w.byID(ctx, tx, d.ID)
	return why, err
}
