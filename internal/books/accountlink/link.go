// Package accountlink keeps account links: which accounts repeat each other, between which accounts
// money moves, and which of their transactions belong together, so that totals count money once. It
// must not know where transactions come from; the ledger writes what a match means for a
// transaction.
package accountlink

import (
	"cmp"
	"context"
	"fmt"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// Links are one household's account links.
type Links struct {
	db    *pg.DB
	books *ledger.Books
	jobs  *job.Jobs
	limit int // settleMost; tests set a smaller one
}

// New returns Links between the accounts of those books.
func New(db *pg.DB, books *ledger.Books, jobs *job.Jobs) *Links {
	return &Links{db: db, books: books, jobs: jobs, limit: settleMost}
}

// The levels of confidence that two accounts, or two transactions, belong together.
const (
	Auto      = "auto"
	Confirmed = "confirmed"
	Rejected  = "rejected"
)

// A Link connects two accounts that belong together.
type Link struct {
	ID               id.ID          `json:"id" db:"id"`
	ShortID          string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	PrimaryAccountID id.ID          `json:"primary_account_id" db:"primary_id"`
	PrimaryName      text.Untrusted `json:"primary_account_name" db:"primary_name" doc:"The household's name for it, else the bank's (untrusted)"`
	MirrorAccountID  id.ID          `json:"mirror_account_id" db:"mirror_id"`
	MirrorName       text.Untrusted `json:"mirror_account_name" db:"mirror_name" doc:"The household's name for it, else the bank's (untrusted)"`
	Kind             string         `json:"kind" db:"kind" enum:"mirror,transfer" doc:"mirror: a duplicate account, such as an authorized user's card; transfer: money moves between the two"`
	Confidence       string         `json:"confidence" db:"confidence" enum:"auto,confirmed,rejected" doc:"auto: suggested, totals ignore it; confirmed: totals exclude its matches; rejected: never suggested again"`
	Source           *string        `json:"source" db:"source" enum:"user,agent,rule" doc:"Who decided; agents can't change a user's decision without force. rule: coffer itself. null: undecided"`
	ChangeID         *id.ID         `json:"change_id" db:"change_id" doc:"The change that decided it; revert it to undo the decision. null: undecided"`
	Matches          int            `json:"matches" db:"matches" doc:"Number of transaction pairs, without rejected ones"`
	Unsure           int            `json:"unsure" db:"unsure" doc:"Pairs of a confirmed link that totals still count, because a category or another transaction speaks against them; confirm or reject each"`
	Evidence         *Evidence      `json:"evidence" db:"-" doc:"What speaks for a suggestion, or for a decision of coffer itself; null: nothing known, or a person or agent decided"`
	CreatedAt        pg.Time        `json:"created_at" db:"created_at"`
	UpdatedAt        pg.Time        `json:"updated_at" db:"updated_at"`
}

// Evidence is what supports a link, in the days that coffer last checked.
type Evidence struct {
	Candidates int            `json:"candidates" doc:"Transactions that could be one side of a pair"`
	Matched    int            `json:"matched" doc:"Those that match exactly one other"`
	Agreeing   int            `json:"agreeing" doc:"Those that match on the same day, with no category that contradicts"`
	Share      int            `json:"share" doc:"Percentage of candidates that match, rounded down"`
	Pairs      []EvidencePair `json:"pairs" doc:"Of a suggestion: its newest pairs, three at most"`
}

// An EvidencePair is an example of the pairs that a link would have.
type EvidencePair struct {
	Date       pg.Date        `json:"date" db:"date"`
	MirrorDate pg.Date        `json:"mirror_date" db:"mirror_date"`
	Amount     money.Amount   `json:"amount" db:"amount" doc:"In the primary account; positive is money out"`
	Currency   money.Currency `json:"iso_currency_code" db:"currency"`
	Name       text.Untrusted `json:"name" db:"name" doc:"Untrusted: the bank's text in the primary account"`
	MirrorName text.Untrusted `json:"mirror_name" db:"mirror_name" doc:"Untrusted: the bank's text in the mirror account"`
	Link       id.ID          `json:"-" db:"account_link_id"`
}

const linkRows = `
	select l.id, l.short_id, l.primary_id, (select coalesce(nullif(a.display_name, ''), a.name) from account a
		where a.id = l.primary_id) as primary_name,
		l.mirror_id, (select coalesce(nullif(a.display_name, ''), a.name) from account a
			where a.id = l.mirror_id) as mirror_name, l.kind, l.confidence, l.source, l.created_at, l.updated_at,
		l.candidates, l.matched, l.agreeing,
		case when l.source is not null then (select e.change_id from entry e where e.subject_id = l.id
			and e.field = 'record' and e.ref is null order by e.id desc limit 1) end as change_id,
		case when l.confidence = 'rejected' then 0
			else (select count(*) from link_match m where m.account_link_id = l.id and not m.broken
			and m.verdict is distinct from 'rejected') end as matches,
		case when l.confidence = 'confirmed' then (select count(*) from link_match m where m.account_link_id = l.id
			and not m.broken and m.doubtful and m.verdict is null) else 0 end as unsure
	from account_link l`

// shown is the condition for links that are not deleted and whose accounts are not deleted either.
const shown = `l.deleted_at is null and not exists (select from account a where a.id in (l.primary_id, l.mirror_id)
	and a.deleted_at is not null)`

// linksBy returns links with their evidence.
func (l *Links) linksBy(ctx context.Context, q pg.Querier, sql string, args ...any) ([]Link, error) {
	type seen struct {
		Link
		Candidates *int `db:"candidates"`
		Matched    *int `db:"matched"`
		Agreeing   *int `db:"agreeing"`
	}
	rows, err := pg.All[seen](ctx, q, sql, args...)
	if err != nil {
		return nil, err
	}
	out := make([]Link, len(rows))
	of, open := map[id.ID]*Evidence{}, []id.ID{}
	for i, r := range rows {
		out[i] = r.Link
		if r.Candidates == nil || r.Confidence != Auto && (r.Source == nil || *r.Source != journal.Rule) {
			continue
		}
		e := &Evidence{
			*r.Candidates, *r.Matched, *r.Agreeing, *r.Matched * 100 / max(*r.Candidates, 1), []EvidencePair{},
		}
		out[i].Evidence, of[r.ID] = e, e
		if r.Confidence == Auto {
			open = append(open, r.ID)
		}
	}
	if len(open) == 0 {
		return out, nil
	}
	// The newest of the last hundred pairs that were found. Sorting all pairs of a large link takes
	// too long.
	pairs, err := pg.All[EvidencePair](ctx, q, `
		select v.id as account_link_id, x.* from unnest($1::uuid[]) v (id) cross join lateral (
			select p.date, r.date as mirror_date, p.amount, p.currency, d.name, e.name as mirror_name
			from (select m.id, m.primary_id, m.mirror_id from link_match m where m.account_link_id = v.id
				and not m.broken and m.verdict is distinct from 'rejected' order by m.id desc limit 100) m
				join transaction p on p.id = m.primary_id join transaction r on r.id = m.mirror_id
				join descriptor d on d.id = p.descriptor_id join descriptor e on e.id = r.descriptor_id
			order by p.date desc, m.id desc limit 3) x`, open)
	for _, p := range pairs {
		of[p.Link].Pairs = append(of[p.Link].Pairs, p)
	}
	return out, err
}

// linkBy is linksBy for one link.
func (l *Links) linkBy(ctx context.Context, q pg.Querier, sql string, args ...any) (Link, error) {
	links, err := l.linksBy(ctx, q, sql, args...)
	if err != nil || len(links) == 0 {
		return Link{}, cmp.Or(err, pg.ErrNoRow)
	}
	return links[0], nil
}

// ListLinks asks for a page of links.
type ListLinks struct {
	AccountID  *string `json:"account_id,omitempty" minLength:"1" doc:"Filter by account: UUID or short id" agent:"-"`
	Kind       *string `json:"kind,omitempty" enum:"mirror,transfer"`
	Confidence *string `json:"confidence,omitempty" enum:"auto,confirmed,rejected"`
	Cursor     string  `json:"cursor,omitempty" doc:"next_cursor of the previous page" agent:"-"`
	Limit      int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size" agent:"-"`
}

// List is a page of links.
type List struct {
	AccountLinks []Link `json:"account_links"`
	NextCursor   string `json:"next_cursor" doc:"Empty on the last page"`
	HasMore      bool   `json:"has_more"`
}

// List returns a page of links, newest first.
func (l *Links) List(ctx context.Context, q pg.Querier, in ListLinks) (List, error) {
	filters := in
	filters.Cursor, filters.Limit = "", 0
	pager, err := l.db.Pager(ctx, "account links", filters)
	if err != nil {
		return List{}, err
	}
	var where pg.Where
	where.And(shown)
	where.If(in.Kind != nil, "l.kind = $?", in.Kind)
	where.If(in.Confidence != nil, "l.confidence = $?", in.Confidence)
	if in.AccountID != nil {
		a, err := account(ctx, q, "account_id", *in.AccountID)
		if err != nil {
			return List{}, err
		}
		where.And("$? in (l.primary_id, l.mirror_id)", a)
	}
	rows, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(before *string, limit int) ([]Link, error) {
		where.If(before != nil, "l.id < $?::uuid", before)
		return l.linksBy(ctx, q, fmt.Sprintf(`%s %s order by l.id desc limit %d`, linkRows, where.SQL(), limit),
			where.Args()...)
	}, func(k Link) id.ID { return k.ID })
	return List{rows, next, next != ""}, err
}

// A Ref names a link.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The link's UUID or short id"`
}

// Get returns one link.
func (l *Links) Get(ctx context.Context, q pg.Querier, in Ref) (Link, error) {
	k, err := l.linkBy(ctx, q, linkRows+` where `+shown+` and (l.id = $1 or l.short_id = $2)`,
		pg.RefTo(in.ID).IDArgs()...)
	return k, missing(err)
}

func missing(err error) error {
	return pg.Found(err, "account link", "{account-link.list} lists them")
}

// lock is Get, but it also locks the link until the transaction ends: no other call and no sweep
// can change it.
func (l *Links) lock(ctx context.Context, tx pg.Tx, ref string) (Link, error) {
	k, err := l.linkBy(ctx, tx, linkRows+` where `+shown+` and (l.id = $1 or l.short_id = $2) for update of l`,
		pg.RefTo(ref).IDArgs()...)
	return k, missing(err)
}

func account(ctx context.Context, q pg.Querier, field, ref string) (id.ID, error) {
	u, err := pg.Value[id.ID](ctx, q, `select id from account where deleted_at is null
		and (id = $1 or short_id = $2)`, pg.RefTo(ref).IDArgs()...)
	return u, pg.Named(err, field, "account", "{account.list} lists them")
}

// CreateLink is the input of Create.
type CreateLink struct {
	PrimaryAccountID string `json:"primary_account_id" minLength:"1" doc:"The account counted in totals: UUID or short id"`
	MirrorAccountID  string `json:"mirror_account_id" minLength:"1" doc:"The duplicate account (mirror) or the other account (transfer): UUID or short id"`
	Kind             string `json:"kind" enum:"mirror,transfer" doc:"mirror: a duplicate account; transfer: money moves between the two"`
	Confidence       string `json:"confidence,omitempty" enum:"auto,confirmed,rejected" default:"confirmed" doc:"auto: look for pairs without changing totals; rejected: never suggest this link"`
	Force            bool   `json:"force,omitempty" doc:"Link the accounts even if a person deleted their link"`
}

// Create links two accounts. If a link of these accounts was suggested, Create confirms it. If it
// was deleted, Create restores it with the decisions about its matches. A job then looks for pairs.
func (l *Links) Create(ctx context.Context, tx pg.Tx, in CreateLink) (Link, error) {
	primary, err := account(ctx, tx, "primary_account_id", in.PrimaryAccountID)
	if err != nil {
		return Link{}, err
	}
	mirror, err := account(ctx, tx, "mirror_account_id", in.MirrorAccountID)
	if err != nil {
		return Link{}, err
	}
	if primary == mirror {
		return Link{}, errs.Field("mirror_account_id", "conflict",
			"must be a different account from primary_account_id")
	}
	was, err := l.between(ctx, tx, primary, mirror, in.Kind)
	if err != nil {
		return Link{}, err
	}
	if !was.IsDeleted && was.Verdict != Auto {
		return Link{}, errs.New(errs.Conflict,
			"these accounts are already linked, and the link is %s; {account-link.list} with account_id finds it, "+
				"and {account-link.update} changes it", was.Verdict)
	}
	if err := held(ctx, was.Source, in.Force, "link"); err != nil {
		return Link{}, err
	}
	if err := l.say(ctx, tx, was, record{primary, in.Kind, in.Confidence, false}, true); err != nil {
		return Link{}, err
	}
	return l.Get(ctx, tx, Ref{was.ID.String()})
}

// between returns and locks the link of two accounts. If there is none, it first stores one that is
// deleted and has no decision.
func (l *Links) between(ctx context.Context, tx pg.Tx, primary, mirror id.ID, kind string) (stored, error) {
	err := pg.Redraw(ctx, tx, "account_link_short_id", func(tx pg.Tx) error {
		made := id.New()
		_, err := pg.Exec(ctx, tx, `
			insert into account_link (id, short_id, primary_id, mirror_id, kind, confidence, deleted_at)
				values (@id, @short, @primary, @mirror, @kind, 'auto', clock_timestamp())
			on conflict (least(primary_id, mirror_id), greatest(primary_id, mirror_id)) do nothing`,
			pg.Args{"id": made, "short": made.Short(), "primary": primary, "mirror": mirror, "kind": kind})
		return err
	})
	if err != nil {
		return stored{}, err
	}
	return pg.One[stored](ctx, tx, storedRows+`
		where least(l.primary_id, l.mirror_id) = least($1::uuid, $2)
			and greatest(l.primary_id, l.mirror_id) = greatest($1::uuid, $2) for update`, primary, mirror)
}

// PutLink is the input of Put.
type PutLink struct {
	ID         string  `json:"id" minLength:"1" doc:"The link's UUID or short id"`
	Kind       *string `json:"kind,omitempty" enum:"mirror,transfer" doc:"Each kind has its own pairs; decisions on pairs of the old kind are kept" agent:"-"`
	Confidence string  `json:"confidence" enum:"auto,confirmed,rejected" doc:"A confirmed or rejected link only becomes auto again through a revert" agent:"-"`
	Force      bool    `json:"force,omitempty" doc:"Override a person's decision" agent:"-"`
}

// Put confirms or rejects a link. Totals are updated at once, or by a job if there are very many
// matches. Decisions about single matches stay.
func (l *Links) Put(ctx context.Context, tx pg.Tx, in PutLink) (Link, error) {
	k, err := l.lock(ctx, tx, in.ID)
	if err != nil {
		return Link{}, err
	}
	if err := op.Match(ctx, k); err != nil {
		return Link{}, err
	}
	if in.Confidence == Auto && k.Confidence != Auto {
		return Link{}, errs.New(errs.Conflict,
			"this link is already %s; it can be confirmed or rejected, but not become a suggestion again", k.Confidence)
	}
	kind := k.Kind
	if in.Kind != nil {
		kind = *in.Kind
	}
	if settled(ctx, k, kind, in.Confidence) {
		return k, nil
	}
	if err := held(ctx, k.Source, in.Force, "link"); err != nil {
		return Link{}, err
	}
	was, err := pg.One[stored](ctx, tx, storedRows+` where l.id = $1`, k.ID)
	if err != nil {
		return Link{}, err
	}
	if err := l.say(ctx, tx, was, record{was.Primary, kind, in.Confidence, false}, false); err != nil {
		return Link{}, err
	}
	return l.Get(ctx, tx, Ref{k.ID.String()})
}

// settled reports whether a decision would change nothing. If a person repeats the decision of
// someone else, it changes the source, because the decision then belongs to a person.
func settled(ctx context.Context, k Link, kind, confidence string) bool {
	return kind == k.Kind && confidence == k.Confidence && (confidence == Auto || op.ActorOf(ctx).Type != op.User ||
		k.Source != nil && *k.Source == op.User)
}

// DeleteLink is the input of Delete.
type DeleteLink struct {
	ID    string `json:"id" minLength:"1" doc:"The link's UUID or short id"`
	Force bool   `json:"force,omitempty" in:"query" doc:"Delete it even if a person confirmed or rejected it"`
}

// Delete deletes a link, and totals no longer consider it. coffer does not suggest a link of these
// two accounts again; Create restores it.
func (l *Links) Delete(ctx context.Context, tx pg.Tx, in DeleteLink) (op.Deleted, error) {
	k, err := l.lock(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	if err := held(ctx, k.Source, in.Force, "link"); err != nil {
		return op.Deleted{}, err
	}
	was, err := pg.One[stored](ctx, tx, storedRows+` where l.id = $1`, k.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	return op.Deleted{Deleted: true, ID: k.ID}, l.say(ctx, tx, was, record{was.Primary, was.Kind, was.Verdict, true},
		false)
}
