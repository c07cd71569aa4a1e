package ledger

import (
	"context"
	"regexp"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// A Tag is an open-ended label for transactions, in the shape of the REST interface.
type Tag struct {
	ID          id.ID   `json:"id" db:"id"`
	ShortID     string  `json:"short_id,omitempty" db:"short_id" required:"true"`
	Slug        string  `json:"slug" db:"slug" doc:"What names it for ever" example:"trip:japan-2026"`
	Name        string  `json:"name" db:"display_name" doc:"What people see"`
	Description string  `json:"description" db:"description"`
	Color       string  `json:"color" db:"color" doc:"Hex colour, or empty" example:"#d97706"`
	Icon        string  `json:"icon" db:"icon" doc:"Name of an icon, or empty" example:"plane"`
	IsSystem    bool    `json:"is_system" db:"is_system" doc:"The service relies on it; it cannot be deleted"`
	CreatedAt   pg.Time `json:"created_at" db:"created_at"`
	UpdatedAt   pg.Time `json:"updated_at" db:"updated_at"`
}

// A ToolTag is a Tag in the shape of the tools.
type ToolTag struct {
	ID          id.ID   `json:"id" doc:"Short id"`
	Slug        string  `json:"slug"`
	DisplayName string  `json:"display_name"`
	Description string  `json:"description"`
	Color       string  `json:"color" doc:"Hex colour, or empty"`
	Icon        string  `json:"icon"`
	CreatedAt   pg.Time `json:"created_at"`
	UpdatedAt   pg.Time `json:"updated_at"`
}

func toolTag(t Tag) ToolTag {
	return ToolTag{t.ID, t.Slug, t.Name, t.Description, t.Color, t.Icon, t.CreatedAt, t.UpdatedAt}
}

func toolTags(tags []Tag) []ToolTag {
	out := make([]ToolTag, len(tags))
	for i, t := range tags {
		out[i] = toolTag(t)
	}
	return out
}

const tagColumns = `id, short_id, slug, display_name, description, color, icon, is_system, created_at, updated_at`

var tagSlug = regexp.MustCompile(`^[a-z0-9]+([-_:][a-z0-9]+)*$`)

const slugHint = "words of a-z and 0-9 joined by - _ or :"

const (
	maxSlug        = 64
	maxDescription = 1000
)

// checkSlug folds a slug to lower case and says what is wrong with it.
func checkSlug(slug string, shape *regexp.Regexp, hint string) (string, error) {
	slug = strings.ToLower(slug)
	if len(slug) > maxSlug || !shape.MatchString(slug) {
		return "", errs.Field("slug", "pattern", "must be %s, at most %d characters", hint, maxSlug)
	}
	return slug, nil
}

// Tags are all tags, by slug.
func (b *Books) Tags(ctx context.Context, q pg.Querier, _ op.None) ([]Tag, error) {
	return pg.All[Tag](ctx, q, `select `+tagColumns+` from tag where deleted_at is null order by slug`)
}

// A TagRef names a tag.
type TagRef struct {
	Slug string `json:"slug" minLength:"1" doc:"The tag's slug; its UUID or short id will do too"`
}

// Tag is one tag.
func (b *Books) Tag(ctx context.Context, q pg.Querier, in TagRef) (Tag, error) {
	t, err := pg.One[Tag](ctx, q, `
		select `+tagColumns+` from tag
		where deleted_at is null and (id = $1 or slug = $2 or short_id = $3)
		order by (slug = $2) desc limit 1`, pg.RefTo(in.Slug).Args()...)
	return t, noTag(err)
}

// lockTag is Tag, with nobody else changing it until the transaction ends.
func (b *Books) lockTag(ctx context.Context, tx pg.Tx, ref string) (Tag, error) {
	t, err := b.Tag(ctx, tx, TagRef{ref})
	if err != nil {
		return Tag{}, err
	}
	t, err = pg.One[Tag](ctx, tx, `select `+tagColumns+` from tag where id = $1 and deleted_at is null for update`, t.ID)
	return t, noTag(err)
}

func noTag(err error) error { return pg.Found(err, "tag", "GET /api/v1/tags lists them") }

// CreateTag is the input of CreateTag.
type CreateTag struct {
	Slug        string  `json:"slug" minLength:"1" maxLength:"64" doc:"Lower-case words joined by - _ or : (a namespace); it never changes" example:"trip:japan-2026"`
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"What people see; the slug if omitted" example:"Japan 2026"`
	DisplayName *string `json:"display_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The same as name"`
	Description string  `json:"description,omitempty" maxLength:"1000"`
	Color       string  `json:"color,omitempty" pattern:"^(#[0-9a-fA-F]{6})?$" hint:"be a hex colour such as #d97706" example:"#d97706"`
	Icon        string  `json:"icon,omitempty" maxLength:"64" format:"line" example:"plane"`
}

// CreateTag makes a tag.
func (b *Books) CreateTag(ctx context.Context, tx pg.Tx, in CreateTag) (Tag, error) {
	slug, err := checkSlug(in.Slug, tagSlug, slugHint)
	if err != nil {
		return Tag{}, err
	}
	name, err := oneName(in.Name, in.DisplayName)
	if err != nil {
		return Tag{}, err
	}
	if name == nil {
		name = &slug
	}
	var t Tag
	err = pg.Redraw(ctx, tx, "tag_short_id", func(tx pg.Tx) (err error) {
		fresh := id.New()
		t, err = pg.One[Tag](ctx, tx, `
			insert into tag (id, short_id, slug, display_name, description, color, icon)
			values (@id, @short, @slug, @name, @description, lower(@color), @icon)
			returning `+tagColumns, pg.Args{
			"id": fresh, "short": fresh.Short(), "slug": slug, "name": *name, "description": text.Prose(in.Description, maxDescription).Plain(), "color": in.Color, "icon": in.Icon,
		})
		return err
	})
	if pg.Violates(err, "tag_slug") {
		return Tag{}, errs.New(errs.SlugConflict, "there is a tag with this slug already; choose another slug or change that tag")
	}
	return t, err
}

// PatchTag is the input of PatchTag.
type PatchTag struct {
	Slug        string  `json:"slug" minLength:"1" doc:"The tag's slug; its UUID or short id will do too"`
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"What people see"`
	DisplayName *string `json:"display_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The same as name"`
	Description *string `json:"description,omitempty" maxLength:"1000"`
	Color       *string `json:"color,omitempty" pattern:"^(#[0-9a-fA-F]{6})?$" hint:"be a hex colour such as #d97706"`
	Icon        *string `json:"icon,omitempty" maxLength:"64" format:"line"`
}

// PatchTag changes a tag.
func (b *Books) PatchTag(ctx context.Context, tx pg.Tx, in PatchTag) (Tag, error) {
	t, err := b.lockTag(ctx, tx, in.Slug)
	if err != nil {
		return Tag{}, err
	}
	if err := op.Match(ctx, t); err != nil {
		return Tag{}, err
	}
	name, err := oneName(in.Name, in.DisplayName)
	if err != nil {
		return Tag{}, err
	}
	if in.Description != nil {
		in.Description = new(text.Prose(*in.Description, maxDescription).Plain())
	}
	return pg.One[Tag](ctx, tx, `
		update tag set
			display_name = coalesce(@name, display_name), description = coalesce(@description, description),
			color = coalesce(lower(@color), color), icon = coalesce(@icon, icon), updated_at = clock_timestamp()
		where id = @id returning `+tagColumns,
		pg.Args{"id": t.ID, "name": name, "description": in.Description, "color": in.Color, "icon": in.Icon})
}

// DeleteTag removes a tag; its slug is free again.
func (b *Books) DeleteTag(ctx context.Context, tx pg.Tx, in TagRef) (op.Deleted, error) {
	t, err := b.lockTag(ctx, tx, in.Slug)
	if err != nil {
		return op.Deleted{}, err
	}
	if t.IsSystem {
		return op.Deleted{}, errs.New(errs.SystemProtected, "the tag %s belongs to the service and cannot be deleted; remove it from transactions instead", t.Slug)
	}
	_, err = pg.Exec(ctx, tx, `update tag set deleted_at = clock_timestamp(), updated_at = clock_timestamp() where id = $1`, t.ID)
	return op.Deleted{Deleted: true, ID: t.ID}, err
}

// oneName reads a name that may be given under either of its two names.
func oneName(name, displayName *string) (*string, error) {
	switch {
	case name == nil:
		return displayName, nil
	case displayName != nil && *displayName != *name:
		return nil, errs.Field("display_name", "conflict", "is another word for name; give one of them")
	}
	return name, nil
}
