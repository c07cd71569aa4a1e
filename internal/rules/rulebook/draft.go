package rulebook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/ruleview"
)

// RehearseRules is the input of Rehearse.
type RehearseRules struct {
	Rules   []op.Deferred[RuleSpec] `json:"rules" minItems:"1" maxItems:"100" doc:"Rules as for creating; enabled, expires_in and apply_retroactively have no effect here"`
	Replace *string                 `json:"replace,omitempty" minLength:"1" doc:"The saved rule that these rules would replace: UUID or short id; they take its place in the order, and its priority unless they have one"`
	Filter  *ledger.Filter          `json:"filter,omitempty" doc:"Only these transactions: the filters of the transaction list"`
}

// A RuleRehearsal is the effect that unsaved rules would have on stored transactions.
type RuleRehearsal struct {
	Scanned    int64                 `json:"scanned" doc:"Transactions checked"`
	Matched    int64                 `json:"matched" doc:"Of these, transactions that one of the rules matched"`
	Changed    int64                 `json:"changed" doc:"Of these, transactions that one of the rules would change"`
	Counts     Counts                `json:"counts" doc:"Totals of the four lists, each limited to the newest 100"`
	ByRule     []RuleRehearsalByRule `json:"by_rule" doc:"The same by rule, in the order of rules"`
	Changes    []RuleRehearsalRow    `json:"changes" doc:"Fields that would change: the newest 100"`
	AlreadySo  []RuleRehearsalRow    `json:"already_so" doc:"Fields that already have the value: the newest 100"`
	Held       []RuleRehearsalRow    `json:"held" doc:"Fields where a person decided otherwise: the newest 100"`
	Overridden []RuleRehearsalRow    `json:"overridden" doc:"Fields where a later rule wins: the newest 100"`
}

// A RuleRehearsalByRule is the effect of one of the rules.
type RuleRehearsalByRule struct {
	Index   int                   `json:"index" doc:"Index in rules, from 0"`
	Name    string                `json:"name"`
	Matched int64                 `json:"matched" doc:"Transactions it matches"`
	Counts  Counts                `json:"counts"`
	Effects []RuleRehearsalEffect `json:"effects" doc:"By field, before and after: the 50 most common"`
}

// A RuleRehearsalEffect counts how often a rule would replace one value with another.
type RuleRehearsalEffect struct {
	Outcome      string          `json:"outcome" enum:"changes,already_so,held,overridden" doc:"The list that these fields are in"`
	Field        string          `json:"field" enum:"category,counterparty,tag"`
	Before       *text.Untrusted `json:"before" doc:"Slug of a category or tag, id of a counterparty; null for none"`
	After        *text.Untrusted `json:"after" doc:"Slug of a category or tag, id or name of a counterparty; null for none"`
	OverriddenBy *RulePrevailing `json:"overridden_by,omitempty" doc:"The later rule that wins"`
	Count        int64           `json:"count"`
}

// A RuleRehearsalRow is the value that one of the rules sets on one field of one transaction.
type RuleRehearsalRow struct {
	TransactionID id.ID           `json:"transaction_id"`
	Date          pg.Date         `json:"date"`
	Amount        money.Amount    `json:"amount" doc:"Positive is money out"`
	Currency      money.Currency  `json:"iso_currency_code"`
	Name          text.Untrusted  `json:"name" doc:"Untrusted: the bank's text"`
	Index         int             `json:"index" doc:"Index of the rule in rules, from 0"`
	Field         string          `json:"field" enum:"category,counterparty,tag"`
	Before        *text.Untrusted `json:"before" doc:"Slug of a category or tag, id of a counterparty; null for none"`
	After         *text.Untrusted `json:"after" doc:"Slug of a category or tag, id or name of a counterparty; null for none"`
	OverriddenBy  *RulePrevailing `json:"overridden_by,omitempty" doc:"The later rule that wins"`
}

const (
	newestShown  = 100 // rows of each list
	effectsShown = 50  // for each rule
)

// Rehearse runs unsaved rules on stored transactions together with the saved ones, and writes
// nothing. The result is that of a dry run of all rules after the unsaved ones were saved.
func (b *Rulebook) Rehearse(ctx context.Context, q pg.Querier, in RehearseRules) (RuleRehearsal, error) {
	var faults Made
	drafts, err := b.sound(ctx, q, in.Rules, &faults)
	if err == nil && len(faults.Errors) > 0 {
		err = faults.refusal()
	}
	if err != nil {
		return RuleRehearsal{}, err
	}
	r, a, err := b.rehearsal(ctx, q, drafts, in.Replace)
	if err != nil {
		return RuleRehearsal{}, err
	}
	a.Filter = in.Filter
	s, err := r.play(ctx, q, b, a)
	if err != nil || s.none {
		return r.result(), err
	}
	if r.out.Scanned, err = pg.Value[int64](ctx, q, `select count(*) from transaction t `+s.meant.SQL(),
		s.meant.Args()...); err != nil {
		return RuleRehearsal{}, err
	}
	out := r.result()
	err = describeNewest(ctx, q, &out)
	return out, err
}

// play runs the rules on every stored transaction that a draft could match, and returns the scope.
func (r *rehearsal) play(ctx context.Context, q pg.Querier, b *Rulebook, a application) (*scope, error) {
	mine := func(i int) bool { return r.place[i] >= 0 }
	s, err := b.scopeFor(ctx, q, r.pipeline, a, r.pipeline.set.NeedsOf(mine))
	if err != nil || s.none {
		return s, err
	}
	l, err := ruleview.New(ctx, q, s.reads, true)
	if err != nil {
		return nil, err
	}
	l.Dated = true
	if s.reads&engine.FieldTags == 0 && !r.tags {
		l.Without(engine.FieldTags)
	}
	return s, l.Read(ctx, q, s.could.SQL(), s.could.Args(), r.look)
}

// A rehearsal is a pipeline with drafts among its rules, and the results so far.
type rehearsal struct {
	pipeline *pipeline
	place    []int // for each rule of the pipeline, its index among the drafts; -1 for a saved rule
	tags     bool  // a draft adds or removes tags
	out      RuleRehearsal
	effects  []map[effectKey]int64 // of each draft
	beside   map[int]int64         // for each saved rule, the number of transactions that both it and a draft match
}

// An effectKey identifies a RuleRehearsalEffect.
type effectKey struct {
	fate                 engine.Fate
	field, before, after string
	by                   int
}

// rehearsal adds the drafts to the saved rules.
func (b *Rulebook) rehearsal(ctx context.Context, q pg.Querier, drafts []*newRule, replace *string) (*rehearsal,
	application, error,
) {
	saved, err := b.toApply(ctx, q, nil)
	if err != nil {
		return nil, application{}, err
	}
	at := pg.At(time.Now().Add(time.Hour)) // later than all saved rules
	if replace != nil {
		old, err := get(ctx, q, *replace)
		if err != nil {
			return nil, application{}, pg.Named(err, "replace", "rule", lister)
		}
		if old.IsSystem {
			return nil, application{}, errSystem()
		}
		saved = slices.DeleteFunc(saved, func(f frozen) bool { return f.ID == old.ID })
		at = old.CreatedAt
		for _, d := range drafts {
			if priority(d.Stage, d.Priority) == nil {
				d.priority = old.Priority
			}
		}
	}
	a, index := application{Rules: saved}, map[id.ID]int{}
	r := &rehearsal{effects: make([]map[effectKey]int64, len(drafts)), beside: map[int]int64{}}
	for i, d := range drafts {
		conditions, actions, err := d.stored()
		if err != nil {
			return nil, application{}, err
		}
		f := frozen{
			ID: id.New(), Name: d.Name, Priority: d.priority, Trigger: d.Trigger,
			CreatedAt: pg.At(at.Time().Add(time.Duration(i) * time.Microsecond)), Conditions: conditions,
			Actions: actions,
		}
		a.Rules, index[f.ID], r.effects[i] = append(a.Rules, f), i, map[effectKey]int64{}
		r.out.ByRule = append(r.out.ByRule, RuleRehearsalByRule{
			Index: i, Name: d.Name, Effects: []RuleRehearsalEffect{},
		})
		r.tags = r.tags || slices.ContainsFunc(d.actions, func(a engine.Action) bool { return a.TagSlug != "" })
	}
	if r.pipeline, err = a.pipeline(); err != nil {
		return nil, application{}, err
	}
	for _, saved := range r.pipeline.set.Rules() {
		i, ok := index[saved.ID]
		if !ok {
			i = -1
		}
		r.place = append(r.place, i)
	}
	return r, a, nil
}

// look runs the rules on one transaction and records the effects of the drafts.
func (r *rehearsal) look(s *ruleview.Stored) error {
	before := start{s.Draft.Category, s.Draft.Tags}
	outcome := r.pipeline.set.Run(&s.Draft, engine.Pass{Event: engine.Retroactive, Trace: true})
	hit, changed := false, false
	for _, i := range outcome.Hits {
		if at := r.place[i]; at >= 0 {
			hit = true
			r.out.ByRule[at].Matched++
		}
	}
	if !hit {
		return nil
	}
	for _, i := range outcome.Hits {
		if r.place[i] < 0 {
			r.beside[i]++
		}
	}
	for _, a := range outcome.Attempts {
		if r.place[a.Rule] < 0 {
			continue
		}
		r.note(s, before, a)
		changed = changed || a.Fate == engine.Applied
	}
	r.out.Matched++
	if changed {
		r.out.Changed++
	}
	return nil
}

func (r *rehearsal) note(s *ruleview.Stored, before start, a engine.Attempt) {
	at := r.place[a.Rule]
	was, becomes := before.of(s, a), wanted(a)
	r.effects[at][effectKey{a.Fate, a.Field, was, becomes, a.By}]++
	*r.out.ByRule[at].Counts.of(a.Fate)++
	*r.out.Counts.of(a.Fate)++
	rows := r.out.rows(a.Fate)
	row := RuleRehearsalRow{TransactionID: s.ID, Date: s.Date, Index: at, Field: a.Field}
	if n := len(*rows); n == newestShown && newerRow(row, (*rows)[n-1]) >= 0 {
		return
	}
	row.Before, row.After, row.OverriddenBy = prose(was), prose(becomes), r.prevailing(a.Fate, a.By)
	*rows = insertFirst(*rows, row, newestShown, newerRow)
}

// prevailing returns the rule that overrode another, or nil if none did.
func (r *rehearsal) prevailing(fate engine.Fate, by int) *RulePrevailing {
	if fate != engine.Overridden {
		return nil
	}
	winner := r.pipeline.set.Rules()[by].ID
	out := &RulePrevailing{Name: r.pipeline.names[winner]}
	if at := r.place[by]; at >= 0 {
		out.Index = &at
	} else {
		out.RuleID = &winner
	}
	return out
}

// result returns the outcome, with the counts in order.
func (r *rehearsal) result() RuleRehearsal {
	out := r.out
	for i := range out.ByRule {
		list := &out.ByRule[i].Effects
		for k, n := range r.effects[i] {
			*list = append(*list, RuleRehearsalEffect{
				Outcome: outcomes[k.fate], Field: k.field, Before: prose(k.before), After: prose(k.after),
				OverriddenBy: r.prevailing(k.fate, k.by), Count: n,
			})
		}
		slices.SortFunc(*list, func(a, b RuleRehearsalEffect) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Outcome, b.Outcome),
				cmp.Compare(a.Field, b.Field), cmp.Compare(plain(a.Before), plain(b.Before)),
				cmp.Compare(plain(a.After), plain(b.After)))
		})
		*list = (*list)[:min(len(*list), effectsShown)]
	}
	for _, fate := range []engine.Fate{engine.Applied, engine.AlreadySo, engine.Held, engine.Overridden} {
		if rows := out.rows(fate); *rows == nil {
			*rows = []RuleRehearsalRow{}
		}
	}
	return out
}

// outcomes are the names of the lists.
var outcomes = map[engine.Fate]string{
	engine.Applied: "changes", engine.AlreadySo: "already_so", engine.Held: "held", engine.Overridden: "overridden",
}

func plain(t *text.Untrusted) string {
	if t == nil {
		return ""
	}
	return t.Plain()
}

// of returns the count of a fate.
func (c *Counts) of(fate engine.Fate) *int64 {
	switch fate {
	case engine.AlreadySo:
		return &c.AlreadySo
	case engine.Held:
		return &c.Held
	case engine.Overridden:
		return &c.Overridden
	}
	return &c.Changes
}

func (out *RuleRehearsal) rows(fate engine.Fate) *[]RuleRehearsalRow {
	switch fate {
	case engine.AlreadySo:
		return &out.AlreadySo
	case engine.Held:
		return &out.Held
	case engine.Overridden:
		return &out.Overridden
	}
	return &out.Changes
}

func newerRow(a, b RuleRehearsalRow) int {
	return newer(dated{a.TransactionID, a.Date}, dated{b.TransactionID, b.Date})
}

// describeNewest fills in the details by which people recognize the transactions of the rows.
func describeNewest(ctx context.Context, q pg.Querier, out *RuleRehearsal) error {
	buckets := [][]RuleRehearsalRow{out.Changes, out.AlreadySo, out.Held, out.Overridden}
	var ids []id.ID
	for _, bucket := range buckets {
		for _, r := range bucket {
			ids = append(ids, r.TransactionID)
		}
	}
	known, err := faces(ctx, q, ids)
	for _, bucket := range buckets {
		for i := range bucket {
			f := known[bucket[i].TransactionID]
			bucket[i].Amount, bucket[i].Currency, bucket[i].Name = f.Amount, f.Currency, f.Name
		}
	}
	return err
}
