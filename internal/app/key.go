package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"coffer/internal/archive"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
	"coffer/internal/platform/text"
	"coffer/internal/surface/cli"
	"github.com/spf13/cobra"
)

// sealed lists all columns that hold sealed values. Key rotation reads this list.
var sealed = []pg.SealedColumn{
	{Table: "instance", Column: "seal_check", Key: "id"},
	{Table: "connection", Column: "credentials", Key: "id"},
	{Table: "quarantine", Column: "raw", Key: "id"},
	{Table: "link_session", Column: "secret", Key: "id"},
	{Table: "webhook_event", Column: "session", Key: "id"},
	{Table: "provider_setting", Column: "fields", Key: "provider"},
	{Table: "model_setting", Column: "key", Key: "provider"},
	{Table: "endpoint", Column: "secret", Key: "id"},
	{Table: "endpoint", Column: "old_secret", Key: "id"},
}

var (
	checkPlace = seal.Place{Table: "instance", Column: "seal_check", Row: "true"}
	checkText  = []byte("coffer")
)

// checkKey returns an error unless the encryption key is the one that sealed the stored secrets. It
// remembers the first key.
func (a *App) checkKey(ctx context.Context) error {
	stored, err := pg.Value[[]byte](ctx, a.DB, `select seal_check from instance`)
	if err != nil {
		return fmt.Errorf("read the key check: %w", err)
	}
	switch {
	case a.Ring == nil:
		return nil
	case stored == nil:
		mark, err := a.Ring.Seal(checkPlace, checkText)
		if err != nil {
			return err
		}
		// If several servers start at the same time with different keys, one must win and the
		// others must notice.
		if _, err := pg.Exec(ctx, a.DB, `update instance set seal_check = $1
			where seal_check is null`, mark); err != nil {
			return err
		}
		return a.checkKey(ctx)
	}
	if _, err := a.Ring.Open(checkPlace, stored); err != nil {
		return fmt.Errorf("COFFER_ENCRYPTION_KEY is not the key that encrypted the stored secrets (%w); set "+
			"that key, or put it into COFFER_ENCRYPTION_KEYS_OLD and run: coffer key rotate. If it is lost, "+
			"coffer key forget lists what must be entered again", err)
	}
	return nil
}

// errLook rolls back a transaction that only counted what it would clear.
var errLook = errors.New("only looked")

// forgetCommand lets a household continue after its encryption key was lost. It is not an op,
// because it needs the server's keys.
func forgetCommand(c *cli.CLI, config Config) *cobra.Command {
	lost := false
	cmd := &cobra.Command{
		Use: "forget", Short: "Continue after the encryption key was lost", Args: cobra.NoArgs,
		Long: `Lists what was encrypted with a key that coffer doesn't have any more: bank connections, keys of providers and
models, secrets of endpoints. With --old-key-is-lost it clears them and goes on with COFFER_ENCRYPTION_KEY. Transactions
and everything else stay. Stop all servers first. If you still have the old key, use coffer key rotate instead.`,
		Example: "  coffer key forget\n  coffer key forget --old-key-is-lost",
		RunE: func(cmd *cobra.Command, _ []string) error {
			config.LogLevel = max(config.LogLevel, slog.LevelError)
			a, err := Build(cmd.Context(), config, config.logger())
			if err != nil {
				return err
			}
			defer a.DB.Close()
			if a.Ring == nil {
				return errs.New(errs.EncryptionKeyNeeded, "set COFFER_ENCRYPTION_KEY to a new key first; create "+
					"one: openssl rand -base64 32")
			}
			if err := a.openedUnchecked(cmd.Context()); err != nil {
				return err
			}
			found, err := a.forgetKey(cmd.Context(), lost)
			if err != nil {
				return err
			}
			return c.Say(cmd, lostWords(found, lost), found)
		},
	}
	cmd.Flags().BoolVar(&lost, "old-key-is-lost", false, "clear what can't be decrypted; it can't be undone")
	return cmd
}

// forgetKey clears the values that the current key cannot decrypt, and remembers the current key.
// If really is false, it only reports them.
func (a *App) forgetKey(ctx context.Context, really bool) (found archive.Lost, err error) {
	err = a.DB.InTx(ctx, func(tx pg.Tx) error {
		if found, err = archive.ForgetKey(ctx, tx, a.Ring, sealed); err == nil && !really {
			return errLook
		}
		return err
	})
	switch {
	case errors.Is(err, errLook):
		return found, nil
	case err != nil:
		return found, err
	}
	return found, a.checkKey(ctx)
}

// lostWords lists what must be entered again, and how.
func lostWords(l archive.Lost, really bool) string {
	var b strings.Builder
	line := func(text string, args ...any) { fmt.Fprintf(&b, text+"\n", args...) }
	if !l.Any() {
		line("Nothing has to be entered again.")
	}
	for _, c := range l.Connections {
		name := ""
		if c.InstitutionName != nil {
			name = " " + text.Cell(c.InstitutionName.Plain())
		}
		line("bank %s (%s%s): link it again with coffer connection link", c.ShortID, c.Provider, name)
	}
	for _, p := range l.Providers {
		line("provider %s: enter its settings again with coffer provider set", p)
	}
	for _, m := range l.Models {
		line("model provider %s: enter its key again with coffer model set", m)
	}
	for _, e := range l.Endpoints {
		line("endpoint %s: create a secret with coffer endpoint rotate, then enable it with coffer endpoint update", e)
	}
	if really {
		line("COFFER_ENCRYPTION_KEY is now the key of this database. Store a copy of it outside this machine.")
	} else {
		line("Nothing was changed. To clear this and go on with the new key: coffer key forget --old-key-is-lost")
	}
	return b.String()
}

// rotateCommand seals every stored secret again, with the current encryption key. It is not an op
// because it needs both keys, which only the server's machine has.
func rotateCommand(config Config) *cobra.Command {
	return &cobra.Command{
		Use: "rotate", Short: "Re-encrypt stored secrets with a new encryption key", Args: cobra.NoArgs,
		Long: `Encrypts every stored secret with COFFER_ENCRYPTION_KEY. Keep the old key in COFFER_ENCRYPTION_KEYS_OLD, for
running servers too, until this command has finished; then remove it. Servers keep running.`,
		Example: "  COFFER_ENCRYPTION_KEYS_OLD=$OLD COFFER_ENCRYPTION_KEY=$NEW coffer key rotate",
		RunE: func(cmd *cobra.Command, _ []string) error {
			a, err := Build(cmd.Context(), config, config.logger())
			if err != nil {
				return err
			}
			defer a.DB.Close()
			if a.Ring == nil {
				return errs.New(errs.EncryptionKeyNeeded,
					"set COFFER_ENCRYPTION_KEY to the new key and COFFER_ENCRYPTION_KEYS_OLD to the old one")
			}
			if err := a.opened(cmd.Context()); err != nil {
				return err
			}
			total := 0
			for _, column := range sealed {
				n, err := a.DB.Reseal(cmd.Context(), a.Ring, column)
				total += n
				if err != nil {
					return fmt.Errorf("after %d secrets: %w; run the command again", total, err)
				}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(),
				"%d secrets are now encrypted with key %s; you can remove COFFER_ENCRYPTION_KEYS_OLD\n", total,
				a.Ring.Current())
			return err
		},
	}
}
