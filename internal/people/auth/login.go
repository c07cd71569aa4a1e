package auth

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// The kinds of logins.
const (
	Password = "password"
	Passkey  = "passkey"
	OIDC     = "oidc"
)

// A Login is a sign-in method of a member, without its secret.
type Login struct {
	ID         id.ID    `json:"id" db:"id"`
	ShortID    string   `json:"short_id,omitempty" db:"short_id" required:"true"`
	UserID     id.ID    `json:"user_id" db:"member_id"`
	Kind       string   `json:"kind" db:"kind" enum:"password,passkey,oidc"`
	Identifier string   `json:"identifier" db:"identifier" doc:"The email, the passkey's label, or the issuer and the subject"`
	LastUsedAt *pg.Time `json:"last_used_at" db:"last_used_at"`
	CreatedAt  pg.Time  `json:"created_at" db:"created_at"`
}

const loginColumns = `id, short_id, member_id, kind, identifier, last_used_at, created_at`

// MinPassword is the minimum length of a password.
const MinPassword = 10

// SignIn returns the member with this password. For an unknown address it does the same work and
// returns the same error as for a wrong password.
func (a *Auth) SignIn(ctx context.Context, identifier, password, address string) (SignIn, error) {
	tries, err := a.try(ctx, "", address)
	if err != nil {
		return SignIn{}, err
	}
	bucket := pair(identifier, address)
	if err := a.held(ctx, bucket); err != nil {
		return SignIn{}, err
	}
	stored, known, err := a.passwordOf(ctx, identifier)
	if err != nil {
		return SignIn{}, err
	}
	ok, stale, err := a.passwords.check(ctx, stored.Proof, password, tries)
	if err != nil {
		return SignIn{}, err
	}
	wrong := errs.New(errs.InvalidLogin, "wrong email or password")
	if !ok || !known {
		if err := a.failed(ctx, bucket); err != nil {
			return SignIn{}, err
		}
		return SignIn{}, wrong
	}
	if stale {
		if stored.Proof, err = a.passwords.hash(ctx, password); err != nil {
			return SignIn{}, err
		}
	}
	if err := a.forgive(ctx, bucket); err != nil {
		return SignIn{}, err
	}
	// Hashing takes a while, and the password may have changed meanwhile. The condition on
	// updated_at keeps the old password from being stored again, and rejects a caller who knew only
	// that.
	e, err := a.admit(ctx, `
		update login set last_used_at = clock_timestamp(), proof = $3 where id = $1 and updated_at = $2
		returning `+wayColumns, stored.ID, stored.UpdatedAt, stored.Proof)
	if errs.Is(err, errs.InvalidLogin) {
		err = wrong
	}
	return e, err
}

// A password is a login with the stored proof that an entered password is checked with.
type password struct {
	ID        id.ID   `db:"id"`
	Proof     string  `db:"proof"`
	UpdatedAt pg.Time `db:"updated_at"`
}

// passwordOf returns the password of this address. For an unknown address it returns a proof that
// no password matches.
func (a *Auth) passwordOf(ctx context.Context, identifier string) (p password, known bool, err error) {
	err = pg.ErrNoRow
	if checkEmail("email", identifier) == nil {
		p, err = pg.One[password](ctx, a.db, `
			select l.id, l.proof, l.updated_at from login l join member m on m.id = l.member_id
			where l.kind = 'password' and lower(l.identifier) = lower($1) and m.deleted_at is null`, identifier)
	}
	if errors.Is(err, pg.ErrNoRow) {
		return password{Proof: a.passwords.nobody()}, false, nil
	}
	return p, err == nil, err
}

// A SignIn is a member who has just proven who they are. The sign-in method they used must be
// unchanged when their session begins.
type SignIn struct {
	User User
	By   string        // the kind of the sign-in method; "" for none
	Ago  time.Duration // the time since the proof; negative if unknown

	// MustReplace is true if someone else chose the password. Such a sign-in opens no session, and
	// only lets the member choose a new password (see Replacing).
	MustReplace bool

	Plain bool // over plain HTTP: the session has no admin rights

	login id.ID
	as    pg.Time // when the sign-in method was last changed
}

// wayColumns are the columns that statements for admit return.
const wayColumns = `id, member_id, kind, updated_at, must_replace`

// admit returns the member whose login the statement returns.
func (a *Auth) admit(ctx context.Context, sql string, args ...any) (SignIn, error) {
	type way struct {
		ID        id.ID   `db:"id"`
		Member    id.ID   `db:"member_id"`
		Kind      string  `db:"kind"`
		UpdatedAt pg.Time `db:"updated_at"`
		Replace   bool    `db:"must_replace"`
	}
	l, err := pg.One[way](ctx, a.db, sql, args...)
	var u User
	if err == nil {
		u, err = a.FindUser(ctx, a.db, l.Member.String())
	}
	if errors.Is(err, pg.ErrNoRow) {
		return SignIn{}, errs.New(errs.InvalidLogin, "this sign-in method belongs to no member; ask an admin "+
			"to add it")
	}
	return SignIn{User: u, By: l.Kind, login: l.ID, as: l.UpdatedAt, MustReplace: l.Replace}, err
}

// ListLogins is the request for a page of a member's sign-in methods.
type ListLogins struct {
	UserID string `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	Cursor string `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// ofMember returns a page of a list of one member's records, which read returns.
func ofMember[T any](ctx context.Context, a *Auth, q pg.Querier, in ListLogins, list string,
	read func(member id.ID, after *string, limit int) ([]T, error), key func(T) id.ID) (rows []T, next string,
	err error,
) {
	u, err := a.User(ctx, q, UserRef{in.UserID})
	if err != nil {
		return nil, "", err
	}
	pager, err := a.db.Pager(ctx, list, map[string]any{"user_id": u.ID})
	if err != nil {
		return nil, "", err
	}
	return pg.ByID(pager, in.Cursor, in.Limit, func(after *string, limit int) ([]T,
		error,
	) {
		return read(u.ID, after, limit)
	}, key)
}

// Logins is a page of a member's sign-in methods, oldest first, with the number of the member's
// other credentials.
type Logins struct {
	Logins     []Login `json:"logins"`
	NextCursor string  `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool    `json:"has_more"`

	RecoveryCodes int `json:"recovery_codes" doc:"Recovery codes left; DELETE /users/{user_id}/recovery-codes removes them"`
	Keys          int `json:"api_keys" doc:"The member's active API keys; a new password does not revoke them"`
	Assistants    int `json:"assistants" doc:"Connected assistants with access; a new password does not end it"`
}

// Logins returns a member's sign-in methods.
func (a *Auth) Logins(ctx context.Context, q pg.Querier, in ListLogins) (Logins, error) {
	rows, next, err := ofMember(ctx, a, q, in, "logins", func(member id.ID, after *string, limit int) ([]Login, error) {
		return pg.All[Login](ctx, q, `
			select `+loginColumns+` from login where member_id = $1 and ($2::uuid is null or id > $2::uuid)
				order by id limit $3`, member, after, limit)
	}, func(l Login) id.ID { return l.ID })
	out := Logins{Logins: rows, NextCursor: next, HasMore: next != ""}
	if err != nil {
		return out, err
	}
	u, err := a.User(ctx, q, UserRef{in.UserID})
	if err != nil {
		return out, err
	}
	if out.RecoveryCodes, err = codesLeft(ctx, q, u.ID); err != nil {
		return out, err
	}
	type count struct {
		Keys       int `db:"keys"`
		Assistants int `db:"assistants"`
	}
	n, err := pg.One[count](ctx, q, `
		select count(*) filter (where kind = 'api_key')::integer as keys,
			count(distinct consent_id)::integer as assistants
		from token where member_id = $1 and kind in ('api_key', 'access', 'refresh') and revoked_at is null
			and coalesce(expires_at > now(), true)`, u.ID)
	out.Keys, out.Assistants = n.Keys, n.Assistants
	return out, err
}

// CreateLogin is the input of CreateLogin.
type CreateLogin struct {
	UserID     string  `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	Kind       string  `json:"kind" enum:"password,passkey,oidc" doc:"Passkeys are created in the member's own browser, at /account"`
	Identifier *string `json:"identifier,omitempty" minLength:"1" maxLength:"500" format:"line" doc:"password: the email to sign in with; defaults to the member's own. oidc: the issuer, a space, and the subject"`
	Password   *string `json:"password,omitempty" minLength:"10" maxLength:"200" doc:"The password, at least 10 characters; only for kind password. The member must replace it at the first sign-in"`
}

// chosen hashes the new password before the transaction begins, because hashing takes longer than a
// transaction should.
func (a *Auth) chosen(ctx context.Context, q pg.Querier, in CreateLogin) (string, error) {
	u, err := a.User(ctx, q, UserRef{in.UserID})
	if err != nil {
		return "", err
	}
	switch {
	case in.Kind == Passkey:
		return "", errs.Field("kind", "enum",
			"a passkey is created in the member's own browser: the member signs in and opens /account")
	case in.Kind == OIDC && in.Password != nil:
		return "", errs.Field("password", "conflict", "can only be used with kind password")
	case in.Kind == OIDC && (in.Identifier == nil || strings.Count(*in.Identifier, " ") != 1):
		return "", errs.Field("identifier", "pattern",
			"must be the issuer, a space, and the subject: https://id.example.com 1234")
	case in.Kind == OIDC:
		return "", nil
	case in.Password == nil:
		return "", errs.Field("password", "required", "is required for kind password")
	}
	return a.NewPassword(ctx, *in.Password, u.about(in.Identifier)...)
}

// about returns texts that belong to the member. A password must not consist of them.
func (u User) about(identifier *string) []string {
	about := []string{u.Name}
	for _, address := range []*string{u.Email, identifier} {
		if address != nil {
			about = append(about, *address)
		}
	}
	return about
}

// NewPassword returns the hash of a new password, if the password is acceptable. about holds the
// member's name and other texts that the password must not consist of.
func (a *Auth) NewPassword(ctx context.Context, password string, about ...string) (string, error) {
	if utf8.RuneCountInString(password) < MinPassword {
		return "", errs.Field("password", "length",
			"must have at least %d characters; try a sentence", MinPassword)
	}
	household, err := pg.Value[string](ctx, a.db, `select household_name from setting`)
	if err != nil {
		return "", err
	}
	if guessable(password, append(about, household)...) {
		return "", errs.Field("password", "common",
			"is too easy to guess (common words, names, dates or keyboard patterns); try a sentence")
	}
	return a.passwords.hash(ctx, password)
}

// CreateLogin adds a sign-in method for a member.
func (a *Auth) CreateLogin(ctx context.Context, tx pg.Tx, in CreateLogin, proof string) (Login, error) {
	u, err := a.KeepUser(ctx, tx, in.UserID)
	if err != nil {
		return Login{}, pg.Found(err, "user", listsUsers)
	}
	if in.Identifier == nil {
		if u.Email == nil {
			return Login{}, errs.Field("identifier", "required",
				"is required, because the member has no email")
		}
		in.Identifier = u.Email
	}
	if in.Kind == Password {
		if err := checkEmail("identifier", *in.Identifier); err != nil {
			return Login{}, err
		}
	}
	l, err := a.addLogin(ctx, tx, u.ID, in.Kind, *in.Identifier, proof, nil)
	if err == nil && in.Kind == Password && !ownSession(ctx, u.ID) {
		_, err = pg.Exec(ctx, tx, `update login set must_replace = true where id = $1`, l.ID)
	}
	return l, err
}

// ownSession reports whether the caller is the member, signed in. Anyone else who sets a password
// knows it, so the member must replace it.
func ownSession(ctx context.Context, member id.ID) bool {
	a := op.ActorOf(ctx)
	return a.Session != nil && a.Member != nil && *a.Member == member
}

func (a *Auth) addLogin(ctx context.Context, tx pg.Tx, member id.ID, kind, identifier, proof string,
	credential []byte,
) (Login, error) {
	var l Login
	err := pg.Redraw(ctx, tx, "login_short_id", func(tx pg.Tx) (err error) {
		newID := id.New()
		l, err = pg.One[Login](ctx, tx, `
			insert into login (id, short_id, member_id, kind, identifier, proof, credential)
			values (@id, @short, @member, @kind, @identifier, nullif(@proof, ''), @credential)
				returning `+loginColumns, pg.Args{
			"id": newID, "short": newID.Short(), "member": member, "kind": kind, "identifier": identifier,
			"proof": proof, "credential": credential,
		})
		return err
	})
	if err != nil {
		return l, loginTaken(err)
	}
	return l, voidLinks(ctx, tx, member)
}

func loginTaken(err error) error {
	switch {
	case pg.Violates(err, "login_one_password"):
		return errs.New(errs.Conflict, "this member already has a password; change it with PATCH, or delete it first")
	case pg.Violates(err, "login_password"), pg.Violates(err, "login_oidc"), pg.Violates(err, "login_passkey"):
		return errs.New(errs.Conflict, "this sign-in method already belongs to another member")
	}
	return err
}

// PatchLogin changes a sign-in method.
type PatchLogin struct {
	UserID     string  `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	LoginID    string  `json:"login_id" minLength:"1" doc:"The login's UUID or short id"`
	Identifier *string `json:"identifier,omitempty" minLength:"1" maxLength:"500" format:"line" doc:"A new email, or a new label for a passkey"`
	Password   *string `json:"password,omitempty" minLength:"10" maxLength:"200" doc:"A new password, which the member must replace at the next sign-in. It ends the member's other sessions and, if someone else sets it, removes the recovery codes. The member's API keys and assistants keep working: GET …/login counts them"`
}

func (a *Auth) changed(ctx context.Context, q pg.Querier, in PatchLogin) (string, error) {
	if in.Password == nil {
		return "", nil
	}
	u, err := a.User(ctx, q, UserRef{in.UserID})
	if err != nil {
		return "", err
	}
	return a.NewPassword(ctx, *in.Password, u.about(in.Identifier)...)
}

// PatchLogin changes a password or the name of a sign-in method. A new password ends the sessions
// that the old one opened, and removes the recovery codes if someone else sets it.
func (a *Auth) PatchLogin(ctx context.Context, tx pg.Tx, in PatchLogin, proof string) (Login, error) {
	l, _, err := a.lockLogin(ctx, tx, in.UserID, in.LoginID)
	if err != nil {
		return Login{}, err
	}
	if err := op.Match(ctx, l); err != nil {
		return Login{}, err
	}
	switch {
	case in.Password != nil && l.Kind != Password:
		return Login{}, errs.Field("password", "conflict", "this login is not a password")
	case in.Identifier != nil && l.Kind == OIDC:
		return Login{}, errs.Field("identifier", "conflict",
			"the identity provider sets this value; delete this login and create another one")
	case in.Identifier != nil && l.Kind == Password:
		if err := checkEmail("identifier", *in.Identifier); err != nil {
			return Login{}, err
		}
	}
	l, err = pg.One[Login](ctx, tx, `
		update login set identifier = coalesce(@identifier, identifier), proof = coalesce(nullif(@proof, ''), proof),
			must_replace = case when @proof = '' then must_replace else @foreign end, updated_at = clock_timestamp()
		where id = @id returning `+loginColumns, pg.Args{
		"id": l.ID, "identifier": in.Identifier, "proof": proof,
		"foreign": !ownSession(ctx, l.UserID),
	})
	if err != nil || proof == "" {
		return l, loginTaken(err)
	}
	if err := voidLinks(ctx, tx, l.UserID); err != nil {
		return Login{}, err
	}
	if err := endCodesUnlessOwn(ctx, tx, l.UserID); err != nil {
		return Login{}, err
	}
	return l, a.endSessions(ctx, tx, l.UserID, op.ActorOf(ctx).Session)
}

// endSessions ends all sessions of a member except one.
func (a *Auth) endSessions(ctx context.Context, tx pg.Tx, member id.ID, but *id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		update token set revoked_at = clock_timestamp(), updated_at = clock_timestamp()
		where member_id = $1 and kind = 'session' and revoked_at is null and id is distinct from $2`, member, but)
	return err
}

// LoginRef identifies a sign-in method.
type LoginRef struct {
	UserID  string `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	LoginID string `json:"login_id" minLength:"1" doc:"The login's UUID or short id"`
}

// DeleteLogin removes a sign-in method and ends the member's other sessions. It also removes the
// recovery codes if someone else does it or no other method is left. The last admin who can sign in
// keeps their last method.
func (a *Auth) DeleteLogin(ctx context.Context, tx pg.Tx, in LoginRef) (op.Deleted, error) {
	l, last, err := a.lockLogin(ctx, tx, in.UserID, in.LoginID)
	if err != nil {
		return op.Deleted{}, err
	}
	if last {
		return op.Deleted{}, errs.New(errs.LastAdmin,
			"this is the last sign-in method of the only admin who can sign in; add another one first")
	}
	if _, err := pg.Exec(ctx, tx, `delete from login where id = $1`, l.ID); err != nil {
		return op.Deleted{}, err
	}
	if err := voidLinks(ctx, tx, l.UserID); err != nil {
		return op.Deleted{}, err
	}
	if err := endCodesUnlessOwn(ctx, tx, l.UserID); err != nil {
		return op.Deleted{}, err
	}
	return op.Deleted{Deleted: true, ID: l.ID}, a.endSessions(ctx, tx, l.UserID, op.ActorOf(ctx).Session)
}

// lockLogin returns one sign-in method of a member, with a lock on it and on all admins. last is
// set if no admin could sign in without it.
func (a *Auth) lockLogin(ctx context.Context, tx pg.Tx, user, ref string) (l Login, last bool, err error) {
	u, _, err := a.lockUser(ctx, tx, user)
	if err != nil {
		return Login{}, false, err
	}
	args := append([]any{u.ID}, pg.RefTo(ref).IDArgs()...)
	l, err = pg.One[Login](ctx, tx, `select `+loginColumns+` from login where member_id = $1
		and (id = $2 or short_id = $3) for update`, args...)
	if err != nil {
		return Login{}, false, pg.Found(err, "login", "{login-method.list} lists them")
	}
	if u.Role != op.RoleAdmin {
		return l, false, nil
	}
	others, err := pg.Value[bool](ctx, tx, `
		select exists (select from login o join member m on m.id = o.member_id
			where m.role = 'admin' and m.deleted_at is null and o.id <> $1)`, l.ID)
	return l, !others, err
}
