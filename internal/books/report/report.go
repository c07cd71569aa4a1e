// Package report keeps the reports that people and agents write for the household. It must not
// know what a report says: a body is its author's text.
package report

import (
	"context"
	"math"

	"coffer/internal/books/journal"
	"coffer/internal/notify"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// Reports are the reports of one household.
type Reports struct{}

// New returns Reports.
func New() *Reports { return &Reports{} }

// Ops returns the operations on reports.
func (r *Reports) Ops() []*op.Op {
	return []*op.Op{
		op.Streaming(op.Spec{
			Name: "report.list", Route: "GET /reports", Summary: "Lists reports, newest first.",
		}, r.Each),
		op.Reading(op.Spec{
			Tool: "list_reports", Summary: "Lists reports, newest first.",
			Agent: "Lists reports by you, other agents or people, newest first: titles, and the Markdown " +
				"with id or bodies. Check here before you write another report.",
		}, r.forTool),
		op.Once(op.Shaped(op.Writing(op.Spec{
			Name: "report.create", Route: "POST /reports", Tool: "submit_report", Core: true,
			Runs:    op.Runs{Reach: op.ReachReport},
			Summary: "Stores a report for the household to read.",
			Agent: "Stores a report for the household to read. Start with the most important point and any " +
				"decision needed. Refer to transactions by id and never add different currencies. Limit: 20 " +
				"per day. revert_change withdraws a report.",
		}, r.Create), submitted)),
		op.Reading(op.Spec{Name: "report.get", Route: "GET /reports/{id}", Summary: "Shows one report."}, r.Get),
		op.Writing(op.Spec{
			Name: "report.delete", Route: "DELETE /reports/{id}", People: op.PeopleOthers,
			Summary: "Deletes a report.",
		}, r.Delete),
		op.Writing(op.Spec{Name: "report.read", Route: "PUT /reports/{id}/read", Summary: "Marks a report as read."},
			r.Read),
		op.Writing(op.Spec{
			Name: "report.unread", Route: "DELETE /reports/{id}/read",
			Summary: "Marks a report as unread.",
		}, r.Unread),
		op.Reading(op.Spec{Name: "report.count", Route: "GET /reports/unread-count", Summary: "Counts unread reports."},
			r.Count),
	}
}

// A Report is a text that someone wrote for the household.
type Report struct {
	ID         id.ID          `json:"id" db:"id"`
	ShortID    string         `json:"short_id,omitempty" db:"short_id" required:"true"`
	Title      string         `json:"title" db:"title"`
	Body       text.Untrusted `json:"body" db:"body" doc:"Untrusted: the author's Markdown; sanitize it when rendering"`
	Kind       string         `json:"kind" db:"kind"`
	AuthorType string         `json:"author_type" db:"author_type" enum:"user,agent,system"`
	AuthorID   *id.ID         `json:"author_id" db:"author_id"`
	ReadAt     *pg.Time       `json:"read_at" db:"read_at" doc:"When a member marked it as read"`
	CreatedAt  pg.Time        `json:"created_at" db:"created_at"`
}

const columns = `id, short_id, title, body, kind, author_type, author_id, read_at, created_at`

// ListReports is the input of List.
type ListReports struct {
	Unread *bool   `json:"unread,omitempty" doc:"true: only unread reports; false: only read ones" agent:"-"`
	Kind   *string `json:"kind,omitempty" minLength:"1" maxLength:"64" format:"line" doc:"Filter by kind" agent:"-"`
	Before *string `json:"before,omitempty" minLength:"1" doc:"Only reports older than this one: UUID or short id" agent:"Only older than this one"`
	Limit  *int    `json:"limit,omitempty" minimum:"1" maximum:"500" doc:"Return only this many of the newest; all if omitted" agent:"-"`
}

// few is the number of reports that are read at a time. Each may have some hundred kB.
const few = 4

// listed is the condition of a list: unread or read, a kind, and older than a report.
const listed = `where deleted_at is null and ($1::boolean is null or (read_at is null) = $1)
	and ($2::text is null or kind = $2) and ($3::uuid is null or id < $3)`

// older returns the report that Before names, or nil if it names none.
func (in ListReports) older(ctx context.Context, q pg.Querier) (*id.ID, error) {
	if in.Before == nil {
		return nil, nil //nolint:nilnil // there is none, which is not an error
	}
	last, err := pg.Value[id.ID](ctx, q, `select id from report
		where id = $1 or short_id = $2`, pg.RefTo(*in.Before).IDArgs()...)
	return &last, pg.Named(err, "before", "report", "{report.list} lists them")
}

// Each calls each for every report, newest first.
func (r *Reports) Each(ctx context.Context, q pg.Querier, in ListReports, each func(Report) error) error {
	before, err := in.older(ctx, q)
	if err != nil {
		return err
	}
	left := math.MaxInt
	if in.Limit != nil {
		left = *in.Limit
	}
	for left > 0 {
		n := min(few, left)
		rows, err := pg.All[Report](ctx, q, `
			select `+columns+` from report `+listed+` order by id desc limit $4`, in.Unread, in.Kind, before, n)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if err := each(row); err != nil {
				return err
			}
		}
		if len(rows) < n {
			return nil
		}
		left -= n
		before = &rows[n-1].ID
	}
	return nil
}

// MaxBody is the largest length of a report, in characters.
const MaxBody = 200_000

// CreateReport is the input of Create.
type CreateReport struct {
	Title string `json:"title" minLength:"1" maxLength:"200" format:"line" example:"March at a glance"`
	Body  string `json:"body" minLength:"1" maxLength:"200000" doc:"Markdown"`
	Kind  string `json:"kind,omitempty" minLength:"1" maxLength:"64" format:"line" default:"summary" doc:"A word of your choice, to find similar reports later" agent:"A word to find similar reports"`
}

// Create stores a report.
func (r *Reports) Create(ctx context.Context, tx pg.Tx, in CreateReport) (Report, error) {
	actor := op.ActorOf(ctx)
	in.Body = text.Prose(in.Body, MaxBody).Plain()
	if err := bound(ctx, tx, actor, len(in.Title)+len(in.Body)); err != nil {
		return Report{}, err
	}
	var author *id.ID
	if !actor.ID.IsZero() {
		author = &actor.ID
	}
	var out Report
	err := pg.Redraw(ctx, tx, "report_short_id", func(tx pg.Tx) (err error) {
		newID := id.New()
		out, err = pg.One[Report](ctx, tx, `
			insert into report (id, short_id, title, body, kind, author_type, author_id)
				values (@id, @short, @title, @body, @kind, @type, @author) returning `+columns, pg.Args{
			"id": newID, "short": newID.Short(), "title": in.Title, "body": in.Body, "kind": in.Kind,
			"type": actor.Type, "author": author,
		})
		return err
	})
	if err != nil {
		return Report{}, err
	}
	now, err := definition.Read(ctx, tx, []id.ID{out.ID})
	if err != nil {
		return Report{}, err
	}
	_, err = journal.Record(ctx, tx, journal.Note{}, []journal.Entry{{
		Subject: journal.Report, SubjectID: out.ID, Field: journal.FieldRecord, After: now[out.ID],
		AfterSource: new(journal.Source(actor)),
	}})
	if err != nil {
		return Report{}, err
	}
	return out, notify.Post(ctx, tx, notify.Event{
		Type: notify.Submitted, Subject: out.ID.String(),
		Data: map[string]any{"report_id": out.ID, "author_type": out.AuthorType},
		Full: map[string]any{"title": out.Title, "kind": out.Kind},
	})
}

// A Ref names a report.
type Ref struct {
	ID string `json:"id" minLength:"1" doc:"The report's UUID or short id"`
}

func noReport(err error) error { return pg.Found(err, "report", "{report.list} lists them") }

// Get returns one report.
func (r *Reports) Get(ctx context.Context, q pg.Querier, in Ref) (Report, error) {
	out, err := pg.One[Report](ctx, q, `select `+columns+` from report where deleted_at is null
		and (id = $1 or short_id = $2)`, pg.RefTo(in.ID).IDArgs()...)
	return out, noReport(err)
}

func (r *Reports) lock(ctx context.Context, tx pg.Tx, ref string) (Report, error) {
	out, err := pg.One[Report](ctx, tx, `select `+columns+` from report where deleted_at is null
		and (id = $1 or short_id = $2) for update`, pg.RefTo(ref).IDArgs()...)
	return out, noReport(err)
}

// Delete deletes a report and leaves a tombstone. A revert restores the report.
func (r *Reports) Delete(ctx context.Context, tx pg.Tx, in Ref) (op.Deleted, error) {
	was, err := r.lock(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	if err := op.Owned(ctx, was.AuthorID, "agents can only delete their own reports"); err != nil {
		return op.Deleted{}, err
	}
	err = definition.Recorded(ctx, tx, []id.ID{was.ID}, journal.Note{}, func() ([]journal.Entry, error) {
		_, err := pg.Exec(ctx, tx, `update report set deleted_at = clock_timestamp(), updated_at = clock_timestamp()
			where id = $1`, was.ID)
		return nil, err
	})
	return op.Deleted{Deleted: true, ID: was.ID}, err
}

// Read marks a report as read; a report that is already read stays as it is.
func (r *Reports) Read(ctx context.Context, tx pg.Tx, in Ref) (Report, error) {
	was, err := r.lock(ctx, tx, in.ID)
	if err != nil {
		return Report{}, err
	}
	if err := op.Match(ctx, was); err != nil {
		return Report{}, err
	}
	return pg.One[Report](ctx, tx, `update report set read_at = coalesce(read_at, clock_timestamp()) where id = $1
		returning `+columns, was.ID)
}

// Unread marks a report as not read.
func (r *Reports) Unread(ctx context.Context, tx pg.Tx, in Ref) (op.Deleted, error) {
	was, err := r.lock(ctx, tx, in.ID)
	if err != nil {
		return op.Deleted{}, err
	}
	_, err = pg.Exec(ctx, tx, `update report set read_at = null where id = $1`, was.ID)
	return op.Deleted{Deleted: true, ID: was.ID}, err
}

// An UnreadCount is the number of reports that nobody has read.
type UnreadCount struct {
	Count int64 `json:"count"`
}

// Count returns how many reports nobody has read.
func (r *Reports) Count(ctx context.Context, q pg.Querier, _ op.None) (UnreadCount, error) {
	n, err := Unread(ctx, q)
	return UnreadCount{n}, err
}

// Unread returns how many reports nobody has read.
func Unread(ctx context.Context, q pg.Querier) (int64, error) {
	return pg.Value[int64](ctx, q, `select count(*) from report where read_at is null and deleted_at is null`)
}
