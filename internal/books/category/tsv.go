package category

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

var tsvColumns = []string{"slug", "display_name", "parent_slug", "icon", "color", "sort_order", "hidden", "merge_into"}

// ExportCategories prints all categories as TSV. merge_into is always empty: it is an instruction
// for the import.
func (f *Categories) ExportCategories(ctx context.Context, q pg.Querier, _ op.None) (string, error) {
	rows, err := f.all(ctx, q)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.WriteString(strings.Join(tsvColumns, "\t") + "\n")
	parent := ""
	for _, c := range rows {
		under := ""
		if c.ParentID == nil {
			parent = c.Slug
		} else {
			under = parent
		}
		cells := []string{
			c.Slug, cell(c.Name), under, cell(c.Icon), c.Color, strconv.Itoa(c.SortOrder),
			strconv.FormatBool(c.Archived), "",
		}
		out.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return out.String(), nil
}

// ImportCategories is the input of ImportCategories.
type ImportCategories struct {
	TSV    string `json:"tsv" minLength:"1" maxLength:"33554432" doc:"The edited export: a header row, then one row per category" agent:"-"`
	DryRun bool   `json:"dry_run,omitempty" doc:"Preview only; write nothing" agent:"-"`
}

// An Import is the result of an import, or of a dry run. If there is any error, nothing was
// written.
type Import struct {
	Created   int             `json:"created"`
	Updated   int             `json:"updated"`
	Merged    int             `json:"merged"`
	Unchanged int             `json:"unchanged"`
	Errors    []ImportError   `json:"errors"`
	DryRun    bool            `json:"dry_run"`
	Writes    *journal.Writes `json:"writes,omitempty" doc:"On a dry run: writes needed of the caller's limit; absent without one"`
	ChangeID  *id.ID          `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing was written"`
}

// An ImportError is an error in a line.
type ImportError struct {
	Line    int       `json:"line" doc:"The header is line 1"`
	Code    errs.Code `json:"code"`
	Message string    `json:"message"`
}

// ImportCategories applies an edited export.
func (f *Categories) ImportCategories(ctx context.Context, tx pg.Tx, in ImportCategories) (Import, error) {
	if err := changing(ctx, tx); err != nil {
		return Import{}, err
	}
	stored, err := f.all(ctx, tx)
	if err != nil {
		return Import{}, err
	}
	p := newPlan(stored)
	p.read(in.TSV)
	p.checkWhole()
	out := Import{Errors: p.errors, DryRun: in.DryRun}
	if len(p.errors) > 0 {
		slices.SortStableFunc(out.Errors, func(a, b ImportError) int { return a.Line - b.Line })
		if more := len(out.Errors) - errs.MaxFaults; more > 0 {
			out.Errors = append(out.Errors[:errs.MaxFaults],
				ImportError{
					out.Errors[errs.MaxFaults].Line, errs.ValidationError,
					fmt.Sprintf("and %d more errors from here on", more),
				})
		}
		if in.DryRun {
			out.Writes, err = journal.Needs(ctx, tx, 0)
		}
		return out, err
	}
	created, updated, merges := p.changes()
	out.Created, out.Updated, out.Merged = len(created), len(updated), len(merges)
	out.Unchanged = len(p.lines) - out.Created - out.Updated - out.Merged
	out.Writes, err = journal.Try(ctx, tx, in.DryRun, func(ctx context.Context, tx pg.Tx) (err error) {
		out.ChangeID, err = f.carryOut(ctx, tx, p, created, updated, merges)
		return err
	})
	if in.DryRun {
		out.ChangeID = nil
	}
	return out, err
}

// carryOut writes a plan as one change.
func (f *Categories) carryOut(ctx context.Context, tx pg.Tx, p *plan, created, updated []*newValues, merges []*line) (
	*id.ID, error,
) {
	if err := f.insert(ctx, tx, created); err != nil {
		return nil, err
	}
	all, err := pg.Values[id.ID](ctx, tx, `select id from category where deleted_at is null order by id`)
	if err != nil {
		return nil, err
	}
	var made []journal.Entry
	entries, err := categoryDefinition.Around(ctx, tx, all, journal.Source(op.ActorOf(ctx)), func() error {
		if err := f.rewrite(ctx, tx, updated); err != nil || len(merges) == 0 {
			return err
		}
		// A merge may lead to a category that this import created. So both sides are read again,
		// with their ids.
		now, err := f.all(ctx, tx)
		if err != nil {
			return err
		}
		made, err = f.merge(ctx, tx, p.resolve(now, merges))
		return err
	})
	if err != nil {
		return nil, err
	}
	records, err := categoryDefinition.Read(ctx, tx, idsOf(created))
	if err != nil {
		return nil, err
	}
	for _, c := range created {
		made = append(made, journal.Entry{
			Subject: journal.Category, SubjectID: c.ID, Field: journal.FieldRecord,
			After: records[c.ID], AfterSource: new(journal.Source(op.ActorOf(ctx))),
		})
	}
	return journal.Record(ctx, tx, journal.Note{
		Cause: journal.Import, Did: journal.Facts{Kind: journal.Category, Count: len(entries) + len(created)},
	},
		append(entries, made...))
}

func idsOf(rows []*newValues) []id.ID {
	ids := make([]id.ID, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids
}

// A line is the desired state of one category in the file.
type line struct {
	number int
	want   newValues
	parent string // slug
	into   string // slug to merge into, or ""
	old    *Category
}

// A plan compares a file with the stored tree.
type plan struct {
	stored map[string]*Category // by slug
	parent map[string]string    // slug of the parent, as stored
	lines  []*line
	bySlug map[string]*line
	errors []ImportError
}

func newPlan(stored []Category) *plan {
	p := &plan{
		stored: map[string]*Category{}, parent: map[string]string{}, bySlug: map[string]*line{},
		errors: []ImportError{},
	}
	above := ""
	for i := range stored {
		c := &stored[i]
		p.stored[c.Slug] = c
		if c.ParentID == nil {
			above = c.Slug
		} else {
			p.parent[c.Slug] = above
		}
	}
	return p
}

func (p *plan) fault(number int, code errs.Code, format string, args ...any) {
	p.errors = append(p.errors, ImportError{number, code, fmt.Sprintf(format, args...)})
}

// read parses the file. Columns may come in any order; a field whose column is missing stays
// unchanged.
func (p *plan) read(tsv string) {
	rows := strings.Split(strings.TrimPrefix(tsv, "\ufeff"), "\n")
	header := strings.Split(strings.TrimSuffix(rows[0], "\r"), "\t")
	at := map[string]int{}
	for i, name := range header {
		name = strings.TrimSpace(name)
		if !slices.Contains(tsvColumns, name) {
			p.fault(1, errs.ValidationError, "column %d is unknown; the columns are: %s", i+1,
				strings.Join(tsvColumns, ", "))
		}
		if _, twice := at[name]; twice {
			p.fault(1, errs.ValidationError, "column %d appears twice", i+1)
		}
		at[name] = i
	}
	if _, ok := at["slug"]; !ok {
		p.fault(1, errs.ValidationError,
			"the column slug is missing; the header row names the columns, separated by tabs")
	}
	if len(p.errors) > 0 {
		return
	}
	for i, row := range rows[1:] {
		row = strings.TrimSuffix(row, "\r")
		if strings.TrimSpace(row) == "" {
			continue
		}
		cells := strings.Split(row, "\t")
		if len(cells) != len(header) {
			p.fault(i+2, errs.ValidationError, "has %d columns, but the header has %d", len(cells), len(header))
			continue
		}
		p.readLine(i+2, func(column string) (string, bool) {
			c, ok := at[column]
			if !ok {
				return "", false
			}
			return strings.TrimSpace(cells[c]), true
		})
	}
}

var hexColor = regexp.MustCompile(`^(#[0-9a-fA-F]{6})?$`)

func (p *plan) readLine(number int, cell func(string) (string, bool)) {
	given, _ := cell("slug")
	slug, err := checkSlug(given, categorySlugShape, categorySlug)
	if err != nil {
		p.fault(number, errs.ValidationError, "slug must be %s, at most %d characters", categorySlug, text.MaxSlug)
		return
	}
	if p.bySlug[slug] != nil {
		p.fault(number, errs.Conflict, "the slug %s is already on line %d", slug, p.bySlug[slug].number)
		return
	}
	l := &line{number: number, old: p.stored[slug], parent: p.parent[slug], want: newValues{Slug: slug}}
	if l.old != nil {
		l.want = newValues{
			ID: l.old.ID, Slug: slug, Name: l.old.Name, Icon: l.old.Icon, Color: l.old.Color,
			SortOrder: l.old.SortOrder, Hidden: l.old.Archived,
		}
	}
	l.into, _ = cell("merge_into")
	l.into = strings.ToLower(l.into)
	if v, ok := cell("parent_slug"); ok {
		l.parent = strings.ToLower(v)
	}
	if v, ok := cell("display_name"); ok {
		l.want.Name = uncell(v)
	}
	if v, ok := cell("icon"); ok {
		l.want.Icon = uncell(v)
	}
	if v, ok := cell("color"); ok {
		l.want.Color = strings.ToLower(v)
	}
	if v, ok := cell("sort_order"); ok && v != "" {
		if l.want.SortOrder, err = strconv.Atoi(v); err != nil || l.want.SortOrder < -1e6 || l.want.SortOrder > 1e6 {
			p.fault(number, errs.ValidationError, "sort_order must be a whole number from -1000000 to 1000000")
		}
	}
	if v, ok := cell("hidden"); ok && v != "" {
		if l.want.Hidden, err = strconv.ParseBool(strings.ToLower(v)); err != nil {
			p.fault(number, errs.ValidationError, "hidden must be true or false")
		}
	}
	if name := []rune(l.want.Name); len(name) == 0 || len(name) > 200 || !op.IsLine(l.want.Name) {
		p.fault(number, errs.ValidationError, "display_name must be one line of 1 to 200 characters")
	}
	if len([]rune(l.want.Icon)) > 64 || !op.IsLine(l.want.Icon) {
		p.fault(number, errs.ValidationError, "icon must be one line of at most 64 characters")
	}
	if !hexColor.MatchString(l.want.Color) {
		p.fault(number, errs.ValidationError, "color must be a hex color such as #16a34a, or empty")
	}
	p.lines = append(p.lines, l)
	p.bySlug[slug] = l
}

// cell returns a value that is safe in a spreadsheet. A value that a spreadsheet would run as a
// formula gets a leading quote. A value that already looks quoted gets another one.
func cell(v string) string {
	if c := text.Cell(v); uncell(c) == v {
		return c
	}
	return "'" + v
}

// uncell removes the quote that cell added.
func uncell(v string) string {
	bare, ok := strings.CutPrefix(v, "'")
	if ok && (text.Cell(bare) == v || bare != "" && bare[0] == '\'' && uncell(bare) != bare) {
		return bare
	}
	return v
}
