package statement

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/bank/statement"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// postingDays is how many days a bank may take to post a transaction that it reports as pending.
const postingDays = 14

// reported is the day up to which the bank of a linked account has reported everything that a file
// may have. A file adds rows that are older than the bank's first row, and rows before that day
// that the bank left out. The bank may still report newer rows itself. They would have another id
// and text, so nothing would show that they are the same.
type reported struct {
	until string // YYYY-MM-DD; empty if the bank has reported nothing yet
}

// reportedOf returns nil for an account that gets its rows only from files.
func reportedOf(ctx context.Context, q pg.Querier, account id.ID) (*reported, error) {
	linked, err := pg.Value[bool](ctx, q, `select exists (select from account a join connection c on c.id = a.connection_id
		where a.id = $1 and c.provider <> $2)`, account, bank.CSV)
	if err != nil || !linked {
		return nil, err
	}
	// A pending row may post with another amount, so days from the oldest pending row on are
	// incomplete.
	until, err := pg.Value[*pg.Date](ctx, q, `
		with own as (
			select date, pending from transaction where account_id = $1 and moved_from is null and origin = 'bank'
				and deleted_at is null
			union all
			select date, pending from transaction where moved_from = $1 and origin = 'bank' and deleted_at is null)
		select least(max(o.date), min(o.date) filter (where o.pending and o.date > l.day - $2::int)) - $3::int
		from own o cross join (select max(date) as day from own) l`, account, postingDays, statement.Apart)
	if err != nil || until == nil {
		return &reported{}, err
	}
	return &reported{until.String()}, nil
}

// awaits reports whether the bank may still report a row that it has not reported yet.
func (r *reported) awaits(row statement.Row) bool {
	return r != nil && r.until != "" && row.Date > r.until
}

// suggest returns the only account whose number ends in the same digits as the file's, if nothing
// contradicts: the bank, currency and type match, and no file of the account had another number.
// Four digits are not unique, so if several accounts match, a person must choose. Without a number
// it suggests none: rows in the wrong account mix two accounts, while a superfluous new account can
// be merged later.
func (s *Statements) suggest(ctx context.Context, q pg.Querier, f statement.File, p portion) (*id.ID, error) {
	mask := statement.Mask(f.AccountNumber.Plain())
	if mask == "" {
		return nil, nil //nolint:nilnil // the comment says so
	}
	rows, err := pg.All[struct {
		ID       id.ID          `db:"id"`
		Bank     string         `db:"bank"`
		Currency money.Currency `db:"currency"`
		Type     string         `db:"type"`
	}](ctx, q, `select a.id, coalesce(a.institution_name, c.institution_name, '') as bank, a.currency, a.type
		from account a
		join connection c on c.id = a.connection_id
		where a.deleted_at is null and c.status <> 'disconnected' and lower(a.mask) = lower($1)
			order by a.id limit 100`, mask)
	if err != nil {
		return nil, err
	}
	var found []id.ID
	currency := cmp.Or(p.Currency, f.Currency)
	for _, r := range rows {
		switch {
		case f.Bank != "" && !sameBank(r.Bank, f.Bank):
		case currency != "" && currency != r.Currency:
		case p.Type != "" && r.Type != bank.Other && p.Type != r.Type:
		default:
			found = append(found, r.ID)
		}
	}
	if len(found) != 1 {
		return nil, nil //nolint:nilnil // none, or a choice for a person
	}
	other, err := s.otherNumber(ctx, q, found[0], p)
	if err != nil || other {
		return nil, err
	}
	return &found[0], nil
}

// otherNumber reports whether earlier files of the account had another number of the same kind.
func (s *Statements) otherNumber(ctx context.Context, q pg.Querier, account id.ID, p portion) (bool, error) {
	kind, number := p.numberOf()
	if number == "" {
		return false, nil
	}
	with, err := pg.Values[id.ID](ctx, q, `select distinct e.account::uuid
		from connection c, jsonb_each_text(c.statement_options->'into') e (number, account)
		where starts_with(e.number, $1) and e.number <> $2`, kind+":", digest(kind, number))
	if err != nil || len(with) == 0 {
		return false, err
	}
	survivors, err := s.accounts.Surviving(ctx, q, with)
	return slices.ContainsFunc(with, func(a id.ID) bool { return a == account || survivors[a] == account }), err
}

// sameNumber returns an error if earlier files of the account with the wanted name had another
// number than the portion. Otherwise accounts of two banks with the same name would be mixed.
func (s *Statements) sameNumber(ctx context.Context, q pg.Querier, a fileAccount, p portion) error {
	at, err := s.remembered(ctx, q, p)
	if err != nil || at != nil && *at == a.Into {
		return err
	}
	if other, err := s.otherNumber(ctx, q, a.Into, p); err != nil || !other {
		return err
	}
	return taken([]fileAccount{a}, "the connection has %d account with this name but another number (%s); pass its "+
		"account_id, or choose another name")
}

// sameBank reports whether two names may mean the same bank: people write Sparkasse Nord for
// Sparkasse.
func sameBank(a, b string) bool {
	a, b = text.Fold(a), text.Fold(b)
	return strings.Contains(a, b) || strings.Contains(b, a)
}
