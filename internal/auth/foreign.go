package auth

import (
	"context"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// Ways in whose proof is checked elsewhere, by a device or by an issuer; what is stored here says whose they are.

// Passkeys are what was written down of a member's passkeys.
func (a *Auth) Passkeys(ctx context.Context, member id.ID) ([]string, error) {
	return pg.Values[string](ctx, a.db, `select proof from login where member_id = $1 and kind = 'passkey' order by id`, member)
}

// AddPasskey gives the member who is signed in a passkey.
func (a *Auth) AddPasskey(ctx context.Context, actor op.Actor, label string, credential []byte, proof string) error {
	return a.join(ctx, *actor.Member, Passkey, label, proof, credential)
}

// join gives a member another way in, unless they leave at this moment: it would stay theirs for good, and open nothing.
func (a *Auth) join(ctx context.Context, member id.ID, kind, identifier, proof string, credential []byte) error {
	return a.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := a.KeepUser(ctx, tx, member.String())
		if err == nil {
			_, err = a.addLogin(ctx, tx, member, kind, identifier, proof, credential)
		}
		return pg.Found(err, "user", "sign in again")
	})
}

// PasskeyOwner is the member whose passkey has that id.
func (a *Auth) PasskeyOwner(ctx context.Context, credential []byte) (User, error) {
	e, err := a.admit(ctx, `select id, member_id, kind, updated_at from login where kind = 'passkey' and credential = $1`, credential)
	return e.User, err
}

// UsePasskey lets the passkey's member in, and writes down what it said of itself, its counter above all.
func (a *Auth) UsePasskey(ctx context.Context, credential []byte, proof string) (Entry, error) {
	return a.admit(ctx, `
		update login set proof = $2, last_used_at = clock_timestamp() where kind = 'passkey' and credential = $1
		returning id, member_id, kind, updated_at`, credential, proof)
}

// Vouched is the member for whom an issuer vouches. An issuer's word for someone who was never joined to it here is not enough.
func (a *Auth) Vouched(ctx context.Context, issuer, subject string) (Entry, error) {
	e, err := a.admit(ctx, `
		update login set last_used_at = clock_timestamp() where kind = 'oidc' and identifier = $1
		returning id, member_id, kind, updated_at`, issuer+" "+subject)
	if errs.Is(err, errs.InvalidLogin) {
		err = errs.New(errs.InvalidLogin, "no member of this household has this account as a way in; sign in otherwise and join it at /account, or ask an admin")
	}
	return e, err
}

// Join lets the member who is signed in sign in through an issuer from now on.
func (a *Auth) Join(ctx context.Context, member id.ID, issuer, subject string) error {
	return a.join(ctx, member, OIDC, issuer+" "+subject, "", nil)
}
