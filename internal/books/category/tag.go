package category

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A Tag is a free label for transactions, as REST returns it.
type Tag struct {
	ID          id.ID   `json:"id" db:"id"`
	ShortID     string  `json:"short_id,omitempty" db:"short_id" required:"true"`
	Slug        string  `json:"slug" db:"slug" doc:"Permanent name" example:"trip:japan-2026"`
	Name        string  `json:"name" db:"display_name" doc:"Display name" agent:"-"`
	Description string  `json:"description" db:"description"`
	Color       string  `json:"color" db:"color" doc:"Hex color; empty if it was cleared" example:"#d97706"`
	Icon        string  `json:"icon" db:"icon" doc:"Icon name, or empty" example:"plane"`
	IsSystem    bool    `json:"is_system" db:"is_system" doc:"Built in: it cannot be deleted"`
	CreatedAt   pg.Time `json:"created_at" db:"created_at"`
	UpdatedAt   pg.Time `json:"updated_at" db:"updated_at"`
}

// A ToolTag is a Tag as tools return it.
type ToolTag struct {
	ID          id.ID   `json:"id" doc:"Short id"`
	Slug        string  `json:"slug"`
	DisplayName string  `json:"display_name"`
	Description string  `json:"description"`
	Color       string  `json:"color" doc:"Hex color"`
	Icon        string  `json:"icon"`
	CreatedAt   pg.Time `json:"created_at"`
	UpdatedAt   pg.Time `json:"updated_at"`
}

func toolTag(t Tag) ToolTag {
	return ToolTag{t.ID, t.Slug, t.Name, t.Description, shownColor(t.Color, t.Slug), t.Icon, t.CreatedAt, t.UpdatedAt}
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

// checkSlug converts a slug to lower case, or returns an error if it is invalid.
func checkSlug(slug string, shape *regexp.Regexp, hint string) (string, error) {
	slug = strings.ToLower(slug)
	if _, err := id.Parse(slug); err == nil {
		return "", errs.Field("slug", "pattern", "must not look like a UUID, because it would be read as an id")
	}
	if len(slug) > text.MaxSlug || !shape.MatchString(slug) {
		return "", errs.Field("slug", "pattern", "must be %s, at most %d characters", hint, text.MaxSlug)
	}
	return slug, nil
}

// EachTag calls each for every tag, ordered by slug.
func (f *Categories) EachTag(ctx context.Context, q pg.Querier, _ op.None, each func(Tag) error) error {
	const some = 500
	for after := ""; ; {
		rows, err := pg.All[Tag](ctx, q, `select `+tagColumns+` from tag where deleted_at is null and slug > $1
			order by slug limit $2`, after, some)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := each(row); err != nil {
				return err
			}
		}
		if len(rows) < some {
			return nil
		}
		after = rows[some-1].Slug
	}
}

// A TagRef names a tag.
type TagRef struct {
	Slug string `json:"slug" minLength:"1" doc:"The tag's slug, UUID or short id"`
}

// Tag returns one tag.
func (f *Categories) Tag(ctx context.Context, q pg.Querier, in TagRef) (Tag, error) {
	t, err := pg.One[Tag](ctx, q, `
		select `+tagColumns+` from tag
		where deleted_at is null and (id = $1 or slug = $2 or short_id = $3)
		order by (slug = $2) desc limit 1`, pg.RefTo(in.Slug).Args()...)
	return t, noTag(err)
}

// lockTag is Tag, but it also locks the tag until the transaction ends.
func (f *Categories) lockTag(ctx context.Context, tx pg.Tx, ref string) (Tag, error) {
	t, err := f.Tag(ctx, tx, TagRef{ref})
	if err != nil {
		return Tag{}, err
	}
	t, err = pg.One[Tag](ctx, tx, `select `+tagColumns+` from tag where id = $1
		and deleted_at is null for update`, t.ID)
	return t, noTag(err)
}

func noTag(err error) error { return pg.Found(err, "tag", "{tag.list} lists them") }

// CreateTag is the input of CreateTag.
type CreateTag struct {
	Slug        string  `json:"slug" minLength:"1" maxLength:"64" doc:"Lower-case words joined by - _ or : (for namespaces); it can never be changed" example:"trip:japan-2026"`
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Display name; the slug if omitted" example:"Japan 2026"`
	DisplayName *string `json:"display_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The same as name"`
	Description string  `json:"description,omitempty" maxLength:"1000"`
	Color       string  `json:"color,omitempty" pattern:"^(#[0-9a-fA-F]{6})?$" hint:"be a hex color such as #d97706" doc:"Hex color; chosen for you if omitted" example:"#d97706"`
	Icon        string  `json:"icon,omitempty" maxLength:"64" format:"line" example:"plane"`
}

// CreateTag creates a tag.
func (f *Categories) CreateTag(ctx context.Context, tx pg.Tx, in CreateTag) (Tag, error) {
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
		newID := id.New()
		t, err = pg.One[Tag](ctx, tx, `
			insert into tag (id, short_id, slug, display_name, description, color, icon)
			values (@id, @short, @slug, @name, @description, lower(@color), @icon)
			returning `+tagColumns, pg.Args{
			"id": newID, "short": newID.Short(), "slug": slug, "name": *name,
			"description": text.Prose(in.Description, maxDescription).Plain(), "color": shownColor(in.Color, slug),
			"icon": in.Icon,
		})
		return err
	})
	if pg.Violates(err, "tag_slug") {
		return Tag{}, errs.New(errs.SlugConflict,
			"a tag with this slug already exists; choose another slug or change that tag")
	}
	if err != nil {
		return Tag{}, err
	}
	entries, err := f.madeTags(ctx, tx, []id.ID{t.ID})
	if err != nil {
		return Tag{}, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, entries)
	return t, err
}

// madeTags returns the entries of tags that were just created.
func (f *Categories) madeTags(ctx context.Context, tx pg.Tx, ids []id.ID) ([]journal.Entry, error) {
	now, err := tagDefinition.Read(ctx, tx, ids)
	var entries []journal.Entry
	for _, u := range ids {
		entries = append(entries, journal.Entry{
			Subject: journal.Tag, SubjectID: u, Field: journal.FieldRecord,
			After: now[u], AfterSource: new(journal.Source(op.ActorOf(ctx))),
		})
	}
	return entries, err
}

// PatchTag is the input of PatchTag.
type PatchTag struct {
	Slug        string  `json:"slug" minLength:"1" doc:"The tag's slug, UUID or short id"`
	Name        *string `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"Display name" agent:"-"`
	DisplayName *string `json:"display_name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The same as name"`
	Description *string `json:"description,omitempty" maxLength:"1000"`
	Color       *string `json:"color,omitempty" pattern:"^(#[0-9a-fA-F]{6})?$" hint:"be a hex color such as #d97706"`
	Icon        *string `json:"icon,omitempty" maxLength:"64" format:"line"`
}

// PatchTag changes a tag.
func (f *Categories) PatchTag(ctx context.Context, tx pg.Tx, in PatchTag) (Tag, error) {
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
	err = tagDefinition.Recorded(ctx, tx, []id.ID{t.ID}, journal.Note{}, func() (_ []journal.Entry, err error) {
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

// DeleteTag deletes a tag. Another tag can then use its slug.
func (f *Categories) DeleteTag(ctx context.Context, tx pg.Tx, in TagRef) (op.Deleted, error) {
	t, err := f.lockTag(ctx, tx, in.Slug)
	if err != nil {
		return op.Deleted{}, err
	}
	if t.IsSystem {
		return op.Deleted{}, errs.New(errs.SystemProtected,
			"the tag %s is built in and cannot be deleted; remove it from transactions instead", t.Slug)
	}
	err = tagDefinition.Recorded(ctx, tx, []id.ID{t.ID}, journal.Note{}, func() ([]journal.Entry, error) {
		_, err := pg.Exec(ctx, tx, `update tag set deleted_at = clock_timestamp(), updated_at = clock_timestamp()
			where id = $1`, t.ID)
		return nil, err
	})
	return op.Deleted{Deleted: true, ID: t.ID}, err
}

// tagged counts the transactions that have these tags.
func tagged(ctx context.Context, q pg.Querier, tags []id.ID) (int, error) {
	return pg.Value[int](ctx, q, `select count(distinct t.id) from transaction_tag g
		join transaction t on t.id = g.transaction_id
		where g.tag_id = any($1) and g.present and t.deleted_at is null`, tags)
}

// oneName returns the name from name or display_name, which mean the same.
func oneName(name, displayName *string) (*string, error) {
	switch {
	case name == nil:
		return displayName, nil
	case displayName != nil && *displayName != *name:
		return nil, errs.Field("display_name", "conflict", "means the same as name; pass only one of them")
	}
	return name, nil
}

// Registrable reports whether Register would create a tag for this reference.
func Registrable(ref string) bool {
	_, err := checkSlug(ref, text.TagSlug, text.TagSlugHint)
	return err == nil
}

// Register creates the tags that do not exist yet, and returns their entries.
func (f *Categories) Register(ctx context.Context, tx pg.Tx, refs []string) ([]journal.Entry, error) {
	known, err := pg.Names(ctx, tx, refs, `select id, slug as name, short_id from tag
		where deleted_at is null and (id = any($1::uuid[]) or slug = any($2) or short_id = any($2))`)
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
		newIDs, shorts, colors := make([]id.ID, len(slugs)), make([]string, len(slugs)), make([]string, len(slugs))
		for i, slug := range slugs {
			newIDs[i] = id.New()
			shorts[i], colors[i] = newIDs[i].Short(), colorOf(slug)
		}
		// Another call may be registering the same slug: the first one creates the tag, and only
		// that one records it.
		ids, err = pg.Values[id.ID](ctx, tx, `
			insert into tag (id, short_id, slug, display_name, color)
			select v.id, v.short_id, v.slug, v.slug as display_name, v.color
				from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) v (id, short_id, slug, color)
			on conflict (slug) where deleted_at is null do nothing returning id`, newIDs, shorts, slugs, colors)
		return err
	})
	if err != nil {
		return nil, err
	}
	return f.madeTags(ctx, tx, ids)
}
