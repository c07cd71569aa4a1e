package auth

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A device or an issuer checks the proof of these sign-in methods. Only the owner of each method is
// stored here.

// Passkeys returns the stored passkeys of a member.
func (a *Auth) Passkeys(ctx context.Context, member id.ID) ([]string, error) {
	return pg.Values[string](ctx, a.db, `select proof from login where member_id = $1 and kind = 'passkey'
		order by id`, member)
}

// AddPasskey adds a passkey for the signed-in member.
func (a *Auth) AddPasskey(ctx context.Context, actor op.Actor, label string, credential []byte, proof string) error {
	return a.join(ctx, *actor.Member, Passkey, label, proof, credential)
}

// join adds a sign-in method to a member. It fails if the member was just removed: the method would
// stay reserved for that member, although nobody could sign in with it.
func (a *Auth) join(ctx context.Context, member id.ID, kind, identifier, proof string, credential []byte) error {
	return a.db.InTx(ctx, func(tx pg.Tx) error {
		_, err := a.KeepUser(ctx, tx, member.String())
		if err == nil {
			_, err = a.addLogin(ctx, tx, member, kind, identifier, proof, credential)
		}
		return pg.Found(err, "user", "sign in again")
	})
}

// PasskeyOwner returns the member whose passkey has this id.
func (a *Auth) PasskeyOwner(ctx context.Context, credential []byte) (User, error) {
	e, err := a.admit(ctx, `select `+wayColumns+` from login
		where kind = 'passkey' and credential = $1`, credential)
	return e.User, err
}

// UsePasskey signs the passkey's member in and stores the passkey's new state, above all its
// counter.
func (a *Auth) UsePasskey(ctx context.Context, credential []byte, proof string) (SignIn, error) {
	return a.admit(ctx, `
		update login set proof = $2, last_used_at = clock_timestamp() where kind = 'passkey' and credential = $1
		returning `+wayColumns, credential, proof)
}

// Vouched returns the member for whom an issuer vouches. The account at the issuer must have been
// added with Join before.
func (a *Auth) Vouched(ctx context.Context, issuer, subject string) (SignIn, error) {
	e, err := a.admit(ctx, `
		update login set last_used_at = clock_timestamp() where kind = 'oidc' and identifier = $1
		returning `+wayColumns, issuer+" "+subject)
	if errs.Is(err, errs.InvalidLogin) {
		err = errs.New(errs.InvalidLogin,
			"this account belongs to no member; sign in another way and add it at /account, or ask an admin")
	}
	return e, err
}

// Join lets the signed-in member sign in through an issuer.
func (a *Auth) Join(ctx context.Context, member id.ID, issuer, subject string) error {
	return a.join(ctx, member, OIDC, issuer+" "+subject, "", nil)
}
