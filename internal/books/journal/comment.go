package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A Comment is a text that someone wrote about a transaction.
type Comment struct {
	ID            id.ID          `json:"id" db:"id"`
	ShortID       string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	TransactionID id.ID          `json:"transaction_id" db:"transaction_id"`
	Content       text.Untrusted `json:"content" db:"content"`
	AuthorType    string         `json:"author_type" db:"author_type" enum:"user,agent,system"`
	AuthorID      *id.ID         `json:"author_id" db:"author_id"`
	AuthorName    string         `json:"author_name" db:"author_name"`
	CreatedAt     pg.Time        `json:"created_at" db:"created_at"`
	UpdatedAt     pg.Time        `json:"updated_at" db:"updated_at"`
}

const (
	commentColumns = `id, short_id, transaction_id, content, author_type, author_id, author_name, created_at, updated_at`
	// MaxComment is the maximum length of a comment.
	MaxComment = 10_000
)

// transaction returns the id of a stored transaction, deleted or not, that a caller named.
func (j *Journal) transaction(ctx context.Context, q pg.Querier, ref string) (id.ID, error) {
	found, err := pg.Value[id.ID](ctx, q, `select id from transaction
		where id = $1 or short_id = $2`, pg.RefTo(ref).IDArgs()...)
	return found, pg.Found(err, "transaction", "{transaction.list} lists them")
}

// ListComments asks for a page of a transaction's comments.
type ListComments struct {
	TransactionID string `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	Cursor        string `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit         int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// CommentList is a page of a transaction's comments.
type CommentList struct {
	Comments   []Comment `json:"comments"`
	NextCursor string    `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool      `json:"has_more"`
}

// Comments returns the comments of a transaction, oldest first. Ids are in the order in which
// comments were written.
func (j *Journal) Comments(ctx context.Context, q pg.Querier, in ListComments) (CommentList, error) {
	t, err := j.transaction(ctx, q, in.TransactionID)
	if err != nil {
		return CommentList{}, err
	}
	pager, err := j.db.Pager(ctx, "comments", t)
	if err != nil {
		return CommentList{}, err
	}
	rows, next, err := pg.ByID(pager, in.Cursor, in.Limit, func(after *string, limit int) ([]Comment, error) {
		return pg.All[Comment](ctx, q, `
			select `+commentColumns+` from comment where transaction_id = $1 and deleted_at is null
				and ($2::uuid is null or id > $2)
			order by id limit $3`, t, after, limit)
	}, func(c Comment) id.ID { return c.ID })
	return CommentList{rows, next, next != ""}, err
}

// AddComment is the input of AddComment.
type AddComment struct {
	TransactionID string  `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	Content       string  `json:"content" minLength:"1" maxLength:"10000"`
	Note          *string `json:"note,omitempty" maxLength:"1000" doc:"Reason, shown on the timeline" agent:"The reason"`
}

// AddComment writes a comment.
func (j *Journal) AddComment(ctx context.Context, tx pg.Tx, in AddComment) (Comment, error) {
	t, err := j.transaction(ctx, tx, in.TransactionID)
	if err != nil {
		return Comment{}, err
	}
	made, err := Write(ctx, tx, []Draft{{Transaction: t, Content: in.Content, Note: in.Note}})
	if err != nil {
		return Comment{}, err
	}
	if _, err := Record(ctx, tx, Note{Summary: "Added a comment"}, made); err != nil {
		return Comment{}, err
	}
	return pg.One[Comment](ctx, tx, `select `+commentColumns+` from comment where id = $1`, made[0].Ref)
}

// A Draft is a comment to be written.
type Draft struct {
	Transaction id.ID
	Content     string
	Rule        *id.ID
	Note        *string
}

// Write stores comments by the call's actor in one statement, and returns their entries, which the
// caller records.
func Write(ctx context.Context, tx pg.Tx, drafts []Draft) ([]Entry, error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	actor := op.ActorOf(ctx)
	n := len(drafts)
	ids, shorts, subjects, contents := make([]id.ID, n), make([]string, n), make([]id.ID, n), make([]string, n)
	entries := make([]Entry, n)
	for i, d := range drafts {
		subjects[i], contents[i] = d.Transaction, text.Prose(d.Content, MaxComment).Plain()
		if contents[i] == "" {
			return nil, errs.Field("content", "empty", "must not be empty")
		}
	}
	err := pg.Redraw(ctx, tx, "comment_short_id", func(tx pg.Tx) error {
		for i := range ids {
			ids[i] = id.New()
		}
		slices.SortFunc(ids, id.ID.Compare) // ids of the same moment are unordered, and comments are listed by id
		for i, u := range ids {
			shorts[i] = u.Short()
		}
		_, err := pg.Exec(ctx, tx, `
			insert into comment (id, short_id, transaction_id, content, author_type, author_id, author_name)
			select v.id, v.short_id, v.transaction_id, v.content, @type, @actor, @name
			from unnest(@ids::uuid[], @shorts::text[], @subjects::uuid[], @contents::text[]) v (id, short_id,
				transaction_id, content)`,
			pg.Args{
				"ids": ids, "shorts": shorts, "subjects": subjects, "contents": contents, "type": actor.Type,
				"actor": actor.ID, "name": actor.Name,
			})
		return err
	})
	for i, d := range drafts {
		entries[i] = Entry{
			Subject: Transaction, SubjectID: d.Transaction, Field: FieldComment, Ref: &ids[i], After: &contents[i],
			AfterSource: new(Source(actor)), RuleID: d.Rule, Note: d.Note,
		}
	}
	return entries, err
}

// A CommentRef names a comment of a transaction.
type CommentRef struct {
	TransactionID string `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	CommentID     string `json:"comment_id" minLength:"1" doc:"The comment's UUID or short id"`
}

// lockComment returns a comment that the caller may change and the source of its text, and locks it
// until the transaction ends.
func (j *Journal) lockComment(ctx context.Context, tx pg.Tx, in CommentRef) (Comment, *string, error) {
	t, err := j.transaction(ctx, tx, in.TransactionID)
	if err != nil {
		return Comment{}, nil, err
	}
	// Lock the transaction first, as a revert does. Otherwise a revert that waits for this comment
	// would overwrite it with the text that it read before.
	if _, err := pg.Exec(ctx, tx, `select from transaction where id = $1 for update`, t); err != nil {
		return Comment{}, nil, err
	}
	c, err := pg.One[Comment](ctx, tx, `
		select `+commentColumns+` from comment where (id = $1 or short_id = $2) and transaction_id = $3
			and deleted_at is null for update`,
		append(pg.RefTo(in.CommentID).IDArgs(), t)...)
	if err != nil {
		return Comment{}, nil, pg.Found(err, "comment", "{comment.list} lists them")
	}
	if err := op.Owned(ctx, c.AuthorID,
		"agents can only change their own comments; add a comment instead"); err != nil {
		return Comment{}, nil, err
	}
	source, err := c.source(ctx, tx)
	if err != nil {
		return Comment{}, nil, err
	}
	if a := op.ActorOf(ctx); Held(source, a, a.Administers) {
		return Comment{}, nil, errs.New(errs.Forbidden,
			"a person has edited this comment, so agents can't change it; add a comment instead")
	}
	return c, source, nil
}

// source returns the source of the text: its last writer, who is not always its author.
func (c Comment) source(ctx context.Context, q pg.Querier) (*string, error) {
	source, err := pg.Value[*string](ctx, q, `select after_source from entry
		where subject_id = $1 and field = 'comment' and ref = $2 order by id desc limit 1`, c.TransactionID, c.ID)
	if errors.Is(err, pg.ErrNoRow) {
		return new(Source(op.Actor{Type: c.AuthorType})), nil
	}
	return source, err
}

// PatchComment is the input of PatchComment.
type PatchComment struct {
	TransactionID string `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	CommentID     string `json:"comment_id" minLength:"1" doc:"The comment's UUID or short id"`
	Content       string `json:"content" minLength:"1" maxLength:"10000"`
}

// PatchComment changes a comment's text.
func (j *Journal) PatchComment(ctx context.Context, tx pg.Tx, in PatchComment) (Comment, error) {
	c, source, err := j.lockComment(ctx, tx, CommentRef{in.TransactionID, in.CommentID})
	if err != nil {
		return Comment{}, err
	}
	if err := op.Match(ctx, c); err != nil {
		return Comment{}, err
	}
	content := text.Prose(in.Content, MaxComment).Plain()
	if content == "" {
		return Comment{}, errs.Field("content", "empty", "must not be empty")
	}
	after, err := pg.One[Comment](ctx, tx, `update comment set content = $2, updated_at = clock_timestamp()
		where id = $1 returning `+commentColumns, c.ID, content)
	if err != nil {
		return Comment{}, err
	}
	_, err = Record(ctx, tx, Note{Summary: "Changed a comment"},
		[]Entry{c.entry(ctx, source, new(c.Content.Plain()), &content)})
	return after, err
}

// DeleteComment deletes a comment; a revert restores it.
func (j *Journal) DeleteComment(ctx context.Context, tx pg.Tx, in CommentRef) (op.Deleted, error) {
	c, source, err := j.lockComment(ctx, tx, in)
	if err != nil {
		return op.Deleted{}, err
	}
	if _, err := pg.Exec(ctx, tx, `update comment set deleted_at = clock_timestamp(), updated_at = clock_timestamp()
		where id = $1`, c.ID); err != nil {
		return op.Deleted{}, err
	}
	_, err = Record(ctx, tx, Note{Summary: "Deleted a comment"},
		[]Entry{c.entry(ctx, source, new(c.Content.Plain()), nil)})
	return op.Deleted{Deleted: true, ID: c.ID}, err
}

func (c Comment) entry(ctx context.Context, source, before, after *string) Entry {
	return Entry{
		Subject: Transaction, SubjectID: c.TransactionID, Field: FieldComment, Ref: &c.ID, Before: before,
		After: after, BeforeSource: source, AfterSource: new(Source(op.ActorOf(ctx))),
	}
}

// comments is the subject that the journal itself owns.
type comments struct{}

func (comments) Kind() string { return Transaction }

// Fields implements FieldOwner.
func (comments) Fields() []string { return []string{FieldComment} }

// Lock does nothing: the owner of transactions locks the transactions that have the comments.
func (comments) Lock(context.Context, pg.Tx, []id.ID) error { return nil }

// Apply sets comments to the text that the entry has as After, or removes them. An agent cannot
// revert a person's comment.
func (comments) Apply(ctx context.Context, tx pg.Tx, entries []Entry) ([]Skipped, error) {
	var skipped []Skipped
	var ids []*id.ID
	var contents []*string
	for _, e := range entries {
		if Held(e.BeforeSource, op.ActorOf(ctx), false) {
			skipped = append(skipped, Skip(e, "held"))
			continue
		}
		ids, contents = append(ids, e.Ref), append(contents, e.After)
	}
	_, err := pg.Exec(ctx, tx, `
		update comment c set
			content = coalesce(v.content, c.content), deleted_at = case
				when v.content is null then clock_timestamp() end, updated_at = clock_timestamp()
		from unnest($1::uuid[], $2::text[]) v (id, content) where c.id = v.id`, ids, contents)
	return skipped, err
}

// Rows implements maker.
func (comments) Rows(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]json.RawMessage, error) {
	rows, err := q.Query(ctx, `select id, to_jsonb(c) from comment c where id = any($1)`, ids)
	if err != nil {
		return nil, err
	}
	return collectRows(rows)
}

// Make implements maker.
func (comments) Make(ctx context.Context, tx pg.Tx, rows []json.RawMessage) error {
	printed, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("print planned comments: %w", err)
	}
	_, err = pg.Exec(ctx, tx, `
		insert into comment (id, short_id, transaction_id, content, author_type, author_id, author_name, created_at,
			updated_at, deleted_at)
		select id, short_id, transaction_id, content, author_type, author_id, author_name, created_at, updated_at,
			clock_timestamp()
		from jsonb_populate_recordset(null::comment, $1::text::jsonb) on conflict (id) do nothing`, string(printed))
	return err
}
