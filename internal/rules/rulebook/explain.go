package rulebook

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/ruleview"
)

// An Explanation shows where a transaction's values come from, and what the rules would do to it
// now.
type Explanation struct {
	TransactionID id.ID            `json:"transaction_id"`
	Fields        []ExplainedField `json:"fields" doc:"Its category, counterparty and tags, and who or what set each"`
	Rules         []ExplainedRule  `json:"rules" doc:"The enabled rules that match now, in execution order; each sees the effects of the ones before it"`
}

// An ExplainedField is a field of the transaction and the source of its value.
type ExplainedField struct {
	Field     string          `json:"field" enum:"category,counterparty,tag"`
	Value     *text.Untrusted `json:"value" doc:"Slug of a category or tag, name of a counterparty; null for none"`
	Removed   bool            `json:"removed" doc:"For a tag: it was removed, and rules do not add it again"`
	Source    *string         `json:"source" enum:"rule,user,agent,provider" doc:"Source of the value"`
	Held      bool            `json:"held" doc:"A person set it: rules don't change it, and agents must not force it unless asked"`
	RuleID    *id.ID          `json:"rule_id" doc:"The rule that set it"`
	RuleName  *string         `json:"rule_name"`
	ActorType *string         `json:"actor_type" enum:"user,agent,system" doc:"Who set it; null if it came with the transaction"`
	ActorName *string         `json:"actor_name"`
	Cause     *string         `json:"cause" doc:"Cause of the change that set it"`
	ChangeID  *id.ID          `json:"change_id" doc:"The change that set it; revert_change undoes it"`
	Note      *string         `json:"note"`
	SetAt     *pg.Time        `json:"set_at"`
}

// An ExplainedRule is a rule that matches now.
type ExplainedRule struct {
	ID       id.ID     `json:"id"`
	ShortID  string    `json:"short_id,omitempty" required:"true"`
	Name     string    `json:"name"`
	Priority int       `json:"priority"`
	Trigger  string    `json:"trigger" enum:"on_create,on_change,always"`
	Effects  []Attempt `json:"effects" doc:"Effect of the rule if all rules ran now, ignoring triggers"`
}

// An Attempt is a value that a rule would set on one field, and the result.
type Attempt struct {
	Field   string          `json:"field" enum:"category,counterparty,tag,comment"`
	Value   *text.Untrusted `json:"value" doc:"Slug, name or id, or the comment's text"`
	Removes bool            `json:"removes" doc:"For a tag: the rule removes it"`
	Outcome string          `json:"outcome" enum:"applied,already_so,held,overridden" doc:"applied: it takes effect; already_so: the field already has the value; held: a person decided otherwise; overridden: a later rule wins"`
}

// ShortJSON returns the attempt with the short id of a counterparty.
func (a Attempt) ShortJSON() ([]byte, error) {
	type plain Attempt
	short := plain(a)
	if a.Field == journal.FieldCounterparty && a.Value != nil {
		short.Value = new(text.Name(shortText(a.Value.Plain())))
	}
	return json.Marshal(short)
}

// Explain returns why a transaction has its category, counterparty and tags, and what rules would
// do now.
func (b *Rulebook) Explain(ctx context.Context, q pg.Querier, in ledger.TransactionRef) (Explanation, error) {
	s, err := b.one(ctx, q, in.TransactionID)
	if err != nil {
		return Explanation{}, err
	}
	out := Explanation{TransactionID: s.ID, Rules: []ExplainedRule{}}
	if out.Fields, err = origins(ctx, q, s.ID); err != nil {
		return Explanation{}, err
	}
	p, err := b.active(ctx, q)
	if err != nil {
		return Explanation{}, err
	}
	draft := s.Draft
	draft.Tags = slices.Clone(draft.Tags)
	outcome := p.set.Run(&draft, engine.Pass{Event: engine.Retroactive, Trace: true})
	rules := p.set.Rules()
	for _, hit := range outcome.Hits {
		r := rules[hit]
		e := ExplainedRule{
			ID: r.ID, ShortID: r.ID.Short(), Name: p.names[r.ID], Priority: r.Priority,
			Trigger: string(r.Trigger), Effects: []Attempt{},
		}
		for _, a := range outcome.Attempts {
			if a.Rule == hit {
				e.Effects = append(e.Effects, attempt(a))
			}
		}
		out.Rules = append(out.Rules, e)
	}
	return out, nil
}

// Categories returns, by transaction, the slug of the category that the rules would set if the
// transaction had none. Transactions for which the rules set no category are left out.
func (b *Rulebook) Categories(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]string, error) {
	p, err := b.active(ctx, q)
	if err != nil {
		return nil, err
	}
	l, err := ruleview.New(ctx, q, engine.AllFields, true)
	if err != nil {
		return nil, err
	}
	out := map[id.ID]string{}
	err = l.Read(ctx, q, `where t.id in (select unnest($1::uuid[]))`, []any{ids}, func(s *ruleview.Stored) error {
		s.Draft.Category, s.Draft.HeldCategory = "", false
		if e := p.set.Run(&s.Draft, engine.Pass{Event: engine.Retroactive}).Category; e != nil {
			out[s.ID] = e.Value
		}
		return nil
	})
	return out, err
}

// attempt returns the engine's attempt with the names of the interface.
func attempt(a engine.Attempt) Attempt {
	out := Attempt{Field: a.Field, Removes: a.Removed, Outcome: string(a.Fate)}
	out.Value = prose(cmp.Or(a.Value, a.Tag, a.CounterpartyName, a.CounterpartyID))
	return out
}

// origins returns the transaction's category, counterparty and tags. Each has the last journal
// entry about it, if the current value comes from that entry.
func origins(ctx context.Context, q pg.Querier, t id.ID) ([]ExplainedField, error) {
	type origin struct {
		Field     string   `db:"field"`
		Value     *string  `db:"value"`
		Removed   bool     `db:"removed"`
		Source    *string  `db:"source"`
		RuleID    *id.ID   `db:"rule_id"`
		RuleName  *string  `db:"rule_name"`
		ActorType *string  `db:"actor_type"`
		ActorName *string  `db:"actor_name"`
		Cause     *string  `db:"cause"`
		ChangeID  *id.ID   `db:"change_id"`
		Note      *string  `db:"note"`
		SetAt     *pg.Time `db:"set_at"`
	}
	rows, err := pg.All[origin](ctx, q, `
		with field as (
			select 1 as place, 'category' as field, null::uuid as ref, c.slug as value, false as removed,
				t.category_source as source
			from transaction t left join category c on c.id = t.category_id where t.id = $1
			union all
			select 2, 'counterparty', null, p.name, false, t.counterparty_source
			from transaction t left join counterparty p on p.id = t.counterparty_id where t.id = $1
			union all
			select 3, 'tag', tt.tag_id, g.slug, not tt.present, tt.source
			from transaction_tag tt join tag g on g.id = tt.tag_id and g.deleted_at is null
				where tt.transaction_id = $1)
		select f.field, f.value, f.removed, f.source, e.rule_id, r.name as rule_name, ch.actor_type, ch.actor_name,
			ch.cause, ch.id as change_id, e.note, ch.created_at as set_at
		from field f
		left join lateral (
			select e.change_id, e.rule_id, e.note from entry e
			where e.subject_id = $1 and e.field = f.field and e.ref is not distinct from f.ref
				order by e.id desc limit 1) e on true
		left join change ch on ch.id = e.change_id
		left join rule r on r.id = e.rule_id
		order by f.place, f.value collate "C"`, t)
	if err != nil {
		return nil, err
	}
	out := make([]ExplainedField, len(rows))
	for i, r := range rows {
		out[i] = ExplainedField{
			Field: r.Field, Removed: r.Removed, Source: r.Source, Held: r.Source != nil && *r.Source == "user",
			RuleID: r.RuleID, RuleName: r.RuleName,
			ActorType: r.ActorType, ActorName: r.ActorName, Cause: r.Cause, ChangeID: r.ChangeID, Note: r.Note,
			SetAt: r.SetAt,
		}
		if r.Value != nil {
			out[i].Value = new(text.Prose(*r.Value, engine.MaxComment))
		}
	}
	return out, nil
}
