package auth

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Operations that all members may use on their own account, regardless of their role.

// A Home is what a member sees of their own account.
type Home struct {
	User     User
	Session  Session
	Logins   []Login
	Sessions []Session

	Codes     int  // recovery codes that are left
	Recovered bool // the member just signed in with a recovery code, and need not know the current password
}

// Home returns the account of the signed-in member.
func (a *Auth) Home(ctx context.Context, actor op.Actor) (Home, error) {
	s, u, err := a.CurrentSession(ctx, actor)
	if err != nil {
		return Home{}, err
	}
	own := ListLogins{UserID: u.ID.String(), Limit: 100}
	logins, err := a.Logins(ctx, a.db, own)
	if err != nil {
		return Home{}, err
	}
	sessions, err := a.Sessions(ctx, a.db, own)
	if err != nil {
		return Home{}, err
	}
	codes, err := codesLeft(ctx, a.db, u.ID)
	if err != nil {
		return Home{}, err
	}
	recovered, err := a.recovered(ctx, actor)
	return Home{u, s, logins.Logins, sessions.Sessions, codes, recovered}, err
}

// recovered reports whether the member has just signed in with a recovery code. Within ProofLife
// the member may then choose another password without the current one.
func (a *Auth) recovered(ctx context.Context, actor op.Actor) (bool, error) {
	by, err := pg.Value[bool](ctx, a.db, `select coalesce(proved_by = 'recovery', false) from token
		where id = $1`, actor.Session)
	return by && actor.Proved, err
}

// ChangePassword lets a member change the password. They must know the current one or have just
// signed in with a recovery code: a browser that was left open is not enough.
func (a *Auth) ChangePassword(ctx context.Context, actor op.Actor, oldPassword, newPassword, address string) error {
	type way struct {
		ID         id.ID  `db:"id"`
		Identifier string `db:"identifier"`
	}
	l, err := pg.One[way](ctx, a.db, `select id, identifier from login
		where member_id = $1 and kind = 'password'`, actor.Member)
	if err != nil {
		return pg.Found(err, "password", "an admin can set one")
	}
	if recovered, err := a.recovered(ctx, actor); err != nil {
		return err
	} else if !recovered {
		if _, err := a.SignIn(ctx, l.Identifier, oldPassword, address); err != nil {
			if errs.Is(err, errs.InvalidLogin) {
				err = errs.New(errs.InvalidLogin, "wrong current password")
			}
			return err
		}
	}
	_, u, err := a.CurrentSession(ctx, actor)
	if err != nil {
		return err
	}
	proof, err := a.NewPassword(ctx, newPassword, u.about(&l.Identifier)...)
	if err != nil {
		return err
	}
	ctx = op.WithActor(ctx, actor)
	return a.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := a.PatchLogin(ctx, tx, PatchLogin{
			UserID: actor.Member.String(), LoginID: l.ID.String(),
			Password: &newPassword,
		}, proof)
		return err
	})
}

// SignsInWith returns the address of the member's password login, or "".
func (a *Auth) SignsInWith(ctx context.Context, actor op.Actor) (string, error) {
	return pg.Value[string](ctx, a.db, `select coalesce((select identifier from login
		where member_id = $1 and kind = 'password'), '')`, actor.Member)
}

// EndOwnLogin removes a sign-in method of the signed-in member and ends the other sessions. One
// method must be left.
func (a *Auth) EndOwnLogin(ctx context.Context, actor op.Actor, login string) error {
	if err := op.Proven(actor); err != nil {
		return err
	}
	ctx = op.WithActor(ctx, actor)
	return a.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := a.endOwnLogin(ctx, tx, OwnLogin{login})
		return err
	})
}

func (a *Auth) endOwnLogin(ctx context.Context, tx pg.Tx, in OwnLogin) (op.Deleted, error) {
	member := op.ActorOf(ctx).Member
	deleted, err := a.DeleteLogin(ctx, tx, LoginRef{UserID: member.String(), LoginID: in.LoginID})
	if err != nil {
		return deleted, err
	}
	left, err := pg.Value[bool](ctx, tx, `select exists (select from login where member_id = $1)`, member)
	if err == nil && !left {
		err = errs.New(errs.Conflict, "this is your last sign-in method; add another one first")
	}
	return deleted, err
}

// EndOwnSession ends another session of the signed-in member.
func (a *Auth) EndOwnSession(ctx context.Context, actor op.Actor, session string) error {
	return a.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := a.RevokeSession(ctx, tx, SessionRef{UserID: actor.Member.String(), SessionID: session})
		return err
	})
}
