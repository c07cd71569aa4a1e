package auth

import (
	"context"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A User is a member of the household.
type User struct {
	ID        id.ID   `json:"id" db:"id"`
	ShortID   string  `json:"short_id,omitempty" db:"short_id" required:"true"`
	Name      string  `json:"name" db:"name"`
	Email     *string `json:"email" db:"email"`
	Role      string  `json:"role" db:"role" enum:"admin,member,viewer" doc:"viewer: view only; member: can make changes; admin: also manages users, keys and settings"`
	HasLogin  bool    `json:"has_login" db:"has_login" doc:"Whether the member has a sign-in method"`
	CreatedAt pg.Time `json:"created_at" db:"created_at"`
	UpdatedAt pg.Time `json:"updated_at" db:"updated_at"`
	// InvitedUntil is absent if there is no valid invitation.
	InvitedUntil *pg.Time `json:"invited_until,omitempty" db:"invited_until" doc:"Expiry of the member's invitation; absent if there is none"`
}

const userColumns = `id, short_id, name, email, role, created_at, updated_at,
	exists (select from login l where l.member_id = member.id) as has_login,
	(select t.expires_at from ticket t where t.member_id = member.id and t.kind = 'invite' and t.expires_at > now())
		as invited_until`

// Users returns all members, oldest first.
func (a *Auth) Users(ctx context.Context, q pg.Querier, _ op.None) ([]User, error) {
	return pg.All[User](ctx, q, `select `+userColumns+` from member where deleted_at is null order by id`)
}

// A UserRef identifies a member.
type UserRef struct {
	ID string `json:"id" minLength:"1" doc:"The member's UUID or short id"`
}

// User returns one member.
func (a *Auth) User(ctx context.Context, q pg.Querier, in UserRef) (User, error) {
	u, err := a.FindUser(ctx, q, in.ID)
	return u, pg.Found(err, "user", listsUsers)
}

const listsUsers = "{user.list} lists them"

// FindUser returns the member with this UUID or short id, or pg.ErrNoRow. It is for callers that
// return their own error.
func (a *Auth) FindUser(ctx context.Context, q pg.Querier, ref string) (User, error) {
	return pg.One[User](ctx, q, `select `+userColumns+` from member where deleted_at is null
		and (id = $1 or short_id = $2)`, pg.RefTo(ref).IDArgs()...)
}

// KeepUser is FindUser with a lock that keeps the member from being changed or removed until the
// transaction ends. It is for callers that add something to the member.
func (a *Auth) KeepUser(ctx context.Context, tx pg.Tx, ref string) (User, error) {
	return pg.One[User](ctx, tx, `select `+userColumns+` from member where deleted_at is null
		and (id = $1 or short_id = $2) for share`, pg.RefTo(ref).IDArgs()...)
}

// lockUser is User for callers that may change the member. Until the transaction ends, nobody else
// can change the member or any admin: whether the member is the last admin depends on all admins.
func (a *Auth) lockUser(ctx context.Context, tx pg.Tx, ref string) (u User, lastAdmin bool, err error) {
	u, err = a.User(ctx, tx, UserRef{ref})
	if err != nil {
		return User{}, false, err
	}
	rows, err := pg.All[User](ctx, tx, `select `+userColumns+` from member where deleted_at is null
		and (id = $1 or role = 'admin') order by id for update`, u.ID)
	if err != nil {
		return User{}, false, err
	}
	admins, found := 0, false
	for _, r := range rows {
		if r.Role == op.RoleAdmin {
			admins++
		}
		if r.ID == u.ID {
			u, found = r, true
		}
	}
	if !found { // removed during the wait for the lock
		return User{}, false, pg.Found(pg.ErrNoRow, "user", listsUsers)
	}
	if u.Role != op.RoleAdmin || admins == 1 {
		return u, u.Role == op.RoleAdmin, nil
	}
	// If any admin can sign in, at least one such admin must remain.
	lastAdmin, err = pg.Value[bool](ctx, tx, `
		select exists (select from login where member_id = $1)
			and not exists (select from login l join member m on m.id = l.member_id
				where m.role = 'admin' and m.deleted_at is null and m.id <> $1)`, u.ID)
	return u, lastAdmin, err
}

// CreateUser is the input of CreateUser.
type CreateUser struct {
	Name  string  `json:"name" minLength:"1" maxLength:"200" format:"line" example:"Robin"`
	Email *string `json:"email,omitempty" minLength:"1" maxLength:"254" pattern:"^[^@\\s]+@[^@\\s]+$" hint:"be an email address" format:"line" example:"robin@example.com"`
	Role  string  `json:"role,omitempty" enum:"admin,member,viewer" default:"member"`
	// Invite requests an invitation in addition to the member.
	Invite bool `json:"invite,omitempty" doc:"Also create an invitation: a link, valid for seven days, to set up a sign-in method"`
}

// aboutMember is the schema for a member's name and address, wherever they come from.
var aboutMember = op.SchemaOf[CreateUser]()

// checkEmail checks the value of that field by the pattern of a member's address.
func checkEmail(field, given string) error { return aboutMember.Prop("email").Check(given, field) }

// CreateUser adds a member to the household.
func (a *Auth) CreateUser(ctx context.Context, tx pg.Tx, in CreateUser) (User, error) {
	var u User
	err := pg.Redraw(ctx, tx, "member_short_id", func(tx pg.Tx) (err error) {
		newID := id.New()
		u, err = pg.One[User](ctx, tx, `
			insert into member (id, short_id, name, email, role) values (@id, @short, @name, @email, @role)
			returning `+userColumns, pg.Args{
			"id": newID, "short": newID.Short(), "name": in.Name, "email": in.Email,
			"role": in.Role,
		})
		return err
	})
	return u, emailTaken(err)
}

// PatchUser is the input of PatchUser.
type PatchUser struct {
	ID    string          `json:"id" minLength:"1" doc:"The member's UUID or short id"`
	Name  *string         `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line"`
	Email op.Null[string] `json:"email,omitzero" minLength:"1" maxLength:"254" pattern:"^[^@\\s]+@[^@\\s]+$" hint:"be an email address" format:"line"`
	Role  *string         `json:"role,omitempty" enum:"admin,member,viewer" doc:"The last admin keeps this role"`
}

// PatchUser changes a member.
func (a *Auth) PatchUser(ctx context.Context, tx pg.Tx, in PatchUser) (User, error) {
	u, lastAdmin, err := a.lockUser(ctx, tx, in.ID)
	if err != nil {
		return User{}, err
	}
	if err := op.Match(ctx, u); err != nil {
		return User{}, err
	}
	if lastAdmin && in.Role != nil && *in.Role != op.RoleAdmin {
		return User{}, errs.New(errs.LastAdmin,
			"this is the only admin who can sign in; make another member an admin first")
	}
	u, err = pg.One[User](ctx, tx, `
		update member set
			name = coalesce(@name, name), email = case when @email_given then @email else email end,
			role = coalesce(@role, role), updated_at = clock_timestamp()
		where id = @id returning `+userColumns,
		pg.Args{"id": u.ID, "name": in.Name, "email_given": in.Email.Set, "email": in.Email.Value, "role": in.Role})
	return u, emailTaken(err)
}

func emailTaken(err error) error {
	if pg.Violates(err, "member_email") {
		return errs.New(errs.Conflict, "another member already has this email")
	}
	return err
}

// RemoveUser removes a member from the household, with every sign-in method. The caller must have
// handled what the member owns.
func (a *Auth) RemoveUser(ctx context.Context, tx pg.Tx, ref string) (User, error) {
	u, lastAdmin, err := a.lockUser(ctx, tx, ref)
	if err != nil {
		return User{}, err
	}
	if lastAdmin {
		return User{}, errs.New(errs.LastAdmin,
			"the only admin who can sign in can't be deleted; make another member an admin first")
	}
	if _, err = pg.Exec(ctx, tx, `update member set deleted_at = clock_timestamp(), updated_at = clock_timestamp()
		where id = $1`, u.ID); err != nil {
		return u, err
	}
	if _, err = pg.Exec(ctx, tx, `delete from login where member_id = $1`, u.ID); err != nil {
		return u, err
	}
	if err := voidLinks(ctx, tx, u.ID); err != nil {
		return u, err
	}
	_, err = pg.Exec(ctx, tx, `update token set revoked_at = coalesce(revoked_at, clock_timestamp()),
		updated_at = clock_timestamp() where member_id = $1`, u.ID)
	return u, err
}
