package journal

import (
	"context"
	"encoding/json"
	"fmt"

	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A ChangeSubject is the record that a change is about, or the kind of several records.
type ChangeSubject struct {
	Kind    string          `json:"kind" enum:"transaction,rule,tag,category,counterparty,account,account_link,report,target,pattern,finding"`
	ID      *id.ID          `json:"id,omitempty" doc:"Only if it is about one record"`
	ShortID string          `json:"short_id,omitempty"`
	Name    *text.Untrusted `json:"name,omitempty" doc:"Untrusted: its name now; absent if it has none or is gone"`
}

// A ChangeRecord is a record that a change was done with.
type ChangeRecord struct {
	ID      id.ID           `json:"id"`
	ShortID string          `json:"short_id,omitempty" required:"true"`
	Name    *text.Untrusted `json:"name" doc:"Untrusted: its name now; null if it has none or is gone"`
	Slug    *string         `json:"slug,omitempty" doc:"Of a category, tag or workflow"`
}

// ChangeWith holds what a change was done with.
type ChangeWith struct {
	Category     *ChangeRecord `json:"category,omitempty" doc:"The category that was set or cleared, or that a budget is for"`
	Tag          *ChangeRecord `json:"tag,omitempty"`
	Counterparty *ChangeRecord `json:"counterparty,omitempty"`
	Rule         *ChangeRecord `json:"rule,omitempty" doc:"The rule that did it"`
	Account      *ChangeRecord `json:"account,omitempty" doc:"The account of an import"`
	Into         *ChangeRecord `json:"into,omitempty" doc:"The record that others were merged into"`
	Connection   *ChangeRecord `json:"connection,omitempty" doc:"The connection of a sync or import"`
	Change       *ChangeRecord `json:"change,omitempty" doc:"The change that was undone or done again"`
	WorkflowRun  *ChangeRecord `json:"workflow_run,omitempty" doc:"The run that made the change"`
}

// describe fills in what the changes did, with the names that the records have now.
func describe(ctx context.Context, q pg.Querier, list []Change) error {
	if err := deriveStored(ctx, q, list); err != nil {
		return err
	}
	var ids []id.ID
	for _, c := range list {
		ids = append(ids, c.mentions()...)
	}
	names, err := namesOf(ctx, q, distinct(ids))
	if err != nil {
		return err
	}
	for i := range list {
		list[i].describe(names)
	}
	return nil
}

// mentions returns the ids of the records that may be named.
func (c *Change) mentions() []id.ID {
	var ids []id.ID
	for _, u := range c.did.With {
		ids = append(ids, u)
	}
	if c.did.Subject != nil {
		ids = append(ids, *c.did.Subject)
	}
	if c.ActorID != nil {
		ids = append(ids, *c.ActorID) // the actor may be a workflow run
	}
	return ids
}

func (c *Change) describe(names map[id.ID]naming) {
	c.Action, c.Count, c.With = c.did.Action, c.did.Count, ChangeWith{}
	if c.of != "" {
		c.Of = &c.of
	}
	if c.did.Kind != "" {
		s := &ChangeSubject{Kind: c.did.Kind, ID: c.did.Subject}
		if s.ID != nil {
			s.ShortID, s.Name = names[*s.ID].short(*s.ID), untrusted(names[*s.ID].Name)
		}
		c.Subject = s
	}
	for name, to := range map[string]**ChangeRecord{
		WithCategory: &c.With.Category, WithTag: &c.With.Tag, WithCounterparty: &c.With.Counterparty,
		WithRule: &c.With.Rule, WithAccount: &c.With.Account, WithInto: &c.With.Into,
		WithConnection: &c.With.Connection, withChange: &c.With.Change,
	} {
		if u, ok := c.did.With[name]; ok {
			*to = &ChangeRecord{u, names[u].short(u), untrusted(names[u].Name), names[u].Slug}
		}
	}
	if c.ActorID != nil && names[*c.ActorID].Kind == WorkflowRun {
		n := names[*c.ActorID]
		c.With.WorkflowRun = &ChangeRecord{*c.ActorID, n.short(*c.ActorID), untrusted(n.Name), n.Slug}
	}
}

// A naming is what a record is called.
type naming struct {
	ID        id.ID   `db:"id"`
	Kind      string  `db:"kind"`
	ShortID   string  `db:"short_id"`
	Name      *string `db:"name"`
	Slug      *string `db:"slug"`
	InSummary *string `db:"in_summary"` // the name in a summary, which never repeats a bank's words
}

// short returns the short id of a record. For an erased record it is derived from the id.
func (n naming) short(u id.ID) string {
	if n.ShortID == "" {
		return u.Short()
	}
	return n.ShortID
}

// namesOf returns the names of records, with one query. Deleted records keep their names, and
// erased ones have none.
func namesOf(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]naming, error) {
	out := make(map[id.ID]naming, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	rows, err := pg.All[naming](ctx, q, `
		select id, 'category' as kind, short_id, display_name as name, slug, slug as in_summary from category where id = any($1)
		union all select id, 'tag', short_id, display_name, slug, slug from tag where id = any($1)
		union all select id, 'counterparty', short_id, name, null, null from counterparty where id = any($1)
		union all select id, 'rule', short_id, name, null, null from rule where id = any($1)
		union all select id, 'account', short_id, coalesce(nullif(display_name, ''), name), null,
			coalesce(nullif(display_name, ''), case when provider = 'manual' then name end)
			from account where id = any($1)
		union all select id, 'connection', short_id, institution_name, null, null from connection where id = any($1)
		union all select id, 'workflow_run', short_id, workflow_slug as name, workflow_slug as slug, null from workflow_run
			where id = any($1)
		union all select l.id, 'account_link', l.short_id, concat(coalesce(nullif(p.display_name, ''), p.name), ' ↔ ',
				coalesce(nullif(r.display_name, ''), r.name)), null,
				concat(coalesce(nullif(p.display_name, ''), p.short_id), ' ↔ ',
				coalesce(nullif(r.display_name, ''), r.short_id))
			from account_link l join account p on p.id = l.primary_id join account r on r.id = l.mirror_id
			where l.id = any($1)
		union all select id, 'report', short_id, title, null, null from report where id = any($1)
		union all select id, 'pattern', short_id, name, null, null from recurring where id = any($1)
		union all select g.id, 'target', g.short_id, c.display_name, null, c.slug from target g
			join category c on c.id = g.category_id
			where g.id = any($1)
		union all select t.id, 'transaction', t.short_id, coalesce(nullif(d.merchant_name, ''), d.name), null, null
			from transaction t join descriptor d on d.id = t.descriptor_id where t.id = any($1) and d.name <> ''`, ids)
	for _, r := range rows {
		out[r.ID] = r
	}
	return out, err
}

// fewEntries is the maximum number of entries from which the facts of a stored change are derived.
const fewEntries = 200

// deriveStored derives the facts of changes that were stored without them.
func deriveStored(ctx context.Context, q pg.Querier, list []Change) error {
	var ids []id.ID
	for i := range list {
		c := &list[i]
		if c.StoredAction == nil {
			ids = append(ids, c.ID)
			continue
		}
		c.did = Facts{Action: *c.StoredAction, Subject: c.SubjectID, With: c.Refs}
		if c.SubjectKind != nil {
			c.did.Kind = *c.SubjectKind
		}
		if c.SubjectCount != nil {
			c.did.Count = *c.SubjectCount
		}
		if c.OfAction != nil {
			c.of = *c.OfAction
		}
	}
	if len(ids) == 0 {
		return nil
	}
	facts, err := storedFacts(ctx, q, ids)
	if err != nil {
		return err
	}
	for i := range list {
		if f, ok := facts[list[i].ID]; ok {
			list[i].did, list[i].of = f.facts(list[i])
		}
	}
	return nil
}

// A storedFact holds what the database still knows about a change that was stored without facts.
type storedFact struct {
	ID         id.ID  `db:"id"`
	Cause      string `db:"cause"` // of the root of its family
	Undoes     bool   `db:"undoes"`
	Connection *id.ID `db:"connection_id"`
	Account    *id.ID `db:"account_id"`
	entries    []Entry
}

func storedFacts(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]*storedFact, error) {
	rows, err := pg.All[storedFact](ctx, q, `
		select c.id, coalesce(r.cause, c.cause) as cause, c.undoes, l.connection_id, l.account_id
		from unnest($1::uuid[]) v (id) join change c on c.id = v.id left join change r on r.id = c.root
			left join lateral (select s.connection_id, s.account_id from sync_log s
				where s.change_id = coalesce(c.root, c.id) limit 1) l on true`, ids)
	if err != nil {
		return nil, err
	}
	out := make(map[id.ID]*storedFact, len(rows))
	for i := range rows {
		out[rows[i].ID] = &rows[i]
	}
	type changed struct {
		Change id.ID `db:"change_id"`
		Entry
	}
	entries, err := pg.All[changed](ctx, q, `
		select v.id as change_id, e.* from unnest($1::uuid[]) v (id), lateral (
			select id, subject, subject_id, field, ref, before, after, before_source, after_source, rule_id, note
			from entry where change_id = v.id limit $2) e`, ids, fewEntries)
	for _, e := range entries {
		if f := out[e.Change]; f != nil {
			f.entries = append(f.entries, e.Entry)
		}
	}
	return out, err
}

// facts returns the facts of a stored change. For a revert, of is the action that it undoes.
func (f *storedFact) facts(c Change) (d Facts, of string) {
	if c.Reverts != nil {
		d, of = backOf(f.Cause, f.Undoes, *c.Reverts, f.entries)
	} else {
		d = factsOf(f.Cause, f.entries)
	}
	if c.Entries > len(f.entries) && d.Kind == Transaction {
		if d.Count = c.Transactions; d.Count > 1 {
			d.Subject = nil
		}
	}
	if d.With == nil {
		d.With = map[string]id.ID{}
	}
	if f.Connection != nil {
		d.With[WithConnection] = *f.Connection
	}
	if f.Account != nil {
		d.With[WithAccount] = *f.Account
	}
	return d, of
}

// fillBatch is how many changes FillFacts locks at a time.
const fillBatch = 500

// FillFacts stores the facts of changes that lack them because they came with an archive of a
// development version. It returns how many it filled. It commits each batch separately, and servers
// that start at the same time share the work.
func (j *Journal) FillFacts(ctx context.Context) (int, error) {
	filled := 0
	missing, err := pg.Value[bool](ctx, j.db, `select exists (select from change where action is null)`)
	for last := int64(0); err == nil && missing; {
		err = j.db.InTx(ctx, func(tx pg.Tx) error {
			seqs, err := pg.Values[int64](ctx, tx, `select seq from change where action is null and seq > $1
				order by seq limit $2 for no key update skip locked`, last, fillBatch)
			if missing = len(seqs) > 0; err != nil || !missing {
				return err
			}
			last = seqs[len(seqs)-1]
			list, err := pg.All[Change](ctx, tx, changeRows+` where c.seq = any($1)`, seqs)
			if err != nil {
				return err
			}
			if err := deriveStored(ctx, tx, list); err != nil {
				return err
			}
			filled += len(list)
			return storeFacts(ctx, tx, list)
		})
	}
	return filled, err
}

func storeFacts(ctx context.Context, tx pg.Tx, list []Change) error {
	type row struct {
		ID      id.ID            `json:"id"`
		Action  string           `json:"action"`
		Of      *string          `json:"of_action"`
		Kind    *string          `json:"subject_kind"`
		Subject *id.ID           `json:"subject_id"`
		Count   int              `json:"subject_count"`
		Refs    map[string]id.ID `json:"refs"`
	}
	rows := make([]row, len(list))
	for i, c := range list {
		rows[i] = row{
			c.ID, c.did.Action, present(c.of), present(c.did.Kind), c.did.Subject, c.did.Count, c.did.With,
		}
	}
	printed, err := json.Marshal(rows)
	if err != nil {
		return fmt.Errorf("print facts: %w", err)
	}
	_, err = pg.Exec(ctx, tx, `
		update change c set action = v.action, of_action = v.of_action, subject_kind = v.subject_kind,
			subject_id = v.subject_id, subject_count = v.subject_count, refs = v.refs
		from jsonb_to_recordset($1::text::jsonb) v (id uuid, action text, of_action text, subject_kind text,
			subject_id uuid, subject_count int, refs jsonb)
		where c.id = v.id`, string(printed))
	return err
}

func present(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
