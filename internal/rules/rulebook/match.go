package rulebook

import (
	"context"
	"slices"

	"coffer/internal/books/ledger"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/rules/engine"
	"coffer/internal/rules/ruleview"
)

// MatchRules is the input of Match.
type MatchRules struct {
	TransactionID *string `json:"transaction_id,omitempty" minLength:"1" doc:"UUID or short id; pass this or merchant" agent:"Pass this or merchant"`
	Merchant      *string `json:"merchant,omitempty" minLength:"1" maxLength:"500" doc:"Text as a bank would write it; finds only rules that match by name alone" agent:"Text as a bank writes it"`
}

// A MatchedRule is a rule that matches.
type MatchedRule struct {
	ID           id.ID   `json:"id"`
	ShortID      string  `json:"short_id"`
	Name         string  `json:"name"`
	SetsCategory *string `json:"sets_category,omitempty" doc:"Slug that its set_category action sets"`
	Trigger      string  `json:"trigger" enum:"on_create,on_change,always"`
	Priority     int     `json:"priority"`
	Enabled      bool    `json:"enabled"`
	HitCount     int64   `json:"hit_count"`
	MatchAll     bool    `json:"match_all" doc:"The rule has no condition and matches every transaction"`
}

// Matched holds the rules that match, in execution order.
type Matched struct {
	MatchedCount  int           `json:"matched_count" doc:"Also counts rules without a condition, which match everything"`
	SpecificCount int           `json:"specific_count" doc:"Number of rules with a condition; 0: no rule targets it"`
	Rules         []MatchedRule `json:"rules"`
}

// Match returns the rules that match a stored transaction or a merchant's text. It evaluates each
// rule alone, regardless of its trigger.
func (b *Rulebook) Match(ctx context.Context, q pg.Querier, in MatchRules) (Matched, error) {
	if (in.TransactionID == nil) == (in.Merchant == nil) {
		return Matched{}, errs.Field("transaction_id", "conflict", "provide exactly one of transaction_id "+
			"and merchant")
	}
	p, err := b.active(ctx, q)
	if err != nil {
		return Matched{}, err
	}
	var found []int
	if in.Merchant != nil {
		d := engine.Draft{Facts: engine.Facts{Name: *in.Merchant, MerchantName: *in.Merchant}}
		found = p.set.Match(&d, engine.NameFields, nil)
	} else {
		s, err := b.one(ctx, q, *in.TransactionID)
		if err != nil {
			return Matched{}, err
		}
		found = p.set.Match(&s.Draft, engine.AllFields, nil)
	}
	rules, err := b.byIndex(ctx, q, p, found)
	if err != nil {
		return Matched{}, err
	}
	out := Matched{MatchedCount: len(rules), Rules: make([]MatchedRule, len(rules))}
	for i, r := range rules {
		out.Rules[i] = MatchedRule{
			ID: r.ID, ShortID: r.ID.Short(), Name: r.Name, Trigger: r.Trigger, Priority: r.Priority, Enabled: r.Enabled,
			HitCount: r.HitCount, MatchAll: len(r.Conditions) == 0,
		}
		if len(r.Conditions) > 0 {
			out.SpecificCount++
		}
		if r.CategorySlug != "" {
			out.Rules[i].SetsCategory = &r.CategorySlug
		}
	}
	return out, nil
}

// one returns the transaction that a caller named, as the rules see it.
func (b *Rulebook) one(ctx context.Context, q pg.Querier, ref string) (*ruleview.Stored, error) {
	ids, err := ledger.ResolveTransactions(ctx, q, []string{ref})
	if err != nil {
		return nil, err
	}
	l, err := ruleview.New(ctx, q, engine.AllFields, true)
	if err != nil {
		return nil, err
	}
	var found *ruleview.Stored
	err = l.Read(ctx, q, `where t.id = $1`, []any{ids[0]}, func(s *ruleview.Stored) error {
		found = s.Clone()
		return nil
	})
	if err == nil && found == nil {
		err = pg.ErrNoRow
	}
	return found, pg.Found(err, "transaction", "{transaction.list} lists them")
}

// byIndex returns the full records of some of a pipeline's rules, in the pipeline's order. Rules
// that were deleted in the meantime are left out.
func (b *Rulebook) byIndex(ctx context.Context, q pg.Querier, p *pipeline, indexes []int) ([]Rule, error) {
	all := p.set.Rules()
	ids, place := make([]id.ID, len(indexes)), make(map[id.ID]int, len(indexes))
	for i, x := range indexes {
		ids[i] = all[x].ID
		place[ids[i]] = i
	}
	rows, err := pg.All[row](ctx, q, ruleRows+` where r.id = any($1) and r.deleted_at is null`, ids)
	if err != nil {
		return nil, err
	}
	rules := make([]Rule, len(rows))
	for i, r := range rows {
		if rules[i], err = r.rule(); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(rules, func(x, y Rule) int { return place[x.ID] - place[y.ID] })
	return rules, nil
}
