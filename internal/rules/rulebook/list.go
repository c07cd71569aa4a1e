package rulebook

import (
	"context"
	"fmt"
	"strings"

	"coffer/internal/people/trackrecord"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// Filter selects rules. All given conditions must be met.
type Filter struct {
	CategorySlug *string `json:"category_slug,omitempty" minLength:"1" doc:"Rules that set this category: slug, short id or UUID" agent:"That set this"`
	Enabled      *bool   `json:"enabled,omitempty" doc:"true: only enabled rules; false: only disabled or expired ones" agent:"-"`
	Search       *string `json:"search,omitempty" minLength:"1" maxLength:"200" doc:"Text in the rule's name, ignoring case; commas mean or" agent:"In the name; commas mean or"`
	SearchMode   string  `json:"search_mode,omitempty" enum:"contains,words,fuzzy" default:"contains" doc:"contains: as a substring; words: every word, in any order; fuzzy: similar text, for typos" agent:"-"`
}

// ListRules asks for a page of rules in execution order.
type ListRules struct {
	Filter
	Limit  int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
	Cursor string `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same filters"`
}

// QueryRules asks for rules, with more filters and sort orders.
type QueryRules struct {
	Filter
	Trigger     *string `json:"trigger,omitempty" enum:"on_create,on_change,on_update,always" doc:"on_update means on_change" agent:"-"`
	Proposed    *bool   `json:"proposed,omitempty" doc:"true: only rules that an agent proposed and no person has enabled yet" agent:"-"`
	CreatorType *string `json:"creator_type,omitempty" enum:"user,agent,system"`
	MinHitCount *int    `json:"min_hit_count,omitempty" minimum:"0" doc:"Only rules that matched at least this often at sync; ignored with only_unused" agent:"-"`
	OnlyUnused  bool    `json:"only_unused,omitempty" doc:"Only rules that never matched at sync" agent:"-"`
	SortBy      *string `json:"sort_by,omitempty" enum:"priority,hit_count,last_hit_at,created_at,name" doc:"If omitted, execution order, with more pages; any other order has a single page" agent:"Without it: execution order, with pages"`
	SortOrder   *string `json:"sort_order,omitempty" enum:"asc,desc" doc:"desc by default for hit_count, last_hit_at and created_at" agent:"-"`
	Fields      string  `json:"fields,omitempty" maxLength:"1000" screen:"summary,conditions,created_by_name" doc:"Comma-separated fields, or summary or all; ids are always included, and other fields are then left out" agent:"Comma-separated, or summary, all"`
	Limit       int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
	Cursor      string  `json:"cursor,omitempty" doc:"next_cursor of the previous page, with the same filters"`
}

// Rules is a page of rules.
type Rules struct {
	Rules      []Rule `json:"rules" partial:"id,short_id"`
	NextCursor string `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool   `json:"has_more"`
	Total      int64  `json:"total" doc:"Number of rules on all pages"`

	Notes []op.Note `json:"notes,omitempty" doc:"Present if rows were left out"`
}

// List returns a page of whole rules.
func (b *Rulebook) List(ctx context.Context, q pg.Querier, in ListRules) (Rules, error) {
	return b.Find(ctx, q, QueryRules{Filter: in.Filter, Limit: in.Limit, Cursor: in.Cursor, Fields: "all"})
}

// Find returns a page of rules.
func (b *Rulebook) Find(ctx context.Context, q pg.Querier, in QueryRules) (Rules, error) {
	if in.Fields == "" {
		in.Fields = "all"
		if op.SurfaceOf(ctx) == op.Tool {
			in.Fields = "summary"
		}
	}
	fields, err := fieldsNamed(in.Fields)
	if err != nil {
		return Rules{}, err
	}
	if in.SortBy != nil && in.Cursor != "" {
		return Rules{}, errs.New(errs.InvalidCursor,
			"only the execution order has more pages; omit sort_by or the cursor")
	}
	where, err := b.where(ctx, q, in)
	if err != nil {
		return Rules{}, err
	}
	out := Rules{Rules: []Rule{}}
	if out.Total, err = pg.Value[int64](ctx, q, `select count(*) from (`+ruleRows+` where r.deleted_at is null) r `+
		where.SQL(), where.Args()...); err != nil {
		return Rules{}, err
	}
	filters := in
	filters.Cursor, filters.Limit, filters.Fields = "", 0, ""
	pager, err := b.db.Pager(ctx, "rules", filters)
	if err != nil {
		return Rules{}, err
	}
	if in.Cursor != "" {
		if err := after(ctx, q, where, pager, in); err != nil {
			return Rules{}, err
		}
	}
	rows, err := pg.All[row](ctx, q, fmt.Sprintf(`select * from (%s where r.deleted_at is null) r %s
		order by %s limit %d`, ruleRows, where.SQL(), in.orderSQL(), in.Limit+1), where.Args()...)
	if err != nil {
		return Rules{}, err
	}
	if out, err = out.fill(ctx, rows, in, fields, pager); err != nil {
		return Rules{}, err
	}
	if fields&bits("record") == 0 || op.SurfaceOf(ctx) == op.Tool && !op.Given(ctx, "fields") {
		return out, nil
	}
	ids := make([]id.ID, len(out.Rules))
	for i, r := range out.Rules {
		ids[i] = r.ID
	}
	records, err := trackrecord.OfRules(ctx, q, ids)
	for i, r := range out.Rules {
		out.Rules[i].Record = new(records[r.ID])
	}
	return out, err
}

// fill fills the page from the rows. An extra row shows that there are more.
func (out Rules) fill(ctx context.Context, rows []row, in QueryRules, fields fieldSet, pager pg.Pager) (Rules, error) {
	size := 0
	// A tool's page ends when it is large enough. That does not apply if the caller chose both an
	// order and a limit: such an order has only one page, so the caller could not get the rest.
	bounded := op.SurfaceOf(ctx) == op.Tool && (in.SortBy == nil || !op.Given(ctx, "limit"))
	for _, stored := range rows[:min(len(rows), in.Limit)] {
		r, err := stored.rule()
		if err != nil {
			return Rules{}, err
		}
		r.fields = fields
		if bounded {
			printed, err := r.MarshalJSON()
			if err != nil {
				return Rules{}, err
			}
			if size += len(printed); size > op.PageBytes && len(out.Rules) > 0 {
				if in.SortBy != nil {
					out.Notes = op.Truncated()
				}
				break
			}
		}
		out.Rules = append(out.Rules, r)
	}
	out.HasMore = len(rows) > len(out.Rules)
	if !out.HasMore || in.SortBy != nil {
		return out, nil
	}
	var err error
	last := rows[len(out.Rules)-1]
	out.NextCursor, err = pager.Encode(fmt.Sprint(last.Priority), last.CreatedAt.String(), last.ID.String())
	return out, err
}

// where returns the filter as conditions on the columns of ruleRows.
func (b *Rulebook) where(ctx context.Context, q pg.Querier, in QueryRules) (*pg.Where, error) {
	w := &pg.Where{}
	if in.CategorySlug != nil {
		c, err := b.categories.Named(ctx, q, "category_slug", *in.CategorySlug)
		if err != nil {
			return nil, err
		}
		w.And("r.category_slug = $?", c.Slug)
	}
	w.If(in.Enabled != nil, "r.enabled = $?", in.Enabled)
	w.If(in.Proposed != nil, "r.proposed = $?", in.Proposed)
	w.If(in.CreatorType != nil, "r.created_by_type = $?", in.CreatorType)
	w.If(in.OnlyUnused, "r.hit_count = 0")
	w.If(in.MinHitCount != nil && !in.OnlyUnused, "r.hit_count >= $?", in.MinHitCount)
	if in.Trigger != nil {
		w.And("r.trigger = $?", strings.Replace(*in.Trigger, "on_update", "on_change", 1))
	}
	if in.Search == nil {
		return w, nil
	}
	var terms []string
	for term := range strings.SplitSeq(*in.Search, ",") {
		if words := strings.Fields(term); len(words) > 0 {
			terms = append(terms, strings.Join(words, " "))
		}
	}
	if len(terms) == 0 {
		return nil, errs.Field("search", "empty", "must contain a word")
	}
	w.And("exists (select from unnest($?::text[]) term where "+searches[in.SearchMode]+")", terms)
	return w, nil
}

// searches are the conditions on a rule's name, by mode.
var searches = map[string]string{
	"contains": "position(lower(term) in lower(r.name)) > 0",
	"words":    "(select bool_and(position(lower(word) in lower(r.name)) > 0) from string_to_table(term, ' ') word)",
	"fuzzy":    "lower(term) <% lower(r.name)",
}

// after narrows to rules that run after the cursor's rule. If that rule was deleted, the cursor is
// invalid.
func after(ctx context.Context, q pg.Querier, w *pg.Where, pager pg.Pager, in QueryRules) error {
	at, err := pager.Decode(in.Cursor, 3)
	if err != nil {
		return err
	}
	there, err := pg.Value[bool](ctx, q, `select exists (select from rule
		where id = $1::uuid and deleted_at is null)`, at[2])
	if err != nil {
		return err
	}
	if !there {
		return errs.New(errs.InvalidCursor, "the rule at this cursor no longer exists; start again without a "+
			"cursor")
	}
	if in.SortOrder != nil && *in.SortOrder == "desc" {
		w.And("(r.priority, r.created_at, r.id) < ($?::int, $?::timestamptz, $?::uuid)", at[0], at[1], at[2])
	} else {
		w.And("(r.priority, r.created_at, r.id) > ($?::int, $?::timestamptz, $?::uuid)", at[0], at[1], at[2])
	}
	return nil
}

// orderSQL returns the sort order as SQL. Rules without a value come last in both directions.
func (in QueryRules) orderSQL() string {
	by, direction := "priority", "asc"
	if in.SortBy != nil {
		by = *in.SortBy
	}
	if by == "hit_count" || by == "last_hit_at" || by == "created_at" {
		direction = "desc"
	}
	if in.SortOrder != nil {
		direction = *in.SortOrder
	}
	columns := map[string]string{
		"priority": "r.priority %[1]s, r.created_at %[1]s, r.id %[1]s", "hit_count": "r.hit_count %[1]s, r.id",
		"last_hit_at": "r.last_hit_at %[1]s nulls last, r.id",
		"created_at":  "r.created_at %[1]s, r.id %[1]s", "name": "lower(r.name) %[1]s, r.id",
	}
	return fmt.Sprintf(columns[by], direction)
}
