package rulebook

import (
	"cmp"
	"context"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/ruleview"
)

// RuleConflicts lists the other rules that match the same transactions as one rule.
type RuleConflicts struct {
	RuleID    id.ID          `json:"rule_id"`
	Matched   int64          `json:"matched" doc:"Stored transactions that the rule matches"`
	Total     int            `json:"total" doc:"Existing rules that match some of them"`
	Conflicts []RuleConflict `json:"conflicts" doc:"The first 50: most different values first, then most matches"`
}

// A RuleConflict is another rule that matches the same transactions.
type RuleConflict struct {
	RuleID    id.ID                 `json:"rule_id"`
	Name      string                `json:"name"`
	Priority  int                   `json:"priority"`
	Matched   int64                 `json:"matched" doc:"Stored transactions that both rules match"`
	Contested int64                 `json:"contested" doc:"Of these, transactions where the two rules set different values"`
	Prevails  string                `json:"prevails" enum:"this,other,none" doc:"Which of the two wins: the one that runs later; none if their values don't differ"`
	Fields    []RuleConflictField   `json:"fields" doc:"Their values, the 10 most common"`
	Sample    []RuleConflictExample `json:"sample" doc:"The newest three: contested ones if there are any"`
}

// A RuleConflictField holds the values that two rules set on the same field.
type RuleConflictField struct {
	Field string          `json:"field" enum:"category,counterparty,tag"`
	This  *text.Untrusted `json:"this" doc:"Value of this rule: slug of a category or tag, id or name of a counterparty; null to remove the tag"`
	Other *text.Untrusted `json:"other" doc:"Value of the other rule"`
	Count int64           `json:"count"`
}

// A RuleConflictExample is a transaction that both rules match.
type RuleConflictExample struct {
	TransactionID id.ID          `json:"transaction_id"`
	Date          pg.Date        `json:"date"`
	Amount        money.Amount   `json:"amount" doc:"Positive is money out"`
	Currency      money.Currency `json:"iso_currency_code"`
	Name          text.Untrusted `json:"name" doc:"Untrusted: the bank's text"`
}

const (
	conflictsShown      = 50
	conflictFieldsShown = 10
	conflictSample      = 3
)

// Conflicts returns the rules that match the same stored transactions as one rule when all rules
// run, and which rule prevails. A disabled rule is compared as if it were enabled.
func (b *Rulebook) Conflicts(ctx context.Context, q pg.Querier, in Ref) (RuleConflicts, error) {
	this, err := b.Get(ctx, q, in)
	if err != nil {
		return RuleConflicts{}, err
	}
	out := RuleConflicts{RuleID: this.ID, Conflicts: []RuleConflict{}}
	if this.IsSystem { // it matches everything and is never applied to stored transactions
		return out, nil
	}
	a := application{}
	if a.Rules, err = b.toApply(ctx, q, nil); err != nil {
		return RuleConflicts{}, err
	}
	if !slices.ContainsFunc(a.Rules, func(f frozen) bool { return f.ID == this.ID }) {
		disabled, err := pg.One[frozen](ctx, q, `
			select r.id, r.name, r.priority, r.created_at, r.trigger, r.conditions, r.actions
			from rule r where r.id = $1`, this.ID)
		if err != nil {
			return RuleConflicts{}, pg.Found(err, "rule", lister)
		}
		a.Rules = append(a.Rules, disabled)
	}
	p, err := a.pipeline()
	if err != nil {
		return RuleConflicts{}, err
	}
	c := comparison{
		pipeline: p, others: map[int]*rival{},
		this: slices.IndexFunc(p.set.Rules(), func(r engine.Rule) bool { return r.ID == this.ID }),
	}
	s, err := b.scopeFor(ctx, q, p, a, p.set.NeedsOf(func(i int) bool { return i == c.this }))
	if err != nil {
		return RuleConflicts{}, err
	}
	lens, err := ruleview.New(ctx, q, s.reads, true)
	if err != nil {
		return RuleConflicts{}, err
	}
	lens.Dated = true
	if s.reads&engine.FieldTags == 0 {
		lens.Without(engine.FieldTags)
	}
	if err := lens.Read(ctx, q, s.could.SQL(), s.could.Args(), c.look); err != nil {
		return RuleConflicts{}, err
	}
	out.Matched, out.Total = c.matched, len(c.others)
	out.Conflicts = c.conflicts()
	return out, c.describe(ctx, q, out.Conflicts)
}

// A comparison compares one rule of a pipeline with all others.
type comparison struct {
	pipeline *pipeline
	this     int
	matched  int64
	others   map[int]*rival
	samples  map[id.ID][]id.ID // the samples to show, by rule
}

// A rival holds the counts and samples for another rule.
type rival struct {
	matched, contested int64
	wants              map[contest]int64
	both, apart        sample // transactions that both rules match, and those on which the rules set different values
}

// A contest holds two values that two rules set on a field.
type contest struct{ field, this, other string }

// look compares the rules on one transaction.
func (c *comparison) look(s *ruleview.Stored) error {
	outcome := c.pipeline.set.Run(&s.Draft, engine.Pass{Event: engine.Retroactive, Trace: true})
	if !slices.Contains(outcome.Hits, c.this) {
		return nil
	}
	c.matched++
	for _, i := range outcome.Hits {
		if i == c.this {
			continue
		}
		r := c.others[i]
		if r == nil {
			r = &rival{
				wants: map[contest]int64{}, both: sample{size: conflictSample}, apart: sample{size: conflictSample},
			}
			c.others[i] = r
		}
		r.matched++
		r.both.offer(dated{s.ID, s.Date})
		if c.contested(outcome.Attempts, i, r) {
			r.contested++
			r.apart.offer(dated{s.ID, s.Date})
		}
	}
	return nil
}

// contested records the values that the two rules set on the same fields, and reports whether any
// of them differ.
func (c *comparison) contested(attempts []engine.Attempt, other int, r *rival) (found bool) {
	for _, a := range attempts {
		if a.Rule != c.this {
			continue
		}
		for _, b := range attempts {
			if b.Rule != other || a.Field != b.Field || a.Tag != b.Tag || wanted(a) == wanted(b) {
				continue
			}
			found = true
			r.wants[contest{a.Field, wanted(a), wanted(b)}]++
		}
	}
	return found
}

// conflicts returns the first few of the other rules in order.
func (c *comparison) conflicts() []RuleConflict {
	out := []RuleConflict{}
	c.samples = map[id.ID][]id.ID{}
	for i, r := range c.others {
		other := c.pipeline.set.Rules()[i]
		one := RuleConflict{
			RuleID: other.ID, Name: c.pipeline.names[other.ID], Priority: other.Priority, Matched: r.matched,
			Contested: r.contested, Prevails: "none", Fields: []RuleConflictField{}, Sample: []RuleConflictExample{},
		}
		newest := r.both
		switch {
		case r.contested > 0 && i > c.this:
			one.Prevails, newest = "other", r.apart
		case r.contested > 0:
			one.Prevails, newest = "this", r.apart
		}
		for k, n := range r.wants {
			one.Fields = append(one.Fields, RuleConflictField{k.field, prose(k.this), prose(k.other), n})
		}
		slices.SortFunc(one.Fields, func(a, b RuleConflictField) int {
			return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Field, b.Field),
				cmp.Compare(plain(a.This), plain(b.This)), cmp.Compare(plain(a.Other), plain(b.Other)))
		})
		one.Fields = one.Fields[:min(len(one.Fields), conflictFieldsShown)]
		c.samples[other.ID] = newest.ids()
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b RuleConflict) int {
		return cmp.Or(cmp.Compare(b.Contested, a.Contested), cmp.Compare(b.Matched, a.Matched),
			a.RuleID.Compare(b.RuleID))
	})
	return out[:min(len(out), conflictsShown)]
}

// describe fills in the transactions of the samples.
func (c *comparison) describe(ctx context.Context, q pg.Querier, list []RuleConflict) error {
	var ids []id.ID
	for _, one := range list {
		ids = append(ids, c.samples[one.RuleID]...)
	}
	known, err := faces(ctx, q, ids)
	for i := range list {
		for _, u := range c.samples[list[i].RuleID] {
			if f, ok := known[u]; ok {
				list[i].Sample = append(list[i].Sample, RuleConflictExample{f.ID, f.Date, f.Amount, f.Currency, f.Name})
			}
		}
	}
	return err
}
