package engine

import (
	"fmt"
	"strings"
)

// Reference describes the rule language as Markdown, for agents and people who write rules. Its
// lists come from the tables that the engine uses.
func Reference() string {
	var b strings.Builder
	b.WriteString(referenceOpening)
	b.WriteString("\n## Fields\n\n| field | kind | value |\n|---|---|---|\n")
	for i := range fields {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", fields[i].name, kindWords[fields[i].kind], fields[i].doc)
	}
	b.WriteString("\nA missing value is the empty string: `{\"field\": \"category\", \"op\": \"eq\", \"value\": " +
		"\"\"}` is \"uncategorized\".\n")
	b.WriteString("\n## Operators\n\n| fields | op | value | true if the field |\n|---|---|---|---|\n")
	for i := range operators {
		o := &operators[i]
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", kindsOf(o), o.name, formWords[o.form], o.doc)
	}
	b.WriteString(referenceValues)
	b.WriteString("\n## Actions\n\n| type | with | effect |\n|---|---|---|\n")
	for _, e := range effects {
		fmt.Fprintf(&b, "| `%s` | `%s` | %s |\n", e.name, strings.Join(e.payload, "` or `"), e.doc)
	}
	b.WriteString(referenceActions)
	b.WriteString("\n## Order\n\n| stage | priority | for |\n|---|---|---|\n")
	for _, s := range stages {
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", s.Name, s.Priority, s.Doc)
	}
	b.WriteString(referenceOrder)
	b.WriteString("\n## Triggers\n\n| trigger | runs |\n|---|---|\n")
	for _, t := range triggers {
		fmt.Fprintf(&b, "| `%s` | %s |\n", t.name, t.doc)
	}
	b.WriteString(referenceExamples)
	return b.String()
}

var kindWords = map[kind]string{
	kindText: "text", kindCategory: "text, a category's slug", kindIdentity: "identity",
	kindAmount: "amount", kindBool: "true or false", kindTags: "set of tags",
}

var formWords = map[form]string{
	formText: "string", formTexts: "array of strings", formPattern: "string", formAmount: "number", formBool: "boolean",
}

func kindsOf(o *operator) string {
	switch o.kinds[0] {
	case kindAmount:
		return "`amount`"
	case kindBool:
		return "`pending`"
	case kindTags:
		return "`tags`"
	}
	return "text, identity"
}

const referenceOpening = `# Rules

A rule is a condition and a list of actions. It runs when transactions are synced. You can also apply it to stored transactions.

## Conditions

- A comparison: ` + "`{\"field\": …, \"op\": …, \"value\": …}`" + `
- A combinator: ` + "`{\"and\": [condition, …]}`, `{\"or\": [condition, …]}`, `{\"not\": condition}`" + `
- ` + "`{}`" + ` matches every transaction.

Combinators nest up to 10 deep; a condition has at most 500 comparisons. Every mistake is reported with its path (` +
	"`conditions.and[1].value`" + `)
when the rule is saved or previewed, so no comparison is silently false later.
`

const referenceValues = `
- Text comparison ignores case and is otherwise exact: nothing is trimmed, and accents matter.
- ` + "`matches`" + ` is RE2 (no look-around, no back-references), at most 1,000 characters and, with repetitions expanded, 4,000 steps (20,000 per condition). It matches anywhere in the text; anchor it with ^ and $ if needed.
- ` + "`in`" + ` takes 1 to 1,000 values.
- Amounts are exact decimals: a number, or a numeric string, with at most two decimals. Spending is positive: a purchase over 50 is ` + "`{\"field\": \"amount\", \"op\": \"gt\", \"value\": 50}`" + `, money in is ` + "`{\"field\": \"amount\", \"op\": \"lt\", \"value\": 0}`" + `.
- ` + "`account_id` and `user_id`" + ` with eq, neq, in take a UUID or a short id; contains, not_contains and matches work on the UUID's text.
- ` + "`category`" + ` with eq, neq, in takes slugs of categories that exist, or "".
`

const referenceActions = `
A rule has at least one action, at most one set_category and one assign_counterparty, and must not add and remove the same tag.
`

const referenceOrder = `
Rules run by priority (0 to 1000), lowest first; at the same priority the older rule runs first. Each rule sees the ` +
	"`category` and `tags`" + ` that earlier rules of the pass set; all other fields are as stored.
The last matching set_category wins, tag changes are combined, and fields that end with their original value are not written.

A field that a person set is held: the rule still matches, but the field stays.
`

const referenceExamples = `
Applying rules to stored transactions ignores triggers and adds no comments.

## Examples

Groceries by name, whatever the branch:

    {"conditions": {"field": "name", "op": "contains", "value": "edeka"},
     "actions": [{"type": "set_category", "category_slug": "food_and_drink_groceries"}]}

One of two streaming services, but not the yearly gift card:

    {"conditions": {"and": [
       {"or": [{"field": "merchant_name", "op": "eq", "value": "Netflix"}, {"field": "name", "op": "matches", "value": "(?i)^spotify\\b"}]},
       {"not": {"field": "amount", "op": "gte", "value": 100}}]},
     "actions": [{"type": "set_category", "category_slug": "entertainment_tv_and_film"}, {"type": "add_tag", "tag_slug": "subscription"}]}

A chain of two rules. The first, in stage standard, adds a tag; the second, in stage refinement, sees it:

    {"stage": "standard", "conditions": {"field": "account_name", "op": "contains", "value": "company card"},
     "actions": [{"type": "add_tag", "tag_slug": "work"}]}
    {"stage": "refinement", "conditions": {"and": [
       {"field": "tags", "op": "contains", "value": "work"}, {"field": "category", "op": "in", "value": ["food_and_drink_restaurants", "food_and_drink_cafes"]}]},
     "actions": [{"type": "set_category", "category_slug": "food_and_drink_other"}, {"type": "remove_tag", "tag_slug": "needs-review"}]}

A default for uncategorized money in, before all other rules:

    {"stage": "baseline", "conditions": {"and": [{"field": "category", "op": "eq", "value": ""}, {"field": "amount", "op": "lt", "value": 0}]},
     "actions": [{"type": "set_category", "category_slug": "income"}]}
`
