package ledger

import (
	"context"
	"slices"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/books/journal"
	"coffer/internal/books/sift"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A Filter selects the transactions that fulfill all conditions that are set.
type Filter struct {
	AccountID       []string        `json:"account_id,omitempty" maxItems:"100" minLength:"1" doc:"In any of these accounts: short ids or UUIDs" agent:"-"`
	ConnectionID    *string         `json:"connection_id,omitempty" minLength:"1"`
	UserID          *string         `json:"user_id,omitempty" minLength:"1" doc:"Owned by this member" agent:"Member"`
	Category        []string        `json:"category,omitempty" maxItems:"100" minLength:"1" single:"true" doc:"In any of these categories: slugs, short ids or UUIDs; a primary includes its subcategories" agent:"Slugs; a primary includes its subcategories"`
	ExcludeCategory []string        `json:"exclude_category,omitempty" maxItems:"100" minLength:"1" doc:"In none of these categories, nor in their subcategories"`
	CategorySource  *string         `json:"category_source,omitempty" enum:"rule,user,agent,provider" doc:"Who set the category; user: a person"`
	Uncategorized   *bool           `json:"uncategorized,omitempty" doc:"true: only without a category; false: only with one" agent:"-"`
	Tags            []string        `json:"tags,omitempty" maxItems:"50" minLength:"1" doc:"With every one of these tags" agent:"With all of these"`
	AnyTag          []string        `json:"any_tag,omitempty" maxItems:"50" minLength:"1" doc:"With any of these tags"`
	ExcludeTag      []string        `json:"exclude_tag,omitempty" maxItems:"50" minLength:"1" doc:"With none of these tags"`
	CounterpartyID  *string         `json:"counterparty_id,omitempty" minLength:"1" doc:"Short id or UUID; none: only transactions without a counterparty" agent:"Or none"`
	Payee           *string         `json:"payee,omitempty" pattern:"^[0-9A-Za-z]{11}$" hint:"be the payee of a review group: 11 letters and digits" doc:"Transactions of this payee, by the key in review groups" agent:"Key of a review group"`
	Merchant        *string         `json:"merchant,omitempty" minLength:"1" maxLength:"256" doc:"Exactly this merchant name, or this name if there is none"`
	RecurringID     *string         `json:"recurring_id,omitempty" minLength:"1" doc:"Transactions of this recurring payment: short id or UUID" agent:"-"`
	SimilarTo       *string         `json:"similar_to,omitempty" minLength:"1" doc:"Similar to this transaction: same counterparty, else same payee, and same direction"`
	Provider        *all.Keeper     `json:"provider,omitempty"`
	Origin          *string         `json:"origin,omitempty" enum:"bank,manual,part" doc:"bank: from banks and statements; manual: added manually; part: parts of split transactions"`
	StartDate       *pg.Date        `json:"start_date,omitempty" doc:"Start date (inclusive)" agent:"-"`
	EndDate         *pg.Date        `json:"end_date,omitempty" doc:"End date (inclusive)" agent:"Inclusive"`
	MinAmount       *money.Amount   `json:"min_amount,omitempty" doc:"At least this amount, signed: positive is money out" agent:"Signed: positive is money out"`
	MaxAmount       *money.Amount   `json:"max_amount,omitempty" doc:"At most this amount, signed" agent:"-"`
	Amount          *string         `json:"amount,omitempty" minLength:"1" maxLength:"50" doc:"This amount or range, without a sign in either direction: 75.05, >100, 100..200; -75 only money out, +75 only money in" agent:"75.05, >100, 100..200; -75 out, +75 in"`
	Direction       *string         `json:"direction,omitempty" enum:"in,out" doc:"Only money in or only money out" agent:"-"`
	Currency        *money.Currency `json:"iso_currency_code,omitempty" pattern:"^[A-Z]{3}$" hint:"be three capital letters, such as EUR"`
	Search          *string         `json:"search,omitempty" minLength:"1" maxLength:"200" doc:"Words that must all occur, each in the name, merchant name, memo, payee, category, account or tag, ignoring case; \"a phrase\", #tag, and amounts: 75.05, -75 (money out), >100, 100..200; commas mean or" agent:"All words, in name, memo, payee, category, account or tag; \"a phrase\", #tag, 75.05, -75 (out), >100; commas mean or"`
	ExcludeSearch   *string         `json:"exclude_search,omitempty" minLength:"1" maxLength:"200" doc:"As search, but must not match" agent:"Must not match"`
	SearchMode      string          `json:"search_mode,omitempty" enum:"contains,words,fuzzy" default:"contains" doc:"contains: commas mean or; words: commas are part of a word; fuzzy: for typos, in the name, merchant name and memo only" agent:"fuzzy: for typos, in name and memo"`
	Pending         *bool           `json:"pending,omitempty"`
	Held            *bool           `json:"held,omitempty" doc:"true: a person set the category or counterparty; false: no person did"`
	HasComments     *bool           `json:"has_comments,omitempty" doc:"true: has comments; false: has none"`
	Transfer        *bool           `json:"transfer,omitempty" doc:"true: only sides of confirmed transfers; false: none of them"`
	Excluded        *bool           `json:"excluded,omitempty" doc:"true: only duplicates that totals skip; false: none of them"`
	ExcludedReason  *string         `json:"excluded_reason,omitempty" enum:"reimbursed,duplicate,other,any,none" doc:"Excluded from totals by somebody, for this reason; any: for any reason; none: not excluded"`
	IDs             []string        `json:"ids,omitempty" maxItems:"100" minLength:"1" doc:"Only these transactions: short ids or UUIDs"`
	Rows            *string         `json:"rows,omitempty" enum:"leaves,bank" doc:"bank: transactions as at the bank, without parts of splits; otherwise parts replace their transaction"`
	ParentID        *string         `json:"parent_id,omitempty" minLength:"1" doc:"The parts of this split transaction"`
	Deleted         string          `json:"deleted,omitempty" enum:"exclude,include,only" default:"exclude" doc:"only: only deleted transactions"`
	UpdatedSince    *pg.Time        `json:"updated_since,omitempty" doc:"Changed at or after this time"`
}

// rareFilters are the filters that query_transactions lists by name only.
var rareFilters = []string{
	"connection_id", "exclude_category", "category_source", "any_tag", "exclude_tag", "merchant", "similar_to",
	"amount", "provider", "origin", "exclude_search", "search_mode", "held", "has_comments", "transfer", "excluded",
	"excluded_reason",
	"ids", "rows", "parent_id", "deleted", "updated_since",
}

// CommonFilters makes an op's tool print only the filters that are used most. The tool accepts all
// of them, and its description refers to query_transactions for the others.
func CommonFilters(o *op.Op) *op.Op {
	common := []string{
		"account_id", "user_id", "category", "tags", "counterparty_id", "start_date", "end_date", "search",
	}
	var others []string
	for _, p := range op.SchemaOf[Filter]().Props {
		if !slices.Contains(common, p.Name) {
			others = append(others, p.Name)
		}
	}
	return op.Quiet(o, others...)
}

// A selection is a Filter with its names resolved.
type selection struct {
	pg.Where
	known       *naming
	cursor      int            // number of the argument with the cursor's id; 0 without a cursor
	rows        string         // condition for split transactions and their parts
	wording     sift.Condition // condition on the wording; its SQL is empty if there is none
	descriptors []int32        // the wordings that fulfill it, or some of them if wide
	tag         *id.ID         // set if the search text names exactly one tag
	mixed       bool           // the search also has conditions on other columns than the wording
	wide        bool           // more wordings fulfill it than are listed
	none        bool           // nothing can match
	set         string         // the column that must be one of ids; only one, because through reads a page by one
	ids         []id.ID
}

// lister returns a hint that names the operation which lists records of that kind.
func lister(kind string) string { return "{" + kind + ".list} lists them" }

// resolve turns a filter into conditions on transaction t. A name without a record is an error,
// because an empty list would hide a typo. If names are known, categories are looked up in them,
// and the caller must check that their version still applies.
func (b *Books) resolve(ctx context.Context, q pg.Querier, f Filter, known *naming) (*selection, error) {
	s, err := b.narrow(ctx, q, f, known)
	if err == nil && s.wording.SQL != "" {
		s.descriptors, s.wide, err = sift.Wordings(ctx, q, s.wording, sift.Many)
		s.none = s.none || len(s.descriptors) == 0
	}
	return s, err
}

// kept leaves out the tombstones of parts that no longer belong to a split. Only a revert can
// restore such a part.
const kept = "(" + journal.BankRow + " or t.parent_id is not null)"

// narrow is resolve without two steps: it does not look up the wordings, and its caller adds
// s.rows.
func (b *Books) narrow(ctx context.Context, q pg.Querier, f Filter, known *naming) (*selection, error) {
	s := &selection{known: known, rows: journal.Leaf}
	if f.Rows != nil && *f.Rows == "bank" {
		s.rows = journal.BankRow
	}
	switch f.Deleted {
	case "only":
		s.And("t.deleted_at is not null and " + kept)
	case "include":
		s.And(kept)
	default:
		s.And("t.deleted_at is null")
	}
	s.If(f.StartDate != nil, "t.date >= $?", f.StartDate)
	s.If(f.EndDate != nil, "t.date <= $?", f.EndDate)
	s.If(f.MinAmount != nil, "t.amount >= $?", f.MinAmount)
	s.If(f.MaxAmount != nil, "t.amount <= $?", f.MaxAmount)
	if f.Amount != nil {
		size, err := sift.Amount("amount", *f.Amount)
		if err != nil {
			return nil, err
		}
		s.And(size.SQL, size.Args...)
	}
	s.If(f.Currency != nil, "t.currency = $?", f.Currency)
	s.If(f.Pending != nil, "t.pending = $?", f.Pending)
	s.If(f.UpdatedSince != nil, "t.updated_at >= $?", f.UpdatedSince)
	s.If(f.CategorySource != nil, "t.category_source = $?", f.CategorySource)
	s.If(f.Transfer != nil, "t.transfer = $?", f.Transfer)
	s.If(f.Origin != nil, "t.origin = $?", f.Origin)
	if f.Provider != nil {
		s.If(*f.Provider == bank.Manual, "t.origin = 'manual'").If(*f.Provider != bank.Manual, "t.origin <> 'manual'")
	}
	s.If(f.Excluded != nil, "t.excluded = $?", f.Excluded)
	if f.ExcludedReason != nil {
		switch *f.ExcludedReason {
		case "any":
			s.And("t.excluded_reason is not null")
		case "none":
			s.And("t.excluded_reason is null")
		default:
			s.And("t.excluded_reason = $?", f.ExcludedReason)
		}
	}
	s.whether(f.Held,
		"t.category_source is not distinct from 'user' or t.counterparty_source is not distinct from 'user'")
	s.whether(f.HasComments,
		"exists (select from comment o where o.transaction_id = t.id and o.deleted_at is null)")
	s.whether(f.Uncategorized, "t.category_id is null")
	if f.Direction != nil {
		s.If(*f.Direction == "in", "t.amount < 0").If(*f.Direction == "out", "t.amount > 0")
	}
	if f.ExcludeSearch != nil {
		unwanted, err := sift.Unlike(ctx, q, "exclude_search", *f.ExcludeSearch, f.SearchMode)
		if err != nil {
			return nil, err
		}
		s.And(unwanted.SQL, unwanted.Args...)
	}
	for _, step := range []func(context.Context, pg.Querier, Filter, *selection) error{
		b.accounts, b.addCategories, b.counterparties, b.tagged, b.chosen, b.divided, b.recurring, b.worded,
	} {
		if err := step(ctx, q, f, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// accounts applies all conditions that depend on the account. There are few accounts, so the
// condition is a list of their ids.
func (b *Books) accounts(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	named := f.Provider != nil && *f.Provider != bank.Manual // a transaction entered by hand can be in any account
	if len(f.AccountID) == 0 && f.ConnectionID == nil && f.UserID == nil && !named {
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
	where.If(named, "a.provider = $?", f.Provider)
	ids, err := pg.Values[id.ID](ctx, q, `select a.id from account a left
		join connection cn on cn.id = a.connection_id `+where.SQL(), where.Args()...)
	if err != nil {
		return err
	}
	among(s, "t.account_id", ids)
	return nil
}

// among adds a condition that the column is one of ids. For a single id it is an equality, which
// lets an index provide the order too. The subselect keeps PostgreSQL from planning again for every
// id, which takes longer than reading the page.
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

// addCategories narrows to some categories and excludes others.
func (b *Books) addCategories(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if len(f.Category) > 0 {
		ids, err := b.under(ctx, q, "category", f.Category, s.known)
		if err != nil {
			return err
		}
		among(s, "t.category_id", ids)
	}
	if len(f.ExcludeCategory) > 0 {
		ids, err := b.under(ctx, q, "exclude_category", f.ExcludeCategory, s.known)
		if err != nil {
			return err
		}
		s.And("(t.category_id is null or t.category_id <> all($?))", ids)
	}
	return nil
}

// under returns the named categories with their subcategories.
func (b *Books) under(ctx context.Context, q pg.Querier, field string, refs []string, known *naming) ([]id.ID, error) {
	if known == nil || slices.ContainsFunc(refs, func(ref string) bool { return known.under(ref) == nil }) {
		var err error
		if known, err = readNaming(ctx, q); err != nil {
			return nil, err
		}
	}
	var ids []id.ID
	for _, ref := range refs {
		of := known.under(ref)
		if of == nil {
			return nil, pg.Named(pg.ErrNoRow, field, "category", lister("category"))
		}
		ids = append(ids, of...)
	}
	slices.SortFunc(ids, id.ID.Compare)
	return slices.Compact(ids), nil
}

func (b *Books) counterparties(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	switch {
	case f.CounterpartyID == nil:
		return nil
	case *f.CounterpartyID == "none":
		s.And("t.counterparty_id is null")
		return nil
	}
	ids, err := references(ctx, q, "counterparty_id", "counterparty", []string{*f.CounterpartyID},
		`select id from counterparty where id = any($1::uuid[]) or short_id = any($2)`)
	if err == nil {
		// A merged counterparty stands for the one that it was merged into.
		ids, err = pg.Values[id.ID](ctx, q, `select distinct coalesce(canonical_id, id) from counterparty
			where id = any($1)`, ids)
	}
	among(s, "t.counterparty_id", ids)
	return err
}

// chosen narrows to transactions that the caller names.
func (b *Books) chosen(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if len(f.IDs) == 0 {
		return nil
	}
	ids, err := references(ctx, q, "ids", "transaction", f.IDs, `select id from transaction
		where id = any($1::uuid[]) or short_id = any($2)`)
	s.And("t.id = any($?)", ids)
	return err
}

// divided narrows to the parts of a transaction.
func (b *Books) divided(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if f.ParentID == nil {
		return nil
	}
	ids, err := references(ctx, q, "parent_id", "transaction", []string{*f.ParentID}, `select id from transaction
		where id = any($1::uuid[]) or short_id = any($2)`)
	s.And("t.parent_id = any($?)", ids)
	return err
}

// recurring narrows to the transactions of a series.
func (b *Books) recurring(ctx context.Context, q pg.Querier, f Filter, s *selection) error {
	if f.RecurringID == nil {
		return nil
	}
	series, err := pg.Value[id.ID](ctx, q, `select id from recurring where deleted_at is null
		and (id = $1 or short_id = $2)`, pg.RefTo(*f.RecurringID).IDArgs()...)
	if err != nil {
		return pg.Named(err, "recurring_id", "recurring payment", lister("recurring"))
	}
	// A split payment is shown by its parts.
	const rows = "any(array(select w.transaction_id from recurring_row w where w.recurring_id = $?))"
	s.And("(t.id = "+rows+" or t.parent_id = "+rows+")", series, series)
	return nil
}

// whether narrows to rows that fulfill the condition, or to those that do not. The condition is
// never null.
func (s *selection) whether(wanted *bool, condition string) {
	if wanted != nil {
		s.If(*wanted, "("+condition+")").If(!*wanted, "not ("+condition+")")
	}
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

// tagIDs returns the ids of the tags that a caller named, in the order given.
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

// references resolves names of records without slugs, all in one query. A name without a record is
// an error at that field.
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
