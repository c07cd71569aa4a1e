package auth

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// The kinds of logins.
const (
	Password = "password"
	Passkey  = "passkey"
	OIDC     = "oidc"
)

// A Login is a way in of a member, without what proves it.
type Login struct {
	ID         id.ID    `json:"id" db:"id"`
	ShortID    string   `json:"short_id,omitempty" db:"short_id" required:"true"`
	UserID     id.ID    `json:"user_id" db:"member_id"`
	Kind       string   `json:"kind" db:"kind" enum:"password,passkey,oidc"`
	Identifier string   `json:"identifier" db:"identifier" doc:"The e-mail address, the passkey's label, or the issuer with the subject"`
	LastUsedAt *pg.Time `json:"last_used_at" db:"last_used_at"`
	CreatedAt  pg.Time  `json:"created_at" db:"created_at"`
}

const loginColumns = `id, short_id, member_id, kind, identifier, last_used_at, created_at`

// MinPassword is how many characters a password has at least.
const MinPassword = 12

// SignIn answers the member whose password this is. An address that nobody has costs the same work as one that someone has, and the refusal is the same.
func (a *Auth) SignIn(ctx context.Context, identifier, password, address string) (Entry, error) {
	tries, err := a.try(ctx, address)
	if err != nil {
		return Entry{}, err
	}
	bucket := pair(identifier, address)
	if err := a.held(ctx, bucket); err != nil {
		return Entry{}, err
	}
	stored, known, err := a.passwordOf(ctx, identifier)
	if err != nil {
		return Entry{}, err
	}
	ok, stale, err := a.passwords.check(ctx, stored.Proof, password, tries)
	if err != nil {
		return Entry{}, err
	}
	wrong := errs.New(errs.InvalidLogin, "the e-mail address or the password is wrong")
	if !ok || !known {
		if err := a.failed(ctx, bucket); err != nil {
			return Entry{}, err
		}
		return Entry{}, wrong
	}
	if stale {
		if stored.Proof, err = a.passwords.hash(ctx, password); err != nil {
			return Entry{}, err
		}
	}
	if err := a.forgive(ctx, bucket); err != nil {
		return Entry{}, err
	}
	// A hash takes a while: what was changed meanwhile must not come back, and whoever knew only the old password comes too late.
	e, err := a.admit(ctx, `
		update login set last_used_at = clock_timestamp(), proof = $3 where id = $1 and updated_at = $2
		returning id, member_id, kind, updated_at`, stored.ID, stored.UpdatedAt, stored.Proof)
	if errs.Is(err, errs.InvalidLogin) {
		err = wrong
	}
	return e, err
}

// A password is a login as one is held against it.
type password struct {
	ID        id.ID   `db:"id"`
	Proof     string  `db:"proof"`
	UpdatedAt pg.Time `db:"updated_at"`
}

// passwordOf is the password of this address; of an address that nobody has it is one that nothing fits.
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

// An Entry is a member who has just proven who they are. The way in by which they came must be as it was then when their session begins.
type Entry struct {
	User User
	By   string        // the kind of the way in; "" for none
	Ago  time.Duration // since they proved it; less than zero where that is not known

	login id.ID
	as    pg.Time // when the way in was last changed
}

// admit is who comes in by the login that the statement answers.
func (a *Auth) admit(ctx context.Context, sql string, args ...any) (Entry, error) {
	type way struct {
		ID        id.ID   `db:"id"`
		Member    id.ID   `db:"member_id"`
		Kind      string  `db:"kind"`
		UpdatedAt pg.Time `db:"updated_at"`
	}
	l, err := pg.One[way](ctx, a.db, sql, args...)
	var u User
	if err == nil {
		u, err = a.FindUser(ctx, a.db, l.Member.String())
	}
	if errors.Is(err, pg.ErrNoRow) {
		return Entry{}, errs.New(errs.InvalidLogin, "this is no way in of any member")
	}
	return Entry{User: u, By: l.Kind, login: l.ID, as: l.UpdatedAt}, err
}

// ListLogins asks for a member's ways in.
type ListLogins struct {
	UserID string `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	Cursor string `json:"cursor,omitempty" maxLength:"1024" doc:"next_cursor of the page before"`
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"How many on a page"`
}

// ofMember reads a page of what is a member's: the rows after a place, as the list's own query reads them.
func ofMember[T any](ctx context.Context, a *Auth, q pg.Querier, in ListLogins, list string, read func(member id.ID, after *string, limit int) ([]T, error), key func(T) id.ID) (rows []T, next string, err error) {
	u, err := a.User(ctx, q, UserRef{in.UserID})
	if err != nil {
		return nil, "", err
	}
	pager, err := a.db.Pager(ctx, list, map[string]any{"user_id": u.ID})
	if err != nil {
		return nil, "", err
	}
	return pg.ByID(pager, in.Cursor, in.Limit, func(after *string, limit int) ([]T, error) { return read(u.ID, after, limit) }, key)
}

// Logins is a page of a member's ways in, oldest first.
type Logins struct {
	Logins     []Login `json:"logins"`
	NextCursor string  `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool    `json:"has_more"`
}

// Logins are a member's ways in.
func (a *Auth) Logins(ctx context.Context, q pg.Querier, in ListLogins) (Logins, error) {
	rows, next, err := ofMember(ctx, a, q, in, "logins", func(member id.ID, after *string, limit int) ([]Login, error) {
		return pg.All[Login](ctx, q, `
			select `+loginColumns+` from login where member_id = $1 and ($2::uuid is null or id > $2::uuid) order by id limit $3`, member, after, limit)
	}, func(l Login) id.ID { return l.ID })
	return Logins{rows, next, next != ""}, err
}

// CreateLogin is the input of CreateLogin.
type CreateLogin struct {
	UserID     string  `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	Kind       string  `json:"kind" enum:"password,passkey,oidc" doc:"A passkey is made in the member's own browser, at /account"`
	Identifier *string `json:"identifier,omitempty" minLength:"1" maxLength:"500" format:"line" doc:"password: the e-mail address to sign in with, the member's own if omitted; oidc: the issuer, a space, and the subject"`
	Password   *string `json:"password,omitempty" minLength:"12" maxLength:"200" doc:"The password, at least 12 characters; only for kind password"`
}

// chosen hashes the password that the call brings, before any transaction: it takes longer than one should.
func (a *Auth) chosen(ctx context.Context, q pg.Querier, in CreateLogin) (string, error) {
	if err := forPeople(ctx); err != nil {
		return "", err
	}
	if _, err := a.User(ctx, q, UserRef{in.UserID}); err != nil {
		return "", err
	}
	switch {
	case in.Kind == Passkey:
		return "", errs.Field("kind", "enum", "a passkey is made in the browser of the member: let them sign in and open /account")
	case in.Kind == OIDC && in.Password != nil:
		return "", errs.Field("password", "conflict", "belongs to kind password only")
	case in.Kind == OIDC && (in.Identifier == nil || strings.Count(*in.Identifier, " ") != 1):
		return "", errs.Field("identifier", "pattern", "must be the issuer, a space, and the subject: https://id.example.com 1234")
	case in.Kind == OIDC:
		return "", nil
	case in.Password == nil:
		return "", errs.Field("password", "required", "is needed for kind password")
	}
	return a.NewPassword(ctx, *in.Password)
}

// NewPassword is the hash of a password that someone chose, if it will do.
func (a *Auth) NewPassword(ctx context.Context, password string) (string, error) {
	if utf8.RuneCountInString(password) < MinPassword || strings.Count(password, password[:1]) == len(password) {
		return "", errs.Field("password", "length", "must have at least %d characters, not all the same; a sentence is easy to remember", MinPassword)
	}
	return a.passwords.hash(ctx, password)
}

// CreateLogin gives a member a way in.
func (a *Auth) CreateLogin(ctx context.Context, tx pg.Tx, in CreateLogin, proof string) (Login, error) {
	u, err := a.KeepUser(ctx, tx, in.UserID)
	if err != nil {
		return Login{}, pg.Found(err, "user", listsUsers)
	}
	if in.Identifier == nil {
		if u.Email == nil {
			return Login{}, errs.Field("identifier", "required", "is needed, because the member has no e-mail address")
		}
		in.Identifier = u.Email
	}
	if in.Kind == Password {
		if err := checkEmail("identifier", *in.Identifier); err != nil {
			return Login{}, err
		}
	}
	return a.addLogin(ctx, tx, u.ID, in.Kind, *in.Identifier, proof, nil)
}

func (a *Auth) addLogin(ctx context.Context, tx pg.Tx, member id.ID, kind, identifier, proof string, credential []byte) (Login, error) {
	var l Login
	err := pg.Redraw(ctx, tx, "login_short_id", func(tx pg.Tx) (err error) {
		fresh := id.New()
		l, err = pg.One[Login](ctx, tx, `
			insert into login (id, short_id, member_id, kind, identifier, proof, credential)
			values (@id, @short, @member, @kind, @identifier, nullif(@proof, ''), @credential) returning `+loginColumns, pg.Args{
			"id": fresh, "short": fresh.Short(), "member": member, "kind": kind, "identifier": identifier, "proof": proof, "credential": credential,
		})
		return err
	})
	return l, loginTaken(err)
}

func loginTaken(err error) error {
	switch {
	case pg.Violates(err, "login_one_password"):
		return errs.New(errs.Conflict, "this member has a password already; change it with PATCH, or delete it first")
	case pg.Violates(err, "login_password"), pg.Violates(err, "login_oidc"), pg.Violates(err, "login_passkey"):
		return errs.New(errs.Conflict, "this is a way in of a member already; each can be one member's only")
	}
	return err
}

// PatchLogin changes a way in.
type PatchLogin struct {
	UserID     string  `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	LoginID    string  `json:"login_id" minLength:"1" doc:"The login's UUID or short id"`
	Identifier *string `json:"identifier,omitempty" minLength:"1" maxLength:"500" format:"line" doc:"Another e-mail address, or another label of a passkey"`
	Password   *string `json:"password,omitempty" minLength:"12" maxLength:"200" doc:"A new password; it ends the member's other sessions"`
}

func (a *Auth) changed(ctx context.Context, q pg.Querier, in PatchLogin) (string, error) {
	if err := forPeople(ctx); err != nil || in.Password == nil {
		return "", err
	}
	if _, err := a.User(ctx, q, UserRef{in.UserID}); err != nil {
		return "", err
	}
	return a.NewPassword(ctx, *in.Password)
}

// PatchLogin changes a password, or what it goes by. A new password ends the sessions that the old one opened.
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
		return Login{}, errs.Field("password", "conflict", "this login is no password")
	case in.Identifier != nil && l.Kind == OIDC:
		return Login{}, errs.Field("identifier", "conflict", "the issuer says who this is; delete this login and make another one")
	case in.Identifier != nil && l.Kind == Password:
		if err := checkEmail("identifier", *in.Identifier); err != nil {
			return Login{}, err
		}
	}
	l, err = pg.One[Login](ctx, tx, `
		update login set identifier = coalesce(@identifier, identifier), proof = coalesce(nullif(@proof, ''), proof), updated_at = clock_timestamp()
		where id = @id returning `+loginColumns, pg.Args{"id": l.ID, "identifier": in.Identifier, "proof": proof})
	if err != nil || proof == "" {
		return l, loginTaken(err)
	}
	return l, a.endSessions(ctx, tx, l.UserID, op.ActorOf(ctx).Session)
}

// endSessions ends a member's sessions but one.
func (a *Auth) endSessions(ctx context.Context, tx pg.Tx, member id.ID, but *id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		update token set revoked_at = clock_timestamp(), updated_at = clock_timestamp()
		where member_id = $1 and kind = 'session' and revoked_at is null and id is distinct from $2`, member, but)
	return err
}

// LoginRef names a way in.
type LoginRef struct {
	UserID  string `json:"user_id" minLength:"1" doc:"The member's UUID or short id"`
	LoginID string `json:"login_id" minLength:"1" doc:"The login's UUID or short id"`
}

// DeleteLogin takes a way in away, and with it the member's sessions. The last admin who can sign in keeps the last way.
func (a *Auth) DeleteLogin(ctx context.Context, tx pg.Tx, in LoginRef) (op.Deleted, error) {
	l, last, err := a.lockLogin(ctx, tx, in.UserID, in.LoginID)
	if err != nil {
		return op.Deleted{}, err
	}
	if last {
		return op.Deleted{}, errs.New(errs.LastAdmin, "this is the last way in of the last admin who can sign in; give them or another admin one first")
	}
	if _, err := pg.Exec(ctx, tx, `delete from login where id = $1`, l.ID); err != nil {
		return op.Deleted{}, err
	}
	return op.Deleted{Deleted: true, ID: l.ID}, a.endSessions(ctx, tx, l.UserID, op.ActorOf(ctx).Session)
}

// lockLogin is one way in of a member, with nobody else changing it or any admin; last says that without it no admin could sign in.
func (a *Auth) lockLogin(ctx context.Context, tx pg.Tx, user, ref string) (l Login, last bool, err error) {
	u, _, err := a.lockUser(ctx, tx, user)
	if err != nil {
		return Login{}, false, err
	}
	args := append([]any{u.ID}, pg.RefTo(ref).IDArgs()...)
	l, err = pg.One[Login](ctx, tx, `select `+loginColumns+` from login where member_id = $1 and (id = $2 or short_id = $3) for update`, args...)
	if err != nil {
		return Login{}, false, pg.Found(err, "login", "GET /api/v1/users/{user_id}/login lists them")
	}
	if u.Role != op.RoleAdmin {
		return l, false, nil
	}
	others, err := pg.Value[bool](ctx, tx, `
		select exists (select from login o join member m on m.id = o.member_id where m.role = 'admin' and m.deleted_at is null and o.id <> $1)`, l.ID)
	return l, !others, err
}
