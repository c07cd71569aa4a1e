package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The kinds of tickets. A ticket can be used once, within its time.
const (
	SetupTicket   = "setup"
	PasskeyTicket = "passkey"
	OIDCTicket    = "oidc"
	InviteTicket  = "invite"
	ReplaceTicket = "replace"
)

const ticketRandom = 43 // base62 characters: 256 bits

// A Ticket connects two steps of a process. The issuer chooses Data, which is stored unencrypted,
// so it must not contain a secret.
type Ticket struct {
	Member *id.ID `db:"member_id"`
	Data   []byte `db:"data"`
}

// Issue creates a ticket of this kind and returns its text.
func (a *Auth) Issue(ctx context.Context, kind string, t Ticket, life time.Duration) (string, error) {
	secret := id.Base62(ticketRandom)
	hash := sha256.Sum256([]byte(secret))
	_, err := pg.Exec(ctx, a.db, `
		insert into ticket (hash, kind, member_id, data, expires_at)
			values ($1, $2, $3, coalesce($4, ''::bytea), now() + make_interval(secs => $5))`,
		hash[:], kind, t.Member, t.Data, life.Seconds())
	return secret, err
}

// Holds reports whether the text is a valid ticket of this kind.
func (a *Auth) Holds(ctx context.Context, kind, secret string) error {
	hash := sha256.Sum256([]byte(secret))
	ok, err := pg.Value[bool](ctx, a.db, `select exists (select from ticket
		where hash = $1 and kind = $2 and expires_at > now())`, hash[:], kind)
	if err == nil && !ok {
		return usedUp(kind)
	}
	return err
}

func usedUp(kind string) error {
	again := "start again"
	switch kind {
	case SetupTicket:
		again = "run coffer setup --link on the server to print another one"
	case InviteTicket, ReplaceTicket:
		again = "ask an admin of the household for a new one, or sign in if you have joined already"
	}
	return errs.New(errs.NotFound, "this link was already used or has expired; %s", again)
}

// Redeem uses a ticket up. If several callers present it at once, one succeeds.
func (a *Auth) Redeem(ctx context.Context, kind, secret string) (Ticket, error) {
	return redeem(ctx, a.db, kind, secret)
}

func redeem(ctx context.Context, q pg.Querier, kind, secret string) (Ticket, error) {
	hash := sha256.Sum256([]byte(secret))
	t, err := pg.One[Ticket](ctx, q, `delete from ticket where hash = $1 and kind = $2 and expires_at > now()
		returning member_id, data`, hash[:], kind)
	if errors.Is(err, pg.ErrNoRow) {
		return Ticket{}, usedUp(kind)
	}
	return t, err
}

// A FirstAdmin is the person who sets up the household. Currency is that of the person's country;
// "" if it is unknown.
type FirstAdmin struct{ Name, Email, Password, Currency string }

// SetUp creates the first member who can sign in. If a ticket is given, SetUp uses it up; the
// operator on the server needs no ticket. SetUp turns the member with which every household begins
// into this person, unless someone has already claimed that member.
func (a *Auth) SetUp(ctx context.Context, in FirstAdmin, ticket string) (User, error) {
	if err := aboutMember.Prop("name").Check(in.Name, "name"); err != nil {
		return User{}, err
	}
	if err := checkEmail("email", in.Email); err != nil {
		return User{}, err
	}
	if ticket != "" {
		if err := a.Holds(ctx, SetupTicket, ticket); err != nil {
			return User{}, err
		}
	}
	proof, err := a.NewPassword(ctx, in.Password, in.Name, in.Email)
	if err != nil {
		return User{}, err
	}
	var u User
	err = a.db.InTx(ctx, func(tx pg.Tx) (err error) {
		if ticket != "" {
			if _, err := redeem(ctx, tx, SetupTicket, ticket); err != nil {
				return err
			}
		}
		u, err = a.firstAdmin(ctx, tx, in)
		if err != nil {
			return err
		}
		if _, err := a.addLogin(ctx, tx, u.ID, Password, in.Email, proof, nil); err != nil {
			return err
		}
		if a.Begin != nil && in.Currency != "" {
			if err := a.Begin(ctx, tx, in.Currency); err != nil {
				return err
			}
		}
		_, err = pg.Exec(ctx, tx, `delete from ticket where kind = 'setup'`)
		return err
	})
	return u, err
}

func (a *Auth) firstAdmin(ctx context.Context, tx pg.Tx, in FirstAdmin) (User, error) {
	admins, err := pg.All[User](ctx, tx, `select `+userColumns+` from member where deleted_at is null
		and role = 'admin' order by id for update`)
	if err != nil {
		return User{}, err
	}
	done, err := pg.Value[bool](ctx, tx, `select exists (select from login l join member m on m.id = l.member_id
		where m.role = 'admin' and m.deleted_at is null)`)
	if err != nil {
		return User{}, err
	}
	if done {
		return User{}, errs.New(errs.Conflict,
			"an admin can already sign in; ask them to add other members, or change a password with: coffer "+
				"login-method update")
	}
	if len(admins) > 0 && admins[0].Email == nil && admins[0].Name == seededName {
		return a.PatchUser(ctx, tx, PatchUser{
			ID: admins[0].ID.String(), Name: &in.Name,
			Email: op.Null[string]{Set: true, Value: &in.Email},
		})
	}
	return a.CreateUser(ctx, tx, CreateUser{Name: in.Name, Email: &in.Email, Role: op.RoleAdmin})
}

// seededName is the name of the member with which every household begins.
const seededName = "Household"
