package archive

import (
	"context"
	"fmt"
	"strings"

	"coffer/internal/books/account"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Members removes members who own data: their connections and accounts are given to another member.
type Members struct {
	auth        *auth.Auth
	connections *connection.Connections
	accounts    *account.Register
}

// NewMembers returns Members.
func NewMembers(a *auth.Auth, f *connection.Connections, accounts *account.Register) *Members {
	return &Members{a, f, accounts}
}

// Ops returns the operation that removes a member.
func (m *Members) Ops() []*op.Op {
	return []*op.Op{
		op.Writing(op.Spec{
			Name: "user.delete", Route: "DELETE /users/{id}", People: op.PeopleAlways,
			Summary: "Removes a member from the household; reassign_to gets their connections and accounts.",
		}, m.DeleteUser),
	}
}

// DeleteUser is the input of DeleteUser.
type DeleteUser struct {
	ID         string  `json:"id" minLength:"1" doc:"The member's UUID or short id"`
	ReassignTo *string `json:"reassign_to,omitempty" minLength:"1" doc:"The member who takes over connections and accounts: UUID or short id; required if there are any"`
}

// DeleteUser removes a member who owns nothing, or whose connections and accounts are reassigned.
func (m *Members) DeleteUser(ctx context.Context, tx pg.Tx, in DeleteUser) (op.Deleted, error) {
	u, err := m.auth.RemoveUser(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	if in.ReassignTo != nil {
		return op.Deleted{Deleted: true, ID: u.ID}, m.reassign(ctx, tx, u.ID, *in.ReassignTo)
	}
	owned, err := m.owned(ctx, tx, u.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	if owned != "" {
		return op.Deleted{}, errs.New(errs.InUse, "this member owns %s; set reassign_to to the member who "+
			"takes them over",
			owned)
	}
	return op.Deleted{Deleted: true, ID: u.ID}, nil
}

// owned names the records that belong to a member, or returns "".
func (m *Members) owned(ctx context.Context, q pg.Querier, member id.ID) (string, error) {
	type count struct {
		Connections int `db:"connections"`
		Accounts    int `db:"accounts"`
	}
	n, err := pg.One[count](ctx, q, `
		select (select count(*) from connection where member_id = $1) as connections,
			(select count(*) from account where owner_id = $1 and deleted_at is null) as accounts`, member)
	var parts []string
	if n.Connections > 0 {
		parts = append(parts, fmt.Sprintf("connections (%d)", n.Connections))
	}
	if n.Accounts > 0 {
		parts = append(parts, fmt.Sprintf("accounts (%d)", n.Accounts))
	}
	return strings.Join(parts, " and "), err
}

// reassign gives the member's connections and accounts to another member. The member is already
// removed, so ref cannot name the same member.
func (m *Members) reassign(ctx context.Context, tx pg.Tx, from id.ID, ref string) error {
	into, err := m.auth.KeepUser(ctx, tx, ref)
	if err != nil {
		return pg.Named(err, "reassign_to", "other user", "{user.list} lists them")
	}
	if err := m.connections.ReassignConnections(ctx, tx, from, into.ID); err != nil {
		return err
	}
	return m.accounts.ReassignOwner(ctx, tx, from, into.ID)
}
