// Package auth identifies callers: it creates, finds and revokes the credentials of people, scripts
// and agents. It does not decide which operations a caller may use; package op checks scopes.
package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

const (
	keyPrefix   = "coffer_"
	keyRandom   = 43 // base62 characters: 256 bits
	shownRandom = 8
	touchEvery  = time.Minute
)

// Auth holds the credentials of one household.
type Auth struct {
	LoginsPerMinute int    // sign-ins from one address; more must wait
	AllowHTTP       bool   // sessions over plain HTTP are accepted
	Base            string // the server's address for people, without a slash at its end; links begin with it
	// Begin is called in the transaction that creates the first admin, with the currency of that
	// person's country. It may be nil, and it is not called if the currency is unknown.
	Begin func(ctx context.Context, tx pg.Tx, currency string) error

	db        *pg.DB
	passwords *hasher
	widths    []width // the networks for which sign-ins are counted

	mu      sync.Mutex
	used    map[id.ID]time.Time // tokens used since the last flush
	written map[id.ID]time.Time // when a token's last use was last written
}

// shared hashes the passwords of all households of this process. Together they use no more memory
// and cores than one household.
var shared = sync.OnceValue(newHasher)

// New returns an Auth for the database.
func New(db *pg.DB) *Auth {
	return &Auth{
		LoginsPerMinute: usualTries, db: db, passwords: shared(), widths: usualWidths,
		used: map[id.ID]time.Time{}, written: map[id.ID]time.Time{},
	}
}

type credential struct {
	ID        id.ID   `db:"id"`
	Scope     string  `db:"scope"`
	ActorType string  `db:"actor_type"`
	ActorName string  `db:"actor_name"`
	MemberID  *id.ID  `db:"member_id"`
	Role      *string `db:"role"`
	Expired   bool    `db:"expired"`
	Revoked   bool    `db:"revoked"`
}

// actor returns the actor of this credential. Its rights are the narrower of the credential's scope
// and the member's current role.
func (c credential) actor(presented string) op.Actor {
	a := op.Actor{
		Type: c.ActorType, ID: c.ID, Name: c.ActorName, Scope: op.Read, Member: c.MemberID,
		Bond: sha256.Sum256([]byte("bond " + presented)),
	}
	if c.Role != nil {
		a.Role = *c.Role
	}
	if c.Scope == op.Full.String() && a.Role != op.RoleViewer {
		a.Scope = op.Full
	}
	return a
}

// Key returns the actor of this API key. A malformed key costs no query. Any other key costs
// exactly one query, so that a revocation is effective from the next request.
func (a *Auth) Key(ctx context.Context, presented string) (op.Actor, error) {
	if presented == "" {
		return op.Actor{}, op.Allowed(op.AnyKey, op.Actor{})
	}
	if !wellFormed(presented) {
		return op.Actor{}, errs.New(errs.InvalidAPIKey,
			"not an API key: keys start with coffer_ followed by 43 letters and digits")
	}
	hash := sha256.Sum256([]byte(presented))
	type held struct {
		credential
		Administers bool `db:"administers"`
		OnlyAdds    bool `db:"only_adds"`
	}
	c, err := pg.One[held](ctx, a.db.Reserved(), `
		select 'administer' = any(t.may) as administers, only_may <> '{}' as only_adds, t.id, t.scope, t.actor_type,
			coalesce(t.actor_name, t.name) as actor_name, t.member_id, m.role,
			coalesce(t.expires_at <= now(), false) as expired, t.revoked_at is not null
				or m.deleted_at is not null as revoked
		from token t left join member m on m.id = t.member_id where t.hash = $1 and t.kind = 'api_key'`, hash[:])
	switch {
	case errors.Is(err, pg.ErrNoRow):
		return op.Actor{}, errs.New(errs.InvalidAPIKey, "unknown API key; check that you copied all of it")
	case err != nil:
		return op.Actor{}, op.Passing(err)
	case c.Revoked:
		return op.Actor{}, errs.New(errs.RevokedAPIKey, "this key was revoked; ask for a new one")
	case c.Expired:
		return op.Actor{}, errs.New(errs.ExpiredAPIKey,
			"this key has expired; ask for a new one, or ask for its expiry to be extended")
	}
	a.touch(c.ID)
	actor := c.actor(presented)
	actor.Key, actor.Administers, actor.OnlyAdds = &c.ID, c.Administers, c.OnlyAdds
	return actor, nil
}

func wellFormed(key string) bool {
	random, ok := strings.CutPrefix(key, keyPrefix)
	return ok && len(random) == keyRandom && id.IsBase62(random)
}

// touch remembers that the token was used. It does not write to the database, because one update
// per request costs more than the request.
func (a *Auth) touch(token id.ID) {
	a.mu.Lock()
	a.used[token] = time.Now()
	a.mu.Unlock()
}

// Run writes the last use of each token, at most once a minute per token, until ctx ends. Then it
// writes the rest.
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

// Flush writes the last use of every token that was used and whose last use was not written within
// pause.
func (a *Auth) Flush(ctx context.Context, pause time.Duration) error {
	a.mu.Lock()
	var keys []id.ID
	var times []time.Time
	for key, at := range a.written { // forget old entries, so that the next use is written at once
		if time.Since(at) >= pause {
			delete(a.written, key)
		}
	}
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
	// InTx tries again after a deadlock with a transaction that revokes several of these tokens.
	return a.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := pg.Exec(ctx, tx, `
			update token t set last_used_at = u.at
			from unnest($1::uuid[], $2::timestamptz[]) u (id, at)
			where t.id = u.id and (t.last_used_at is null or t.last_used_at < u.at)`, keys, times)
		return err
	})
}
