package journal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/books/phrase"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// summarize returns the English sentence for what a change did. It is for terminals, people and
// models; programs read the facts. The sentence never contains a bank's words: it names records by
// slugs and short ids, and has PayeeMark in place of a payee.
func summarize(ctx context.Context, q pg.Querier, d Facts, entries []Entry, payee bool) (string, error) {
	var ids []id.ID
	if d.Subject != nil {
		ids = append(ids, *d.Subject)
	}
	for _, u := range d.With {
		ids = append(ids, u)
	}
	for _, e := range entries {
		if e.Subject != Transaction {
			continue
		}
		if e.Field == FieldTag && e.Ref != nil {
			ids = append(ids, *e.Ref)
		} else if u := parsed(e.After); (e.Field == FieldCategory || e.Field == FieldCounterparty) && u != nil {
			ids = append(ids, *u)
		}
	}
	names, err := namesOf(ctx, q, distinct(ids))
	return sentence(d, entries, names, payee), err
}

func sentence(d Facts, entries []Entry, names map[id.ID]naming, payee bool) string {
	nameOf := func(u id.ID) string {
		if n := names[u].InSummary; n != nil {
			return *n
		}
		return names[u].short(u)
	}
	switch {
	case d.Action == ActionSynced:
		return withOne("Synced connection", "Synced", d.With, WithConnection, nameOf)
	case d.Action == ActionRulesApplied:
		return withOne("Applied rule", "Applied rules", d.With, WithRule, nameOf)
	case d.Action == ActionImported && d.Kind == Category:
		return "Imported categories"
	case d.Action == ActionImported:
		return "Imported " + phrase.Several(d.Count)
	case d.Action == ActionMovedIn:
		return "Moved in " + phrase.Several(d.Count)
	case d.Action == ActionMerged:
		into, ok := d.With[WithInto]
		if d.Subject == nil || !ok {
			return "Merged " + nouns[d.Kind][0] + " into another"
		}
		return "Merged " + nouns[d.Kind][1] + " " + nameOf(*d.Subject) + " into " + nameOf(into)
	case d.Kind == AccountLink:
		return linkSentence(d, entries, nameOf)
	case d.Kind != Transaction && d.Kind != "":
		return recordSentence(d, entries, nameOf)
	case d.Action == ActionCreated && d.Count == 1:
		return "Added a transaction" + mark(payee) + " manually"
	case d.Action == ActionDeleted || d.Action == restored:
		verb := map[string]string{ActionDeleted: "Deleted ", restored: "Restored "}[d.Action]
		if d.Count == 1 {
			return verb + "a transaction"
		}
		return verb + phrase.Several(d.Count)
	}
	return clauses(entries, names, payee)
}

func mark(payee bool) string {
	if payee {
		return PayeeMark
	}
	return ""
}

func withOne(one, several string, with map[string]id.ID, name string, nameOf func(id.ID) string) string {
	if u, ok := with[name]; ok {
		return one + " " + nameOf(u)
	}
	return several
}

// nouns name the kinds of records in words: with an article, and for use before a name.
var nouns = map[string][2]string{
	Tag: {"a tag", "tag"}, Category: {"a category", "category"}, Counterparty: {"a counterparty", "counterparty"},
	RuleSubject: {"a rule", "rule"}, Account: {"an account", "account"}, Report: {"a report", "report"},
	Target: {"a budget", "budget"}, Pattern: {"a recurring payment", "a recurring payment"},
	Finding: {"a finding", "a finding"}, AccountLink: {"an account link", "account link"},
}

var verbs = map[string]string{
	ActionCreated: "Created", ActionEdited: "Changed", ActionDeleted: "Deleted", dismissed: "Dismissed",
}

// recordSentence is the sentence about definitions, accounts and the like.
func recordSentence(d Facts, entries []Entry, nameOf func(id.ID) string) string {
	verb, noun := verbs[d.Action], nouns[d.Kind]
	var e Entry // the first entry about the records
	if i := slices.IndexFunc(entries, func(e Entry) bool { return e.Subject == d.Kind }); i >= 0 {
		e = entries[i]
	}
	switch {
	case d.Action == balanceSet && e.After == nil:
		return "Removed a balance"
	case d.Action == balanceSet:
		return "Entered a balance"
	case d.Kind == Account && d.Action == ActionDeleted && Touched(entries) > 0:
		return "Removed an account with its transactions"
	case d.Kind == Report && d.Action == ActionCreated:
		return "Submitted a report"
	case (d.Kind == Account || d.Kind == Target || d.Kind == Pattern) && d.Action == ActionCreated:
		verb = "Added"
	case d.Kind == RuleSubject && columns(e.Before)["proposed"] == true && columns(e.After)["proposed"] == false:
		verb = "Accepted"
	case d.Kind == RuleSubject && d.Action == ActionCreated && columns(e.After)["proposed"] == true:
		verb = "Proposed"
	}
	switch {
	case d.Count != 1 || d.Subject == nil:
		return verb + " " + phrase.Count(d.Count, strings.TrimPrefix(noun[1], "a "))
	case d.Kind == Account || d.Kind == Report:
		return verb + " " + noun[0]
	case d.Kind == Target && d.Action == ActionCreated:
		return verb + " a budget for " + nameOf(*d.Subject)
	case d.Kind == Target:
		return verb + " the budget for " + nameOf(*d.Subject)
	}
	return verb + " " + noun[1] + " " + nameOf(*d.Subject)
}

// linkSentence is the sentence about account links.
func linkSentence(d Facts, entries []Entry, nameOf func(id.ID) string) string {
	verb, one := linkVerbs[d.Action], entries[0]
	is := columns(one.After)
	if is == nil {
		is = columns(one.Before)
	}
	switch {
	case one.Field != FieldRecord && verb == "":
		verb = "Cleared the decision on"
	case d.Action == linked && is["confidence"] == "auto":
		verb = "Proposed"
	case d.Action == linked && one.Before == nil:
		verb = "Added"
	case verb == "" && columns(one.Before)["kind"] == is["kind"] && is["confidence"] == "auto":
		verb = "Reopened"
	case verb == "":
		verb = "Changed"
	}
	link := "account link"
	if d.Subject != nil {
		link += " " + nameOf(*d.Subject)
	}
	switch {
	case one.Field != FieldRecord:
		return verb + " " + phrase.Count(len(entries), "pair") + " of " + link
	case d.Subject == nil:
		return verb + " " + phrase.Count(d.Count, link)
	}
	return fmt.Sprintf("%s %s (%s)", verb, link, is["kind"])
}

var linkVerbs = map[string]string{
	linked: "Confirmed", linkRejected: "Rejected", ActionDeleted: "Deleted",
	pairConfirmed: "Confirmed", pairRejected: "Rejected",
}

// clauses describes what entries do to transactions: the action, the number of transactions, and
// the slug of a category or tag. It describes only the first few actions.
func clauses(entries []Entry, names map[id.ID]naming, payee bool) string {
	var all []string
	about := map[string]map[id.ID]bool{} // the transactions of each clause
	for _, e := range entries {
		p := e.clause(names)
		if p == "" {
			continue
		}
		if about[p] == nil {
			about[p], all = map[id.ID]bool{}, append(all, p)
		}
		about[p][e.SubjectID] = true
	}
	const limit = 3
	var parts []string
	for i, p := range all {
		if i == limit {
			parts = append(parts, fmt.Sprintf("and %d more changes", len(all)-limit))
			break
		}
		some := phrase.Several(len(about[p]))
		if i == 0 && payee && !strings.HasPrefix(p, "tagged #") && !strings.HasPrefix(p, "set the counterparty") {
			// After the other clauses a different name follows.
			some += PayeeMark
		}
		parts = append(parts, strings.Replace(p, "#", some, 1))
	}
	s := strings.Join(parts, ", ")
	if s == "" {
		return "Changed records"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// clause describes what an entry does to a transaction. The character # stands for the
// transactions.
func (e Entry) clause(names map[id.ID]naming) string {
	slug := func(u *id.ID) string {
		if u != nil && names[*u].InSummary != nil {
			return *names[*u].InSummary
		}
		return ""
	}
	to := parsed(e.After)
	switch {
	case e.Subject != Transaction:
		return ""
	case e.Field == FieldCategory && e.After == nil:
		return "cleared the category of #"
	case e.Field == FieldCategory && e.Before != nil && *e.Before == *e.After && e.AfterSource != nil &&
		*e.AfterSource == op.User:
		return "approved the category of #"
	case e.Field == FieldCategory:
		return "categorized # as " + slug(to)
	case e.Field == FieldCounterparty && e.After == nil:
		return "removed the counterparty of #"
	case e.Field == FieldCounterparty && to != nil:
		return "set the counterparty of # to " + names[*to].short(*to)
	case e.Field == FieldTag && e.After == nil:
		return "removed the tag " + slug(e.Ref) + " from #"
	case e.Field == FieldTag:
		return "tagged # " + slug(e.Ref)
	case e.Field == FieldAccount:
		return "moved # to another account"
	case slices.Contains(HandFields, e.Field):
		return "changed the " + strings.ReplaceAll(e.Field, "_", " ") + " of #"
	}
	if text := fieldClauses[e.verb()]; text != "" {
		return text
	}
	if e.Field == FieldRefund || e.Field == FieldMatch {
		return matchClauses[e.Field+" "+e.verb()]
	}
	return "changed #"
}

var fieldClauses = map[string]string{
	commented: "added a comment to #", joined: "removed the split of #", split: "split #",
	included: "counted # in totals again", excluded: "left # out of totals",
}

var matchClauses = map[string]string{
	FieldRefund + " " + linked:            "confirmed # as a refund",
	FieldRefund + " " + ActionLinkDecided: "unlinked # from its purchase",
	FieldMatch + " " + linked:             "matched # with the bank's transaction",
	FieldMatch + " " + ActionLinkDecided:  "unmatched # from the bank's transaction",
}
