package account

import (
	"context"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// PatchAccount is the input of PatchAccount.
type PatchAccount struct {
	ID          string          `json:"id" minLength:"1" doc:"The account's UUID or short id"`
	DisplayName op.Null[string] `json:"display_name,omitzero" maxLength:"200" format:"line" doc:"The household's name for it; null or an empty string restores the bank's name"`
	OwnerUserID op.Null[string] `json:"owner_user_id,omitzero" minLength:"1" doc:"The owner: UUID or short id; null restores the connection's member"`
	Hidden      *bool           `json:"hidden,omitempty" doc:"Leave it out of totals unless a filter names it"`
	Force       bool            `json:"force,omitempty" doc:"Also change fields that a person holds"`
}

// PatchAccount changes what the household says about an account; what the bank says stays.
func (r *Register) PatchAccount(ctx context.Context, tx pg.Tx, in PatchAccount) (Account, error) {
	a, err := pg.One[Account](ctx, tx, accountRows+` where a.deleted_at is null
		and (a.id = $1 or a.short_id = $2) for update of a`, pg.RefTo(in.ID).IDArgs()...)
	if err != nil {
		return Account{}, noAccount(err)
	}
	if err := op.Match(ctx, a); err != nil {
		return Account{}, err
	}
	var owner *id.ID
	if in.OwnerUserID.Value != nil {
		// The lock keeps the member from being deleted before this commits.
		u, err := pg.Value[id.ID](ctx, tx, `select id from member
			where deleted_at is null
			and (id = $1 or short_id = $2) for share`, pg.RefTo(*in.OwnerUserID.Value).IDArgs()...)
		if err != nil {
			return Account{}, pg.Named(err, "owner_user_id", "user", "{user.list} lists them")
		}
		owner = &u
	}
	held, said, err := in.held(a, owner, op.ActorOf(ctx))
	if err != nil {
		return Account{}, err
	}
	err = definition.Recorded(ctx, tx, []id.ID{a.ID}, said+" an account", func() ([]journal.Entry, error) {
		_, err := pg.Exec(ctx, tx, `
			update account set
				display_name = case when @name_given then @name else display_name end,
				owner_id = case when @owner_given then @owner::uuid else owner_id end,
				hidden = coalesce(@hidden, hidden), held = @held, updated_at = clock_timestamp()
			where id = @id`, pg.Args{
			"id": a.ID, "name_given": in.DisplayName.Set, "name": in.DisplayName.Value,
			"owner_given": in.OwnerUserID.Set, "owner": owner, "hidden": in.Hidden, "held": held,
		})
		return nil, err
	})
	if err != nil {
		return Account{}, err
	}
	return r.Account(ctx, tx, Ref{a.ID.String()})
}

// held says which fields are held once this is done, and in a word what it does. What a person sets
// is held, what a person clears is not, and what an agent changes with force is the agent's.
func (in PatchAccount) held(a Account, owner *id.ID, actor op.Actor) (held []string, said string, err error) {
	held = slices.Clone(a.Held)
	var did []string
	for _, f := range []struct {
		name, verb           string
		given, differs, none bool
	}{
		{
			heldName, "renamed", in.DisplayName.Set, !same(in.DisplayName.Value, a.DisplayName),
			in.DisplayName.Value == nil,
		},
		{heldOwner, "changed the owner of", in.OwnerUserID.Set, !same(owner, a.OwnerUserID), owner == nil},
		{heldHidden, hiding(in.Hidden), in.Hidden != nil, in.Hidden != nil && *in.Hidden != a.Hidden, false},
	} {
		is := slices.Contains(held, f.name)
		if f.given && f.differs {
			did = append(did, f.verb)
			if is && journal.Held(new(op.User), actor, in.Force) {
				return nil, "", errs.New(errs.Conflict,
					"a person set %s, so it is held; give force: true to change it anyway", f.name)
			}
		}
		if f.given && (f.differs || actor.Type == op.User) {
			held = slices.DeleteFunc(held, func(h string) bool { return h == f.name })
			if actor.Type == op.User && !f.none {
				held = append(held, f.name)
			}
		}
	}
	slices.Sort(held)
	if len(did) == 0 {
		did = []string{"confirmed"} // a person repeats what an agent said, and holds it from now on
	}
	said = strings.Join(did, ", ")
	return held, strings.ToUpper(said[:1]) + said[1:], nil
}

func hiding(hidden *bool) string {
	if hidden != nil && *hidden {
		return "hid"
	}
	return "showed"
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }
