package account

import (
	"context"

	"coffer/internal/books/journal"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

const (
	mostIntervals  = 100
	mostCandidates = 5
)

// ProveAccount asks for the proof of an account.
type ProveAccount struct {
	ID        string   `json:"id" minLength:"1" doc:"The account's UUID or short id"`
	StartDate *pg.Date `json:"start_date,omitempty" doc:"Only intervals that reach this day"`
	EndDate   *pg.Date `json:"end_date,omitempty" doc:"Only intervals that begin before this day"`
}

// A Proof reports in which periods an account's transactions explain its stated balances.
type Proof struct {
	AccountID      id.ID          `json:"account_id"`
	Currency       money.Currency `json:"iso_currency_code"`
	Status         string         `json:"status" enum:"proved,gap,open,none" doc:"proved: transactions match the balances; gap: a mismatch exists; open: not enough data; none: no balance, or the value doesn't depend on transactions"`
	OpeningBalance *money.Amount  `json:"opening_balance" doc:"Balance before the first transaction; null if unknown"`
	Statements     int            `json:"statements" doc:"Days with a reported balance"`
	Ignored        int            `json:"ignored" doc:"Reported balances that match nothing, such as one from between two postings"`
	ProvedUntil    *pg.Date       `json:"proved_until" doc:"Last day whose balance matches"`
	ForeignRows    int64          `json:"foreign_rows" doc:"Transactions in a different currency than the account, which are not counted"`
	Intervals      []Interval     `json:"intervals" doc:"The newest 100, oldest first"`
}

// An Interval lies between two stated balances.
type Interval struct {
	From         pg.Date          `json:"from" doc:"Date of the reported balance before it; a gap's cause is after this date, or on it if the balance was reported during the day"`
	To           pg.Date          `json:"to" doc:"Date of the reported balance at its end"`
	Status       string           `json:"status" enum:"proved,gap,open"`
	StatedFrom   *money.Amount    `json:"stated_from" doc:"Balance on from"`
	StatedTo     *money.Amount    `json:"stated_to" doc:"Balance on to"`
	Moved        money.Total      `json:"moved" doc:"Sum of the transactions after from, up to and including to; positive is money out"`
	Transactions int64            `json:"transactions" doc:"Number of them"`
	Difference   *money.Total     `json:"difference" doc:"For a gap. Positive: the transactions have that much more money out than the balances show, as after a duplicate charge; negative: that much is missing"`
	Candidates   []ProofCandidate `json:"candidates" doc:"For a gap: possible explanations, at most 5"`
}

// A ProofCandidate is a row that may explain a gap.
type ProofCandidate struct {
	TransactionID *id.ID `json:"transaction_id" doc:"null if the row is in quarantine"`
	QuarantineID  *id.ID `json:"quarantine_id" doc:"null if the row is a transaction"`
	Why           string `json:"why" enum:"same_amount_twice,same_amount_deleted,same_amount_pending,quarantined"`
}

// Proof runs the proof of one account's books.
func (r *Register) Proof(ctx context.Context, q pg.Querier, in ProveAccount) (Proof, error) {
	if in.StartDate != nil && in.EndDate != nil && in.EndDate.Time().Before(in.StartDate.Time()) {
		return Proof{}, errs.Field("end_date", "range", "must not be before start_date")
	}
	b, err := openBooks(ctx, q, in.ID)
	if err != nil {
		return Proof{}, err
	}
	v, err := b.prove()
	if err != nil {
		return Proof{}, err
	}
	out := Proof{
		AccountID: b.ID, Currency: b.Currency, Status: v.status, Statements: v.statements, Ignored: v.ignored,
		ForeignRows: v.foreignRows, Intervals: []Interval{},
	}
	if v.opening != nil {
		out.OpeningBalance = b.signed(*v.opening)
	}
	if v.provedUntil != 0 {
		out.ProvedUntil = new(v.provedUntil.date())
	}
	t, _, err := running(b.Currency, b.moves, func(m movement) dayNumber { return m.posted })
	if err != nil {
		return Proof{}, err
	}
	for _, s := range v.spans {
		i, err := b.interval(s, t)
		if err != nil {
			return Proof{}, err
		}
		if in.StartDate != nil && i.To.Time().Before(in.StartDate.Time()) ||
			in.EndDate != nil && i.From.Time().After(in.EndDate.Time()) {
			continue
		}
		out.Intervals = append(out.Intervals, i)
	}
	out.Intervals = out.Intervals[max(0, len(out.Intervals)-mostIntervals):]
	return out, b.explain(ctx, q, out.Intervals)
}

// interval converts a span to the form that is shown.
func (b *books) interval(s span, t tally) (Interval, error) {
	from, to := b.rows[s.from], b.rows[s.to]
	i := Interval{
		From: from.Day, To: to.Day, Status: s.status, StatedFrom: from.Current, StatedTo: to.Current,
		Candidates: []ProofCandidate{},
	}
	if s.status == gap {
		i.Difference = &s.difference
	}
	for _, m := range b.moves {
		if _, ours := m.out.Of(b.Currency); ours && m.posted > dayOf(from.Day) && m.posted <= dayOf(to.Day) {
			i.Transactions += m.rows
		}
	}
	var err error
	i.Moved, err = t.upTo(dayOf(to.Day)).Add(t.upTo(dayOf(from.Day)).Neg())
	return i, err
}

// explain looks for rows that may explain the gaps: duplicates, and rows that are deleted, pending
// or unreadable.
func (b *books) explain(ctx context.Context, q pg.Querier, intervals []Interval) error {
	var at []int32
	var from, to []pg.Date
	var differences []string
	for n, i := range intervals {
		if i.Status == gap {
			at, from, to = append(at, int32(n)), append(from, i.From), append(to, i.To)
			differences = append(differences, i.Difference.String())
		}
	}
	if len(at) == 0 {
		return nil
	}
	type candidate struct {
		At            int32  `db:"at"`
		TransactionID *id.ID `db:"transaction_id"`
		QuarantineID  *id.ID `db:"quarantine_id"`
		Why           string `db:"why"`
	}
	found, err := pg.All[candidate](ctx, q, `
		select g.at, c.transaction_id, c.quarantine_id, c.why
		from unnest(@at::int[], @from::date[], @to::date[], @differences::text[]::numeric[]) g (at, "from", "to", missing)
		cross join lateral (
			select * from (
				select t.id as transaction_id, null::uuid as quarantine_id, 'same_amount_twice' as why, 1 as place, t.date
				from transaction t
				where t.account_id = @account and `+Moves+` and t.currency = @currency
					and t.date between g."from" - 1 and g."to" and t.amount = g.missing and exists (
						select from transaction o
						where o.account_id = @account and o.deleted_at is null and not o.pending and o.id <> t.id
							and o.parent_id is null and not (o.origin = 'manual' and o.excluded)
							and o.amount = t.amount and o.currency = t.currency and o.date between t.date - 7 and t.date + 7)
				union all
				select t.id, null, 'same_amount_deleted', 2, t.date from transaction t
				where `+journal.BankRow+` and t.account_id = @account and t.deleted_at is not null and t.currency = @currency
					and t.date between g."from" - 1 and g."to" and t.amount = -g.missing
				union all
				select t.id, null, 'same_amount_pending', 3, t.date from transaction t
				where `+journal.BankRow+` and t.account_id = @account and t.deleted_at is null and t.pending
					and t.currency = @currency
					and t.date between g."from" - 10 and g."to" and t.amount = -g.missing
				union all
				select null, k.id, 'quarantined', 4, k.first_seen_at::date from quarantine k
				where k.account_id = @account
					and k.first_seen_at >= g."from" and k.first_seen_at < g."to" + 15
			) x order by place, date, transaction_id, quarantine_id limit @candidates
		) c
		order by g.at, c.place, c.date, c.transaction_id, c.quarantine_id`, pg.Args{
		"account": b.ID, "currency": string(b.Currency), "at": at, "from": from, "to": to, "differences": differences,
		"candidates": mostCandidates,
	})
	for _, c := range found {
		i := &intervals[c.At]
		i.Candidates = append(i.Candidates, ProofCandidate{c.TransactionID, c.QuarantineID, c.Why})
	}
	return err
}

// An AccountProof is a summary of an account's proof.
type AccountProof struct { //nolint:revive // it names a schema of the API, which shows no package name
	AccountID         id.ID          `json:"account_id"`
	Currency          money.Currency `json:"iso_currency_code"`
	Status            string         `json:"status" enum:"proved,gap,open,none" doc:"As in the proof of the account"`
	ProvedFrom        *pg.Date       `json:"proved_from" doc:"First day whose balance matches"`
	ProvedUntil       *pg.Date       `json:"proved_until" doc:"Last day whose balance matches"`
	Gaps              int            `json:"gaps"`
	LargestDifference *money.Total   `json:"largest_difference" doc:"Largest gap, regardless of sign; null without gaps"`
}

// Proofs runs the proof of every account's books.
func (r *Register) Proofs(ctx context.Context, q pg.Querier, _ op.None) ([]AccountProof, error) {
	verdicts, err := r.Verdicts(ctx, q, nil)
	out := make([]AccountProof, len(verdicts))
	for i, v := range verdicts {
		out[i] = v.AccountProof
	}
	return out, err
}

// line summarizes a verdict.
func (b *books) line(v verdict) AccountProof {
	out := AccountProof{AccountID: b.ID, Currency: b.Currency, Status: v.status}
	if v.provedUntil != 0 {
		out.ProvedFrom, out.ProvedUntil = new(v.provedFrom.date()), new(v.provedUntil.date())
	}
	for _, s := range v.spans {
		if s.status != gap {
			continue
		}
		out.Gaps++
		if out.LargestDifference == nil || size(s.difference).Cmp(size(*out.LargestDifference)) > 0 {
			out.LargestDifference = new(s.difference)
		}
	}
	return out
}

func size(t money.Total) money.Total {
	if t.IsNeg() {
		return t.Neg()
	}
	return t
}
