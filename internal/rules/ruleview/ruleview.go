// Package ruleview reads stored transactions as drafts, in which the rule engine sees them. It
// reads only those that conditions can match. It writes nothing and decides nothing, and it must
// not know stored rules.
package ruleview

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"github.com/jackc/pgx/v5"
)

// A Stored is a transaction as rules see it, with the ids and dates that a draft does not have.
type Stored struct {
	ID           id.ID
	Date         pg.Date // only if Dated is set
	Draft        engine.Draft
	Counterparty *id.ID
	manual       bool // it was entered by hand
}

// A Lens reads transactions as drafts. It reads small tables (accounts, categories) only once and
// joins them itself, so it is valid only for the database transaction or statement that it was made
// for.
type Lens struct {
	fields     engine.Fields // the fields to read; the others stay empty
	Dated      bool          // also read the day
	full       bool          // also read what matters only after a rule has matched: holds and the counterparty
	accounts   map[id.ID]holder
	categories map[id.ID]string
	reviewed   map[id.ID]pg.Date // the first day that is reviewed, for accounts that have one
}

// A holder holds the values that a transaction has from its account.
type holder struct {
	ID       id.ID   `db:"id"`
	Name     string  `db:"name"`
	Provider string  `db:"provider"`
	UserID   *id.ID  `db:"user_id"`
	UserName *string `db:"user_name"`
}

type reviewedAccount struct {
	ID   id.ID   `db:"id"`
	From pg.Date `db:"review_from"`
}

type slugged struct {
	ID   id.ID  `db:"id"`
	Slug string `db:"slug"`
}

const accountFields = engine.FieldProvider | engine.FieldAccountID | engine.FieldAccountName |
	engine.FieldUserID | engine.FieldUserName

// New returns a Lens for those fields. If full is set, it also reads everything that rules can
// change, and whether a person holds it.
func New(ctx context.Context, q pg.Querier, fields engine.Fields, full bool) (*Lens, error) {
	l := &Lens{fields: fields, full: full, accounts: map[id.ID]holder{}, categories: map[id.ID]string{}}
	if full {
		l.fields |= engine.LiveFields
	}
	if l.fields&accountFields != 0 {
		rows, err := pg.All[holder](ctx, q, `
			select a.id, coalesce(nullif(a.display_name, ''), a.name) as name, a.provider, m.id as user_id,
				m.name as user_name
			from account a left join connection cn on cn.id = a.connection_id left
				join member m on m.id = coalesce(a.owner_id, cn.member_id)`)
		if err != nil {
			return nil, err
		}
		for _, h := range rows {
			l.accounts[h.ID] = h
		}
	}
	if full {
		rows, err := pg.All[reviewedAccount](ctx, q, `select id, review_from from account where review_from is not null`)
		if err != nil {
			return nil, err
		}
		l.reviewed = make(map[id.ID]pg.Date, len(rows))
		for _, r := range rows {
			l.reviewed[r.ID] = r.From
		}
	}
	if l.fields.Has(engine.FieldCategory) {
		rows, err := pg.All[slugged](ctx, q, `select id, slug from category`)
		if err != nil {
			return nil, err
		}
		for _, c := range rows {
			l.categories[c.ID] = c.Slug
		}
	}
	return l, nil
}

// Without leaves out fields that New included and the caller does not need. Tags are the most
// expensive.
func (l *Lens) Without(fields engine.Fields) { l.fields &^= fields }

// columns returns the columns of transaction t and its descriptor d that the Lens needs.
func (l *Lens) columns() string {
	columns := []string{"t.id"}
	if l.Dated {
		columns = append(columns, "t.date")
	}
	if l.wording() {
		columns = append(columns, "d.name", "d.merchant_name", "d.detail")
	}
	for _, c := range []struct {
		of  engine.Fields
		sql string
	}{
		{engine.FieldAmount, "(t.amount * 100)::bigint"},
		{engine.FieldCurrency, "t.currency"},
		{engine.FieldPending, "t.pending"},
		{engine.FieldCategoryPrimary, "coalesce(t.category_primary, '')"},
		{engine.FieldCategoryDetailed, "coalesce(t.category_detailed, '')"},
		{engine.FieldCategory, "t.category_id"},
		{accountFields, "t.account_id"},
		{engine.FieldProvider, "t.origin = 'manual'"},
		{engine.FieldTags, tagStates},
	} {
		if l.fields&c.of != 0 {
			columns = append(columns, c.sql)
		}
	}
	if l.full {
		columns = append(columns, "t.category_source is not distinct from 'user'", "t.counterparty_id",
			"t.counterparty_source is not distinct from 'user'")
	}
	if len(l.reviewed) > 0 {
		columns = append(columns, "t.account_id", "t.date")
	}
	return strings.Join(columns, ", ")
}

func (l *Lens) wording() bool { return l.fields&engine.WordingFields != 0 }

// tagStates lists the states of a transaction's tags that are not deleted: + or - for set or
// removed, then ! if a person did it, then the slug. The offset keeps PostgreSQL from starting with
// the tags. With few statistics of a new table, it would look up every tag for every transaction.
const tagStates = `array(
	select case when tt.present then '+' else '-' end || case when tt.source = 'user' then '!' else ' ' end || g.slug
	from (select tag_id, present, source from transaction_tag where transaction_id = t.id offset 0) tt
		join tag g on g.id = tt.tag_id and g.deleted_at is null order by g.slug collate "C")`

// Read calls each for every transaction t of a clause ("where … order by …"). It reuses the
// argument of each for the next transaction.
func (l *Lens) Read(ctx context.Context, q pg.Querier, clause string, args []any, each func(*Stored) error) error {
	from := "transaction t"
	if l.wording() {
		from += " join descriptor d on d.id = t.descriptor_id"
	}
	rows, err := q.Query(ctx, fmt.Sprintf("select %s from %s %s", l.columns(), from, clause), args...)
	if err != nil {
		return fmt.Errorf("read transactions for rules: %w", err)
	}
	var s Stored
	var account id.ID
	var filed *id.ID
	var tags []string
	var day pg.Date
	places := l.places(&s, &account, &filed, &tags)
	if len(l.reviewed) > 0 {
		places = append(places, &account, &day)
	}
	_, err = pgx.ForEachRow(rows, places, func() error {
		if err := ctx.Err(); err != nil { // because reading the rows that have already arrived does not check ctx
			return err
		}
		l.complete(&s, account, filed, tags)
		s.Draft.History = l.history(account, day)
		return each(&s)
	})
	return err
}

// places returns the scan targets of the columns.
func (l *Lens) places(s *Stored, account *id.ID, filed **id.ID, tags *[]string) []any {
	places := []any{&s.ID}
	if l.Dated {
		places = append(places, &s.Date)
	}
	d := &s.Draft
	if l.wording() {
		places = append(places, &d.Name, &d.MerchantName, &d.Detail)
	}
	for _, p := range []struct {
		of engine.Fields
		at any
	}{
		{engine.FieldAmount, &d.Cents},
		{engine.FieldCurrency, &d.Currency},
		{engine.FieldPending, &d.Pending},
		{engine.FieldCategoryPrimary, &d.CategoryPrimary},
		{engine.FieldCategoryDetailed, &d.CategoryDetailed},
		{engine.FieldCategory, filed},
		{accountFields, account},
		{engine.FieldProvider, &s.manual},
		{engine.FieldTags, tags},
	} {
		if l.fields&p.of != 0 {
			places = append(places, p.at)
		}
	}
	if l.full {
		places = append(places, &d.HeldCategory, &s.Counterparty, &d.HeldCounterparty)
	}
	return places
}

// complete fills in the fields that follow from the columns.
func (l *Lens) complete(s *Stored, account id.ID, filed *id.ID, tags []string) {
	d := &s.Draft
	if l.fields&accountFields != 0 {
		h := l.accounts[account]
		d.AccountID, d.AccountName, d.Provider = account.String(), h.Name, h.Provider
		if s.manual {
			d.Provider = "manual"
		}
		d.UserID, d.UserName = "", ""
		if h.UserID != nil {
			d.UserID, d.UserName = h.UserID.String(), *h.UserName
		}
	}
	d.Category = ""
	if filed != nil {
		d.Category = l.categories[*filed]
	}
	d.Tags, d.HeldTags = d.Tags[:0], d.HeldTags[:0]
	for _, t := range tags {
		if t[0] == '+' {
			d.Tags = append(d.Tags, t[2:])
		}
		if t[1] == '!' {
			d.HeldTags = append(d.HeldTags, t[2:])
		}
	}
	d.Counterparty = s.Counterparty != nil
}

// Draft returns the draft of a transaction that is not stored yet, from its own facts, its account,
// its category (filed) and its day. The facts of the account are filled in.
func (l *Lens) Draft(facts engine.Facts, account id.ID, filed *id.ID, day pg.Date) *engine.Draft {
	s := Stored{Draft: engine.Draft{Facts: facts}}
	l.complete(&s, account, filed, nil)
	s.Draft.History = l.history(account, day)
	return &s.Draft
}

// history reports whether a day is before the first one that is reviewed in the account.
func (l *Lens) history(account id.ID, day pg.Date) bool {
	from, ok := l.reviewed[account]
	return ok && day.Time().Before(from.Time())
}

// Clone returns a copy that stays valid when Read reads the next transaction.
func (s *Stored) Clone() *Stored {
	c := *s
	c.Draft.Tags, c.Draft.HeldTags = slices.Clone(s.Draft.Tags), slices.Clone(s.Draft.HeldTags)
	return &c
}
