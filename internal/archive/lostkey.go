package archive

import (
	"context"
	"crypto/rand"

	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
	"coffer/internal/platform/text"
)

// Lost lists what becomes unreadable with a lost encryption key and must be entered again.
type Lost struct {
	Connections []LostConnection `json:"connections" doc:"Banks to link again"`
	Providers   []string         `json:"providers" doc:"Bank providers whose secrets must be entered again"`
	Models      []string         `json:"models" doc:"Model providers whose keys must be entered again"`
	Endpoints   []string         `json:"endpoints" doc:"Notification endpoints that need a new signing secret"`
	Rows        int64            `json:"rows" doc:"Other values that are cleared: unreadable rows of banks, link sessions, webhook events"`
}

// A LostConnection is a connection without credentials.
type LostConnection struct {
	ShortID         string          `json:"short_id" db:"short_id"`
	Provider        string          `json:"provider" db:"provider"`
	InstitutionName *text.Untrusted `json:"institution_name" db:"institution_name"`
}

// Any reports whether anything must be entered again.
func (l Lost) Any() bool {
	return len(l.Connections)+len(l.Providers)+len(l.Models)+len(l.Endpoints) > 0
}

// ForgetKey clears every value of the given columns that the ring cannot open, in the caller's
// transaction. It returns what was lost. Values that the ring can open stay.
func ForgetKey(ctx context.Context, tx pg.Tx, ring *seal.Ring, columns []pg.SealedColumn) (out Lost, err error) {
	out = Lost{Connections: []LostConnection{}, Providers: []string{}, Models: []string{}, Endpoints: []string{}}
	for _, c := range columns {
		keys, err := pg.Unopened(ctx, tx, ring, c)
		if err != nil {
			return out, err
		}
		if len(keys) == 0 {
			continue
		}
		if err := out.forget(ctx, tx, ring, c, keys); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (l *Lost) forget(ctx context.Context, tx pg.Tx, ring *seal.Ring, c pg.SealedColumn, keys []string) (err error) {
	n := int64(0)
	switch c.Table + "." + c.Column {
	case "instance.seal_check":
		_, err = pg.Exec(ctx, tx, `update instance set seal_check = null`)
	case "connection.credentials":
		l.Connections, err = pg.All[LostConnection](ctx, tx, `
			update connection set credentials = null, status = 'disconnected', status_reason = 'KEY_LOST',
				status_message = 'The encryption key was lost, and with it the access to this bank; link the bank again to sync it.',
				next_sync_at = null, updated_at = clock_timestamp()
			where id = any($1::text[]::uuid[]) returning short_id, provider, institution_name`, keys)
	case "quarantine.raw":
		n, err = pg.Exec(ctx, tx, `update quarantine set raw = null where id = any($1::text[]::uuid[])`, keys)
	case "link_session.secret":
		n, err = pg.Exec(ctx, tx, `update link_session set secret = null, claimed_until = null,
				state = case when state = 'pending' then 'failed' else state end,
				error_code = case when state = 'pending' then 'SESSION_EXPIRED' else error_code end
			where id = any($1::text[]::uuid[])`, keys)
	case "webhook_event.session":
		n, err = pg.Exec(ctx, tx, `update webhook_event set session = null where id = any($1::text[]::uuid[])`, keys)
	case "provider_setting.fields":
		l.Providers, err = pg.Values[string](ctx, tx, `update provider_setting set fields = null, version = version + 1,
			tested_at = null, test_code = null, test_message = null where provider = any($1) returning provider`, keys)
	case "model_setting.key":
		l.Models, err = pg.Values[string](ctx, tx, `update model_setting set key = null, version = version + 1
			where provider = any($1) returning provider`, keys)
	case "endpoint.secret":
		for _, id := range keys {
			secret := make([]byte, 32)
			rand.Read(secret) // never returns an error
			sealed, err := ring.Seal(seal.Place{Table: c.Table, Column: c.Column, Row: id}, secret)
			if err != nil {
				return err
			}
			// nobody knows the new secret, so the endpoint stays disabled until a person rotates it
			called, err := pg.Value[string](ctx, tx, `update endpoint set secret = $2, enabled = false,
				updated_at = clock_timestamp() where id = $1::text::uuid returning short_id`, id, sealed)
			if err != nil {
				return err
			}
			l.Endpoints = append(l.Endpoints, called)
		}
	case "endpoint.old_secret":
		n, err = pg.Exec(ctx, tx, `update endpoint set old_secret = null, old_until = null
			where id = any($1::text[]::uuid[])`, keys)
	}
	l.Rows += n
	return err
}
