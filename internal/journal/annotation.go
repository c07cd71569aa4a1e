package journal

import (
	"context"
	"fmt"
	"slices"

	"coffer/internal/id"
	"coffer/internal/op"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// An Annotation is one line of a transaction's timeline.
type Annotation struct {
	ID            id.ID           `json:"id"`
	ShortID       string          `json:"short_id,omitempty" required:"true"`
	TransactionID id.ID           `json:"transaction_id"`
	ChangeID      *id.ID          `json:"change_id"`
	Kind          string          `json:"kind" enum:"category,tag,counterparty,comment,rule,sync,deletion"`
	Action        string          `json:"action" enum:"set,added,removed,applied,created,updated,posted,removed_by_provider,restored"`
	Before        *text.Untrusted `json:"before" doc:"Slug of a category or tag, name of a counterparty, text of a comment"`
	After         *text.Untrusted `json:"after"`
	RuleID        *id.ID          `json:"rule_id"`
	RuleName      *string         `json:"rule_name"`
	Note          *string         `json:"note"`
	ActorType     string          `json:"actor_type" enum:"user,agent,system"`
	ActorID       *id.ID          `json:"actor_id"`
	ActorName     string          `json:"actor_name"`
	CreatedAt     pg.Time         `json:"created_at"`
}

// ListAnnotations is the input of Annotations.
type ListAnnotations struct {
	TransactionID string   `json:"transaction_id" minLength:"1" doc:"The transaction's UUID or short id"`
	Kind          []string `json:"kind,omitempty" enum:"category,tag,counterparty,comment,rule,sync,deletion" doc:"Only these kinds"`
	Kinds         []string `json:"kinds,omitempty" enum:"category,tag,counterparty,comment,rule,sync,deletion" doc:"The same as kind"`
	ActorType     []string `json:"actor_type,omitempty" enum:"user,agent,system" doc:"Only by these actors"`
	ActorTypes    []string `json:"actor_types,omitempty" enum:"user,agent,system" doc:"The same as actor_type"`
	Since         *pg.Time `json:"since,omitempty" doc:"Only from then on"`
	Limit         int      `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"The newest this many"`
}

// Annotations are a transaction's timeline, newest last.
type Annotations struct {
	Annotations []Annotation `json:"annotations"`
	NextCursor  string       `json:"next_cursor" doc:"Always empty"`
	HasMore     bool         `json:"has_more" doc:"Older ones were left out"`
}

type annotated struct {
	Entry
	ChangeID  id.ID   `db:"change_id"`
	Cause     string  `db:"cause"`
	From      *string `db:"from_text"`
	To        *string `db:"to_text"`
	ActorType string  `db:"actor_type"`
	ActorID   *id.ID  `db:"actor_id"`
	ActorName string  `db:"actor_name"`
	CreatedAt pg.Time `db:"created_at"`
}

// Annotations are the lines of a transaction's timeline.
func (j *Journal) Annotations(ctx context.Context, q pg.Querier, in ListAnnotations) (Annotations, error) {
	t, err := j.transaction(ctx, q, in.TransactionID)
	if err != nil {
		return Annotations{}, err
	}
	kinds := slices.Concat(in.Kind, in.Kinds)
	fields := fieldsOf(kinds)
	actors := slices.Concat(in.ActorType, in.ActorTypes)
	var where pg.Where
	where.And("e.subject_id = $?", t)
	where.If(len(kinds) > 0, "e.field = any($?)", fields)
	where.If(len(actors) > 0, "c.actor_type = any($?)", actors)
	where.If(in.Since != nil, "c.created_at >= $?", in.Since)
	rows, err := pg.All[annotated](ctx, q, fmt.Sprintf(`
		select e.id, e.subject, e.subject_id, e.field, e.ref, e.before, e.after, e.before_source, e.after_source, e.rule_id, e.note,
			c.id as change_id, c.cause, c.actor_type, c.actor_id, c.actor_name, c.created_at,
			coalesce(cb.slug, pb.name, case when e.before is not null then tg.slug end, case when e.field = 'comment' then e.before end) as from_text,
			coalesce(ca.slug, pa.name, case when e.after is not null then tg.slug end, case when e.field = 'comment' then e.after end) as to_text
		from entry e
		join change c on c.id = e.change_id
		left join category cb on e.field = 'category' and cb.id::text = e.before
		left join category ca on e.field = 'category' and ca.id::text = e.after
		left join counterparty pb on e.field = 'counterparty' and pb.id::text = e.before
		left join counterparty pa on e.field = 'counterparty' and pa.id::text = e.after
		left join tag tg on e.field = 'tag' and tg.id = e.ref
		%s order by e.id desc limit %d`, where.SQL(), in.Limit+1), where.Args()...)
	if err != nil {
		return Annotations{}, err
	}
	out := Annotations{Annotations: []Annotation{}}
	if len(rows) > in.Limit {
		rows, out.HasMore = rows[:in.Limit], true
	}
	if op.SurfaceOf(ctx) == op.Tool {
		if fit := fitting(rows); fit < len(rows) {
			rows, out.HasMore = rows[:fit], true
		}
	}
	slices.Reverse(rows)
	for _, r := range rows {
		out.Annotations = append(out.Annotations, r.annotation())
	}
	return out, nil
}

// fitting is how many rows, newest first, a tool's answer holds.
func fitting(rows []annotated) int {
	size := 0
	for i, r := range rows {
		size += 500
		for _, s := range []*string{r.From, r.To} {
			if s != nil {
				size += len(*s)
			}
		}
		if size > op.ToolBytes && i > 0 {
			return i
		}
	}
	return len(rows)
}

// fieldsOf are the entries' fields behind kinds of annotations; kinds that nothing has yet match nothing.
func fieldsOf(kinds []string) []string {
	fields := []string{}
	for _, k := range kinds {
		if k == "deletion" || k == "sync" {
			k = FieldDeleted
		}
		fields = append(fields, k)
	}
	return fields
}

func (r annotated) annotation() Annotation {
	a := Annotation{
		ID: id.Numbered(r.ChangeID, r.ID), TransactionID: r.SubjectID, ChangeID: &r.ChangeID, Kind: r.Field, Before: untrusted(r.From), After: untrusted(r.To),
		RuleID: r.RuleID, Note: r.Note, ActorType: r.ActorType, ActorID: r.ActorID, ActorName: r.ActorName, CreatedAt: r.CreatedAt,
	}
	a.ShortID = a.ID.Short()
	switch {
	case r.Field == FieldDeleted:
		a.Kind, a.Action = "deletion", "removed"
		if r.After == nil {
			a.Action = "restored"
		} else if r.AfterSource != nil && *r.AfterSource == "provider" {
			a.Kind, a.Action = "sync", "removed_by_provider"
		}
	case r.After == nil:
		a.Action = "removed"
	case r.Field == FieldTag:
		a.Action = "added"
	case r.Field == FieldComment && r.Before != nil:
		a.Action = "updated"
	case r.Field == FieldComment:
		a.Action = "created"
	default:
		a.Action = "set"
	}
	return a
}

func untrusted(s *string) *text.Untrusted {
	if s == nil {
		return nil
	}
	return new(text.Prose(*s, MaxComment))
}
