package category

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Category is a transaction's category, as REST returns a single one.
type Category struct {
	ID        id.ID   `json:"id" db:"id"`
	ShortID   string  `json:"short_id,omitempty" db:"short_id" required:"true"`
	Slug      string  `json:"slug" db:"slug" doc:"Permanent name; rules refer to it" example:"food_and_drink_groceries"`
	Name      string  `json:"name" db:"display_name" doc:"Display name" agent:"-"`
	ParentID  *id.ID  `json:"parent_id" db:"parent_id" doc:"Its primary category; null for a primary"`
	Kind      string  `json:"kind" db:"kind" enum:"income,expense,transfer" doc:"A subcategory has its primary's kind; totals exclude transfers"`
	Icon      string  `json:"icon" db:"icon" example:"shopping-cart"`
	Color     string  `json:"color" db:"color" doc:"Hex color; empty if it was cleared"`
	SortOrder int     `json:"sort_order" db:"sort_order"`
	IsSystem  bool    `json:"is_system" db:"is_system" doc:"Built in: it can be hidden but not deleted"`
	Archived  bool    `json:"archived" db:"hidden" doc:"Hidden from lists of choices; its transactions keep it"`
	CreatedAt pg.Time `json:"created_at" db:"created_at"`
	UpdatedAt pg.Time `json:"updated_at" db:"updated_at"`
}

// A CategoryLeaf is a node of the tree.
type CategoryLeaf struct { //nolint:revive // the name of the shape in the contract
	ID                id.ID   `json:"id"`
	ShortID           string  `json:"short_id,omitempty" required:"true"`
	Slug              string  `json:"slug" doc:"Immutable"`
	DisplayName       string  `json:"display_name"`
	Icon              string  `json:"icon"`
	Color             string  `json:"color" doc:"Hex color"`
	Kind              string  `json:"kind" enum:"income,expense,transfer"`
	ParentID          *id.ID  `json:"parent_id"`
	ParentSlug        string  `json:"parent_slug,omitempty" doc:"Only on subcategories"`
	ParentDisplayName string  `json:"parent_display_name,omitempty" doc:"Only on subcategories"`
	SortOrder         int     `json:"sort_order"`
	IsSystem          bool    `json:"is_system"`
	Hidden            bool    `json:"hidden"`
	CreatedAt         pg.Time `json:"created_at"`
	UpdatedAt         pg.Time `json:"updated_at"`
}

// A CategoryNode is a primary with its subcategories.
type CategoryNode struct { //nolint:revive // the name of the shape in the contract
	CategoryLeaf
	Children []CategoryLeaf `json:"children"`
}

const (
	categoryColumns = `c.id, c.short_id, c.slug, c.display_name, c.parent_id, coalesce(p.kind, c.kind) as kind, c.icon,
		c.color, c.sort_order, c.is_system, c.hidden, c.created_at, c.updated_at`
	categoryRows = `select ` + categoryColumns + ` from category c left join category p on p.id = c.parent_id
		where c.deleted_at is null`
	categoryNamed = ` and (c.id = $1 or c.slug = $2 or c.short_id = $3) order by (c.slug = $2) desc limit 1`
	categorySlug  = `words of a-z and 0-9 joined by - or _`
)

var categorySlugShape = regexp.MustCompile(`^[a-z0-9]+([-_][a-z0-9]+)*$`)

// all returns the live categories: primaries in their order, each before its children.
func (f *Categories) all(ctx context.Context, q pg.Querier) ([]Category, error) {
	return pg.All[Category](ctx, q, categoryRows+`
		order by coalesce(p.sort_order, c.sort_order), coalesce(p.slug, c.slug), c.parent_id is not null,
			c.sort_order, c.slug`)
}

// Categories returns the tree.
func (f *Categories) Categories(ctx context.Context, q pg.Querier, _ op.None) ([]CategoryNode, error) {
	rows, err := f.all(ctx, q)
	if err != nil {
		return nil, err
	}
	tree := []CategoryNode{}
	for _, c := range rows {
		leaf := CategoryLeaf{
			ID: c.ID, ShortID: c.ShortID, Slug: c.Slug, DisplayName: c.Name, Icon: c.Icon,
			Color: shownColor(c.Color, c.Slug), Kind: c.Kind, ParentID: c.ParentID,
			SortOrder: c.SortOrder, IsSystem: c.IsSystem, Hidden: c.Archived, CreatedAt: c.CreatedAt,
			UpdatedAt: c.UpdatedAt,
		}
		if c.ParentID == nil {
			tree = append(tree, CategoryNode{CategoryLeaf: leaf, Children: []CategoryLeaf{}})
			continue
		}
		parent := &tree[len(tree)-1]
		leaf.ParentSlug, leaf.ParentDisplayName = parent.Slug, parent.DisplayName
		parent.Children = append(parent.Children, leaf)
	}
	return tree, nil
}

// A CategoryRef names a category.
type CategoryRef struct { //nolint:revive // the name of the shape in the contract
	ID string `json:"id" minLength:"1" doc:"The category's slug, short id or UUID"`
}

// Category returns one category.
func (f *Categories) Category(ctx context.Context, q pg.Querier, in CategoryRef) (Category, error) {
	c, err := f.find(ctx, q, in.ID)
	return c, pg.Found(err, "category", "{category.list} lists them")
}

func (f *Categories) find(ctx context.Context, q pg.Querier, ref string) (Category, error) {
	return pg.One[Category](ctx, q, categoryRows+categoryNamed, pg.RefTo(ref).Args()...)
}

// Named returns the category that a field of a request names, or INVALID_REFERENCE for that field
// if there is none.
func (f *Categories) Named(ctx context.Context, q pg.Querier, field, ref string) (Category, error) {
	c, err := f.find(ctx, q, ref)
	return c, pg.Named(err, field, "category", "{category.list} lists them")
}

// Keep is Named for callers that store a reference to the category: nobody can retire it until the
// transaction ends.
func (f *Categories) Keep(ctx context.Context, tx pg.Tx, field, ref string) (Category, error) {
	// Lock in a separate statement. Another transaction may be moving the category to another
	// parent, and a statement that waits for that would continue with the old parent.
	u, err := pg.Value[id.ID](ctx, tx, `select c.id from category c
		where c.deleted_at is null`+categoryNamed+` for share`, pg.RefTo(ref).Args()...)
	if err != nil {
		return Category{}, pg.Named(err, field, "category", "{category.list} lists them")
	}
	return f.Named(ctx, tx, field, u.String())
}

// changing locks the tree against other writers until the transaction ends. Readers continue. The
// tree is small and rarely changed, so one lock is easier to reason about than many.
func changing(ctx context.Context, tx pg.Tx) error {
	_, err := pg.Exec(ctx, tx, `lock table category in share row exclusive mode`)
	return err
}

// CreateCategory is the input of CreateCategory.
type CreateCategory struct {
	Slug        string  `json:"slug" minLength:"1" maxLength:"64" doc:"Lower-case words joined by - or _; it can never be changed" example:"home_garden"`
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Display name; required, here or as display_name" example:"Garden"`
	DisplayName *string `json:"display_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The same as name"`
	ParentID    *string `json:"parent_id,omitempty" minLength:"1" doc:"Its primary category: slug, short id or UUID; omit it to create a primary" example:"home"`
	Kind        *string `json:"kind,omitempty" enum:"income,expense,transfer" doc:"Kind of a primary, expense if omitted; a subcategory has its primary's kind"`
	Icon        string  `json:"icon,omitempty" maxLength:"64" format:"line"`
	Color       string  `json:"color,omitempty" pattern:"^(#[0-9a-fA-F]{6})?$" hint:"be a hex color such as #16a34a"`
	SortOrder   int     `json:"sort_order,omitempty" minimum:"-1000000" maximum:"1000000"`
	Hidden      bool    `json:"hidden,omitempty"`
}

// CreateCategory creates a category.
func (f *Categories) CreateCategory(ctx context.Context, tx pg.Tx, in CreateCategory) (Category, error) {
	slug, err := checkSlug(in.Slug, categorySlugShape, categorySlug)
	if err != nil {
		return Category{}, err
	}
	name, err := oneName(in.Name, in.DisplayName)
	if err != nil {
		return Category{}, err
	}
	if name == nil {
		return Category{}, errs.Field("name", "required", "is required")
	}
	if err := changing(ctx, tx); err != nil {
		return Category{}, err
	}
	place, err := f.findPlacement(ctx, tx, in.ParentID, in.Kind, "expense")
	if err != nil {
		return Category{}, err
	}
	made := newValues{
		Slug: slug, Name: *name, Parent: place.parent, Kind: place.kind, Icon: in.Icon, Color: in.Color,
		SortOrder: in.SortOrder, Hidden: in.Hidden,
	}
	if err := f.insert(ctx, tx, []*newValues{&made}); err != nil {
		return Category{}, err
	}
	if err := f.noteCreated(ctx, tx, made.ID); err != nil {
		return Category{}, err
	}
	return f.Category(ctx, tx, CategoryRef{made.ID.String()})
}

// placement is a category's position in the tree: below a parent, or as a primary with a kind.
type placement struct {
	parent *id.ID
	kind   *string
}

func (f *Categories) findPlacement(ctx context.Context, q pg.Querier, parent, kind *string, otherwise string) (
	placement, error,
) {
	if parent == nil {
		if kind == nil {
			kind = &otherwise
		}
		return placement{kind: kind}, nil
	}
	p, err := f.Named(ctx, q, "parent_id", *parent)
	if err != nil {
		return placement{}, err
	}
	if p.ParentID != nil {
		return placement{}, errs.Field("parent_id", "conflict",
			"must be a primary category, not a subcategory: the tree has two levels")
	}
	if kind != nil && *kind != p.Kind {
		return placement{}, errs.Field("kind", "conflict",
			"must be omitted for a subcategory, which has its primary's kind, %s", p.Kind)
	}
	return placement{parent: &p.ID}, nil
}

// PatchCategory is the input of PatchCategory.
type PatchCategory struct {
	ID          string          `json:"id" minLength:"1" doc:"The category's slug, short id or UUID"`
	Name        *string         `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line"`
	DisplayName *string         `json:"display_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The same as name"`
	ParentID    op.Null[string] `json:"parent_id,omitzero" minLength:"1" doc:"Its primary category; null makes it a primary"`
	Kind        *string         `json:"kind,omitempty" enum:"income,expense,transfer" doc:"Kind of a primary"`
	Icon        *string         `json:"icon,omitempty" maxLength:"64" format:"line"`
	Color       *string         `json:"color,omitempty" pattern:"^(#[0-9a-fA-F]{6})?$" hint:"be a hex color such as #16a34a"`
	SortOrder   *int            `json:"sort_order,omitempty" minimum:"-1000000" maximum:"1000000"`
	Archived    *bool           `json:"archived,omitempty" doc:"Hidden from lists of choices"`
	Hidden      *bool           `json:"hidden,omitempty" doc:"The same as archived"`
}

// PatchCategory changes a category.
func (f *Categories) PatchCategory(ctx context.Context, tx pg.Tx, in PatchCategory) (Category, error) {
	if err := changing(ctx, tx); err != nil {
		return Category{}, err
	}
	c, err := f.Category(ctx, tx, CategoryRef{in.ID})
	if err != nil {
		return Category{}, err
	}
	if err := op.Match(ctx, c); err != nil {
		return Category{}, err
	}
	name, err := oneName(in.Name, in.DisplayName)
	if err != nil {
		return Category{}, err
	}
	hidden := in.Archived
	if hidden == nil {
		hidden = in.Hidden
	} else if in.Hidden != nil && *in.Hidden != *hidden {
		return Category{}, errs.Field("hidden", "conflict", "means the same as archived; pass only one of them")
	}
	parent := in.ParentID.Value
	if !in.ParentID.Set && c.ParentID != nil {
		parent = new(c.ParentID.String())
	}
	place, err := f.findPlacement(ctx, tx, parent, in.Kind, c.Kind)
	if err != nil {
		return Category{}, err
	}
	err = categoryDefinition.Recorded(ctx, tx, []id.ID{c.ID}, journal.Note{},
		func() ([]journal.Entry, error) {
			if err := forsake(ctx, tx, []id.ID{c.ID}); err != nil {
				return nil, err
			}
			_, err := pg.Exec(ctx, tx, `
		update category set
			display_name = coalesce(@name, display_name), icon = coalesce(@icon, icon),
				color = coalesce(lower(@color), color),
			sort_order = coalesce(@sort, sort_order), hidden = coalesce(@hidden, hidden), parent_id = @parent,
				kind = @kind, updated_at = clock_timestamp()
		where id = @id`,
				pg.Args{
					"id": c.ID, "name": name, "icon": in.Icon, "color": in.Color, "sort": in.SortOrder,
					"hidden": hidden,
					"parent": place.parent, "kind": place.kind,
				})
			return nil, err
		})
	if err != nil {
		return Category{}, treeFault(err)
	}
	return f.Category(ctx, tx, CategoryRef{c.ID.String()})
}

// treeFault turns constraint violations, such as a third level, into errors for people.
func treeFault(err error) error {
	switch {
	case pg.Violates(err, "category_parent"):
		return errs.New(errs.Conflict,
			"a category with subcategories cannot become a subcategory; move its subcategories first")
	case pg.Violates(err, "category_not_its_own_parent"):
		return errs.Field("parent_id", "conflict", "must be a different category")
	case pg.Violates(err, "category_slug"):
		return errs.New(errs.SlugConflict,
			"a category with this slug already exists; choose another slug or change that category")
	}
	return err
}

// DeleteCategory is the input of DeleteCategory.
type DeleteCategory struct {
	ID     string  `json:"id" minLength:"1" doc:"The category's slug, short id or UUID"`
	MoveTo *string `json:"move_to,omitempty" minLength:"1" doc:"The category that replaces it: slug, short id or UUID; required if the category is in use"`
}

// DeleteCategory deletes a category that is not in use. With move_to, it first moves everything
// that uses it to another category.
func (f *Categories) DeleteCategory(ctx context.Context, tx pg.Tx, in DeleteCategory) (op.Deleted, error) {
	if err := changing(ctx, tx); err != nil {
		return op.Deleted{}, err
	}
	c, err := f.Category(ctx, tx, CategoryRef{in.ID})
	if err != nil {
		return op.Deleted{}, err
	}
	if c.IsSystem {
		return op.Deleted{}, errs.New(errs.SystemProtected,
			"the category %s is built in and can't be deleted; hide it instead (archived: true)", c.Slug)
	}
	if in.MoveTo != nil {
		into, err := f.Named(ctx, tx, "move_to", *in.MoveTo)
		if err != nil {
			return op.Deleted{}, err
		}
		return op.Deleted{Deleted: true, ID: c.ID}, f.mergeRecorded(ctx, tx, merge{c, into})
	}
	// A transaction that stores a reference to the category holds a lock on it. After this wait all
	// such references are visible, and later ones find the category deleted.
	if err := categoryDefinition.Lock(ctx, tx, []id.ID{c.ID}); err != nil {
		return op.Deleted{}, err
	}
	uses, err := f.uses(ctx, tx, c.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	if uses != "" {
		return op.Deleted{}, errs.New(errs.InUse,
			"the category %s is used by %s; pass move_to, the category to move them to", c.Slug, uses)
	}
	err = categoryDefinition.Recorded(ctx, tx, []id.ID{c.ID}, journal.Note{},
		func() ([]journal.Entry, error) {
			return nil, f.retire(ctx, tx, []id.ID{c.ID})
		})
	return op.Deleted{Deleted: true, ID: c.ID}, err
}

// noteCreated records categories that were just created.
func (f *Categories) noteCreated(ctx context.Context, tx pg.Tx, ids ...id.ID) error {
	now, err := categoryDefinition.Read(ctx, tx, ids)
	if err != nil {
		return err
	}
	var entries []journal.Entry
	for _, u := range ids {
		entries = append(entries, journal.Entry{
			Subject: journal.Category, SubjectID: u, Field: journal.FieldRecord,
			After: now[u], AfterSource: new(journal.Source(op.ActorOf(ctx))),
		})
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, entries)
	return err
}

func (f *Categories) uses(ctx context.Context, tx pg.Tx, category id.ID) (string, error) {
	var found []string
	n, err := pg.Value[int64](ctx, tx, `select count(*) from category
		where parent_id = $1 and deleted_at is null`, category)
	if err != nil {
		return "", err
	}
	if n > 0 {
		found = append(found, fmt.Sprintf("%d subcategories", n))
	}
	for _, u := range f.users {
		n, what, err := u.Uses(ctx, tx, category)
		if err != nil {
			return "", err
		}
		if n > 0 {
			found = append(found, fmt.Sprintf("%d %s", n, what))
		}
	}
	return strings.Join(found, ", "), nil
}
