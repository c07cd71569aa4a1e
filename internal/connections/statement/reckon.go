package statement

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/books/account"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A PreviewAccount is one of the accounts of a file, with what an import would do.
type PreviewAccount struct {
	Key        text.Untrusted         `json:"key" doc:"Untrusted: names the account in an import"`
	Name       *text.Untrusted        `json:"name,omitempty" doc:"Untrusted: as the file calls it"`
	IBAN       *text.Untrusted        `json:"iban,omitempty" doc:"Untrusted"`
	Mask       *text.Untrusted        `json:"mask,omitempty" doc:"Untrusted: the last characters of its number"`
	Currency   *money.Currency        `json:"iso_currency_code" doc:"null if the file does not say"`
	Type       *string                `json:"type,omitempty" enum:"depository,credit,loan,investment,other" doc:"If the file says"`
	Rows       int                    `json:"rows" doc:"Transactions that can be read"`
	Duplicates int64                  `json:"duplicates" doc:"Rows already stored in the chosen or suggested account"`
	Likely     int64                  `json:"likely_duplicates" doc:"Rows that another source seems to have brought; left out unless include_likely_duplicates is given"`
	Skipped    []ReasonCount          `json:"skipped" doc:"Lines that are no transactions, by reason"`
	Rejected   []LeftOut              `json:"rejected" doc:"The first unreadable rows"`
	Opening    *FilePoint             `json:"opening,omitempty" doc:"The balance before the rows, if the file states it"`
	Closing    *FilePoint             `json:"closing,omitempty" doc:"The balance after them"`
	Proof      account.StatementProof `json:"proof" doc:"Whether the file's balances would be explained"`
	Suggestion AccountSuggestion      `json:"suggestion"`
}

// A ReasonCount is the number of lines that were left out for a reason.
type ReasonCount struct {
	Reason string `json:"reason"`
	Count  int    `json:"count"`
}

// An AccountSuggestion is the account that a file is for.
type AccountSuggestion struct {
	AccountID *id.ID `json:"account_id,omitempty"`
	Why       string `json:"why" enum:"number,remembered,unknown" doc:"number: the account has this number. remembered: such files went there before. unknown: choose one, or create it"`
}

// Reasons why an account is suggested.
const (
	whyNumber     = "number"
	whyRemembered = "remembered"
	whyUnknown    = "unknown"
)

// A place is an account that a caller names or coffer suggests.
type place struct {
	under, into id.ID
	named       bool
}

// previewAccounts fills in the accounts of a file.
func (s *Statements) previewAccounts(ctx context.Context, q pg.Querier, in PreviewFile, d delivered, named place,
	out *FilePreview,
) error {
	all := d.portions()
	chosen, err := s.chosenPlaces(ctx, q, in)
	if err != nil {
		return err
	}
	var duplicates int64
	var balances *FileBalance
	for _, p := range all {
		a, err := s.previewPortion(ctx, q, p)
		if err != nil {
			return err
		}
		at, ok := chosen[p.key]
		switch suggested := a.Suggestion.AccountID; {
		case named.named:
			at = named
		case !ok && suggested != nil:
			at = place{*suggested, *suggested, true}
		}
		r, err := s.reckon(ctx, q, at, p)
		if err != nil {
			return err
		}
		a.Duplicates, a.Likely, a.Proof = r.known, r.likely, r.proof
		duplicates += r.known
		out.Warnings = append(out.Warnings, r.warnings...)
		if r.balance != nil {
			balances = r.balance
		}
		out.Accounts = append(out.Accounts, a)
	}
	if len(all) == 1 {
		out.SuggestedAccount = out.Accounts[0].Suggestion.AccountID
	}
	if out.Balance = balances; balances != nil && !balances.Proved {
		out.Warnings = append(out.Warnings, statement.Warning{
			Code: "balance_not_proved",
			Message: "the file's balances don't match the amounts of its rows, or there are too few; " +
				"balances are not stored",
		})
	}
	if named.named {
		out.Duplicates = &duplicates
	}
	return nil
}

// chosenPlaces returns the accounts that the caller chose, by the key of a portion. It looks up
// each account even if the file has no such portion, so that an unknown account is rejected as in
// an import.
func (s *Statements) chosenPlaces(ctx context.Context, q pg.Querier, in PreviewFile) (map[string]place, error) {
	out := map[string]place{}
	for i, c := range in.Accounts {
		if c.AccountID == nil {
			out[c.Key] = place{}
			continue
		}
		under, into, _, err := s.previewed(ctx, q, c.AccountID)
		if err != nil {
			return nil, errs.Within(fmt.Sprintf("accounts[%d]", i), err)
		}
		out[c.Key] = place{under, into, true}
	}
	return out, nil
}

// previewPortion returns what the file says about an account, and which stored account to suggest
// for it.
func (s *Statements) previewPortion(ctx context.Context, q pg.Querier, p portion) (PreviewAccount, error) {
	a := PreviewAccount{
		Key: text.Name(p.key), Rows: p.Rows, Skipped: []ReasonCount{}, Rejected: []LeftOut{},
	}
	for to, from := range map[**text.Untrusted]text.Untrusted{
		&a.Name: p.Name, &a.IBAN: p.IBAN, &a.Mask: text.Name(p.Mask()),
	} {
		if from != "" {
			*to = &from
		}
	}
	if c := p.currency(); c != "" {
		a.Currency = &c
	}
	if p.Type != "" {
		a.Type = &p.Type
	}
	for _, x := range p.Skipped {
		a.Skipped = append(a.Skipped, ReasonCount{x.Reason, x.Count})
	}
	for _, r := range p.Rejected {
		a.Rejected = append(a.Rejected, LeftOut{r.Row, r.Message})
	}
	a.Opening, a.Closing = p.ends()
	var err error
	a.Suggestion, err = s.suggestFor(ctx, q, p)
	return a, err
}

// A reckoning is the expected result of importing a portion into an account.
type reckoning struct {
	known, likely int64
	balance       *FileBalance // nil if the rows state none
	proof         account.StatementProof
	warnings      []statement.Warning
}

// reckon compares the rows of a portion with those of an account, which may have been merged into
// another. It also compares the rows of each file with those of the portion's earlier files.
func (s *Statements) reckon(ctx context.Context, q pg.Querier, at place, p portion) (out reckoning, err error) {
	var reports *reported
	if at.named {
		if reports, err = reportedOf(ctx, q, at.under); err != nil {
			return out, err
		}
	}
	var of *id.ID
	currency := p.currency()
	if at.named {
		of = &at.into
		if currency, err = currencyOf(ctx, q, at.into); err != nil {
			return out, err
		}
	}
	moves := map[pg.Date]money.Total{}
	balances := fileBalances{}
	stated, sum := false, money.Total{}
	var earlier []statement.Stored // rows of this portion's earlier files
	for n, f := range p.files {
		var replacing []replacement
		stated = stated || f.Balances
		ids, err := identify(ctx, q, at.into, f, earlier)
		if err != nil {
			return out, err
		}
		for row, err := range f.Rows(ctx) {
			if _, is := errors.AsType[*statement.RowError](err); is {
				continue
			}
			if err != nil {
				return out, err
			}
			in, err := fromFile(at.into, row, f.DefaultCurrency, "")
			if err != nil {
				return out, err
			}
			balances.add(in.Date, in.Currency, row)
			if row.Currency == f.Currency {
				if sum, err = sum.Add(row.Amount.Total()); err != nil {
					return out, err
				}
			}
			is := ids.Next(row)
			switch {
			case is.Stored && !is.Gone || is.Covered:
				out.known++
			case is.Likely || reports.awaits(row):
				out.likely++
			case is.Stored:
				out.known++
			case row.Extra != nil && row.Extra.Replaces != "" && at.named:
				replacing = append(replacing, replacement{of: row.Extra.Replaces, row: in})
			default:
				if n+1 < len(p.files) {
					earlier = append(earlier, statement.Stored{
						Key: is.Key, Date: row.Date, Cents: row.Amount.Cents(), Name: row.Name.Plain(),
					})
				}
				if in.Currency != currency {
					continue
				}
				if moves[in.Date], err = moves[in.Date].Add(row.Amount.Total()); err != nil {
					return out, err
				}
			}
		}
		if err := out.correct(ctx, q, at.into, f, replacing, moves); err != nil {
			return out, err
		}
	}
	if stated {
		out.balance = balances.preview()
	}
	closings := balances.closings(currency)
	if p.Currency == "" || p.Currency == currency {
		closings = append(closings, p.closings()...)
	}
	out.proof, err = s.accounts.ProveStatement(ctx, q, of, currency,
		account.Statement{Closings: closings, Moves: moves})
	out.warnings = p.stateBefore(out.proof, sum)
	return out, err
}

// identify compares the rows of a file with the account's rows on the days of the file and around
// them, including deleted ones. It also compares them with more, the rows that are about to be
// stored.
func identify(ctx context.Context, q pg.Querier, account id.ID, file statement.File, more []statement.Stored) (
	*statement.Identities, error,
) {
	var sought statement.Search
	var err error
	if !account.IsZero() {
		if sought, err = statement.SearchFor(ctx, file); err != nil {
			return nil, err
		}
	}
	if len(sought.Amounts) == 0 {
		return statement.Identify(ctx, file, more)
	}
	type row struct {
		Key    string       `db:"provider_id"`
		Date   pg.Date      `db:"date"`
		Amount money.Amount `db:"amount"`
		Name   string       `db:"name"`
		Gone   bool         `db:"gone"`
	}
	// Live and deleted rows are selected separately, because each kind has an index and both
	// together have none. Rows with amounts that the file does not have are left out, so that a
	// file with one odd date does not load the whole account. Rows of a batch are the exception:
	// their amounts differ from the batch's amount.
	rows, err := pg.All[row](ctx, q, `
		select t.provider_id, t.date, t.amount, d.name, t.gone
		from (
			select id, provider_id, date, amount, descriptor_id, false as gone from transaction
			where account_id = $1 and date between $2::date - $5::int and $3::date + $5::int
				and (amount * 100)::bigint = any($4) and deleted_at is null and origin = 'bank'
			union all
			select id, provider_id, date, amount, descriptor_id, true from transaction
			where account_id = $1 and date between $2::date - $5::int and $3::date + $5::int
				and (amount * 100)::bigint = any($4) and deleted_at is not null and origin = 'bank'
			union all
			select id, provider_id, date, amount, descriptor_id, false from transaction
			where account_id = $1 and date = any($6::date[]) and (amount * 100)::bigint <> all($4)
				and starts_with(provider_id, $7) and deleted_at is null and origin = 'bank'
			union all
			select id, provider_id, date, amount, descriptor_id, true from transaction
			where account_id = $1 and date = any($6::date[]) and (amount * 100)::bigint <> all($4)
				and starts_with(provider_id, $7) and deleted_at is not null and origin = 'bank') t
		join descriptor d on d.id = t.descriptor_id
		order by t.date, t.id`, account, file.FirstDate, file.LastDate, sought.Amounts, statement.Apart, sought.Days,
		statement.Batched)
	if err != nil {
		return nil, err
	}
	// Rows that the bank has since corrected, or has reported itself, can only be found by their
	// former keys. In a table without ids, a key has 32 digits and does not begin with the format.
	former, err := pg.All[struct {
		Key string `db:"provider_id"`
		Now string `db:"now"`
	}](ctx, q, `select a.provider_id, t.provider_id as now from transaction_alias a
			join transaction t on t.id = a.transaction_id and t.account_id = a.account_id
		where a.account_id = $1 and (starts_with(a.provider_id, $2) or length(a.provider_id) = 32)`, account,
		file.Format.Name)
	if err != nil {
		return nil, err
	}
	for _, f := range former {
		more = append(more, statement.Stored{Key: f.Key, Now: f.Now, Gone: true})
	}
	stored := make([]statement.Stored, len(rows), len(rows)+len(more))
	for i, r := range rows {
		stored[i] = statement.Stored{
			Key: r.Key, Date: r.Date.String(), Cents: r.Amount.Cents(), Name: r.Name, Gone: r.Gone,
		}
	}
	return statement.Identify(ctx, file, append(stored, more...))
}

// suggestFor returns the account of a portion. It is the account that files with the same number
// went into, else the only account whose number ends in the same digits, else the only account that
// files with the same columns went into.
func (s *Statements) suggestFor(ctx context.Context, q pg.Querier, p portion) (AccountSuggestion, error) {
	f := p.file()
	if f.AccountNumber == "" {
		f.AccountNumber = text.Name(strings.TrimSpace(p.IBAN.Plain() + p.Number.Plain()))
	}
	at, err := s.remembered(ctx, q, p)
	if err != nil || at != nil {
		return AccountSuggestion{at, whyRemembered}, err
	}
	if at, err = s.suggest(ctx, q, f, p); err != nil || at != nil {
		return AccountSuggestion{at, whyNumber}, err
	}
	if at, err = s.wentInto(ctx, q, f); err != nil || at != nil {
		return AccountSuggestion{at, whyRemembered}, err
	}
	return AccountSuggestion{Why: whyUnknown}, nil
}

// remembered returns the account that earlier files with the portion's number went into.
func (s *Statements) remembered(ctx context.Context, q pg.Querier, p portion) (*id.ID, error) {
	kind, number := p.numberOf()
	if number == "" {
		return nil, nil //nolint:nilnil // none
	}
	found, err := pg.Values[id.ID](ctx, q, `select distinct (statement_options->'into'->>$1)::uuid from connection
		where status <> 'disconnected' and statement_options->'into' ? $1`, digest(kind, number))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	survivors, err := s.accounts.Surviving(ctx, q, found)
	if err != nil {
		return nil, err
	}
	for i, f := range found {
		if into, merged := survivors[f]; merged {
			found[i] = into
		}
	}
	live, err := pg.Values[id.ID](ctx, q, `select id from account where id = any($1) and deleted_at is null
		and ($2 = '' or currency = $2)`, found, string(p.Currency))
	if err != nil || len(live) != 1 {
		return nil, err
	}
	return &live[0], nil
}
