package connection

import (
	"context"

	"coffer/internal/bank"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
)

// RememberOptions stores how a connection's last file was read.
func (f *Connections) RememberOptions(ctx context.Context, tx pg.Tx, connection id.ID, options []byte) error {
	_, err := pg.Exec(ctx, tx, `update connection set statement_options = $2, updated_at = clock_timestamp()
		where id = $1`, connection, options)
	return err
}

// StartImport locks the connection that a file is imported into, and starts the log of the import.
func (f *Connections) StartImport(ctx context.Context, tx pg.Tx, connection, run id.ID) (id.ID, error) {
	if _, err := lockLink(ctx, tx, connection); err != nil {
		return id.ID{}, err
	}
	return startLog(ctx, tx, syncRequest{Connection: connection, Trigger: "import"}, run)
}

// A File describes what was imported.
type File struct {
	Account *id.ID  // nil if the file had several accounts
	Name    *string // as the caller gave it
}

// EndImport completes the log of an import of a file.
func (f *Connections) EndImport(ctx context.Context, tx pg.Tx, connection, log id.ID, n Tally, change *id.ID,
	of File,
) error {
	if err := f.writeLog(ctx, tx, &syncState{Tally: n, Log: log, Change: change}, true); err != nil {
		return err
	}
	_, err := pg.Exec(ctx, tx, `update sync_log set account_id = $2, file_name = $3 where id = $1`, log, of.Account,
		of.Name)
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, tx, `update connection set last_sync_at = clock_timestamp(),
		last_attempt_at = clock_timestamp(), updated_at = clock_timestamp() where id = $1 and provider = $2`,
		connection, bank.CSV)
	return err
}
