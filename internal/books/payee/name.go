package payee

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"coffer/internal/books/counterparty"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/books/payeename"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// NamePayees is the input of Name.
type NamePayees struct {
	Payees         []string `json:"payees" minItems:"1" maxItems:"20" pattern:"^[0-9A-Za-z]{11}$" hint:"be keys of payees: 11 letters and digits" doc:"Keys of payees, as {payee.list} lists them"`
	Name           *string  `json:"name,omitempty" minLength:"1" maxLength:"200" format:"line" doc:"The name; an unknown name creates a counterparty, or renames the one that these payees have" example:"Corner Bakery"`
	CounterpartyID *string  `json:"counterparty_id,omitempty" minLength:"1" doc:"Instead of name: the counterparty's short id or UUID"`
}

// NamedPayees is the result of Name.
type NamedPayees struct {
	Counterparty PayeeCounterparty `json:"counterparty"`
	Linked       int               `json:"linked" doc:"Transactions that were linked to it"`
	Held         int               `json:"held" doc:"Transactions skipped, because a person unlinked them"`
	Merged       int               `json:"merged" doc:"Counterparties that were merged into it"`
	RuleID       *id.ID            `json:"rule_id" doc:"The rule for new transactions; null if there is one already"`
	ChangeID     *id.ID            `json:"change_id" doc:"Id of the change; pass it to revert. null if nothing changed"`
}

// mostNamed is the largest number of transactions that one call links. The database transaction
// then takes some seconds.
const mostNamed = 20_000

// Name gives payees one name, as one change: all of them get the same counterparty. Counterparties
// that they had are merged into it, and a rule assigns it to new transactions.
func (p *Payees) Name(ctx context.Context, tx pg.Tx, in NamePayees) (NamedPayees, error) {
	if (in.Name == nil) == (in.CounterpartyID == nil) {
		return NamedPayees{}, errs.Field("name", "conflict", "provide exactly one of name and counterparty_id")
	}
	keys, bad := keysOf(in.Payees)
	if bad >= 0 {
		return NamedPayees{}, errs.Field(fmt.Sprintf("payees[%d]", bad), "pattern", "must be the key of a payee: 11 "+
			"letters and digits")
	}
	all, err := p.bound(ctx, tx, keys)
	if err != nil {
		return NamedPayees{}, err
	}
	into, entries, err := p.others.Gather(ctx, tx, counterparty.Gathering{
		ID: in.CounterpartyID, Name: in.Name, From: all.heads,
	})
	if err != nil {
		return NamedPayees{}, err
	}
	out := NamedPayees{Counterparty: PayeeCounterparty{into.ID, into.ShortID, into.Name}}
	for _, h := range all.heads {
		if h != into.ID {
			out.Merged++
		}
	}
	edit := ledger.Edit{Field: journal.FieldCounterparty, Value: new(into.ID.String()), Fill: true}
	if len(all.unruled) > 0 {
		conditions, err := conditionsFor(ctx, tx, all.unruled)
		if err != nil {
			return NamedPayees{}, err
		}
		name := cutTo("Payee "+into.Name.Plain(), 200)
		rule, made, runs, err := p.rules.AddPayeeRule(ctx, tx, name, conditions, into.ID)
		if err != nil {
			return NamedPayees{}, err
		}
		entries, out.RuleID = append(entries, made...), &rule
		if runs {
			edit.Source, edit.Rule = new("rule"), &rule
		}
	}
	edits := make([]ledger.Edit, len(all.free))
	for i, u := range all.free {
		edits[i] = edit
		edits[i].Transaction = u
	}
	outcomes, moved, err := p.books.Apply(ctx, tx, edits, false)
	if err != nil {
		return NamedPayees{}, err
	}
	for _, o := range outcomes {
		switch o {
		case ledger.Changed:
			out.Linked++
		case ledger.Held:
			out.Held++
		}
	}
	out.ChangeID, err = journal.Record(ctx, tx, journal.Note{
		Did: journal.Facts{
			Action: journal.ActionPayeeSet, With: map[string]id.ID{journal.WithCounterparty: into.ID},
		},
		Summary: "Set the counterparty of " + several(len(keys)) + " to " + into.ShortID,
	}, append(entries, moved...))
	return out, err
}

func several(n int) string {
	if n == 1 {
		return "1 payee"
	}
	return fmt.Sprintf("%d payees", n)
}

// A binding holds the current links of payees to counterparties.
type binding struct {
	free    []id.ID  // transactions without a counterparty
	heads   []id.ID  // counterparties, those with the most transactions first
	unruled []id.Key // payees for whose transactions no rule sets a counterparty yet
}

// bound reads the current links of the payees. The ledger reads the transactions again under locks.
func (p *Payees) bound(ctx context.Context, tx pg.Tx, keys []id.Key) (binding, error) {
	var out binding
	sums, err := pg.All[struct {
		Payee id.Key `db:"payee"`
		Other *id.ID `db:"counterparty_id"`
		Ruled int64  `db:"ruled"`
		Count int64  `db:"count"`
	}](ctx, tx, `
		select d.payee, t.counterparty_id, count(*) filter (where t.counterparty_source = 'rule') as ruled, count(*) as count
		from descriptor d join transaction t on t.descriptor_id = d.id
		where d.payee = any($1) and t.deleted_at is null and `+journal.Leaf+` group by 1, 2`, keys)
	if err != nil {
		return out, err
	}
	counts, free, ruled := map[id.ID]int64{}, map[id.Key]int64{}, map[id.Key]bool{}
	seen, largest := map[id.Key]*id.ID{}, map[id.Key]int64{}
	for _, s := range sums {
		if s.Count > largest[s.Payee] {
			seen[s.Payee], largest[s.Payee] = s.Other, s.Count
		}
		if s.Other == nil {
			free[s.Payee] += s.Count
			continue
		}
		counts[*s.Other] += s.Count
		ruled[s.Payee] = ruled[s.Payee] || s.Ruled > 0
	}
	n := int64(0)
	for i, k := range keys {
		if largest[k] == 0 {
			return out, pg.Named(pg.ErrNoRow, fmt.Sprintf("payees[%d]", i), "payee", lists)
		}
		if n += free[k]; free[k] > 0 || !ruled[k] {
			out.unruled = append(out.unruled, k)
		}
	}
	if n > mostNamed {
		return out, errs.Field("payees", "range", "have more than %d transactions without a counterparty; create a "+
			"rule for them and apply it", mostNamed)
	}
	if out.heads, err = meant(ctx, tx, keys, seen); err != nil {
		return out, err
	}
	slices.SortFunc(out.heads, func(a, b id.ID) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), a.Compare(b)) })
	out.free, err = pg.Values[id.ID](ctx, tx, `
		select t.id from descriptor d join transaction t on t.descriptor_id = d.id
		where d.payee = any($1) and t.deleted_at is null and `+journal.Leaf+` and t.counterparty_id is null
		order by t.id limit $2`, keys, mostNamed)
	return out, err
}

// meant returns the counterparties that stand for the payees. Such a counterparty has most of a
// payee's transactions, and its own most frequent payee is one of these. A single transaction that
// somebody linked to another counterparty does not count.
func meant(ctx context.Context, tx pg.Tx, keys []id.Key, largest map[id.Key]*id.ID) ([]id.ID, error) {
	var candidates []id.ID
	for _, k := range keys {
		if u := largest[k]; u != nil && !slices.Contains(candidates, *u) {
			candidates = append(candidates, *u)
		}
	}
	if len(candidates) == 0 {
		return nil, nil
	}
	return pg.Values[id.ID](ctx, tx, `
		select distinct counterparty_id from (
			select t.counterparty_id, d.payee, rank() over (partition by t.counterparty_id order by count(*) desc) as place
			from transaction t join descriptor d on d.id = t.descriptor_id
			where t.counterparty_id = any($1) and t.deleted_at is null group by 1, 2) x
		where place = 1 and payee = any($2)`, candidates, keys)
}

// A leaf is a condition of a rule.
type leaf struct {
	Field string `json:"field"`
	Op    string `json:"op"`
	Value any    `json:"value"`
}

const (
	mostWordings = 1000 // the most wordings of a payee that are read
	mostValues   = 50   // the most values in a condition
)

// conditionsFor returns the conditions of a rule that matches new transactions of these payees,
// made from the texts that banks have written for each of them.
func conditionsFor(ctx context.Context, tx pg.Tx, keys []id.Key) (json.RawMessage, error) {
	var leaves []leaf
	for _, k := range keys {
		words, err := pg.All[struct {
			Name     string `db:"name"`
			Merchant string `db:"merchant_name"`
		}](ctx, tx, `select distinct name, merchant_name from descriptor where payee = $1 order by 1, 2 limit $2`, k,
			mostWordings)
		if err != nil {
			return nil, err
		}
		var names, merchants []string
		for _, w := range words {
			if w.Merchant != "" {
				merchants = append(merchants, w.Merchant)
			} else {
				names = append(names, w.Name)
			}
		}
		for _, of := range []struct {
			field string
			texts []string
		}{{"merchant_name", merchants}, {"name", names}} {
			more, err := leavesFor(ctx, tx, of.field, of.texts, keys)
			if err != nil {
				return nil, err
			}
			leaves = append(leaves, more...)
		}
	}
	leaves = distinct(leaves)
	var tree any = map[string]any{"or": leaves}
	if len(leaves) == 1 {
		tree = leaves[0]
	}
	raw, err := json.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("print a condition: %w", err)
	}
	return raw, nil
}

// leavesFor returns conditions that match these texts of a payee, and preferably no other payee.
// The first of these that works is used: the name in the texts, if no other payee has it; a pattern
// for the texts with any numbers; the texts themselves.
func leavesFor(ctx context.Context, tx pg.Tx, field string, texts []string, keys []id.Key) ([]leaf, error) {
	texts = uniform(texts)
	if len(texts) == 0 {
		return nil, nil
	}
	if len(texts) == 1 && !strings.ContainsAny(texts[0], "0123456789") {
		return []leaf{{field, "eq", texts[0]}}, nil
	}
	name := payeename.Clean(texts[0])
	inAll := utf8.RuneCountInString(name) >= 4
	for _, t := range texts {
		inAll = inAll && strings.Contains(text.Fold(t), text.Fold(name))
	}
	if inAll {
		taken, err := pg.Value[bool](ctx, tx, `select exists (select from descriptor w
			where w.folded like $1 and w.payee <> all($2))`, "%"+likeLiteral.Replace(text.Fold(name))+"%", keys)
		if err != nil {
			return nil, err
		}
		if !taken {
			return []leaf{{field, "contains", name}}, nil
		}
	}
	if form := formed(texts); form != "" {
		return []leaf{{field, "matches", form}}, nil
	}
	return []leaf{{field, "in", texts[:min(len(texts), mostValues)]}}, nil
}

var likeLiteral = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// formed returns a pattern for all texts with the same words and any numbers between them. It
// returns "" if the pattern does not match all given texts.
func formed(texts []string) string {
	words := strings.Fields(text.Form(texts[0]))
	if len(words) == 0 || len(words) > 12 {
		return ""
	}
	for i, w := range words {
		words[i] = regexp.QuoteMeta(w)
	}
	const between = `(?:[^\pL]|\S*\d\S*)*`
	pattern := `(?i)^` + between + strings.Join(words, `[^\pL](?:[^\pL]|\S*\d\S*)*`) + between + `$`
	re, err := regexp.Compile(pattern)
	if err != nil {
		return ""
	}
	for _, t := range texts {
		if !re.MatchString(t) {
			return ""
		}
	}
	return pattern
}

// uniform removes texts that differ from an earlier one only in case.
func uniform(texts []string) []string {
	seen := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(texts), func(t string) bool {
		again := seen[text.Fold(t)]
		seen[text.Fold(t)] = true
		return again
	})
}

func distinct(leaves []leaf) []leaf {
	var out []leaf
	for _, l := range leaves {
		if !slices.ContainsFunc(out, func(o leaf) bool { return fmt.Sprint(o) == fmt.Sprint(l) }) {
			out = append(out, l)
		}
	}
	return out
}

func cutTo(s string, limit int) string {
	if utf8.RuneCountInString(s) > limit {
		return string([]rune(s)[:limit])
	}
	return s
}
