package statement

import (
	"context"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/csvfile"
	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/text"
)

// apart is how many days the bank's feed and its files may date one transaction apart.
const apart = 3

// reported is what the bank of a linked account reports itself. A file adds what is older than the
// first day of that. Texts differ between a bank's feed and its files, so within the feed's days
// nothing else separates a new row from one that is there.
type reported struct {
	first string             // the first day, YYYY-MM-DD; empty if there is none yet
	near  map[int64][]string // the days of the first rows, by their amounts in cents
}

// reportedOf is nil for an account that files alone fill.
func reportedOf(ctx context.Context, q pg.Querier, account id.ID) (*reported, error) {
	linked, err := pg.Value[bool](ctx, q, `select exists (select from account a join connection c on c.id = a.connection_id
		where a.id = $1 and c.provider <> $2)`, account, bank.CSV)
	if err != nil || !linked {
		return nil, err
	}
	rows, err := pg.All[struct {
		Date   pg.Date      `db:"date"`
		Amount money.Amount `db:"amount"`
	}](ctx, q, `
		with first as (select min(date) as day from transaction where account_id = $1 and origin = 'bank'
			and moved_from is null and deleted_at is null)
		select t.date, t.amount from first f join transaction t on t.account_id = $1 and t.date between f.day and f.day + $2::int
			and t.origin = 'bank' and t.moved_from is null and t.deleted_at is null
		order by t.date, t.id`, account, apart)
	if err != nil {
		return nil, err
	}
	out := &reported{near: map[int64][]string{}}
	for i, r := range rows {
		if i == 0 {
			out.first = r.Date.String()
		}
		out.near[r.Amount.Cents()] = append(out.near[r.Amount.Cents()], r.Date.String())
	}
	return out, nil
}

// has reports whether the bank reports the row itself. Each of the bank's rows stands for one.
func (r *reported) has(row csvfile.Row) bool {
	switch {
	case r == nil || r.first == "":
		return false
	case row.Date >= r.first:
		return true
	}
	days := r.near[row.Amount.Cents()]
	for i, day := range days {
		if within(row.Date, day) {
			r.near[row.Amount.Cents()] = slices.Delete(days, i, i+1)
			return true
		}
	}
	return false
}

func within(early, late string) bool {
	a, err := time.Parse(time.DateOnly, early)
	b, failed := time.Parse(time.DateOnly, late)
	return err == nil && failed == nil && b.Sub(a) <= apart*24*time.Hour
}

// suggest returns the account of a file: the only one with its number, at its bank as far as that
// is known. Without a number there is none: a wrong account mixes two, a new one can be merged.
func suggest(ctx context.Context, q pg.Querier, p csvfile.Preview) (*id.ID, error) {
	mask := lastDigits(p.AccountNumber.Plain())
	if mask == "" {
		return nil, nil //nolint:nilnil // the comment says so
	}
	rows, err := pg.All[struct {
		ID       id.ID          `db:"id"`
		Bank     string         `db:"bank"`
		Currency money.Currency `db:"currency"`
	}](ctx, q, `select a.id, coalesce(c.institution_name, '') as bank, a.currency from account a
		join connection c on c.id = a.connection_id
		where a.deleted_at is null and c.status <> 'disconnected' and lower(a.mask) = lower($1) order by a.id limit 100`, mask)
	if err != nil {
		return nil, err
	}
	var found []id.ID
	for _, r := range rows {
		if sameBank(r.Bank, p.Bank) && (p.Currency == "" || p.Currency == r.Currency) {
			found = append(found, r.ID)
		}
	}
	if len(found) != 1 {
		return nil, nil //nolint:nilnil // none, or a choice for a person
	}
	return &found[0], nil
}

// sameBank reports whether two names may be of one bank: people write Sparkasse Nord for Sparkasse.
func sameBank(a, b string) bool {
	a, b = text.Fold(a), text.Fold(b)
	return strings.Contains(a, b) || strings.Contains(b, a)
}
