// Package savedview stores how members look at the books: saved filters of the list of
// transactions, and the preferences of the app. It must not know what a filter means, and it does
// not change the books.
package savedview

import (
	"context"
	"encoding/json"
	"fmt"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// mostViews is the largest number of views of a member, and of shared views of the household.
const mostViews = 200

// Views are the saved views of one household.
type Views struct{ books *ledger.Books }

// New returns Views that use those books.
func New(books *ledger.Books) *Views { return &Views{books} }

// Ops returns the operations on saved views. They are only for people: the journal does not record
// their changes, so nothing could revert what an agent does.
func (v *Views) Ops() []*op.Op {
	return append(v.preferenceOps(),
		op.Reading(op.Spec{
			Name: "view.list", Route: "GET /views", Record: true,
			Summary: "Lists the household's shared views and your own, by name.",
		}, v.List),
		op.Writing(op.Spec{
			Name: "view.create", Route: "POST /views", People: op.PeopleAlways,
			Summary: "Saves a view: filters of the transaction list with a name.",
		}, v.Create),
		op.Reading(op.Spec{Name: "view.get", Route: "GET /views/{id}", Summary: "Shows one saved view."}, v.Get),
		op.Writing(op.Spec{
			Name: "view.update", Route: "PATCH /views/{id}", People: op.PeopleAlways,
			Summary: "Changes a saved view's name, filters, or whether it is shared.",
		}, v.Patch),
		op.Writing(op.Spec{
			Name: "view.delete", Route: "DELETE /views/{id}", People: op.PeopleAlways, Summary: "Deletes a saved view.",
		}, v.Delete),
	)
}

// A View is a saved filter.
type View struct {
	ID        id.ID         `json:"id" db:"id"`
	ShortID   string        `json:"short_id,omitempty" db:"short_id" required:"true"`
	Name      string        `json:"name" db:"name"`
	Filters   ledger.Filter `json:"filters" db:"filters" doc:"The filters of GET /transactions"`
	Shared    bool          `json:"shared" db:"shared" doc:"Whether the whole household sees it"`
	UserID    *id.ID        `json:"user_id" db:"member_id" doc:"The member whose own view it is; null if it is shared"`
	CreatedAt pg.Time       `json:"created_at" db:"created_at"`
	UpdatedAt pg.Time       `json:"updated_at" db:"updated_at"`
}

const columns = `id, short_id, name, filters, member_id is null as shared, member_id, created_at, updated_at`

// visible is the condition for views that the member $1 can see: shared views and the member's own.
const visible = `(member_id is null or member_id = $1)`

// Saved holds all views that the caller can see.
type Saved struct {
	Views []View `json:"views"`
}

// List returns the views that the caller can see. There are few, so the list has no pages.
func (v *Views) List(ctx context.Context, q pg.Querier, _ op.None) (Saved, error) {
	views, err := pg.All[View](ctx, q, `select `+columns+` from saved_view where `+visible+`
		order by lower(name), id limit $2`, op.ActorOf(ctx).Member, 2*mostViews)
	return Saved{views}, err
}

// CreateView is the input of Create.
type CreateView struct {
	Name    string        `json:"name" minLength:"1" maxLength:"100" format:"line" example:"Restaurants"`
	Filters ledger.Filter `json:"filters" doc:"The filters of GET /transactions"`
	Shared  bool          `json:"shared,omitempty" doc:"true: the whole household sees it, and members who can make changes can edit it; false: only you see it"`
}

// Create saves a view.
func (v *Views) Create(ctx context.Context, tx pg.Tx, in CreateView) (View, error) {
	owner, err := owner(ctx, in.Shared)
	if err != nil {
		return View{}, err
	}
	filters, err := v.checked(ctx, tx, in.Filters)
	if err != nil {
		return View{}, err
	}
	n, err := pg.Value[int](ctx, tx, `select count(*) from saved_view where member_id is not distinct from $1`, owner)
	if err != nil {
		return View{}, err
	}
	if n >= mostViews {
		return View{}, errs.New(errs.Conflict, "limit of %d saved views reached; delete one first", mostViews)
	}
	var out View
	err = pg.Redraw(ctx, tx, "saved_view_short_id", func(tx pg.Tx) (err error) {
		newID := id.New()
		out, err = pg.One[View](ctx, tx, `
			insert into saved_view (id, short_id, name, filters, member_id)
			values (@id, @short, @name, @filters, @owner) returning `+columns, pg.Args{
			"id": newID, "short": newID.Short(), "name": in.Name, "filters": filters, "owner": owner,
		})
		return err
	})
	return out, named(err)
}

// owner returns the member who owns a new view, or nil for a shared view.
func owner(ctx context.Context, shared bool) (*id.ID, error) {
	if shared {
		return nil, nil //nolint:nilnil // the comment says so
	}
	member := op.ActorOf(ctx).Member
	if member == nil {
		return nil, errs.Field("shared", "required", "must be true, because only signed-in members have "+
			"private views")
	}
	return member, nil
}

// checked returns the filters in the form in which they are stored. A filter that names an unknown
// record is an error, as in the list of transactions.
func (v *Views) checked(ctx context.Context, q pg.Querier, f ledger.Filter) (json.RawMessage, error) {
	if _, _, err := v.books.Where(ctx, q, f); err != nil {
		return nil, errs.Within("filters", err)
	}
	b, err := json.Marshal(f.Cleaned())
	if err != nil {
		return nil, fmt.Errorf("print filters: %w", err)
	}
	return b, nil
}

// named turns the violation of a unique name into an error for people.
func named(err error) error {
	if pg.Violates(err, "saved_view_name") {
		return errs.New(errs.Conflict, "a saved view with this name already exists; choose another name or "+
			"change that one")
	}
	return err
}

// A Ref names a view.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The view's UUID or short id"`
}

func noView(err error) error { return pg.Found(err, "view", "{view.list} lists them") }

// Get returns one view.
func (v *Views) Get(ctx context.Context, q pg.Querier, in Ref) (View, error) {
	out, err := pg.One[View](ctx, q, `select `+columns+` from saved_view where `+visible+`
		and (id = $2 or short_id = $3)`, append([]any{op.ActorOf(ctx).Member}, pg.RefTo(in.ID).IDArgs()...)...)
	return out, noView(err)
}

func (v *Views) lock(ctx context.Context, tx pg.Tx, ref string) (View, error) {
	out, err := pg.One[View](ctx, tx, `select `+columns+` from saved_view where `+visible+`
		and (id = $2 or short_id = $3) for update`, append([]any{op.ActorOf(ctx).Member}, pg.RefTo(ref).IDArgs()...)...)
	return out, noView(err)
}

// PatchView is the input of Patch.
type PatchView struct {
	ID      string         `json:"id" minLength:"1" doc:"The view's UUID or short id"`
	Name    *string        `json:"name,omitempty" minLength:"1" maxLength:"100" format:"line"`
	Filters *ledger.Filter `json:"filters,omitempty" doc:"All filters; they replace the saved ones"`
	Shared  *bool          `json:"shared,omitempty" doc:"true: the whole household sees it; false: only you see it"`
}

// Patch changes a view.
func (v *Views) Patch(ctx context.Context, tx pg.Tx, in PatchView) (View, error) {
	was, err := v.lock(ctx, tx, in.ID)
	if err != nil {
		return View{}, err
	}
	if err := op.Match(ctx, was); err != nil {
		return View{}, err
	}
	if in.Name != nil {
		was.Name = *in.Name
	}
	if in.Filters != nil {
		was.Filters = *in.Filters
	}
	filters, err := v.checked(ctx, tx, was.Filters)
	if err != nil {
		return View{}, err
	}
	if in.Shared != nil {
		if was.UserID, err = owner(ctx, *in.Shared); err != nil {
			return View{}, err
		}
	}
	out, err := pg.One[View](ctx, tx, `update saved_view set name = @name, filters = @filters, member_id = @owner,
		updated_at = clock_timestamp() where id = @id returning `+columns,
		pg.Args{"id": was.ID, "name": was.Name, "filters": filters, "owner": was.UserID})
	return out, named(err)
}

// Delete removes a view.
func (v *Views) Delete(ctx context.Context, tx pg.Tx, in Ref) (op.Deleted, error) {
	was, err := v.lock(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	_, err = pg.Exec(ctx, tx, `delete from saved_view where id = $1`, was.ID)
	return op.Deleted{Deleted: true, ID: was.ID}, err
}
