// Package link keeps account links: which accounts repeat each other, between which money moves, and which of their transactions belong together, so that totals count money once.
// It must not know where transactions come from; what a match makes of a transaction the ledger writes.
package link

import (
	"context"
	"fmt"

	"coffer/internal/errs"
	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/ledger"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// Links are one household's account links.
type Links struct {
	db    *pg.DB
	books *ledger.Books
	jobs  *job.Jobs
	most  int // settleMost; a test has less
}

// New makes Links between the accounts of those books.
func New(db *pg.DB, books *ledger.Books, jobs *job.Jobs) *Links {
	return &Links{db: db, books: books, jobs: jobs, most: settleMost}
}

// How sure it is that two accounts, or two transactions, belong together.
const (
	Auto      = "auto"
	Confirmed = "confirmed"
	Rejected  = "rejected"
)

// A Link says that two accounts belong together.
type Link struct {
	ID               id.ID          `json:"id" db:"id"`
	ShortID          string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	PrimaryAccountID id.ID          `json:"primary_account_id" db:"primary_id"`
	PrimaryName      text.Untrusted `json:"primary_account_name" db:"primary_name" doc:"What the household calls it, else what the bank wrote (untrusted)"`
	MirrorAccountID  id.ID          `json:"mirror_account_id" db:"mirror_id"`
	MirrorName       text.Untrusted `json:"mirror_account_name" db:"mirror_name" doc:"What the household calls it, else what the bank wrote (untrusted)"`
	Kind             string         `json:"kind" db:"kind" enum:"mirror,transfer" doc:"mirror: the same money seen twice, such as an authorised user's card; transfer: money moves between the two"`
	Confidence       string         `json:"confidence" db:"confidence" enum:"auto,confirmed,rejected" doc:"auto: proposed, and totals are as if there were no link; confirmed: totals follow its matches; rejected: never proposed again"`
	Matches          int            `json:"matches" db:"matches" doc:"How many pairs of transactions it has, without rejected ones"`
	CreatedAt        pg.Time        `json:"created_at" db:"created_at"`
	UpdatedAt        pg.Time        `json:"updated_at" db:"updated_at"`
}

const linkRows = `
	select l.id, l.short_id, l.primary_id, (select coalesce(a.display_name, a.name) from account a where a.id = l.primary_id) as primary_name,
		l.mirror_id, (select coalesce(a.display_name, a.name) from account a where a.id = l.mirror_id) as mirror_name, l.kind, l.confidence, l.created_at, l.updated_at,
		case when l.confidence = 'rejected' then 0 else (select count(*) from link_match m where m.account_link_id = l.id and not m.broken and m.verdict is distinct from 'rejected') end as matches
	from account_link l`

// ListLinks asks for a page of links.
type ListLinks struct {
	AccountID  *string `json:"account_id,omitempty" minLength:"1" doc:"Only those of this account: UUID or short id"`
	Kind       *string `json:"kind,omitempty" enum:"mirror,transfer"`
	Confidence *string `json:"confidence,omitempty" enum:"auto,confirmed,rejected"`
	Cursor     string  `json:"cursor,omitempty" maxLength:"1024" doc:"next_cursor of the page before"`
	Limit      int     `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"How many on a page"`
}

// List is a page of links.
type List struct {
	AccountLinks []Link `json:"account_links"`
	NextCursor   string `json:"next_cursor" doc:"Empty on the last page"`
	HasMore      bool   `json:"has_more"`
}

// List is a page of links, newest first.
func (l *Links) List(ctx context.Context, q pg.Querier, in ListLinks) (List, error) {
	filters := in
	filters.Cursor, filters.Limit = "", 0
	pager, err := l.db.Pager(ctx, "account links", filters)
	if err != nil {
		return List{}, err
	}
	var where pg.Where
	where.And("l.deleted_at is null")
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
		return pg.All[Link](ctx, q, fmt.Sprintf(`%s %s order by l.id desc limit %d`, linkRows, where.SQL(), limit), where.Args()...)
	}, func(k Link) id.ID { return k.ID })
	return List{rows, next, next != ""}, err
}

// A Ref names a link.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The link's UUID or short id"`
}

// Get is one link.
func (l *Links) Get(ctx context.Context, q pg.Querier, in Ref) (Link, error) {
	k, err := pg.One[Link](ctx, q, linkRows+` where l.deleted_at is null and (l.id = $1 or l.short_id = $2)`, pg.RefTo(in.ID).IDArgs()...)
	return k, missing(err)
}

func missing(err error) error {
	return pg.Found(err, "account link", "GET /api/v1/account-links lists them")
}

// lock is Get, with nobody else changing it until the transaction ends, and no sweep between.
func (l *Links) lock(ctx context.Context, tx pg.Tx, ref string) (Link, error) {
	k, err := pg.One[Link](ctx, tx, linkRows+` where l.deleted_at is null and (l.id = $1 or l.short_id = $2) for update of l`, pg.RefTo(ref).IDArgs()...)
	return k, missing(err)
}

func account(ctx context.Context, q pg.Querier, field, ref string) (id.ID, error) {
	u, err := pg.Value[id.ID](ctx, q, `select id from account where id = $1 or short_id = $2`, pg.RefTo(ref).IDArgs()...)
	return u, pg.Named(err, field, "account", "GET /api/v1/accounts lists them")
}

// CreateLink is the input of Create.
type CreateLink struct {
	PrimaryAccountID string `json:"primary_account_id" minLength:"1" doc:"The account that counts: UUID or short id"`
	MirrorAccountID  string `json:"mirror_account_id" minLength:"1" doc:"Of a mirror the account that repeats the other, of a transfer the account at the other end: UUID or short id"`
	Kind             string `json:"kind" enum:"mirror,transfer" doc:"mirror: the same money seen twice; transfer: money moves between the two"`
	Confidence       string `json:"confidence,omitempty" enum:"auto,confirmed,rejected" default:"confirmed" doc:"auto: look for pairs and change no total; rejected: never propose these two"`
}

// Create links two accounts; a proposal for the same two is taken over, and what was deleted comes back with what was said about its matches. A job then looks for pairs.
func (l *Links) Create(ctx context.Context, tx pg.Tx, in CreateLink) (Link, error) {
	primary, err := account(ctx, tx, "primary_account_id", in.PrimaryAccountID)
	if err != nil {
		return Link{}, err
	}
	mirror, err := account(ctx, tx, "mirror_account_id", in.MirrorAccountID)
	if err != nil {
		return Link{}, err
	}
	if primary.Equal(mirror) {
		return Link{}, errs.Field("mirror_account_id", "conflict", "must be another account than primary_account_id")
	}
	var made id.ID
	err = pg.Redraw(ctx, tx, "account_link_short_id", func(tx pg.Tx) error {
		made = id.New()
		_, err := pg.Exec(ctx, tx, `
			insert into account_link (id, short_id, primary_id, mirror_id, kind, confidence) values (@id, @short, @primary, @mirror, @kind, @confidence)
			on conflict (least(primary_id, mirror_id), greatest(primary_id, mirror_id)) do nothing`,
			pg.Args{"id": made, "short": made.Short(), "primary": primary, "mirror": mirror, "kind": in.Kind, "confidence": in.Confidence})
		return err
	})
	if err != nil {
		return Link{}, err
	}
	type found struct {
		Link
		Deleted bool `db:"deleted"`
	}
	was, err := pg.One[found](ctx, tx, `
		select l.id, l.short_id, l.primary_id, l.mirror_id, l.kind, l.confidence, l.created_at, l.updated_at, 0 as matches, '' as primary_name, '' as mirror_name, l.deleted_at is not null as deleted from account_link l
		where least(l.primary_id, l.mirror_id) = least($1::uuid, $2) and greatest(l.primary_id, l.mirror_id) = greatest($1::uuid, $2) for update`, primary, mirror)
	if err != nil {
		return Link{}, err
	}
	if !was.ID.Equal(made) {
		if !was.Deleted && was.Confidence != Auto {
			return Link{}, errs.New(errs.Conflict, "these two accounts are linked already, and the link is %s; GET /api/v1/account-links with account_id finds it, and PUT changes it", was.Confidence)
		}
		if err := l.turn(ctx, tx, was.Link, primary, in.Kind); err != nil {
			return Link{}, err
		}
		if err := l.set(ctx, tx, was.ID, in.Confidence); err != nil {
			return Link{}, err
		}
		made = was.ID
	}
	if err := l.enqueue(ctx, tx, made); err != nil {
		return Link{}, err
	}
	return l.Get(ctx, tx, Ref{made.String()})
}

// turn makes a link one of that kind with that primary account. Pairs of another kind are no pairs; those of the same stay, with what was said about them.
func (l *Links) turn(ctx context.Context, tx pg.Tx, was Link, primary id.ID, kind string) error {
	if was.Kind != kind {
		ids, err := sides(pg.All[side](ctx, tx, `delete from link_match where account_link_id = $1 returning primary_id, mirror_id`, was.ID))
		if err != nil {
			return err
		}
		if err := l.settleSoon(ctx, tx, ids, was.ID); err != nil {
			return err
		}
	}
	if !was.PrimaryAccountID.Equal(primary) {
		if _, err := pg.Exec(ctx, tx, `update link_match set primary_id = mirror_id, mirror_id = primary_id where account_link_id = $1`, was.ID); err != nil {
			return err
		}
	}
	_, err := pg.Exec(ctx, tx, `
		update account_link set kind = $2, primary_id = $3, mirror_id = case when primary_id = $3 then mirror_id else primary_id end, updated_at = clock_timestamp() where id = $1`, was.ID, kind, primary)
	return err
}

// set gives a link its confidence, and every transaction of its matches what follows from it.
func (l *Links) set(ctx context.Context, tx pg.Tx, link id.ID, confidence string) error {
	_, err := pg.Exec(ctx, tx, `update account_link set confidence = $2, deleted_at = null, updated_at = clock_timestamp() where id = $1`, link, confidence)
	if err != nil {
		return err
	}
	return l.settleLink(ctx, tx, link)
}

// PutLink is the input of Put.
type PutLink struct {
	ID         string  `json:"id" minLength:"1" doc:"The link's UUID or short id"`
	Kind       *string `json:"kind,omitempty" enum:"mirror,transfer" doc:"Another kind begins anew: the pairs of the old one go"`
	Confidence string  `json:"confidence" enum:"auto,confirmed,rejected" doc:"What was confirmed or rejected cannot become auto again"`
}

// Put confirms or rejects a link. Totals follow at once, those of very many matches by a job, and both ways: what was said about single matches stays.
func (l *Links) Put(ctx context.Context, tx pg.Tx, in PutLink) (Link, error) {
	k, err := l.lock(ctx, tx, in.ID)
	if err != nil {
		return Link{}, err
	}
	if err := op.Match(ctx, k); err != nil {
		return Link{}, err
	}
	if in.Confidence == Auto && k.Confidence != Auto {
		return Link{}, errs.New(errs.Conflict, "this link is %s; it can be confirmed or rejected, and is no proposal any more", k.Confidence)
	}
	kind := k.Kind
	if in.Kind != nil {
		kind = *in.Kind
	}
	if kind == k.Kind && in.Confidence == k.Confidence {
		return k, nil
	}
	if kind != k.Kind {
		if err := l.turn(ctx, tx, k, k.PrimaryAccountID, kind); err != nil {
			return Link{}, err
		}
	}
	if err := l.set(ctx, tx, k.ID, in.Confidence); err != nil {
		return Link{}, err
	}
	if kind != k.Kind || k.Confidence == Rejected || in.Confidence == Rejected { // what may be a pair, here or in other links, is another question now
		if err := l.enqueue(ctx, tx, k.ID); err != nil {
			return Link{}, err
		}
	}
	return l.Get(ctx, tx, Ref{k.ID.String()})
}

// Delete takes a link away, and totals are as if it had never been. The same two accounts are not proposed again; POST brings the link back.
func (l *Links) Delete(ctx context.Context, tx pg.Tx, in Ref) (op.Deleted, error) {
	k, err := l.lock(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	if _, err := pg.Exec(ctx, tx, `update account_link set deleted_at = clock_timestamp(), updated_at = clock_timestamp() where id = $1`, k.ID); err != nil {
		return op.Deleted{}, err
	}
	if err := l.touch(ctx, tx, k.ID); err != nil {
		return op.Deleted{}, err
	}
	return op.Deleted{Deleted: true, ID: k.ID}, l.settleLink(ctx, tx, k.ID)
}
