package journal

import (
	"context"
	"slices"
	"strconv"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// An Annotation is one line of a transaction's timeline.
type Annotation struct {
	ID            id.ID           `json:"id"`
	ShortID       string          `json:"short_id,omitempty" required:"true"`
	TransactionID id.ID           `json:"transaction_id"`
	ChangeID      *id.ID          `json:"change_id" doc:"The change that did it; null for events from the bank"`
	Kind          string          `json:"kind" enum:"category,tag,counterparty,comment,split,excluded_reason,refund_of,rule,sync" doc:"rule: a rule was applied, its effects follow; sync: the bank added, posted, changed or removed the transaction"`
	Action        string          `json:"action" enum:"set,agreed,released,added,removed,applied,created,updated,posted,removed_by_provider,restored" doc:"agreed: a person approved the category, which locks it (held); released: that was undone"`
	Before        *text.Untrusted `json:"before" doc:"Slug of a category or tag, name of a counterparty, text of a comment, short id of a purchase, or the bank's previous value"`
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
	Kind          []string `json:"kind,omitempty" enum:"category,tag,counterparty,comment,split,excluded_reason,refund_of,rule,sync" doc:"Filter by kind"`
	Kinds         []string `json:"kinds,omitempty" enum:"category,tag,counterparty,comment,split,excluded_reason,refund_of,rule,sync" doc:"The same as kind"`
	ActorType     []string `json:"actor_type,omitempty" enum:"user,agent,system" doc:"Filter by actor type"`
	ActorTypes    []string `json:"actor_types,omitempty" enum:"user,agent,system" doc:"The same as actor_type"`
	Since         *pg.Time `json:"since,omitempty" doc:"Start time (inclusive)"`
	Cursor        string   `json:"cursor,omitempty" doc:"next_cursor of the previous page, for older entries"`
	Limit         int      `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size; the first page has the newest entries"`
}

// Annotations is a page of a transaction's timeline: the newest lines, with the newest last. The
// next page has older ones.
type Annotations struct {
	Annotations []Annotation `json:"annotations"`
	NextCursor  string       `json:"next_cursor" doc:"For older entries; empty on the last page"`
	HasMore     bool         `json:"has_more"`
}

// A line is an entry, a rule that was applied, or an event from the bank.
type line struct {
	ID          int64   `db:"id"`   // of the entry or event, or of the rule's first entry
	Part        int     `db:"part"` // 0 for a rule, which comes before its entries
	ChangeID    *id.ID  `db:"change_id"`
	Kind        string  `db:"kind"`
	Field       string  `db:"field"` // of an entry; the action of an event
	First       bool    `db:"first"` // the first entry about whether the transaction exists
	Before      *string `db:"before"`
	After       *string `db:"after"`
	AfterSource *string `db:"after_source"`
	RuleID      *id.ID  `db:"rule_id"`
	RuleName    *string `db:"rule_name"`
	Note        *string `db:"note"`
	ActorType   string  `db:"actor_type"`
	ActorID     *id.ID  `db:"actor_id"`
	ActorName   string  `db:"actor_name"`
	CreatedAt   pg.Time `db:"created_at"`
	From        *string `db:"from_text"`
	To          *string `db:"to_text"`
}

// Annotations returns a page of a transaction's timeline.
func (j *Journal) Annotations(ctx context.Context, q pg.Querier, in ListAnnotations) (Annotations, error) {
	t, err := j.transaction(ctx, q, in.TransactionID)
	if err != nil {
		return Annotations{}, err
	}
	filters := in
	filters.TransactionID, filters.Cursor, filters.Limit = t.String(), "", 0
	pager, err := j.db.Pager(ctx, "annotations", filters)
	if err != nil {
		return Annotations{}, err
	}
	before, part, err := position(pager, in.Cursor)
	if err != nil {
		return Annotations{}, err
	}
	rows, err := pg.All[line](ctx, q, `
		with made as (
			select e.id, 1 as part, e.change_id, case
				when e.field in ('category', 'tag', 'counterparty', 'comment', 'split', 'excluded_reason', 'refund_of')
					then e.field else 'sync' end as kind,
				e.field, e.ref, e.before, e.after, e.after_source, e.rule_id, e.note, c.actor_type, c.actor_id,
					c.actor_name, c.created_at
			from entry e join change c on c.id = e.change_id
			where e.subject_id = @transaction and e.field <> 'correction'), -- the bank's event beside it says it
		line as (
			select * from made
			union all
			select min(id), 0, change_id, 'rule', '', null::uuid, null::text as before, null::text as after,
				null::text as source, rule_id, null::text, actor_type, actor_id, actor_name, created_at
			from made where rule_id is not null group by change_id, rule_id, actor_type, actor_id, actor_name,
				created_at
			union all
			select id, 1, null, 'sync', action, null::uuid, before, after, 'provider', null::uuid, null::text,
				'system', null::uuid, 'coffer', created_at
			from bank_event where transaction_id = @transaction)
		select l.id, l.part, l.change_id, l.kind, l.field, l.before, l.after, l.after_source, l.rule_id,
			r.name as rule_name, l.note,
			l.actor_type, l.actor_id, l.actor_name, l.created_at,
			l.field = 'deleted' and not exists (
				select from entry x where x.subject_id = @transaction and x.field = 'deleted' and x.id < l.id) as first,
			case l.field when 'category' then cb.slug when 'counterparty' then pb.name when 'deleted' then null
				when 'refund_of' then (select x.short_id from transaction x where x.id = l.before::uuid)
				when 'tag' then case when l.before is not null then tg.slug end else l.before end as from_text,
			case l.field when 'category' then ca.slug when 'counterparty' then pa.name when 'deleted' then null
				when 'refund_of' then (select x.short_id from transaction x where x.id = l.after::uuid)
				when 'tag' then case when l.after is not null then tg.slug end else l.after end as to_text
		from line l
		left join rule r on r.id = l.rule_id
		left join category cb on l.field = 'category' and cb.id::text = l.before
		left join category ca on l.field = 'category' and ca.id::text = l.after
		left join counterparty pb on l.field = 'counterparty' and pb.id::text = l.before
		left join counterparty pa on l.field = 'counterparty' and pa.id::text = l.after
		left join tag tg on l.field = 'tag' and tg.id = l.ref
		where (@kinds::text[] is null or l.kind = any(@kinds))
			and (@actors::text[] is null or l.actor_type = any(@actors))
			and (@since::timestamptz is null or l.created_at >= @since)
				and (@before::bigint is null or (l.id, l.part) < (@before, @part::integer))
		order by l.id desc, l.part desc limit @limit`, pg.Args{
		"transaction": t, "kinds": slices.Concat(in.Kind, in.Kinds),
		"actors": slices.Concat(in.ActorType, in.ActorTypes),
		"since":  in.Since, "before": before, "part": part, "limit": in.Limit + 1,
	})
	if err != nil {
		return Annotations{}, err
	}
	show := min(len(rows), in.Limit)
	if op.SurfaceOf(ctx) == op.Tool {
		show = fitting(rows[:show])
	}
	out := Annotations{Annotations: make([]Annotation, 0, show), HasMore: show < len(rows)}
	if rows = rows[:show]; out.HasMore {
		last := rows[show-1]
		if out.NextCursor, err = pager.Encode(strconv.FormatInt(last.ID, 10), strconv.Itoa(last.Part)); err != nil {
			return Annotations{}, err
		}
	}
	slices.Reverse(rows)
	for _, r := range rows {
		out.Annotations = append(out.Annotations, r.annotation(t))
	}
	return out, nil
}

// position returns the line at which the previous page ended; nil for the first page.
func position(p pg.Pager, cursor string) (before *int64, part int, err error) {
	if cursor == "" {
		return nil, 0, nil
	}
	at, err := p.Decode(cursor, 2)
	if err != nil {
		return nil, 0, err
	}
	n, err := strconv.ParseInt(at[0], 10, 64)
	if err == nil {
		part, err = strconv.Atoi(at[1])
	}
	if err != nil {
		return nil, 0, errs.Wrap(err, errs.InvalidCursor, "invalid cursor; start again without a cursor")
	}
	return &n, part, nil
}

// fitting returns how many rows, newest first, fit into a tool's result.
func fitting(rows []line) int {
	size := 0
	for i, r := range rows {
		size += 500
		for _, s := range []*string{r.From, r.To} {
			if s != nil {
				size += len(*s)
			}
		}
		if size > op.PageBytes && i > 0 {
			return i
		}
	}
	return len(rows)
}

func (r line) annotation(transaction id.ID) Annotation {
	a := Annotation{
		ID: id.Numbered(r.CreatedAt.Time(), 2*r.ID+int64(r.Part)), TransactionID: transaction, ChangeID: r.ChangeID,
		Kind: r.Kind, Action: r.action(),
		Before: untrusted(r.From), After: untrusted(r.To), RuleID: r.RuleID, RuleName: r.RuleName, Note: r.Note,
		ActorType: r.ActorType, ActorID: r.ActorID, ActorName: r.ActorName, CreatedAt: r.CreatedAt,
	}
	a.ShortID = a.ID.Short()
	return a
}

func (r line) action() string {
	switch {
	case r.Kind == Rule:
		return "applied"
	case r.Field == Posted || r.Field == Updated:
		return r.Field
	case r.Field == FieldDeleted && r.After == nil && r.First: // an import first records a new transaction as deleted
		return "created"
	case r.Field == FieldDeleted && r.After == nil:
		return "restored"
	case r.Field == FieldDeleted && r.AfterSource != nil && *r.AfterSource == "provider":
		return "removed_by_provider"
	case r.Field == FieldDeleted, r.After == nil:
		return "removed"
	case r.Field == FieldTag:
		return "added"
	case r.Field == FieldComment && r.Before != nil:
		return "updated"
	case r.Field == FieldComment:
		return "created"
	case r.Before != nil && *r.Before == *r.After && r.AfterSource != nil && *r.AfterSource == op.User:
		return "agreed"
	case r.Before != nil && *r.Before == *r.After:
		return "released"
	}
	return "set"
}

func untrusted(s *string) *text.Untrusted {
	if s == nil {
		return nil
	}
	return new(text.Prose(*s, MaxComment))
}

// Actions of a bank on a transaction.
const (
	Posted  = "posted"
	Updated = "updated"
)

// An Event is an action of a bank on a transaction: a fact on the timeline that no revert undoes.
type Event struct {
	Transaction id.ID
	Action      string
	Before      *string // the differing values, as text
	After       *string
}

// Tell stores what a bank did to transactions. The entries that follow from an event are recorded
// later, so they come after it on the timeline.
func Tell(ctx context.Context, tx pg.Tx, change *id.ID, events []Event) error {
	if len(events) == 0 {
		return nil
	}
	n := len(events)
	ids, actions, before, after := make([]id.ID, n), make([]string, n), make([]*string, n), make([]*string, n)
	for i, e := range events {
		ids[i], actions[i], before[i], after[i] = e.Transaction, e.Action, e.Before, e.After
	}
	// A sync of several pages is one change with the time of its first page, so its events get that
	// time too.
	_, err := pg.Exec(ctx, tx, `
		insert into bank_event (transaction_id, action, before, after, created_at)
		select v.id, v.action, v.before, v.after, coalesce((select created_at from change where id = $5), now())
		from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) v (id, action, before,
			after)`, ids, actions, before, after, change)
	return err
}
