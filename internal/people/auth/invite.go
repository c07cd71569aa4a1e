package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/qr"
)

// An invitation is a link with which a member sets a sign-in method that nobody else knows. It also
// helps a member who has lost all sign-in methods.
const (
	inviteLife  = 7 * 24 * time.Hour
	replaceLife = 15 * time.Minute
)

// An Invitation is shown once: only its hash is stored.
type Invitation struct {
	URL       string  `json:"url" doc:"The link, shown only once: anyone who opens it can sign in as the member" example:"https://coffer.example/join/4f8Kq2Lz…"`
	ExpiresAt pg.Time `json:"expires_at"`
	QR        string  `json:"qr" screen:"none" doc:"The link as a QR code: a line of 0 (light) and 1 (dark) for each row; empty if the link is too long for one"`
}

// A NewUser is a member who was just added, with the invitation if one was requested.
type NewUser struct {
	User
	Invitation *Invitation `json:"invitation,omitempty" db:"-" doc:"With invite: the link to set up a sign-in method, shown only once"`
}

// AddUser adds a member to the household, and creates an invitation if that is requested.
func (a *Auth) AddUser(ctx context.Context, tx pg.Tx, in CreateUser) (NewUser, error) {
	u, err := a.CreateUser(ctx, tx, in)
	if err != nil || !in.Invite {
		return NewUser{User: u}, err
	}
	invitation, err := a.invite(ctx, tx, u.ID)
	u.InvitedUntil = &invitation.ExpiresAt
	return NewUser{u, &invitation}, err
}

// Invite creates an invitation for a member. An earlier invitation becomes void.
func (a *Auth) Invite(ctx context.Context, tx pg.Tx, in UserRef) (Invitation, error) {
	u, _, err := a.lockUser(ctx, tx, in.ID)
	if err != nil {
		return Invitation{}, err
	}
	return a.invite(ctx, tx, u.ID)
}

func (a *Auth) invite(ctx context.Context, tx pg.Tx, member id.ID) (Invitation, error) {
	secret := id.Base62(ticketRandom)
	hash := sha256.Sum256([]byte(secret))
	until, err := pg.Value[pg.Time](ctx, tx, `
		insert into ticket (hash, kind, member_id, expires_at)
			values ($1, 'invite', $2, now() + make_interval(secs => $3))
		on conflict (member_id) where kind = 'invite'
			do update set hash = excluded.hash, created_at = now(), expires_at = excluded.expires_at
		returning expires_at`, hash[:], member, inviteLife.Seconds())
	out := Invitation{URL: a.Base + "/join/" + secret, ExpiresAt: until}
	if code, err := qr.Encode(out.URL); err == nil {
		out.QR = strings.Join(code.Rows(), "\n")
	}
	return out, err
}

// Uninvite voids a member's invitation, if there is one.
func (a *Auth) Uninvite(ctx context.Context, tx pg.Tx, in UserRef) (op.Deleted, error) {
	u, _, err := a.lockUser(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	_, err = pg.Exec(ctx, tx, `delete from ticket where member_id = $1 and kind = 'invite'`, u.ID)
	return op.Deleted{Deleted: true, ID: u.ID}, err
}

// voidLinks voids every link with which a sign-in method of the member could be set. The methods
// were just changed, and an older link must not overwrite that.
func voidLinks(ctx context.Context, tx pg.Tx, member id.ID) error {
	_, err := pg.Exec(ctx, tx, `delete from ticket where member_id = $1 and kind in ('invite', 'replace')`, member)
	return err
}

// Replacing creates the link with which a member replaces a password that someone else set. The
// member has just signed in with that password.
func (a *Auth) Replacing(ctx context.Context, e SignIn) (string, error) {
	return a.Issue(ctx, ReplaceTicket, Ticket{Member: &e.User.ID}, replaceLife)
}

// A Joining is the data behind a link with which a member sets a sign-in method.
type Joining struct {
	User     User
	Email    string // the address to sign in with; "" if the member has none yet
	Replaces bool   // the link replaces a password that somebody else set

	kind string
}

// Joining returns the data behind a link. Unknown, expired, void and used links give the same
// error. Attempts are counted like sign-ins.
func (a *Auth) Joining(ctx context.Context, secret, address string) (Joining, error) {
	if err := a.Knock(ctx, InviteTicket, address); err != nil {
		return Joining{}, err
	}
	return a.joining(ctx, a.db, secret)
}

// StillJoining is Joining for a request whose attempt has already been counted.
func (a *Auth) StillJoining(ctx context.Context, secret string) (Joining, error) {
	return a.joining(ctx, a.db, secret)
}

func (a *Auth) joining(ctx context.Context, q pg.Querier, secret string) (Joining, error) {
	hash := sha256.Sum256([]byte(secret))
	type link struct {
		Kind   string `db:"kind"`
		Member id.ID  `db:"member_id"`
		Email  string `db:"email"`
	}
	l, err := pg.One[link](ctx, q, `
		select t.kind, t.member_id, coalesce((select identifier from login l where l.member_id = t.member_id
			and l.kind = 'password'), m.email, '') as email
		from ticket t join member m on m.id = t.member_id
		where t.hash = $1 and t.kind in ('invite', 'replace') and t.expires_at > now() and m.deleted_at is null`,
		hash[:])
	var u User
	if err == nil {
		u, err = a.FindUser(ctx, q, l.Member.String())
	}
	if errors.Is(err, pg.ErrNoRow) {
		return Joining{}, usedUp(InviteTicket)
	}
	return Joining{User: u, Email: l.Email, Replaces: l.Kind == ReplaceTicket, kind: l.Kind}, err
}

// JoinWithPassword uses the link up and sets the member's password. The email address is only used
// if the member has none yet.
func (a *Auth) JoinWithPassword(ctx context.Context, secret, email, password, address string) (SignIn, error) {
	j, err := a.Joining(ctx, secret, address)
	if err != nil {
		return SignIn{}, err
	}
	if j.Email == "" {
		if err := checkEmail("email", email); err != nil {
			return SignIn{}, err
		}
		j.Email = email
	}
	if err := a.isAnother(ctx, j, password); err != nil {
		return SignIn{}, err
	}
	proof, err := a.NewPassword(ctx, password, j.User.Name, j.Email)
	if err != nil {
		return SignIn{}, err
	}
	return a.redeem(ctx, j, secret, func(tx pg.Tx) error {
		n, err := pg.Exec(ctx, tx, `update login set proof = $2, must_replace = false, updated_at = clock_timestamp()
			where member_id = $1 and kind = 'password'`, j.User.ID, proof)
		if err == nil && n == 0 {
			_, err = a.addLogin(ctx, tx, j.User.ID, Password, j.Email, proof, nil)
		}
		return err
	}, Password)
}

// isAnother rejects the current password if someone else set it, because that person would still
// know it.
func (a *Auth) isAnother(ctx context.Context, j Joining, newPassword string) error {
	if !j.Replaces {
		return nil
	}
	stored, err := pg.Value[string](ctx, a.db, `select proof from login where member_id = $1 and kind = 'password'`,
		j.User.ID)
	if errors.Is(err, pg.ErrNoRow) {
		return nil
	}
	if err != nil {
		return err
	}
	same, _, err := a.passwords.check(ctx, stored, newPassword, 0)
	if err == nil && same {
		err = errs.Field("password", "same", "must be different from the password you were given")
	}
	return err
}

// JoinWithPasskey uses the link up and adds a passkey. It removes a password that somebody else
// set.
func (a *Auth) JoinWithPasskey(ctx context.Context, secret, label string, credential []byte, proof string,
	address string,
) (SignIn, error) {
	j, err := a.Joining(ctx, secret, address)
	if err != nil {
		return SignIn{}, err
	}
	return a.redeem(ctx, j, secret, func(tx pg.Tx) error {
		if _, err := pg.Exec(ctx, tx, `delete from login where member_id = $1 and must_replace`, j.User.ID); err != nil {
			return err
		}
		_, err := a.addLogin(ctx, tx, j.User.ID, Passkey, label, proof, credential)
		return err
	}, Passkey)
}

// redeem uses the link up and sets the sign-in method, both or neither. If several callers use the
// link at once, one succeeds. The member's sessions end.
func (a *Auth) redeem(ctx context.Context, j Joining, secret string, set func(pg.Tx) error, by string) (SignIn,
	error,
) {
	err := a.db.InTx(ctx, func(tx pg.Tx) error {
		// The member is locked first, as in every change of sign-in methods, to avoid deadlocks.
		if _, _, err := a.lockUser(ctx, tx, j.User.ID.String()); err != nil {
			if errs.Is(err, errs.NotFound) {
				err = usedUp(InviteTicket)
			}
			return err
		}
		if _, err := redeem(ctx, tx, j.kind, secret); err != nil {
			return err
		}
		if err := set(tx); err != nil {
			return err
		}
		if err := voidLinks(ctx, tx, j.User.ID); err != nil {
			return err
		}
		if err := endCodes(ctx, tx, j.User.ID); err != nil {
			return err
		}
		return a.endSessions(ctx, tx, j.User.ID, nil)
	})
	return SignIn{User: j.User, By: by}, err
}
