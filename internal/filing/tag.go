package filing

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/journal"
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

const maxDescription = 1000

// checkSlug folds a slug to lower case and says what is wrong with it.
func checkSlug(slug string, shape *regexp.Regexp, hint string) (string, error) {
	slug = strings.ToLower(slug)
	if _, err := id.Parse(slug); err == nil {
		return "", errs.Field("slug", "pattern", "must not look like a UUID, which would always mean an id")
	}
	if len(slug) > text.MaxSlug || !shape.MatchString(slug) {
		return "", errs.Field("slug", "pattern", "must be %s, at most %d characters", hint, text.MaxSlug)
	}
	return slug, nil
}

// Tags are all tags, by slug.
func (f *Filing) Tags(ctx context.Context, q pg.Querier, _ op.None) ([]Tag, error) {
	return pg.All[Tag](ctx, q, `select `+tagColumns+` from tag where deleted_at is null order by slug`)
}

// A TagRef names a tag.
type TagRef struct {
	Slug string `json:"slug" minLength:"1" doc:"The tag's slug; its UUID or short id will do too"`
}

// Tag is one tag.
func (f *Filing) Tag(ctx context.Context, q pg.Querier, in TagRef) (Tag, error) {
	t, err := pg.One[Tag](ctx, q, `
		select `+tagColumns+` from tag
		where deleted_at is null and (id = $1 or slug = $2 or short_id = $3)
		order by (slug = $2) desc limit 1`, pg.RefTo(in.Slug).Args()...)
	return t, noTag(err)
}

// lockTag is Tag, with nobody else changing it until the transaction ends.
func (f *Filing) lockTag(ctx context.Context, tx pg.Tx, ref string) (Tag, error) {
	t, err := f.Tag(ctx, tx, TagRef{ref})
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
func (f *Filing) CreateTag(ctx context.Context, tx pg.Tx, in CreateTag) (Tag, error) {
	slug, err := checkSlug(in.Slug, text.TagSlug, text.TagSlugHint)
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
	if err != nil {
		return Tag{}, err
	}
	entries, err := f.madeTags(ctx, tx, []id.ID{t.ID})
	if err != nil {
		return Tag{}, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{Summary: "Made tag " + slug}, entries)
	return t, err
}

// madeTags are the entries of tags that were just made.
func (f *Filing) madeTags(ctx context.Context, tx pg.Tx, ids []id.ID) ([]journal.Entry, error) {
	now, err := tagDefinition.Read(ctx, tx, ids)
	var entries []journal.Entry
	for _, u := range ids {
		entries = append(entries, journal.Entry{Subject: journal.Tag, SubjectID: u, Field: journal.FieldRecord, After: now[u], AfterSource: new(journal.Source(op.ActorOf(ctx)))})
	}
	return entries, err
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
func (f *Filing) PatchTag(ctx context.Context, tx pg.Tx, in PatchTag) (Tag, error) {
	t, err := f.lockTag(ctx, tx, in.Slug)
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
	var after Tag
	err = tagDefinition.Recorded(ctx, tx, []id.ID{t.ID}, "Changed tag "+t.Slug, func() (_ []journal.Entry, err error) {
		after, err = pg.One[Tag](ctx, tx, `
		update tag set
			display_name = coalesce(@name, display_name), description = coalesce(@description, description),
			color = coalesce(lower(@color), color), icon = coalesce(@icon, icon), updated_at = clock_timestamp()
		where id = @id returning `+tagColumns,
			pg.Args{"id": t.ID, "name": name, "description": in.Description, "color": in.Color, "icon": in.Icon})
		return nil, err
	})
	return after, err
}

// DeleteTag removes a tag; its slug is free again.
func (f *Filing) DeleteTag(ctx context.Context, tx pg.Tx, in TagRef) (op.Deleted, error) {
	t, err := f.lockTag(ctx, tx, in.Slug)
	if err != nil {
		return op.Deleted{}, err
	}
	if t.IsSystem {
		return op.Deleted{}, errs.New(errs.SystemProtected, "the tag %s belongs to the service and cannot be deleted; remove it from transactions instead", t.Slug)
	}
	err = tagDefinition.Recorded(ctx, tx, []id.ID{t.ID}, "Deleted tag "+t.Slug, func() ([]journal.Entry, error) {
		_, err := pg.Exec(ctx, tx, `update tag set deleted_at = clock_timestamp(), updated_at = clock_timestamp() where id = $1`, t.ID)
		return nil, err
	})
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

// Register makes the tags that do not exist yet, and answers their entries.
func (f *Filing) Register(ctx context.Context, tx pg.Tx, refs []string) ([]journal.Entry, error) {
	known, err := pg.Names(ctx, tx, refs, `select id, slug as name, short_id from tag where deleted_at is null and (id = any($1::uuid[]) or slug = any($2) or short_id = any($2))`)
	if err != nil {
		return nil, err
	}
	var slugs []string
	for _, ref := range refs {
		if _, ok := known[ref]; ok {
			continue
		}
		if slug, err := checkSlug(ref, text.TagSlug, text.TagSlugHint); err == nil && !slices.Contains(slugs, slug) {
			slugs = append(slugs, slug)
		}
	}
	if len(slugs) == 0 {
		return nil, nil
	}
	var ids []id.ID
	err = pg.Redraw(ctx, tx, "tag_short_id", func(tx pg.Tx) (err error) {
		fresh, shorts := make([]id.ID, len(slugs)), make([]string, len(slugs))
		for i := range slugs {
			fresh[i] = id.New()
			shorts[i] = fresh[i].Short()
		}
		// Another call may be registering the same slug: whoever is first makes it, and only the maker records it.
		ids, err = pg.Values[id.ID](ctx, tx, `
			insert into tag (id, short_id, slug, display_name)
			select v.id, v.short_id, v.slug, v.slug from unnest($1::uuid[], $2::text[], $3::text[]) v (id, short_id, slug)
			on conflict (slug) where deleted_at is null do nothing returning id`, fresh, shorts, slugs)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f.madeTags(ctx, tx, ids)
}
