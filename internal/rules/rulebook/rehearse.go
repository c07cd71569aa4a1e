package rulebook

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/ruleview"
)

// A Rehearsal is the result of a dry run.
type Rehearsal struct {
	DryRun  bool            `json:"dry_run"`
	Scanned int64           `json:"scanned" doc:"Transactions checked"`
	Matched int64           `json:"matched" doc:"Of these, transactions that a rule matched"`
	Changed int64           `json:"changed" doc:"Of these, transactions that would change"`
	Writes  *journal.Writes `json:"writes,omitempty" doc:"Writes the changed transactions need of the caller's limit; absent without one. Created tags and counterparties count extra"`
	Counts  Counts          `json:"counts" doc:"Totals of the four lists, each limited to the first 200"`
	// ByRule is for people and models that judge the rules. A rule that matches too much is visible
	// in one line.
	ByRule     []RuleEffect `json:"by_rule" doc:"Changes by rule, field, before and after: the 100 most common"`
	Changes    []Rehearsed  `json:"changes" doc:"Fields that would change: the first 200"`
	AlreadySo  []Rehearsed  `json:"already_so" doc:"Fields that already have the value: the first 200"`
	Held       []Rehearsed  `json:"held" doc:"Fields where a person decided otherwise: the first 200"`
	Overridden []Rehearsed  `json:"overridden" doc:"Fields where a later rule wins: the first 200"`
	effects    map[ruleEffect]*RuleEffect
}

// A RuleEffect counts how often a rule would replace one value with another.
type RuleEffect struct {
	RuleID id.ID              `json:"rule_id"`
	Name   string             `json:"name" doc:"The rule's name"`
	Field  string             `json:"field" enum:"category,counterparty,tag"`
	Before *text.Untrusted    `json:"before" doc:"Slug of a category or tag, id of a counterparty; null for none"`
	After  *text.Untrusted    `json:"after" doc:"Slug of a category or tag, id or name of a counterparty; null for none"`
	Count  int64              `json:"count" doc:"How many transactions"`
	Sample []RuleEffectSample `json:"sample" doc:"Three of them"`
}

// A RuleEffectSample is a transaction that a rule would change.
type RuleEffectSample struct {
	TransactionID id.ID          `json:"transaction_id"`
	Date          pg.Date        `json:"date"`
	Amount        money.Amount   `json:"amount" doc:"Positive is money out"`
	Currency      money.Currency `json:"iso_currency_code"`
	Name          text.Untrusted `json:"name" doc:"Untrusted: the bank's text"`
}

// A ruleEffect identifies a RuleEffect.
type ruleEffect struct {
	rule                 id.ID
	field, before, after string
}

// Counts is the number of items in each list.
type Counts struct {
	Changes    int64 `json:"changes"`
	AlreadySo  int64 `json:"already_so"`
	Held       int64 `json:"held"`
	Overridden int64 `json:"overridden"`
}

// A Rehearsed is the value that one rule sets on one field of one transaction.
type Rehearsed struct {
	TransactionID id.ID           `json:"transaction_id"`
	Date          pg.Date         `json:"date"`
	Amount        money.Amount    `json:"amount" doc:"Positive is money out"`
	Currency      money.Currency  `json:"iso_currency_code"`
	Name          text.Untrusted  `json:"name" doc:"Untrusted: the bank's text"`
	Field         string          `json:"field" enum:"category,counterparty,tag"`
	Before        *text.Untrusted `json:"before" doc:"Slug of a category or tag, id of a counterparty; null for none"`
	After         *text.Untrusted `json:"after" doc:"Slug of a category or tag, id or name of a counterparty; null for none"`
	RuleID        id.ID           `json:"rule_id"`
	RuleName      string          `json:"rule_name"`
	OverriddenBy  *RulePrevailing `json:"overridden_by,omitempty" doc:"The later rule that wins"`
}

// A RulePrevailing is the rule that sets the final value of a field.
type RulePrevailing struct {
	RuleID *id.ID `json:"rule_id" doc:"Null for a rule that is not saved"`
	Index  *int   `json:"index" doc:"Its index in rules, from 0; null for a saved rule"`
	Name   string `json:"name"`
}

const (
	shown        = 200 // rows of each bucket in the result
	effectsTold  = 100
	effectSample = 3
)

// rehearse reads every transaction as work does, and writes only its progress.
func (b *Rulebook) rehearse(ctx context.Context, run *job.Run, p *pipeline, a application) (any, error) {
	out := &Rehearsal{
		DryRun: true, Changes: []Rehearsed{}, AlreadySo: []Rehearsed{}, Held: []Rehearsed{},
		Overridden: []Rehearsed{}, ByRule: []RuleEffect{}, effects: map[ruleEffect]*RuleEffect{},
	}
	var after id.ID
	// If the job was interrupted, it has already reported some progress. It reads these
	// transactions again, but does not report them again.
	var reported, seen int64
	if _, err := run.Position(&reported); err != nil {
		return nil, err
	}
	for begun, ended := false, false; !ended; {
		var hits []id.ID
		var last id.ID
		var n int
		err := run.Batch(ctx, func(ctx context.Context, tx pg.Tx) (step job.Step, err error) {
			s, err := b.scope(ctx, tx, p, a)
			if err != nil {
				return step, err
			}
			if !begun {
				if out.Scanned, step.Total, err = s.count(ctx, tx); err != nil {
					return step, err
				}
			}
			hits, last, n, err = s.next(ctx, tx, p, after)
			step.Done = max(seen+int64(n)-reported, 0)
			step.Position = max(seen+int64(n), reported)
			return step, err
		})
		if err != nil {
			return nil, err
		}
		if err := b.consider(ctx, p, hits, a.Overwrite, out); err != nil {
			return nil, err
		}
		begun, after, ended, seen = true, last, n < b.size, seen+int64(n)
		reported = max(reported, seen)
		out.Matched += int64(len(hits))
	}
	out.summarize()
	if a.Brief {
		for _, rows := range []*[]Rehearsed{&out.Changes, &out.AlreadySo, &out.Held, &out.Overridden} {
			*rows = []Rehearsed{}
		}
	}
	var err error
	if out.Writes, err = journal.Needs(ctx, b.db, out.Changed); err != nil {
		return nil, err
	}
	return out, b.describe(ctx, out)
}

// effect counts a change by rule, field, and the values before and after.
func (out *Rehearsal) effect(r Rehearsed) {
	key := ruleEffect{r.RuleID, r.Field, plain(r.Before), plain(r.After)}
	e := out.effects[key]
	if e == nil {
		e = &RuleEffect{
			RuleID: r.RuleID, Name: r.RuleName, Field: r.Field, Before: r.Before, After: r.After,
			Sample: []RuleEffectSample{},
		}
		out.effects[key] = e
	}
	if e.Count++; len(e.Sample) < effectSample {
		e.Sample = append(e.Sample, RuleEffectSample{TransactionID: r.TransactionID})
	}
}

// summarize lists the effects, the most frequent first.
func (out *Rehearsal) summarize() {
	for _, e := range out.effects {
		out.ByRule = append(out.ByRule, *e)
	}
	slices.SortFunc(out.ByRule, func(a, b RuleEffect) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.RuleID.String(), b.RuleID.String()),
			cmp.Compare(a.Field, b.Field), cmp.Compare(plain(a.Before), plain(b.Before)),
			cmp.Compare(plain(a.After), plain(b.After)))
	})
	out.ByRule = out.ByRule[:min(len(out.ByRule), effectsTold)]
}

// A face holds the details by which people recognize a transaction.
type face struct {
	ID       id.ID          `db:"id"`
	Date     pg.Date        `db:"date"`
	Amount   money.Amount   `db:"amount"`
	Currency money.Currency `db:"currency"`
	Name     text.Untrusted `db:"name"`
}

func faces(ctx context.Context, q pg.Querier, ids []id.ID) (map[id.ID]face, error) {
	rows, err := pg.All[face](ctx, q, `
		select t.id, t.date, t.amount, t.currency, d.name from transaction t
			join descriptor d on d.id = t.descriptor_id where t.id = any($1)`, ids)
	known := make(map[id.ID]face, len(rows))
	for _, r := range rows {
		known[r.ID] = r
	}
	return known, err
}

// describe fills in the details by which people recognize the transactions of the kept rows.
func (b *Rulebook) describe(ctx context.Context, out *Rehearsal) error {
	var ids []id.ID
	buckets := [][]Rehearsed{out.Changes, out.AlreadySo, out.Held, out.Overridden}
	for _, bucket := range buckets {
		for _, r := range bucket {
			ids = append(ids, r.TransactionID)
		}
	}
	for _, e := range out.ByRule {
		for _, r := range e.Sample {
			ids = append(ids, r.TransactionID)
		}
	}
	known, err := faces(ctx, b.db, ids)
	if err != nil {
		return err
	}
	for _, bucket := range buckets {
		for i := range bucket {
			r := known[bucket[i].TransactionID]
			bucket[i].Date, bucket[i].Amount, bucket[i].Currency, bucket[i].Name = r.Date, r.Amount, r.Currency, r.Name
		}
	}
	for _, e := range out.ByRule {
		for i, s := range e.Sample {
			r := known[s.TransactionID]
			e.Sample[i] = RuleEffectSample{s.TransactionID, r.Date, r.Amount, r.Currency, r.Name}
		}
	}
	return nil
}

// consider sorts the rules' attempts on some transactions into the buckets.
func (b *Rulebook) consider(ctx context.Context, p *pipeline, ids []id.ID, overwrite bool, out *Rehearsal) error {
	l, err := ruleview.New(ctx, b.db, p.reads(), true)
	if err != nil {
		return err
	}
	return l.Read(ctx, b.db, `where t.id = any($1) and t.deleted_at is null and `+journal.Ruled+`
		order by t.id`, []any{ids}, func(s *ruleview.Stored) error {
		before := start{s.Draft.Category, s.Draft.Tags}
		v := verdict{s.ID, p.own(p.set.Run(&s.Draft, engine.Pass{
			Event: engine.Retroactive, OverwriteManual: overwrite,
			Trace: true,
		}))}
		if v.changes() {
			out.Changed++
		}
		for _, at := range v.outcome.Attempts {
			out.put(rehearsed(p, s, before, at), at.Fate)
		}
		return nil
	})
}

// A start holds the live fields of a transaction before the rules run.
type start struct {
	category string
	tags     []string
}

func rehearsed(p *pipeline, s *ruleview.Stored, before start, a engine.Attempt) Rehearsed {
	r := p.set.Rules()[a.Rule]
	out := Rehearsed{TransactionID: s.ID, Field: a.Field, RuleID: r.ID, RuleName: p.names[r.ID]}
	out.Before, out.After = prose(before.of(s, a)), prose(wanted(a))
	if a.Fate == engine.Overridden {
		by := p.set.Rules()[a.By].ID
		out.OverriddenBy = &RulePrevailing{RuleID: &by, Name: p.names[by]}
	}
	return out
}

// of returns the value, before the pass, of the field that an attempt is about, or "" for none.
func (b start) of(s *ruleview.Stored, a engine.Attempt) string {
	switch a.Field {
	case engine.AboutCategory:
		return b.category
	case engine.AboutCounterparty:
		if s.Counterparty != nil {
			return s.Counterparty.String()
		}
	case engine.AboutTag:
		if slices.Contains(b.tags, a.Tag) {
			return a.Tag
		}
	}
	return ""
}

// wanted returns the value that an attempt sets, or "" for none.
func wanted(a engine.Attempt) string {
	if a.Field == engine.AboutTag && a.Removed {
		return ""
	}
	return cmp.Or(a.Value, a.Tag, a.CounterpartyName, a.CounterpartyID)
}

// prose returns a value as text for a reader, or nil for none.
func prose(value string) *text.Untrusted {
	if value == "" {
		return nil
	}
	return new(text.Prose(value, engine.MaxComment))
}

// put counts a row, and stores it if it is among the first of its bucket.
func (out *Rehearsal) put(r Rehearsed, fate engine.Fate) {
	count, rows := &out.Counts.Changes, &out.Changes
	switch fate {
	case engine.AlreadySo:
		count, rows = &out.Counts.AlreadySo, &out.AlreadySo
	case engine.Held:
		count, rows = &out.Counts.Held, &out.Held
	case engine.Overridden:
		count, rows = &out.Counts.Overridden, &out.Overridden
	}
	if *count++; fate == engine.Applied {
		out.effect(r)
	}
	if len(*rows) < shown {
		*rows = append(*rows, r)
	}
}

// atOnce is the largest number of matches for which the call that creates a rule also applies it.
// With more, a job applies it.
const atOnce = 2000

// backfill applies those new rules to stored transactions that ask for it. It applies them as one
// pipeline, because they were written together.
func (b *Rulebook) backfill(ctx context.Context, tx pg.Tx, rules []*newRule, made []MadeRule) error {
	var chosen []id.ID
	var answers []*MadeRule
	for i, r := range rules {
		switch {
		case !r.ApplyRetroactively:
		case r.proposed:
			made[i].RetroactiveError = new("this rule is proposed; a person must enable it before it can be " +
				"applied")
		default:
			chosen, answers = append(chosen, r.id), append(answers, &made[i])
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	stored, err := pg.All[frozen](ctx, tx, frozenRows+` and r.id = any($1)`, chosen)
	if err != nil {
		return err
	}
	a := application{Rules: stored}
	total, err := b.tally(ctx, tx, a, answers)
	if err != nil {
		return err
	}
	if total > atOnce {
		j, err := b.enqueue(ctx, tx, a)
		for _, m := range answers {
			m.RetroactiveJobID = &j.ID
		}
		return err
	}
	var at position
	err = pg.Savepoint(ctx, tx, func(tx pg.Tx) error {
		p, err := a.pipeline()
		if err != nil {
			return err
		}
		at = position{}
		for !at.Ended && err == nil {
			_, err = b.batch(ctx, tx, p, a, &at)
		}
		return err
	})
	if e, ok := errors.AsType[*errs.Error](err); ok { // the rules are kept, and the error is reported
		for _, m := range answers {
			m.RetroactiveError = &e.Message
		}
		return nil
	}
	for _, m := range answers {
		m.RetroactiveChange = at.ChangeID
	}
	return err
}

// tally counts the matches of each rule in the coming pass, and returns how many transactions at
// least one rule matches. It reads the transactions only once.
func (b *Rulebook) tally(ctx context.Context, tx pg.Tx, a application, answers []*MadeRule) (total int64, err error) {
	p, err := a.pipeline()
	if err != nil {
		return 0, err
	}
	s, err := b.scope(ctx, tx, p, a)
	if err != nil || s.none {
		return 0, err
	}
	if s.reads&(engine.FieldCategory|engine.FieldTags) != 0 {
		if s.lens, err = ruleview.New(ctx, tx, s.reads, true); err != nil {
			return 0, err
		}
	}
	counts := make([]int64, len(p.set.Rules()))
	err = s.lens.Read(ctx, tx, s.could.SQL(), s.could.Args(), func(t *ruleview.Stored) error {
		hits := p.set.Run(&t.Draft, engine.Pass{Event: engine.Retroactive}).Hits
		for _, i := range hits {
			counts[i]++
		}
		if len(hits) > 0 {
			total++
		}
		return nil
	})
	for i, r := range p.set.Rules() {
		for _, m := range answers {
			if m.ID == r.ID {
				m.RetroactiveMatches = &counts[i]
			}
		}
	}
	return total, err
}
