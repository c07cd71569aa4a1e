package journal

import (
	"maps"
	"slices"
	"strings"

	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
)

// The actions of changes that a Note may name. Other actions are derived from entries.
const (
	ActionCreated      = "created"
	ActionEdited       = "edited"
	ActionDeleted      = "deleted"
	ActionMerged       = "merged"
	ActionReviewed     = "reviewed"
	ActionImported     = "imported"
	ActionSynced       = "synced"
	ActionMovedIn      = "moved_in"
	ActionRulesApplied = "rules_applied"
	ActionLinkDecided  = "link_decided"
	ActionPayeeSet     = "payee_set"
	ActionPayeeCleared = "payee_cleared"
)

const (
	categorized   = "categorized"
	uncategorized = "uncategorized"
	tagged        = "tagged"
	untagged      = "untagged"
	queued        = "queued"
	commented     = "commented"
	split         = "split"
	joined        = "joined"
	excluded      = "excluded"
	included      = "included"
	restored      = "restored"
	linked        = "linked"
	linkRejected  = "link_rejected"
	pairConfirmed = "pair_confirmed"
	pairRejected  = "pair_rejected"
	balanceSet    = "balance_set"
	dismissed     = "dismissed"
	reverted      = "reverted"
	redone        = "redone"
	mixed         = "mixed"
)

// The keys of Facts.With, for the records that a change was done with.
const (
	WithCategory     = "category"
	WithTag          = "tag"
	WithCounterparty = "counterparty"
	WithRule         = "rule"
	WithAccount      = "account"
	WithInto         = "into"
	WithConnection   = "connection"
	withChange       = "change"
)

// reviewTag is the id of the built-in tag that asks for a review; migrations create it.
var reviewTag = id.Must("019a3c5e-4000-7000-a5f3-40707465581e")

// Facts are what a change did: an action on records of one kind, and the other records that took
// part.
type Facts struct {
	Action  string
	Kind    string // of the subject; "" if the action is mixed
	Subject *id.ID // nil if there are several
	Count   int    // number of records of that kind
	With    map[string]id.ID
}

// about is what entries do to records of one kind.
type about struct{ kind, verb string }

// factsOf derives facts from the cause of a change and its entries. It looks at ids and values
// only: no name or sentence can change its result.
func factsOf(cause string, entries []Entry) Facts {
	done := subjectsOf(entries)
	switch {
	case len(entries) == 0:
		return Facts{Action: mixed}
	case cause == Rule:
		return done.all(ActionRulesApplied, entries)
	case cause == Import:
		return done.all(ActionImported, entries)
	case cause == Sync && !done.only(AccountLink):
		return done.all(ActionSynced, entries)
	}
	main, ok := done.main()
	if !ok {
		d := Facts{Action: mixed, Count: len(done.of(Transaction)), With: with(entries)}
		if d.Count == 0 {
			for a := range done {
				d.Count += len(done[a])
			}
		}
		return d
	}
	ids := done[main]
	if main == (about{Category, ActionMerged}) {
		ids = done[about{Category, ActionDeleted}]
	}
	var mine []Entry
	for _, e := range entries {
		if main.verb == ActionMerged || e.Subject == main.kind && ids[e.SubjectID] && e.verb() == main.verb {
			mine = append(mine, e)
		}
	}
	d := Facts{Action: main.verb, Kind: main.kind, Subject: one(ids), Count: len(ids), With: with(mine)}
	if main.verb == ActionMerged {
		into := d.With[WithCategory]
		d.With = onlyInto(mine)
		if main.kind == Category && !into.IsZero() {
			d.With[WithInto] = into
		}
	}
	return d
}

// dealt maps each kind and verb to the records that entries are about.
type dealt map[about]map[id.ID]bool

// whole lists the verbs for a transaction as a whole. They explain everything else that happened to
// it.
var whole = []string{ActionCreated, restored, ActionDeleted}

func subjectsOf(entries []Entry) dealt {
	out := dealt{}
	wholly := map[id.ID]string{}
	for _, e := range entries {
		if v := e.verb(); e.Subject == Transaction && slices.Contains(whole, v) {
			wholly[e.SubjectID] = v
		}
	}
	for _, e := range entries {
		a := about{e.Subject, e.verb()}
		if v := wholly[e.SubjectID]; v != "" {
			a.verb = v
		}
		if out[a] == nil {
			out[a] = map[id.ID]bool{}
		}
		out[a][e.SubjectID] = true
	}
	return out
}

// of returns the records of a kind, whatever was done to them.
func (d dealt) of(kind string) map[id.ID]bool {
	out := map[id.ID]bool{}
	for a, ids := range d {
		if a.kind == kind {
			maps.Copy(out, ids)
		}
	}
	return out
}

// only reports whether all records are of that kind.
func (d dealt) only(kind string) bool {
	for a := range d {
		if a.kind != kind {
			return false
		}
	}
	return true
}

// all returns facts about the transactions. Without transactions it returns facts about the records
// of the first entry's kind.
func (d dealt) all(action string, entries []Entry) Facts {
	kind := entries[0].Subject
	if len(d.of(Transaction)) > 0 {
		kind = Transaction
	}
	ids := d.of(kind)
	out := Facts{Action: action, Kind: kind, Subject: one(ids), Count: len(ids), With: map[string]id.ID{}}
	if r, ok := with(entries)[WithRule]; ok && action == ActionRulesApplied {
		out.With[WithRule] = r
	}
	return out
}

// main returns the main action, of which the other entries are consequences. It returns false if
// there are several main actions.
func (d dealt) main() (about, bool) {
	for _, kind := range []string{Account, Counterparty} {
		if a := (about{kind, ActionMerged}); d[a] != nil {
			return a, true
		}
	}
	if d[about{Category, ActionDeleted}] != nil && d[about{Transaction, categorized}] != nil {
		return about{Category, ActionMerged}, true
	}
	if a := (about{Account, ActionDeleted}); d[a] != nil { // its transactions were deleted with it
		return a, true
	}
	left := slices.Collect(maps.Keys(d))
	drop := func(gone func(about) bool) {
		if rest := slices.DeleteFunc(slices.Clone(left), gone); len(rest) > 0 {
			left = rest
		}
	}
	has := func(kind string, verbs ...string) bool {
		return slices.ContainsFunc(left, func(a about) bool {
			return a.kind == kind && (len(verbs) == 0 || slices.Contains(verbs, a.verb))
		})
	}
	if has(Finding) { // confirming a finding changes transactions too
		drop(func(a about) bool { return a.kind != Finding })
	}
	// These definitions were created for something else, such as a tag for a rule.
	for _, kind := range []string{Tag, Counterparty, RuleSubject} {
		drop(func(a about) bool { return a == about{kind, ActionCreated} })
	}
	if has(Account, ActionCreated) {
		drop(func(a about) bool { return a == about{Account, balanceSet} })
	}
	if has(Transaction, split, joined) { // the parts get values of their own
		drop(func(a about) bool { return a.kind == Transaction && a.verb != split && a.verb != joined })
	}
	if has(Transaction, whole...) { // matches change as a consequence
		drop(func(a about) bool {
			return a == about{Transaction, linked} || a == about{Transaction, ActionLinkDecided}
		})
	}
	for _, beside := range []string{commented, queued, ActionReviewed} {
		drop(func(a about) bool { return a == about{Transaction, beside} })
	}
	if len(left) != 1 {
		return about{}, false
	}
	return left[0], true
}

// one returns the id if the set has exactly one.
func one(ids map[id.ID]bool) *id.ID {
	for u := range ids {
		if len(ids) == 1 {
			return &u
		}
	}
	return nil
}

// verb returns what an entry does to its record, as an action.
func (e Entry) verb() string {
	switch {
	case e.Subject == Transaction:
		return e.transactionVerb()
	case e.Subject == AccountLink:
		return e.linkVerb()
	case e.Subject == Account && strings.HasPrefix(e.Field, "balance:"):
		return balanceSet
	case e.Subject == Account && e.Field == "merged_into" && e.After != nil:
		return ActionMerged
	case e.Field != FieldRecord:
		return ActionEdited
	case (e.Subject == Finding || e.Subject == Pattern && e.Before != nil) && e.After != nil:
		if columns(e.After)["state"] == "dismissed" && columns(e.Before)["state"] != "dismissed" {
			return dismissed
		}
		return ActionEdited
	case e.Before == nil:
		return ActionCreated
	case e.After == nil:
		return ActionDeleted
	case e.Subject == Counterparty && columns(e.Before)["canonical_id"] == nil &&
		columns(e.After)["canonical_id"] != nil:
		return ActionMerged
	}
	return ActionEdited
}

func (e Entry) linkVerb() string {
	was, is := columns(e.Before), columns(e.After)
	switch {
	case e.Field == FieldMatch && e.After != nil && *e.After == "confirmed":
		return pairConfirmed
	case e.Field == FieldMatch && e.After != nil && *e.After == "rejected":
		return pairRejected
	case e.Field == FieldMatch:
		return ActionLinkDecided
	case is == nil || is["deleted"] == true:
		return ActionDeleted
	case is["confidence"] == "rejected":
		return linkRejected
	case was == nil || was["deleted"] == true || is["confidence"] == "confirmed" && was["confidence"] != "confirmed":
		return linked
	}
	return ActionLinkDecided
}

func (e Entry) transactionVerb() string {
	set := e.After != nil
	either := func(yes, no string) string {
		if set {
			return yes
		}
		return no
	}
	switch e.Field {
	case FieldCategory:
		if set && e.Before != nil && *e.Before == *e.After && e.AfterSource != nil && *e.AfterSource == op.User {
			return ActionReviewed
		}
		return either(categorized, uncategorized)
	case FieldCounterparty:
		return either(ActionPayeeSet, ActionPayeeCleared)
	case FieldTag:
		if e.Ref != nil && *e.Ref == reviewTag {
			return either(queued, ActionReviewed)
		}
		return either(tagged, untagged)
	case FieldComment:
		return commented
	case FieldSplit:
		return either(split, joined)
	case FieldExcluded:
		return either(excluded, included)
	case FieldRefund:
		return either(linked, ActionLinkDecided)
	case FieldMatch:
		if set && *e.After == Matched {
			return linked
		}
		return ActionLinkDecided
	case FieldDeleted:
		if !set && e.AfterSource == nil { // nobody restored a tombstone, so the transaction is new
			return ActionCreated
		}
		return either(ActionDeleted, restored)
	}
	return ActionEdited
}

// with returns what all entries have in common: the category, tag, payee and rule.
func with(entries []Entry) map[string]id.ID {
	out, several := map[string]id.ID{}, map[string]bool{}
	add := func(name string, u *id.ID) {
		switch was, ok := out[name]; {
		case u == nil:
		case !ok:
			out[name] = *u
		case was != *u:
			several[name] = true
		}
	}
	for _, e := range entries {
		value := e.After
		if value == nil {
			value = e.Before
		}
		switch {
		case e.Subject == Target:
			if c, ok := columns(value)["category_id"].(string); ok {
				add(WithCategory, parsed(&c))
			}
		case e.Subject != Transaction:
		case e.Field == FieldCategory:
			add(WithCategory, parsed(value))
		case e.Field == FieldCounterparty:
			add(WithCounterparty, parsed(value))
		case e.Field == FieldTag && e.Ref != nil && *e.Ref != reviewTag:
			add(WithTag, e.Ref)
		}
		if e.Subject == Transaction {
			add(WithRule, e.RuleID)
		}
	}
	maps.DeleteFunc(out, func(name string, _ id.ID) bool { return several[name] })
	return out
}

// onlyInto returns only the record that others were merged into.
func onlyInto(entries []Entry) map[string]id.ID {
	out := map[string]id.ID{}
	for _, e := range entries {
		var into *id.ID
		switch {
		case e.verb() != ActionMerged:
		case e.Subject == Account:
			into = parsed(e.After)
		case e.Subject == Counterparty:
			if c, ok := columns(e.After)["canonical_id"].(string); ok {
				into = parsed(&c)
			}
		}
		if into != nil {
			out[WithInto] = *into
		}
	}
	return out
}

func parsed(s *string) *id.ID {
	if s == nil {
		return nil
	}
	u, err := id.Parse(*s)
	if err != nil {
		return nil
	}
	return &u
}

// backOf returns the facts of a change that undoes or restores another, given the other's cause.
func backOf(cause string, undoes bool, reverts id.ID, entries []Entry) (d Facts, of string) {
	if undoes {
		entries = slices.Clone(entries)
		for i, e := range entries {
			entries[i].Before, entries[i].After = e.After, e.Before
			entries[i].BeforeSource, entries[i].AfterSource = e.AfterSource, e.BeforeSource
		}
	}
	d = factsOf(cause, entries)
	return d.back(undoes, reverts)
}

// back returns the facts of the change that undoes this one or does it again, and this one's
// action.
func (d Facts) back(undoes bool, reverts id.ID) (Facts, string) {
	of := d.Action
	d.Action = redone
	if undoes {
		d.Action = reverted
	}
	d.With = maps.Clone(d.With)
	if d.With == nil {
		d.With = map[string]id.ID{}
	}
	d.With[withChange] = reverts
	return d, of
}
