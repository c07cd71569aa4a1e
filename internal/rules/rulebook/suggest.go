package rulebook

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/reviewgroup"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/rules/engine"
)

// SuggestRules is the input of Suggest.
type SuggestRules struct {
	TransactionID *string `json:"transaction_id,omitempty" minLength:"1" doc:"For the payee of this transaction: UUID or short id; pass this or payee" agent:"Pass this or payee"`
	Payee         *string `json:"payee,omitempty" pattern:"^[0-9A-Za-z]{11}$" hint:"be the payee of a review group: 11 letters and digits" doc:"For this payee, by the key in review groups" agent:"Key of a review group"`
	Category      *string `json:"category,omitempty" minLength:"1" maxLength:"64" doc:"Category for the rule; if omitted, the one suggested by past decisions for the payee" agent:"Category for the rule; default: from past decisions"`
}

// RuleSuggestions are rules that would categorize a payee's transactions.
type RuleSuggestions struct {
	Payee        id.Key          `json:"payee" doc:"Key of the payee, for the filter payee"`
	PayeeName    text.Untrusted  `json:"payee_name" doc:"Untrusted: the most common description"`
	Transactions int64           `json:"transactions" doc:"Stored transactions of the payee"`
	Category     *string         `json:"category" doc:"Slug that the rules set; null if there is no suggestion, so the rules have no action yet"`
	Candidates   []RuleCandidate `json:"candidates" doc:"Best first, at most 3; none if the payee's descriptions have too little in common"`
}

// A RuleCandidate is a suggested rule, and its effect on stored transactions.
type RuleCandidate struct {
	Rule            RuleSpec                `json:"rule" stranger:"within" doc:"As for creating a rule. The text in its conditions is the bank's: untrusted"`
	MatchCount      int64                   `json:"match_count" doc:"Stored transactions that it matches, of any payee"`
	OfPayee         int64                   `json:"of_payee" doc:"Transactions of the payee that it matches"`
	WouldChange     int64                   `json:"would_change" doc:"Transactions whose category it would change"`
	AlreadySo       int64                   `json:"already_so" doc:"Transactions that have the category already"`
	Held            int64                   `json:"held" doc:"Transactions that a person categorized differently; they stay unchanged"`
	Overridden      int64                   `json:"overridden" doc:"Transactions where a later rule wins"`
	OtherCategories []RuleCandidateCategory `json:"other_categories" doc:"Current categories of the matching transactions other than its own: the 5 most common"`
	CoveredBy       []RuleCandidateCover    `json:"covered_by" doc:"Existing rules that match some of the same transactions: the top 5"`
	Sample          []SampleMatch           `json:"sample" doc:"The newest three that it matches"`
}

// A RuleCandidateCategory is a category that transactions have.
type RuleCandidateCategory struct {
	Category *string `json:"category" doc:"Slug; null: no category"`
	Count    int64   `json:"count"`
}

// A RuleCandidateCover is a saved rule that matches the same transactions as a candidate.
type RuleCandidateCover struct {
	RuleID id.ID  `json:"rule_id"`
	Name   string `json:"name"`
	Count  int64  `json:"count"`
}

// payees is a hint that names the operations which list payees.
const payees = "{review.groups} and {transaction.summary} list them"

const (
	mostWordings    = 1000 // the most wordings of a payee that are read
	leastLetters    = 4    // the fewest letters in the text of a condition
	candidatesShown = 3
	candidateShown  = 5 // entries in each list of a candidate
	candidateSample = 3
)

// Suggest proposes rules for a payee with the effect of each. It writes nothing.
func (b *Rulebook) Suggest(ctx context.Context, q pg.Querier, in SuggestRules) (RuleSuggestions, error) {
	if (in.TransactionID == nil) == (in.Payee == nil) {
		return RuleSuggestions{}, errs.Field("transaction_id", "conflict",
			"provide exactly one of transaction_id and payee")
	}
	if in.Category != nil {
		c, err := b.categories.Named(ctx, q, "category", *in.Category)
		if err != nil {
			return RuleSuggestions{}, err
		}
		in.Category = &c.Slug
	}
	p, err := b.payee(ctx, q, in)
	if err != nil {
		return RuleSuggestions{}, err
	}
	out := RuleSuggestions{
		Payee: p.key, PayeeName: p.words[0].shown(), Category: in.Category, Candidates: []RuleCandidate{},
	}
	for _, w := range p.words {
		out.Transactions += w.Count
	}
	if in.Category == nil {
		s, err := reviewgroup.Suggest(ctx, q, b.books, p.key)
		if err != nil {
			return RuleSuggestions{}, err
		}
		if s != nil {
			out.Category = &s.Category
		}
	}
	for _, leaf := range p.leaves() {
		c, err := b.weigh(ctx, q, leaf, out.Category)
		if err != nil {
			return RuleSuggestions{}, err
		}
		c.OfPayee = p.covered(leaf)
		out.Candidates = append(out.Candidates, c)
	}
	// Rules that match most transactions of a payee come first, and among those the rules that
	// contradict the fewest decisions of people. Otherwise the order of leaves stays.
	slices.SortStableFunc(out.Candidates, func(x, y RuleCandidate) int {
		return cmp.Or(cmp.Compare(y.OfPayee, x.OfPayee), cmp.Compare(x.Held, y.Held))
	})
	out.Candidates = out.Candidates[:min(len(out.Candidates), candidatesShown)]
	return out, nil
}

// A payee holds the data from which rules are suggested.
type payee struct {
	key     id.Key
	words   []worded // most frequent first
	account id.ID    // the account with most transactions of that payee, or the one that the caller named
	others  bool     // the payee also has transactions in other accounts
}

// A worded is one of a payee's wordings.
type worded struct {
	Name     string `db:"name"`
	Merchant string `db:"merchant_name"`
	Count    int64  `db:"count"`
	Here     int64  `db:"here"` // the number of these in the payee's account
}

func (w worded) shown() text.Untrusted { return text.Name(cmp.Or(w.Merchant, w.Name)) }

// payee reads the wordings of the payee that a caller names.
func (b *Rulebook) payee(ctx context.Context, q pg.Querier, in SuggestRules) (payee, error) {
	var p payee
	var err error
	if in.Payee != nil {
		if p.key, err = id.ParseKey(*in.Payee); err != nil {
			return p, errs.Field("payee", "format", "must be the payee of a review group: 11 letters and digits")
		}
		p.account, err = pg.Value[id.ID](ctx, q, `
			select t.account_id from descriptor d join transaction t on t.descriptor_id = d.id
			where d.payee = $1 and t.deleted_at is null and `+journal.BankRow+`
			group by 1 order by count(*) desc, 1 limit 1`, p.key)
		if err != nil {
			return p, pg.Named(err, "payee", "payee", payees)
		}
	} else {
		ids, err := ledger.ResolveTransactions(ctx, q, []string{*in.TransactionID})
		if err != nil {
			return p, err
		}
		type origin struct {
			Payee   id.Key `db:"payee"`
			Account id.ID  `db:"account_id"`
		}
		o, err := pg.One[origin](ctx, q, `select d.payee, t.account_id from transaction t
			join descriptor d on d.id = t.descriptor_id where t.id = $1 and t.deleted_at is null`, ids[0])
		if err != nil {
			return p, pg.Named(err, "transaction_id", "transaction", "{transaction.list} lists them")
		}
		p.key, p.account = o.Payee, o.Account
	}
	p.words, err = pg.All[worded](ctx, q, `
		select d.name, d.merchant_name, count(*) as count, count(*) filter (where t.account_id = $2) as here
		from descriptor d join transaction t on t.descriptor_id = d.id
		where d.payee = $1 and t.deleted_at is null and `+journal.BankRow+`
		group by 1, 2 order by 3 desc, 1, 2 limit $3`, p.key, p.account, mostWordings)
	if err == nil && len(p.words) == 0 { // it was deleted meanwhile
		err = pg.Named(pg.ErrNoRow, "payee", "payee", payees)
	}
	p.others = slices.ContainsFunc(p.words, func(w worded) bool { return w.Here < w.Count })
	return p, err
}

// A suggested is a condition that could find a payee's transactions.
type suggested struct {
	field, op, value string
	account          *id.ID // only in this account
}

// leaves returns the conditions to try: the most common merchant name, and the words that all names
// share. If the payee is in several accounts, it adds the first of these conditions limited to one
// account.
func (p payee) leaves() []suggested {
	var out []suggested
	if m := p.merchant(); m != "" {
		out = append(out, suggested{field: "merchant_name", op: "eq", value: m})
	}
	names := make([]string, len(p.words))
	for i, w := range p.words {
		names[i] = w.Name
	}
	runs := commonRuns(names)
	for _, run := range runs {
		out = append(out, suggested{field: "name", op: "contains", value: run})
	}
	if len(runs) == 0 && len(slices.Compact(names)) == 1 {
		out = append(out, suggested{field: "name", op: "eq", value: names[0]})
	}
	if len(out) > 0 && p.others {
		here := out[0]
		here.account = &p.account
		out = append(out, here)
	}
	return out
}

// merchant returns the merchant name with the most transactions, or "".
func (p payee) merchant() string {
	counts := map[string]int64{}
	var best string
	for _, w := range p.words {
		if w.Merchant == "" {
			continue
		}
		folded := text.Fold(w.Merchant)
		if counts[folded] += w.Count; best == "" || counts[folded] > counts[text.Fold(best)] {
			best = w.Merchant
		}
	}
	return best
}

// covered returns how many transactions of the payee a condition finds.
func (p payee) covered(s suggested) int64 {
	var n int64
	for _, w := range p.words {
		of := w.Name
		if s.field == "merchant_name" {
			of = w.Merchant
		}
		folded, value := text.Fold(of), text.Fold(s.value)
		if folded != value && (s.op == "eq" || !strings.Contains(folded, value)) {
			continue
		}
		if s.account != nil {
			n += w.Here
		} else {
			n += w.Count
		}
	}
	return n
}

// spec returns the rule with that condition.
func (s suggested) spec(category *string) (RuleSpec, error) {
	leaf := map[string]any{"field": s.field, "op": s.op, "value": s.value}
	name := fmt.Sprintf("%s %s %s", s.field, s.op, s.value)
	if s.account != nil {
		leaf = map[string]any{"and": []any{leaf, map[string]any{
			"field": "account_id", "op": "eq", "value": s.account.String(),
		}}}
		name += " in one account"
	}
	raw, err := json.Marshal(leaf)
	if err != nil {
		return RuleSpec{}, fmt.Errorf("print a condition: %w", err)
	}
	spec := RuleSpec{CategorySlug: category}
	if err := json.Unmarshal(raw, &spec.Conditions); err != nil {
		return RuleSpec{}, fmt.Errorf("read a condition: %w", err)
	}
	if category != nil {
		name += " → " + *category
	}
	for utf8.RuneCountInString(name) > 200 {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	spec.Name = name
	return spec, nil
}

// weigh rehearses one candidate together with the saved rules.
func (b *Rulebook) weigh(ctx context.Context, q pg.Querier, s suggested, category *string) (RuleCandidate, error) {
	out := RuleCandidate{OtherCategories: []RuleCandidateCategory{}, CoveredBy: []RuleCandidateCover{}}
	var err error
	if out.Rule, err = s.spec(category); err != nil {
		return out, err
	}
	n := &newRule{RuleSpec: out.Rule}
	if category == nil { // any action makes it a valid rule; only the matches are used
		n.Actions = []Action{{Type: "remove_tag", TagSlug: ledger.NeedsReview}}
	}
	if err := n.read(); err != nil {
		return out, err
	}
	if err := b.resolve(ctx, q, []*draftRule{&n.draftRule}); err != nil {
		return out, err
	}
	if err := errs.Faults(n.faults); err != nil {
		return out, err
	}
	r, a, err := b.rehearsal(ctx, q, []*newRule{n}, nil)
	if err != nil {
		return out, err
	}
	if _, err := r.play(ctx, q, b, a); err != nil {
		return out, err
	}
	found := r.result()
	out.MatchCount = found.Matched
	if category != nil {
		out.count(found)
	}
	out.CoveredBy = r.covers()
	var newest sample
	newest.size = candidateSample
	for _, fate := range []engine.Fate{engine.Applied, engine.AlreadySo, engine.Held, engine.Overridden} {
		for _, row := range *found.rows(fate) {
			newest.offer(dated{row.TransactionID, row.Date})
		}
	}
	out.Sample, err = sampled(ctx, q, newest.ids())
	return out, err
}

// count fills in the candidate's effects.
func (c *RuleCandidate) count(found RuleRehearsal) {
	k := found.Counts
	c.WouldChange, c.AlreadySo, c.Held, c.Overridden = k.Changes, k.AlreadySo, k.Held, k.Overridden
	other := map[string]int64{}
	for _, e := range found.ByRule[0].Effects {
		if before := plain(e.Before); before != plain(e.After) {
			other[before] += e.Count
		}
	}
	for slug, n := range other {
		one := RuleCandidateCategory{Count: n}
		if slug != "" {
			one.Category = &slug
		}
		c.OtherCategories = append(c.OtherCategories, one)
	}
	slices.SortFunc(c.OtherCategories, func(x, y RuleCandidateCategory) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(or(x.Category), or(y.Category)))
	})
	c.OtherCategories = c.OtherCategories[:min(len(c.OtherCategories), candidateShown)]
}

func or(slug *string) string {
	if slug == nil {
		return ""
	}
	return *slug
}

// covers returns the saved rules that match transactions of the draft, except rules that match
// everything.
func (r *rehearsal) covers() []RuleCandidateCover {
	out := []RuleCandidateCover{}
	for i, n := range r.beside {
		if saved := r.pipeline.set.Rules()[i]; !saved.Conditions.MatchesAll() {
			out = append(out, RuleCandidateCover{RuleID: saved.ID, Name: r.pipeline.names[saved.ID], Count: n})
		}
	}
	slices.SortFunc(out, func(x, y RuleCandidateCover) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), x.RuleID.Compare(y.RuleID))
	})
	return out[:min(len(out), candidateShown)]
}

// commonRuns returns up to two runs of words that all names contain, longest first, in the spelling
// of the first name. A run has enough letters and no digit between its words, and neither run is
// part of the other. A word consists of letters only, and must be a whole word in each name.
func commonRuns(names []string) []string {
	first := names[0]
	starts, ends := wordsOf(first)
	folded := make([]string, len(names))
	for i, n := range names {
		folded[i] = text.Fold(n)
	}
	var runs []string
	for i := range starts {
		longest := ""
		for j := i; j < len(ends); j++ {
			run := first[starts[i]:ends[j]]
			if strings.ContainsFunc(run, unicode.IsNumber) ||
				slices.ContainsFunc(folded, func(name string) bool { return !hasWords(name, text.Fold(run)) }) {
				break // a longer run occurs in fewer names
			}
			longest = run
		}
		if lettersOf(longest) >= leastLetters &&
			!slices.ContainsFunc(runs, func(r string) bool { return strings.HasSuffix(r, longest) }) {
			runs = append(runs, longest)
		}
	}
	slices.SortStableFunc(runs, func(x, y string) int { return lettersOf(y) - lettersOf(x) })
	return runs[:min(len(runs), 2)]
}

func lettersOf(s string) (n int) {
	for _, r := range s {
		if isLetter(r) {
			n++
		}
	}
	return n
}

func isLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) }

// wordsOf returns the starts and ends of the words of a text.
func wordsOf(s string) (starts, ends []int) {
	in := false
	for i, r := range s {
		if isLetter(r) != in {
			if in {
				ends = append(ends, i)
			} else {
				starts = append(starts, i)
			}
			in = !in
		}
	}
	if in {
		ends = append(ends, len(s))
	}
	return starts, ends
}

// hasWords reports whether a text contains a run as whole words.
func hasWords(s, run string) bool {
	for from := 0; ; {
		at := strings.Index(s[from:], run)
		if at < 0 {
			return false
		}
		at += from
		before, _ := utf8.DecodeLastRuneInString(s[:at])
		after, _ := utf8.DecodeRuneInString(s[at+len(run):])
		if !isLetter(before) && !isLetter(after) {
			return true
		}
		from = at + 1
	}
}
