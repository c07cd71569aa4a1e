package rulebook

import (
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// toolPatience is how long apply_rules waits for its job by default.
const toolPatience = 20 * time.Second

// Ops returns the rulebook's operations.
func (b *Rulebook) Ops() []*op.Op {
	return append(b.ruleOps(), b.useOps()...)
}

func (b *Rulebook) ruleOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "rule.list", Route: "GET /rules", Tool: "query_transaction_rules",
			Summary: "Lists rules in execution order.",
			Agent: "Finds rules by trigger, creator, hit count, category or name, in any order, without " +
				"conditions and actions unless fields: all. only_unused: rules that never matched.",
		}, b.Find),
		op.Reading(op.Spec{
			Tool: "list_transaction_rules", Summary: "Lists rules with conditions and actions, in execution order.",
			Agent: "Lists rules with conditions and actions, in execution order. Call it before creating " +
				"rules, to avoid duplicates.",
		}, b.List),
		op.Once(op.Writing(op.Spec{
			Name: "rule.create", Route: "POST /rules", Tool: "create_transaction_rule", Core: true,
			Runs:    op.Runs{Reach: op.ReachRules},
			Summary: "Creates up to 100 rules.",
			Agent: "Creates up to 100 rules. Rules run at sync, by priority; each sees what earlier rules " +
				"set. First preview the condition (preview_rule) and check for existing rules " +
				"(find_matching_rules). Invalid rules are returned in errors; the others are created. " +
				"proposed: true means a person must enable the rule. Grammar: get_reference(kind: rule-dsl).",
		}, b.Create)),
		op.Reading(op.Spec{Name: "rule.get", Route: "GET /rules/{id}", Summary: "Shows one rule."}, b.Get),
		op.Shaped(op.Writing(op.Spec{
			Name: "rule.update", Route: "PATCH /rules/{id}", Tool: "update_transaction_rule", Overwrites: true,
			Runs:    op.Runs{Reach: op.ReachRules},
			Summary: "Changes a rule.",
			Agent: "Changes a rule; omitted fields stay. actions replaces the whole list, category_slug only " +
				"the set_category action. enabled: false disables it.",
		}, b.Patch), brief),
		op.Writing(op.Spec{
			Name: "rule.delete", Route: "DELETE /rules/{id}", Tool: "delete_transaction_rule",
			Summary: "Deletes a rule.", Destructive: true,
			Agent: "Deletes a rule; its effects on transactions stay. The built-in rule cannot be deleted, only " +
				"disabled.",
		}, b.Delete),
		op.Reading(op.Spec{
			Name: "rule.history", Route: "GET /rules/{id}/history",
			Summary: "Shows how often a rule matched in each sync.",
		}, b.History),
		op.Reading(op.Spec{
			Name: "rule.conflicts", Heavy: true, Route: "GET /rules/{id}/conflicts",
			Summary: "Shows which other rules match the same stored transactions, and which one wins.",
		}, b.Conflicts),
	}
}

func (b *Rulebook) useOps() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "rule.preview", Heavy: true, Route: "POST /rules/preview", Tool: "preview_rule", Core: true,
			Summary: "Shows what a condition matches without writing anything.",
			Agent: "Counts the stored transactions that a condition matches and shows the newest. The " +
				"condition is tested alone: it does not see tags and categories that other rules would " +
				"set.",
		}, b.Preview),
		op.Reading(op.Spec{
			Name: "rule.suggest", Heavy: true, Route: "GET /rules/suggest", Tool: "suggest_rule", Core: true,
			Summary: "Suggests rules for a payee, with the effect of each on stored transactions.",
			Agent: "Suggests up to 3 rules for a payee (transaction_id or payee), best first, with what each " +
				"matches, would change, and skips because a person decided differently. Pass a candidate's " +
				"rule to create_transaction_rule.",
		}, b.Suggest),
		op.Reading(op.Spec{
			Name: "rule.rehearse", Heavy: true, Route: "POST /rules/rehearse",
			Summary: "Previews unsaved rules on stored transactions without writing anything.",
		}, b.Rehearse),
		op.Reading(op.Spec{
			Name: "rule.match", Heavy: true, Route: "GET /rules/match", Tool: "find_matching_rules", Core: true,
			Summary: "Finds the rules that match a transaction or a merchant's text.",
			Agent: "Finds the enabled rules that match a stored transaction (transaction_id) or a merchant's " +
				"text (merchant). With text alone, rules on amount, category or tags do not match. " +
				"specific_count 0 means no rule targets it.",
		}, b.Match),
		op.Reading(op.Spec{
			Name: "transaction.explain", Route: "GET /transactions/{transaction_id}/explain",
			Tool: "explain_transaction",
			Summary: "Explains why a transaction has its category, counterparty and tags, and what rules would " +
				"do now.",
			Agent: "Shows who or what set a transaction's category, counterparty and tags, in which change, " +
				"which rules match it now and would take effect, and which fields are locked by a person " +
				"(held).",
		}, b.Explain),
		op.Long(op.Writing(op.Spec{
			Name: "rule.apply", Route: "POST /rules/apply",
			Summary: "Applies rules to stored transactions, as a job.",
		}, b.Apply), 0, b.jobs.Await),
		op.Long(op.Writing(op.Spec{
			Name: "rule.applyone", Route: "POST /rules/{id}/apply",
			Summary: "Applies one rule to stored transactions, as a job.",
		}, b.ApplyOne), 0, b.jobs.Await),
		op.Long(op.Writing(op.Spec{
			Tool: "apply_rules", Core: true, Overwrites: true,
			Summary: "Applies rules to stored transactions, as a job.",
			Agent: "Applies rules to stored transactions: all enabled ones or rule_ids, to all transactions " +
				"or those of filter. Fields set by a person stay, and no comments are added. dry_run: true " +
				"shows by_rule what would change. Returns a job, whose result has a change_id for " +
				"revert_change. Waits up to 20 seconds; if it still runs, poll get_job.",
		}, b.ApplyAsAgent), toolPatience, b.jobs.Await),
	}
}

// A RuleBrief is a Rule in the shape of update_transaction_rule.
type RuleBrief struct {
	ID        id.ID    `json:"id"`
	Name      string   `json:"name"`
	Enabled   bool     `json:"enabled"`
	Proposed  bool     `json:"proposed,omitempty"`
	Priority  int      `json:"priority"`
	HitCount  int64    `json:"hit_count"`
	LastHitAt *pg.Time `json:"last_hit_at"`
}

func brief(r Rule) RuleBrief {
	return RuleBrief{r.ID, r.Name, r.Enabled, r.Proposed, r.Priority, r.HitCount, r.LastHitAt}
}
