package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"coffer/internal/books/payeename"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// ListEntries asks for a page of a change's entries.
type ListEntries struct {
	ChangeID string `json:"change_id" minLength:"1" doc:"The change's UUID or short id"`
	Cursor   string `json:"cursor,omitempty" doc:"next_cursor of the previous page"`
	Limit    int    `json:"limit,omitempty" minimum:"1" maximum:"500" default:"50" doc:"Page size"`
}

// A ChangeEntry is the effect of a change on one field, for a person to read.
type ChangeEntry struct {
	Subject      string            `json:"subject" enum:"transaction,rule,tag,category,counterparty,account,account_link,report,target,pattern,finding"`
	ID           id.ID             `json:"id" doc:"The subject's id"`
	ShortID      string            `json:"short_id,omitempty" required:"true" doc:"The subject's short id"`
	Transaction  *EntryTransaction `json:"transaction" doc:"null if the subject is not a transaction"`
	Field        string            `json:"field" doc:"record: the whole record"`
	Before       *text.Untrusted   `json:"before" doc:"Untrusted: slug of a category or tag, name of a counterparty or account, text of a comment, or the changed parts of a record"`
	After        *text.Untrusted   `json:"after" doc:"Untrusted, like before"`
	BeforeSource *string           `json:"before_source" doc:"What set it before: rule, user, agent or provider"`
	AfterSource  *string           `json:"after_source"`
	RuleID       *id.ID            `json:"rule_id" doc:"The rule that did it"`
}

// An EntryTransaction is a transaction of an entry.
type EntryTransaction struct {
	Face
	PayeeName text.Untrusted `json:"payee_name" screen:"instead name" doc:"Untrusted: the counterparty's name, else the name in the bank's text"`
}

// A Face is the part of a transaction that identifies it to a person.
type Face struct {
	Date     pg.Date        `json:"date" db:"date"`
	Amount   money.Amount   `json:"amount" db:"amount" doc:"Positive is money out"`
	Currency money.Currency `json:"iso_currency_code" db:"currency"`
	Name     text.Untrusted `json:"name" db:"name" doc:"Untrusted: the bank's text"`
}

// ChangeEntries is a page of a change's entries, in the order in which they were made.
type ChangeEntries struct {
	Entries    []ChangeEntry `json:"entries"`
	NextCursor string        `json:"next_cursor" doc:"Empty on the last page"`
	HasMore    bool          `json:"has_more"`
}

// shown is an entry with the names of its values.
type shown struct {
	Entry
	From     *string         `db:"from_text"`
	To       *string         `db:"to_text"`
	Date     *pg.Date        `db:"date"`
	Amount   *money.Amount   `db:"amount"`
	Currency *money.Currency `db:"currency"`
	Name     *text.Untrusted `db:"name"`
	Merchant *text.Untrusted `db:"merchant_name"`
	Named    *text.Untrusted `db:"counterparty_name"`
}

// A query for entries from a source with the alias e, with the names of their values.
const (
	namedEntries = `
		select e.id, e.subject, e.subject_id, e.field, e.ref, e.before, e.after, e.before_source, e.after_source,
			e.rule_id, e.note,
			case e.field when 'category' then cb.slug when 'counterparty' then pb.name when 'tag' then case
				when e.before is not null then tg.slug end when 'account' then coalesce(nullif(ab.display_name, ''), ab.name)
				when 'refund_of' then (select x.short_id from transaction x where x.id = e.before::uuid)
				when 'correction' then concat_ws(' ', e.before::jsonb->>'date', e.before::jsonb->>'amount',
					e.before::jsonb->>'name')
				else e.before end as from_text,
			case e.field when 'category' then ca.slug when 'counterparty' then pa.name when 'tag' then case
				when e.after is not null then tg.slug end when 'account' then coalesce(nullif(aa.display_name, ''), aa.name)
				when 'refund_of' then (select x.short_id from transaction x where x.id = e.after::uuid)
				when 'correction' then concat_ws(' ', e.after::jsonb->>'date', e.after::jsonb->>'amount', e.after::jsonb->>'name')
				else e.after end as to_text,
			t.date, t.amount, t.currency, d.name, nullif(d.merchant_name, '') as merchant_name,
			p.name as counterparty_name
		from `
	namesOfEntries = `
		left join transaction t on e.subject = 'transaction' and t.id = e.subject_id
		left join descriptor d on d.id = t.descriptor_id
		left join counterparty p on p.id = t.counterparty_id
		left join category cb on cb.id = case when e.field = 'category' then e.before::uuid end
		left join category ca on ca.id = case when e.field = 'category' then e.after::uuid end
		left join counterparty pb on pb.id = case when e.field = 'counterparty' then e.before::uuid end
		left join counterparty pa on pa.id = case when e.field = 'counterparty' then e.after::uuid end
		left join account ab on ab.id = case when e.field = 'account' then split_part(e.before, ' ', 1)::uuid end
		left join account aa on aa.id = case when e.field = 'account' then split_part(e.after, ' ', 1)::uuid end
		left join tag tg on e.field = 'tag' and tg.id = e.ref`
)

// Show returns planned entries for a person to read, in their order. whole is the complete plan, so
// that records which only the plan creates have names too.
func Show(ctx context.Context, q pg.Querier, entries, whole []Planned) ([]ChangeEntry, error) {
	list, err := json.Marshal(entriesOf(entries))
	if err != nil {
		return nil, fmt.Errorf("print planned entries: %w", err)
	}
	rows, err := pg.All[shown](ctx, q, namedEntries+`
		jsonb_to_recordset($1::text::jsonb) e (id bigint, subject text, subject_id uuid, field text, ref uuid, before text,
			after text, before_source text, after_source text, rule_id uuid, note text)`+namesOfEntries+`
		order by e.id`, string(list))
	if err != nil {
		return nil, err
	}
	newNames := map[string]*string{}
	for _, p := range whole {
		if p.Field == FieldRecord && p.After != nil {
			newNames[p.SubjectID.String()] = called(columns(p.After))
		}
	}
	out := make([]ChangeEntry, len(rows))
	for i, r := range rows {
		switch {
		case r.Field == FieldTag && r.Ref != nil && r.From == nil && r.To == nil:
			r.From, r.To = either(r.Before, newNames[r.Ref.String()]), either(r.After, newNames[r.Ref.String()])
		case r.Field == FieldCategory || r.Field == FieldCounterparty:
			if r.To == nil && r.After != nil {
				r.To = newNames[*r.After]
			}
		}
		out[i] = r.entry()
	}
	return out, nil
}

// either returns name if there is a value.
func either(value, name *string) *string {
	if value == nil {
		return nil
	}
	return name
}

// Entries returns a page of a change's entries.
func (j *Journal) Entries(ctx context.Context, q pg.Querier, in ListEntries) (ChangeEntries, error) {
	c, err := j.Get(ctx, q, ChangeRef{in.ChangeID})
	if err != nil {
		return ChangeEntries{}, err
	}
	pager, err := j.db.Pager(ctx, "change entries", c.ID)
	if err != nil {
		return ChangeEntries{}, err
	}
	after := "0"
	if in.Cursor != "" {
		at, err := pager.Decode(in.Cursor, 1)
		if err != nil {
			return ChangeEntries{}, err
		}
		after = at[0]
	}
	rows, err := pg.All[shown](ctx, q, namedEntries+`entry e`+namesOfEntries+`
		where e.change_id = $1 and e.id > $2::text::bigint
		order by e.id limit $3`, c.ID, after, in.Limit+1)
	if err != nil {
		return ChangeEntries{}, err
	}
	out := ChangeEntries{Entries: make([]ChangeEntry, 0, min(len(rows), in.Limit))}
	size := 0
	for i, r := range rows {
		e := r.entry()
		size += 300 + length(e.Before) + length(e.After)
		if i == in.Limit || i > 0 && size > op.PageBytes && op.SurfaceOf(ctx) == op.Tool {
			out.HasMore = true
			out.NextCursor, err = pager.Encode(strconv.FormatInt(rows[i-1].ID, 10))
			break
		}
		out.Entries = append(out.Entries, e)
	}
	return out, err
}

func length(s *text.Untrusted) int {
	if s == nil {
		return 0
	}
	return len(s.Plain())
}

func (r shown) entry() ChangeEntry {
	from, to := r.From, r.To
	if r.Field == FieldRecord {
		from, to = parts(r.Before, r.After)
	}
	e := ChangeEntry{
		Subject: r.Subject, ID: r.SubjectID, ShortID: r.SubjectID.Short(), Field: r.Field, Before: untrusted(from),
		After:        untrusted(to),
		BeforeSource: r.BeforeSource, AfterSource: r.AfterSource, RuleID: r.RuleID,
	}
	if r.Date != nil && r.Amount != nil && r.Currency != nil && r.Name != nil {
		e.Transaction = &EntryTransaction{
			Face{*r.Date, *r.Amount, *r.Currency, *r.Name}, payeename.Shown(r.Named, r.Merchant, *r.Name),
		}
	}
	return e
}

// parts returns what a person needs to see of a definition: its name if it was created or deleted,
// else the fields that differ.
func parts(before, after *string) (from, to *string) {
	was, is := columns(before), columns(after)
	if was == nil || is == nil {
		return called(was), called(is)
	}
	var old, changed []string
	for _, k := range slices.Sorted(maps.Keys(is)) {
		if a, b := fmt.Sprint(was[k]), fmt.Sprint(is[k]); a != b {
			old, changed = append(old, k+": "+printed(was[k])), append(changed, k+": "+printed(is[k]))
		}
	}
	return new(strings.Join(old, ", ")), new(strings.Join(changed, ", "))
}

func columns(record *string) map[string]any {
	var out map[string]any
	if record == nil || json.Unmarshal([]byte(*record), &out) != nil {
		return nil
	}
	return out
}

func called(record map[string]any) *string {
	for _, k := range []string{"slug", "name", "display_name", "title"} {
		if s, ok := record[k].(string); ok && s != "" {
			return &s
		}
	}
	if record == nil {
		return nil
	}
	return new("")
}

// printed returns a field of a record as text: an id in its short form, a missing value as a dash.
func printed(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		if u, err := id.Parse(v); err == nil {
			return u.Short()
		}
		return v
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
