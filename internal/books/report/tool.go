package report

import (
	"context"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A ToolReport is a Report as tools return it. The body is long, so it is included only on request.
type ToolReport struct {
	ID         id.ID           `json:"id" db:"id"`
	Title      text.Untrusted  `json:"title" db:"title" doc:"Untrusted: the author's words"`
	Body       *text.Untrusted `json:"body,omitempty" db:"body" doc:"Untrusted: the author's Markdown; only with id or bodies"`
	BodyBytes  int             `json:"body_bytes,omitempty" db:"body_bytes" doc:"Size of the Markdown"`
	Kind       string          `json:"kind" db:"kind"`
	AuthorType string          `json:"author_type" db:"author_type" enum:"user,agent,system"`
	AuthorID   *id.ID          `json:"author_id" db:"author_id"`
	ReadAt     *pg.Time        `json:"read_at" db:"read_at"`
	CreatedAt  pg.Time         `json:"created_at" db:"created_at"`
}

// ToolReports holds reports as tools return them.
type ToolReports struct {
	Reports []ToolReport `json:"reports"`
	Notes   []op.Note    `json:"notes,omitempty"`
}

// ListForTool is the input of the tool that lists reports.
type ListForTool struct {
	ListReports
	ID     *string `json:"id,omitempty" minLength:"1" doc:"This one, with its Markdown"`
	Bodies bool    `json:"bodies,omitempty" doc:"With the Markdown of each"`
}

// maxTitle is the largest length of a title, in characters.
const maxTitle = 200

const (
	usual     = 50               // the most titles in one result
	bodyBytes = op.PageBytes / 2 // the most bytes of bodies in one result; titles and escapes take the rest
)

func titled(r Report) ToolReport {
	return ToolReport{
		ID: r.ID, Title: text.Line(r.Title, maxTitle), Kind: r.Kind, AuthorType: r.AuthorType,
		AuthorID: r.AuthorID, ReadAt: r.ReadAt, CreatedAt: r.CreatedAt,
	}
}

// A ToolSubmitted is the result for the author of a report. The title is not untrusted, because the
// caller wrote it.
type ToolSubmitted struct {
	ID         id.ID    `json:"id"`
	Title      string   `json:"title"`
	Kind       string   `json:"kind"`
	AuthorType string   `json:"author_type" enum:"user,agent,system"`
	AuthorID   *id.ID   `json:"author_id"`
	ReadAt     *pg.Time `json:"read_at"`
	CreatedAt  pg.Time  `json:"created_at"`
}

func submitted(r Report) ToolSubmitted {
	return ToolSubmitted{r.ID, r.Title, r.Kind, r.AuthorType, r.AuthorID, r.ReadAt, r.CreatedAt}
}

// forTool lists reports, and their bodies on request as far as they fit. A note says what was left
// out, and how to read it.
func (r *Reports) forTool(ctx context.Context, q pg.Querier, in ListForTool) (ToolReports, error) {
	if in.ID != nil {
		one, err := r.Get(ctx, q, Ref{*in.ID})
		if err != nil {
			return ToolReports{}, err
		}
		out, t := ToolReports{}, titled(one)
		t.BodyBytes = len(one.Body)
		if len(one.Body) > bodyBytes {
			one.Body = text.Prose(one.Body.Plain(), bodyBytes)
			out.Notes = append(out.Notes, op.Note{
				Code: "truncated", Message: "the report is longer than one result and was cut",
			})
		}
		t.Body = &one.Body
		out.Reports = []ToolReport{t}
		return out, nil
	}
	before, err := in.older(ctx, q)
	if err != nil {
		return ToolReports{}, err
	}
	limit := usual
	if in.Limit != nil {
		limit = min(limit, *in.Limit)
	}
	rows, err := pg.All[ToolReport](ctx, q, `
		select id, title, case when $5 and sum(octet_length(body)) over (order by id desc) <= $6 then body end as body,
			octet_length(body) as body_bytes, kind, author_type, author_id, read_at, created_at
		from report `+listed+` order by id desc limit $4`, in.Unread, in.Kind, before, limit+1, in.Bodies, bodyBytes)
	out := ToolReports{Reports: rows[:min(len(rows), limit)]}
	if len(rows) > limit {
		out.Notes = append(out.Notes, op.Note{
			Code: "truncated", Message: "there are more reports; pass the id of the last one as before",
		})
	}
	if n := len(out.Reports); in.Bodies && n > 0 && out.Reports[n-1].Body == nil {
		out.Notes = append(out.Notes, op.Note{
			Code: "truncated", Message: "not all bodies fit into one result; pass an id to read one report",
		})
	}
	return out, err
}
