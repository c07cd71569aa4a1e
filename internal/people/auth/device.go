package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The device grant: a program on another machine shows a code. An admin enters the code on a page
// and grants a key. The program polls meanwhile and then fetches the key.
const (
	DeviceLife  = 10 * time.Minute
	DevicePause = 5 * time.Second
)

// userLetters have no vowels, so that no code is a word, and no letters that look alike.
const userLetters = "BCDFGHJKLMNPQRSTVWXZ"

// An Asking is a program's request for a key.
type Asking struct {
	ID        id.ID   `db:"id"`
	UserCode  string  `db:"user_code"`
	Client    string  `db:"client"`
	Scope     string  `db:"scope"`
	Address   string  `db:"address"`
	CreatedAt pg.Time `db:"created_at"`
}

const askingColumns = `id, user_code, client, scope, address, created_at`

// Ask stores a program's request for a key. It returns the code that the program keeps, and in
// Asking the code that it shows.
func (a *Auth) Ask(ctx context.Context, client, scope, address string) (Asking, string, error) {
	if err := a.Knock(ctx, "device", address); err != nil {
		return Asking{}, "", err
	}
	code := id.Base62(ticketRandom)
	hash := sha256.Sum256([]byte(code))
	for range 5 {
		asking, err := pg.One[Asking](ctx, a.db, `
			insert into device (id, hash, user_code, client, scope, address, pause, expires_at)
			values (@id, @hash, @code, @client, @scope, @address, @pause, now() + make_interval(secs => @life))
				returning `+askingColumns, pg.Args{
			"id": id.New(), "hash": hash[:], "code": userCode(), "client": client, "scope": scope, "address": address,
			"pause": int(DevicePause.Seconds()), "life": DeviceLife.Seconds(),
		})
		if err == nil || !pg.Violates(err, "device_user_code") {
			return asking, code, err
		}
	}
	return Asking{}, "", errs.New(errs.Unavailable, "no code is available right now; try again")
}

// userCode returns eight random letters.
func userCode() string {
	b := make([]byte, 0, 8)
	for one := make([]byte, 1); len(b) < 8; {
		_, _ = rand.Read(one)          // never fails
		if n := int(one[0]); n < 240 { // a multiple of twenty, so that all letters are equally likely
			b = append(b, userLetters[n%20])
		}
	}
	return string(b[:4]) + "-" + string(b[4:])
}

// Asked returns the request with this code, if it is undecided. Spelling variants of the code are
// accepted.
func (a *Auth) Asked(ctx context.Context, code string) (Asking, error) {
	asking, err := pg.One[Asking](ctx, a.db, `select `+askingColumns+` from device where user_code = $1
		and state = 'pending' and expires_at > now()`, spelled(code))
	if errors.Is(err, pg.ErrNoRow) {
		return Asking{}, errs.New(errs.NotFound,
			"unknown code; codes expire after ten minutes, so check the current one in the program")
	}
	return asking, err
}

func spelled(code string) string {
	var b strings.Builder
	for _, r := range strings.ToUpper(code) {
		if strings.ContainsRune(userLetters, r) {
			b.WriteRune(r)
		}
	}
	if b.Len() != 8 {
		return ""
	}
	return b.String()[:4] + "-" + b.String()[4:]
}

// Decide lets an admin grant a key with this scope to the program with this code; "" refuses the
// request.
func (a *Auth) Decide(ctx context.Context, actor op.Actor, code, scope string) (Asking, error) {
	if actor.Role != op.RoleAdmin || actor.Session == nil {
		return Asking{}, errs.New(errs.Forbidden, "only a signed-in admin can approve this request")
	}
	state := "approved"
	if scope == "" {
		state = "denied"
	} else if err := op.Proven(actor); err != nil {
		return Asking{}, err
	}
	asking, err := pg.One[Asking](ctx, a.db, `
		update device set state = $2, member_id = $3, scope = coalesce(nullif($4, ''), scope)
		where user_code = $1 and state = 'pending' and expires_at > now()
			returning `+askingColumns, spelled(code), state, actor.Member, scope)
	if errors.Is(err, pg.ErrNoRow) {
		return Asking{}, errs.New(errs.NotFound,
			"this request was already decided or has expired; start again in the program")
	}
	return asking, err
}

// A Grant is the state of a program's request.
type Grant string

// The states of a request, in the terms of RFC 8628.
const (
	Granted  Grant = ""
	Pending  Grant = "authorization_pending"
	TooFast  Grant = "slow_down"
	Denied   Grant = "access_denied"
	Expired  Grant = "expired_token"
	NoneSuch Grant = "invalid_grant"
)

// Fetch reports whether a program's request was granted. It creates the key when the program first
// fetches it, so that no unused key is stored in the database.
func (a *Auth) Fetch(ctx context.Context, code string) (key NewKey, at Grant, err error) {
	hash := sha256.Sum256([]byte(code))
	err = a.db.InTx(ctx, func(tx pg.Tx) error {
		type granted struct {
			Client string `db:"client"`
			Scope  string `db:"scope"`
			Member id.ID  `db:"member_id"`
		}
		g, err := pg.One[granted](ctx, tx, `update device set state = 'used'
			where hash = $1 and state = 'approved' and expires_at > now() returning client, scope, member_id`, hash[:])
		if errors.Is(err, pg.ErrNoRow) {
			at, err = a.poll(ctx, tx, hash[:])
			return err
		}
		if err != nil {
			return err
		}
		key, err = a.create(ctx, tx, CreateKey{Name: g.Client, Scope: g.Scope, ActorType: op.User}, &g.Member)
		return err
	})
	return key, at, err
}

// poll returns the reason why there is no key yet. A program that polls too soon must wait five
// seconds longer between polls.
func (a *Auth) poll(ctx context.Context, tx pg.Tx, hash []byte) (Grant, error) {
	type asked struct {
		State   string `db:"state"`
		Expired bool   `db:"expired"`
		Fast    bool   `db:"fast"`
	}
	d, err := pg.One[asked](ctx, tx, `
		with before as (select id, state, expires_at <= now() as expired,
			coalesce(polled_at > now() - make_interval(secs => pause - 0.5), false) as fast from device
			where hash = $1 for update)
		update device d set polled_at = now(), pause = d.pause + case when before.fast then 5 else 0 end
		from before where d.id = before.id returning before.state, before.expired, before.fast`, hash)
	switch {
	case errors.Is(err, pg.ErrNoRow):
		return NoneSuch, nil
	case err != nil:
		return "", err
	case d.State == "used":
		return NoneSuch, nil
	case d.Expired:
		return Expired, nil
	case d.State == "denied":
		return Denied, nil
	case d.Fast && d.State == "pending":
		return TooFast, nil
	}
	return Pending, nil
}
