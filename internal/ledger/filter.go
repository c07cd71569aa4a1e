package ledger

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/bank/all"
	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5"
)

// A Filter says which transactions are meant. Everything that is given must hold.
type Filter struct {
	AccountID      []string        `json:"account_id,omitempty" maxItems:"100" minLength:"1" doc:"In any of these accounts: short ids or UUIDs"`
	ConnectionID   *string         `json:"connection_id,omitempty" minLength:"1"`
	UserID         *string         `json:"user_id,omitempty" minLength:"1" doc:"Owned by this member"`
	Category       *string         `json:"category,omitempty" minLength:"1" doc:"Slug, short id or UUID; a primary includes its subcategories"`
	Uncategorized  *bool           `json:"uncategorized,omitempty" doc:"true: only transactions without a category; false: only those with one"`
	Tags           []string        `json:"tags,omitempty" maxItems:"50" minLength:"1" doc:"With every one of these tags"`
	AnyTag         []string        `json:"any_tag,omitempty" maxItems:"50" minLength:"1" doc:"With any of these tags"`
	ExcludeTag     []string        `json:"exclude_tag,omitempty" maxItems:"50" minLength:"1" doc:"With none of these tags"`
	CounterpartyID *string         `json:"counterparty_id,omitempty" minLength:"1"`
	Provider       *all.Name       `json:"provider,omitempty"`
	StartDate      *pg.Date        `json:"start_date,omitempty" doc:"From this day on"`
	EndDate        *pg.Date        `json:"end_date,omitempty" doc:"Up to and including this day"`
	MinAmount      *money.Amount   `json:"min_amount,omitempty" doc:"At least this amount, signed: positive is money out"`
	MaxAmount      *money.Amount   `json:"max_amount,omitempty" doc:"At most this amount, signed"`
	Direction      *string         `json:"direction,omitempty" enum:"in,out" doc:"Only money in or only money out"`
	Currency       *money.Currency `json:"iso_currency_code,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR"`
	Search         *string         `json:"search,omitempty" minLength:"1" maxLength:"200" doc:"Text in the name or merchant name, ignoring case; commas mean or"`
	ExcludeSearch  *string         `json:"exclude_search,omitempty" minLength:"1" maxLength:"200" doc:"Text that is not in the name or merchant name"`
	SearchMode     string          `json:"search_mode,omitempty" enum:"contains,words,fuzzy" default:"contains" doc:"contains: as a substring; words: every word, in any order; fuzzy: similar text, for typos"`
	Pending        *bool           `json:"pending,omitempty"`
	Deleted        string          `json:"deleted,omitempty" enum:"exclude,include,only" default:"exclude" doc:"true: only deleted transactions"`
	UpdatedSince   *pg.Time        `json:"updated_since,omitempty" doc:"Changed at or after this time"`
}

// A selection is a Filter with its names resolved.
type selection struct {
	pg.Where
	known       *naming
	cursor      int // which argument is the id that a cursor points at; 0 when there is none
	searched    bool
	wording     textCondition // what a search asks of the wording
	descriptors []int32       // the wordings that fulfil it, or some of them when
	wide        bool          // they are many
	none        bool          // nothing can match
	set         string        // a column that must be among ids; one, because a page can go through one
	ids         []id.ID
}

// lister says where things of that kind are looked up.
func lister(kind string) string { return "{" + kind + ".list} lists them" }

// resolve turns a filter into conditions on transaction t. Names that name nothing are faults: an
// empty list would hide a typo. Categories are looked up in the known names, if there are any; then
// the caller must see to it that their version still holds.
func (b *Books) resolve(ctx context.Context, q pg.Querier, f Filter, known *naming) (*selection, error) {
	s, err := b.narrow(ctx, q, f, known)
	if err == nil {
		err = b.searched(ctx, q, f, s)
	}
	return s, err
}

// narrow is resolve without the search.
func (b *Books) narrow(ctx context.Context, q pg.Querier, f Filter, known *naming) (*selection, error) {
	s := &selection{known: known}
	switch f.Deleted {
	case "only":
		s.And("t.deleted_at is not null")
	case "include":
	default:
		s.And("t.deleted_at is null")
	}
	s.If(f.StartDate != nil, "t.date >= $?", f.StartDate)
	s.If(f.EndDate != nil, "t.date <= $?", f.EndDate)
	s.If(f.MinAmount != nil, "t.amount >= $?", f.MinAmount)
	s.If(f.MaxAmount != nil, "t.amount <= $?", f.MaxAmount)
	s.If(f.Currency != nil, "t.currency = $?", f.Currency)
	s.If(f.Pending != nil, "t.pending = $?", f.Pending)
	s.If(f.UpdatedSince != nil, "t.updated_at >= $?", f.UpdatedSince)
	if f.Direction != nil {
		s.If(*f.Direction == "in", "t.amount < 0").If(*f.Direction == "out", "t.amount > 0")
	}
	if f.Uncategorized != nil {
		s.If(*f.Uncategorized, "t.category_id is null").If(!*f.Uncategorized, "t.category_id is not null")
	}
	if f.ExcludeSearch != nil {
		unwanted, err := inWording("exclude_search", *f.ExcludeSearch, f.SearchMode)
		if err != nil {
			return nil, err
		}
		s.And("not "+existsWording(unwanted.sql), unwanted.args...)
	}
	for _, step := range []func(context.Context, pg.Querier, Filter, *selection) error{
		b.accounts, b.categories,
		b.counterparties, b.tagged,
	} {
		if err := step(ctx, q, f, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// accounts narrows by everything that follows from the account: they are few, so their ids are the
// condition.
func (b *Books) accounts(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if len(f.AccountID) == 0 && f.ConnectionID == nil && f.UserID == nil && f.Provider == nil {
		return nil
	}
	var where pg.Where
	if len(f.AccountID) > 0 {
		ids, err := references(ctx, q, "account_id", "account", f.AccountID, `select id from account
			where id = any($1::uuid[]) or short_id = any($2)`)
		if err != nil {
			return err
		}
		where.And("a.id = any($?)", ids)
	}
	if f.ConnectionID != nil {
		ids, err := references(ctx, q, "connection_id", "connection", []string{*f.ConnectionID},
			`select id from connection where id = any($1::uuid[]) or short_id = any($2)`)
		if err != nil {
			return err
		}
		where.And("a.connection_id = any($?)", ids)
	}
	if f.UserID != nil {
		ids, err := references(ctx, q, "user_id", "user", []string{*f.UserID}, `select id from member
			where id = any($1::uuid[]) or short_id = any($2)`)
		if err != nil {
			return err
		}
		where.And("coalesce(a.owner_id, cn.member_id) = any($?)", ids)
	}
	where.If(f.Provider != nil, "a.provider = $?", f.Provider)
	ids, err := pg.Values[id.ID](ctx, q, `select a.id from account a left
		join connection cn on cn.id = a.connection_id `+where.SQL(), where.Args()...)
	if err != nil {
		return err
	}
	among(s, "t.account_id", ids)
	return nil
}

// among returns membership in a set of ids; for a single id it is equality, which lets an index
// give the order too. The subselect keeps PostgreSQL from planning again for every id, which takes
// longer than reading the page.
func among(s *selection, column string, ids []id.ID) {
	switch len(ids) {
	case 0:
		s.none = true
	case 1:
		s.And(column+" = (select $?::uuid)", ids[0])
	default:
		s.flat()
		s.set, s.ids = column, ids
	}
}

func (b *Books) categories(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if f.Category == nil {
		return nil
	}
	if s.known != nil {
		if ids := s.known.under(*f.Category); ids != nil {
			among(s, "t.category_id", ids)
			return nil
		}
	}
	ids, err := pg.Values[id.ID](ctx, q, `
		with named as (
			select id from category where deleted_at is null and (id = $1 or slug = $2 or short_id = $3)
				order by (slug = $2) desc limit 1)
		select c.id from category c, named n where c.id = n.id or c.parent_id = n.id
			and c.deleted_at is null`, pg.RefTo(*f.Category).Args()...)
	if err == nil && len(ids) == 0 {
		err = pg.ErrNoRow
	}
	among(s, "t.category_id", ids)
	return pg.Named(err, "category", "category", lister("category"))
}

func (b *Books) counterparties(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if f.CounterpartyID == nil {
		return nil
	}
	ids, err := references(ctx, q, "counterparty_id", "counterparty", []string{*f.CounterpartyID},
		`select id from counterparty where id = any($1::uuid[]) or short_id = any($2)`)
	if err == nil {
		// One that was merged means the one that took over.
		ids, err = pg.Values[id.ID](ctx, q, `select distinct coalesce(canonical_id, id) from counterparty
			where id = any($1)`, ids)
	}
	among(s, "t.counterparty_id", ids)
	return err
}

const hasTag = "exists (select from transaction_tag tt where tt.transaction_id = t.id and tt.tag_id = any($?) and " +
	"tt.present)"

func (b *Books) tagged(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	for field, slugs := range map[string][]string{"tags": f.Tags, "any_tag": f.AnyTag, "exclude_tag": f.ExcludeTag} {
		if len(slugs) == 0 {
			continue
		}
		ids, err := tagIDs(ctx, q, field, slugs)
		if err != nil {
			return err
		}
		switch field {
		case "tags":
			for _, tag := range ids {
				s.And(hasTag, []id.ID{tag})
			}
		case "any_tag":
			s.And(hasTag, ids)
		default:
			s.And("not "+hasTag, ids)
		}
	}
	return nil
}

// tagIDs are the ids of tags that a caller named, in the order given.
func tagIDs(ctx context.Context, q pg.Querier, field string, refs []string) ([]id.ID, error) {
	known, err := pg.Names(ctx, q, refs, tagsNamed)
	if err != nil {
		return nil, err
	}
	ids := make([]id.ID, len(refs))
	for i, ref := range refs {
		u, ok := known[ref]
		if !ok {
			return nil, pg.Named(pg.ErrNoRow, field, "tag", "{tag.list} lists them")
		}
		ids[i] = u
	}
	return ids, nil
}

const tagsNamed = `select id, slug as name, short_id from tag where deleted_at is null
	and (id = any($1::uuid[]) or slug = any($2) or short_id = any($2))`

// references resolves names that have no slugs, all in one query; one that names nothing is a fault
// at that field.
func references(ctx context.Context, q pg.Querier, field, kind string, refs []string, look string) ([]id.ID, error) {
	texts, uuids := pg.Split(refs)
	ids, err := pg.Values[id.ID](ctx, q, look, uuids, texts)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, u := range ids {
		known[u.String()], known[u.Short()] = true, true
	}
	for _, r := range refs {
		if !known[r] && !known[strings.ToLower(r)] {
			return nil, pg.Named(pg.ErrNoRow, field, kind, lister(kind))
		}
	}
	return ids, nil
}

// How many wordings a search lists. A page goes through few of them one by one; where a search
// finds many, each transaction's wording is looked at instead.
const (
	fewDescriptors  = 200
	manyDescriptors = 10_000
)

// searched finds the wordings that a search means. There are some thousands of them where there are
// a million transactions.
func (b *Books) searched(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if f.Search != nil {
		wanted, err := inWording("search", *f.Search, f.SearchMode)
		if err != nil {
			return err
		}
		if s.descriptors, s.wide, err = wordings(ctx, q, wanted, manyDescriptors); err != nil {
			return err
		}
		s.wording, s.searched, s.none = wanted, true, s.none || len(s.descriptors) == 0
	}
	return nil
}

// A textCondition is a condition on wording w, with an argument for each $? in it.
type textCondition struct {
	sql  string
	args []any
}

func existsWording(condition string) string {
	return "exists (select from descriptor w where w.id = t.descriptor_id and " + condition + ")"
}

// inWording is a search as a condition on the folded text of wordings.
func inWording(field, search, mode string) (textCondition, error) {
	var c textCondition
	switch mode {
	case "words":
		for word := range strings.FieldsSeq(search) {
			c.args = append(c.args, pattern(word))
		}
		c.sql = strings.Join(slices.Repeat([]string{"w.folded like $?"}, len(c.args)), " and ")
	case "fuzzy":
		c = textCondition{"$? <% w.folded", []any{text.Fold(search)}}
	default:
		var terms []string
		for term := range strings.SplitSeq(search, ",") {
			if term = strings.TrimSpace(term); term != "" {
				terms = append(terms, pattern(term))
			}
		}
		switch len(terms) {
		case 0:
		case 1:
			c = textCondition{"w.folded like $?", []any{terms[0]}}
		default:
			c = textCondition{"w.folded like any($?)", []any{terms}}
		}
	}
	if len(c.args) == 0 {
		return c, errs.Field(field, "empty", "must contain a word")
	}
	return c, nil
}

// wordings lists the wordings that fulfil the condition, unless they are more than so many. Whether
// to look through the table or its index PostgreSQL can only say when it sees the text, so the
// statement is planned for each.
func wordings(ctx context.Context, q pg.Querier, c textCondition, most int) (ids []int32, more bool, err error) {
	var where pg.Where
	where.And(c.sql, c.args...)
	sql := fmt.Sprintf(`select array(select w.id from descriptor w %s limit %d)`, where.SQL(), most+1)
	ids, err = pg.Value[[]int32](ctx, q, sql, append([]any{
		pgx.QueryExecModeExec,
		pgx.QueryResultFormats{pgx.BinaryFormatCode},
	}, where.Args()...)...)
	return ids, len(ids) > most, err
}

var likeLiteral = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// pattern is a LIKE pattern for a literal part, folded.
func pattern(part string) string { return "%" + likeLiteral.Replace(text.Fold(part)) + "%" }
