// Package phrase says in words what changes do to transactions, for their summaries. It must not
// write, nor know why something is done.
package phrase

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/id"
	"coffer/internal/journal"
	"coffer/internal/op"
	"coffer/internal/pg"
)

// Summarize describes entries for a change's summary: the action, the number of transactions, the
// slug of a category or tag, and the payee if all have the same one. A summary is our own prose:
// names, which strangers may have written, are not in it. Instead it has a placeholder and the
// wording that this stands for.
func Summarize(ctx context.Context, q pg.Querier, entries []journal.Entry) (journal.Note, error) {
	names, err := called(ctx, q, entries)
	if err != nil {
		return journal.Note{}, err
	}
	note := journal.Note{Summary: "Created tags"}
	if note.Wording, err = payee(ctx, q, entries); err != nil {
		return note, err
	}
	var phrases []string
	about := map[string]map[id.ID]bool{} // which transactions
	for _, e := range entries {
		p := phrase(e, names)
		if p == "" {
			continue
		}
		if about[p] == nil {
			about[p], phrases = map[id.ID]bool{}, append(phrases, p)
		}
		about[p][e.SubjectID] = true
	}
	const most = 3
	var parts []string
	for i, p := range phrases {
		if i == most {
			parts = append(parts, fmt.Sprintf("and %d more changes", len(phrases)-most))
			break
		}
		some := Several(len(about[p]))
		if i == 0 && note.Wording != nil && !strings.HasPrefix(p, "tagged #") { // there the slug would follow
			some += journal.PayeeMark
		}
		parts = append(parts, strings.Replace(p, "#", some, 1))
	}
	if s := strings.Join(parts, ", "); s != "" {
		note.Summary = strings.ToUpper(s[:1]) + s[1:]
	}
	return note, nil
}

// payee returns the most common wording of the entries' transactions if all have the same payee,
// else nil.
func payee(ctx context.Context, q pg.Querier, entries []journal.Entry) (*int32, error) {
	var ids []id.ID
	for _, e := range entries {
		if e.Subject == journal.Transaction {
			ids = append(ids, e.SubjectID)
		}
	}
	return pg.Value[*int32](ctx, q, `
		select case when count(distinct d.payee) = 1 then mode() within group (order by d.id) end
		from unnest($1::uuid[]) v (id) join transaction t on t.id = v.id join descriptor d on d.id = t.descriptor_id`, ids)
}

// Several is a number of transactions in words.
func Several(n int) string {
	if n == 1 {
		return "1 transaction"
	}
	return fmt.Sprintf("%d transactions", n)
}

// phrase describes an entry, with # in place of the transactions.
func phrase(e journal.Entry, names map[id.ID]string) string {
	var to id.ID
	if e.After != nil {
		to, _ = id.Parse(*e.After) // text that is not an id appears in no phrase
	}
	switch {
	case e.Subject != journal.Transaction:
		return ""
	case e.Field == journal.FieldCategory && e.After == nil:
		return "cleared the category of #"
	case e.Field == journal.FieldCategory && e.Before != nil && *e.Before == *e.After && e.AfterSource != nil &&
		*e.AfterSource == op.User:
		return "approved the category of #"
	case e.Field == journal.FieldCategory:
		return "categorized # as " + names[to]
	case e.Field == journal.FieldCounterparty && e.After == nil:
		return "removed the counterparty of #"
	case e.Field == journal.FieldCounterparty:
		return "set the counterparty of # to " + to.Short()
	case e.Field == journal.FieldTag && e.After == nil:
		return "removed the tag " + names[*e.Ref] + " from #"
	case e.Field == journal.FieldTag:
		return "tagged # " + names[*e.Ref]
	case e.Field == journal.FieldComment:
		return "commented on #"
	case e.Field == journal.FieldSplit && e.After == nil:
		return "removed the split of #"
	case e.Field == journal.FieldSplit:
		return "split #"
	case e.Field == journal.FieldExcluded && e.After == nil:
		return "counted # in totals again"
	case e.Field == journal.FieldExcluded:
		return "left # out of totals"
	case e.Field == journal.FieldRefund && e.After == nil:
		return "parted # from the purchase"
	case e.Field == journal.FieldRefund:
		return "confirmed # as a refund"
	case e.Field == journal.FieldAccount:
		return "moved # to another account"
	case slices.Contains(journal.HandFields, e.Field):
		return "changed the " + strings.ReplaceAll(e.Field, "_", " ") + " of #"
	case e.Field == journal.FieldMatch && e.After != nil && *e.After == journal.Matched:
		return "matched # with the bank's transaction"
	case e.Field == journal.FieldMatch:
		return "unmatched # from the bank's transaction"
	}
	return "changed #"
}

// called are the names of what entries lead to, all in one query.
func called(ctx context.Context, q pg.Querier, entries []journal.Entry) (map[id.ID]string, error) {
	var ids []id.ID
	for _, e := range entries {
		if e.Field == journal.FieldTag && e.Ref != nil {
			ids = append(ids, *e.Ref)
		} else if e.After != nil && e.Field == journal.FieldCategory {
			if u, err := id.Parse(*e.After); err == nil {
				ids = append(ids, u)
			}
		}
	}
	slices.SortFunc(ids, func(a, b id.ID) int { return strings.Compare(a.String(), b.String()) })
	type named struct {
		ID   id.ID  `db:"id"`
		Name string `db:"name"`
	}
	out := map[id.ID]string{}
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := pg.All[named](ctx, q, `
		select id, slug as name from category where id = any($1) union all select id, slug from tag
			where id = any($1)`, slices.Compact(ids))
	for _, r := range rows {
		out[r.ID] = r.Name
	}
	return out, err
}
