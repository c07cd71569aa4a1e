package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"coffer/internal/books/payeename"
	"coffer/internal/books/phrase"
	"coffer/internal/books/report"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// mostLeft is how many of the transactions that are left to people a report lists.
const mostLeft = 50

// report returns coffer's report about a run with sheets. Every figure in it is counted from the
// books and the transcript. The only words of the model in it are its reasons, as plain text.
func (s *sheets) report(ctx context.Context, q pg.Querier, r *run, limit string) (report.CreateReport, error) {
	facts, err := reportFacts(ctx, q, s.filings)
	if err != nil {
		return report.CreateReport{}, err
	}
	p := &pageText{}
	p.summary(s, facts)
	p.filedBy(s.filings, facts)
	p.left(s.filings, facts)
	p.held(s.filings)
	p.rest(s, r, limit)
	day := r.live.Today[strings.LastIndex(r.live.Today, " ")+1:]
	return report.CreateReport{
		Title: text.Line(r.def.Name+", "+day, maxTitle).Plain(), Body: p.String(), Kind: r.def.Slug,
	}, nil
}

// A reportFact is the data of a transaction that a report shows.
type reportFact struct {
	ID       id.ID           `db:"id"`
	Date     pg.Date         `db:"date"`
	Amount   money.Total     `db:"amount"`
	Currency money.Currency  `db:"currency"`
	Named    *text.Untrusted `db:"counterparty_name"`
	Wording  text.Untrusted  `db:"wording"`
}

func reportFacts(ctx context.Context, q pg.Querier, filings []placement) (map[id.ID]reportFact, error) {
	var ids []id.ID
	for _, f := range filings {
		ids = append(ids, f.Transactions...)
	}
	rows, err := pg.All[reportFact](ctx, q, `
		select t.id, t.date, t.amount, t.currency, p.name as counterparty_name,
			coalesce(nullif(d.merchant_name, ''), d.name) as wording
		from transaction t join descriptor d on d.id = t.descriptor_id
			left join counterparty p on p.id = t.counterparty_id where t.id = any($1)`, ids)
	out := make(map[id.ID]reportFact, len(rows))
	for _, f := range rows {
		out[f.ID] = f
	}
	return out, err
}

// A pageText is a report that is being written: Markdown without links, images or HTML.
type pageText struct{ strings.Builder }

func (p *pageText) line(format string, args ...any) { fmt.Fprintf(&p.Builder, format+"\n", args...) }

// count returns how many transactions have one of these outcomes.
func count(filings []placement, outcomes ...string) (n int) {
	for _, f := range filings {
		if slices.Contains(outcomes, f.Outcome) {
			n += len(f.Transactions)
		}
	}
	return n
}

// proposed returns how many transactions the plan would change. That includes transactions that are
// left to a person but get a comment.
func proposed(filings []placement) int {
	return count(filings, asPlanned) + noted(filings)
}

// noted returns how many transactions are left to a person with a planned comment.
func noted(filings []placement) (n int) {
	for _, f := range filings {
		if f.Noted {
			n += len(f.Transactions)
		}
	}
	return n
}

// summary adds the result of the run in a few lines.
func (p *pageText) summary(s *sheets, facts map[id.ID]reportFact) {
	all := len(facts)
	if n := count(s.filings, filed); n > 0 {
		p.line("Categorized %d of %s.", n, phrase.Several(all))
	}
	if n := proposed(s.filings); n > 0 {
		p.line("Proposed changes for %d of %s. Nothing changes until someone applies them.", n, phrase.Several(all))
	}
	if n := count(s.filings, unsure, unanswered, rejected); n > 0 {
		comment := ""
		if noted(s.filings) > 0 {
			comment = " The proposed changes add comments that say why."
		}
		p.line("%s left for you.%s", phrase.Several(n), comment)
	}
	if n := count(s.filings, moved); n > 0 {
		p.line("%s changed by someone else in the meantime.", phrase.Several(n))
	}
	if s.work.Known > 0 {
		p.line("%s skipped, because nothing about them has changed since the last run.",
			phrase.Several(s.work.Known))
	}
	var unread int
	for _, rows := range s.work.Rows {
		unread += len(rows)
	}
	if n := unread - all; n > 0 {
		p.line("%s not reached.", phrase.Several(n))
	}
}

// A pile is the transactions that got the same category.
type pile struct {
	where string
	n     int
	sums  map[money.Currency]money.Total
}

// filedBy lists the categories that transactions got, with sums by currency.
func (p *pageText) filedBy(filings []placement, facts map[id.ID]reportFact) {
	piles := map[string]*pile{}
	for _, f := range filings {
		if f.Outcome != filed && f.Outcome != asPlanned {
			continue
		}
		where := cmp.Or(f.Category, f.Counterparty, strings.Join(f.Tags, ", "), "no change")
		if piles[where] == nil {
			piles[where] = &pile{where: where, sums: map[money.Currency]money.Total{}}
		}
		for _, u := range f.Transactions {
			fact, ok := facts[u]
			if !ok {
				continue
			}
			piles[where].n++
			if sum, err := piles[where].sums[fact.Currency].Add(fact.Amount); err == nil {
				piles[where].sums[fact.Currency] = sum
			}
		}
	}
	if len(piles) == 0 {
		return
	}
	var list []*pile
	for _, x := range piles {
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *pile) int { return cmp.Or(b.n-a.n, strings.Compare(a.where, b.where)) })
	p.line("\n## By category\n")
	for _, x := range list {
		var sums []string
		for c, sum := range x.sums {
			direction := "out"
			if sum.IsNeg() {
				direction, sum = "in", sum.Neg()
			}
			sums = append(sums, fmt.Sprintf("%s %s %s", c, sum, direction))
		}
		slices.Sort(sums)
		p.line("- %s: %d (%s)", plainText(x.where), x.n, strings.Join(sums, ", "))
	}
}

// reasons explain why a transaction was left to a person.
var reasons = map[string]string{
	unsure: "", unanswered: "the model gave no usable answer", rejected: "the change was rejected",
}

// left lists the transactions that people must decide, and why.
func (p *pageText) left(filings []placement, facts map[id.ID]reportFact) {
	var lines []string
	total := 0
	for _, f := range filings {
		reason, ok := reasons[f.Outcome]
		if !ok {
			continue
		}
		total += len(f.Transactions)
		fact, known := facts[f.Transactions[0]]
		if !known || len(lines) == mostLeft {
			continue
		}
		if reason == "" || f.Outcome == rejected {
			reason = strings.TrimPrefix(reason+": "+plainText(f.Note), ": ")
		}
		several := ""
		if len(f.Transactions) > 1 {
			several = fmt.Sprintf(" and %d more", len(f.Transactions)-1)
		}
		lines = append(lines, fmt.Sprintf("- %s, %s %s, %s%s: %s", fact.Date, fact.Currency, fact.Amount,
			plainText(payeename.Shown(fact.Named, nil, fact.Wording).Plain()), several, reason))
	}
	if total == 0 {
		return
	}
	p.line("\n## Left for you\n\n%s", strings.Join(lines, "\n"))
	if len(lines) == mostLeft {
		p.line("- and more: %d in total", total)
	}
}

// held lists the fields that the run did not change because a person had set them.
func (p *pageText) held(filings []placement) {
	fields := map[string]int{}
	for _, f := range filings {
		for _, h := range f.Held {
			fields[h]++
		}
	}
	if len(fields) == 0 {
		return
	}
	var list []string
	for field, n := range fields {
		list = append(list, fmt.Sprintf("%s (%d)", plainText(field), n))
	}
	slices.Sort(list)
	p.line("\n## Locked by people\n\n%s", strings.Join(list, ", "))
}

// rest adds the cost of the run, why it ended, and how to undo it.
func (p *pageText) rest(s *sheets, r *run, limit string) {
	p.line("\n## About this run\n")
	if limit == "" && r.live.LimitName != nil {
		limit = *r.live.LimitName
	}
	if limit != "" {
		p.line("Stopped at its limit: %s.", limit)
	}
	cost := "The cost is unknown, because the model has no price."
	if r.live.CostMicros != nil {
		cost = fmt.Sprintf("It cost $%s.", *r.live.CostMicros)
	}
	p.line("%s made %d calls. %s", plainText(r.def.Model), r.live.Turns, cost)
	short := r.live.ID.Short()
	if proposed(s.filings) > 0 {
		p.line("To review and apply the plan, open run %[1]s, or use `coffer workflow-run plan %[1]s` and "+
			"`coffer workflow-run apply %[1]s`. `coffer workflow-run revert %[1]s` undoes the whole run.", short)
	} else if count(s.filings, filed, unsure) > 0 {
		p.line("To undo everything, revert run %[1]s, or use `coffer workflow-run revert %[1]s`.", short)
	}
}

// markup replaces the characters that have a meaning in Markdown or HTML.
var markup = strings.NewReplacer("[", "(", "]", ")", "<", " ", ">", " ", "`", "'", "*", " ", "_", " ", "#", " ", "|",
	" ", "!", " ", "\\", " ", "&", "+", "://", " ", "\n", " ", "@", " at ", "~", " ")

// plainText returns a stranger's text in a form that is safe in a report: nothing in it becomes a
// link, an image or markup.
func plainText(s string) string {
	s = markup.Replace(text.Line(s, text.NameMax).Plain())
	for i := strings.Index(strings.ToLower(s), "www."); i >= 0; i = strings.Index(strings.ToLower(s), "www.") {
		s = s[:i+3] + " " + s[i+4:]
	}
	return text.Line(s, text.NameMax).Plain()
}
