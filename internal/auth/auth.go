// Package auth says who is calling: it makes, finds and revokes the credentials of people, scripts and agents.
// It knows nothing of what a caller then does; that an op needs a scope is op's.
package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"time"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
)

const (
	keyPrefix   = "coffer_"
	keyRandom   = 43 // base62 characters: 256 bits
	shownRandom = 8
	touchEvery  = time.Minute
)

// Auth holds the credentials of one household.
type Auth struct {
	db *pg.DB

	mu      sync.Mutex
	used    map[id.ID]time.Time // keys used since the last flush
	written map[id.ID]time.Time // when a key's last use was last written
}

// New makes an Auth on that database.
func New(db *pg.DB) *Auth {
	return &Auth{db: db, used: map[id.ID]time.Time{}, written: map[id.ID]time.Time{}}
}

type credential struct {
	ID        id.ID  `db:"id"`
	Scope     string `db:"scope"`
	ActorType string `db:"actor_type"`
	ActorName string `db:"actor_name"`
	Expired   bool   `db:"expired"`
	Revoked   bool   `db:"revoked"`
}

// Key says who presents this API key. A text that cannot be a key costs no query; every other one costs exactly one, so that a revocation holds from the next request on.
func (a *Auth) Key(ctx context.Context, presented string) (op.Actor, error) {
	if presented == "" {
		return op.Actor{}, op.Allowed(op.AnyKey, op.Actor{})
	}
	if !wellFormed(presented) {
		return op.Actor{}, errs.New(errs.InvalidAPIKey, "this is not an API key; a key is coffer_ and 43 letters and digits")
	}
	hash := sha256.Sum256([]byte(presented))
	c, err := pg.One[credential](ctx, a.db, `
		select id, scope, actor_type, coalesce(actor_name, name) as actor_name,
			coalesce(expires_at <= now(), false) as expired, revoked_at is not null as revoked
		from token where hash = $1 and kind = 'api_key'`, hash[:])
	switch {
	case errors.Is(err, pg.ErrNoRow):
		return op.Actor{}, errs.New(errs.InvalidAPIKey, "no key like this was ever made here; check that it was copied whole")
	case err != nil:
		return op.Actor{}, err
	case c.Revoked:
		return op.Actor{}, errs.New(errs.RevokedAPIKey, "this key was revoked; ask for a new one")
	case c.Expired:
		return op.Actor{}, errs.New(errs.ExpiredAPIKey, "this key has expired; ask for a new one, or for its expiry to be moved")
	}
	a.touch(c.ID)
	actor := op.Actor{Type: c.ActorType, ID: c.ID, Name: c.ActorName, Key: &c.ID, Scope: op.Read, Bond: sha256.Sum256([]byte("bond " + presented))}
	if c.Scope == op.Full.String() {
		actor.Scope = op.Full
	}
	return actor, nil
}

func wellFormed(key string) bool {
	random, ok := strings.CutPrefix(key, keyPrefix)
	return ok && len(random) == keyRandom && id.IsBase62(random)
}

// touch remembers the use. Nothing is written on the path of a request: one update per request costs more than the request.
func (a *Auth) touch(key id.ID) {
	a.mu.Lock()
	a.used[key] = time.Now()
	a.mu.Unlock()
}

// Run writes the last uses down, each key's at most once a minute, until ctx ends; then it writes what is left.
func (a *Auth) Run(ctx context.Context, failed func(error)) {
	tick := time.NewTicker(touchEvery / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
			err := a.Flush(last, 0)
			cancel()
			if err != nil {
				failed(err)
			}
			return
		case <-tick.C:
			if err := a.Flush(ctx, touchEvery); err != nil {
				failed(err)
			}
		}
	}
}

// Flush writes the last use of every key that was used and whose last use was not written within the pause.
func (a *Auth) Flush(ctx context.Context, pause time.Duration) error {
	a.mu.Lock()
	var keys []id.ID
	var times []time.Time
	for key, at := range a.used {
		if time.Since(a.written[key]) >= pause {
			keys, times = append(keys, key), append(times, at)
			a.written[key] = time.Now()
			delete(a.used, key)
		}
	}
	a.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	_, err := pg.Exec(ctx, a.db, `
		update token t set last_used_at = u.at
		from unnest($1::uuid[], $2::timestamptz[]) u (id, at)
		where t.id = u.id and (t.last_used_at is null or t.last_used_at < u.at)`, keys, times)
	return err
}
