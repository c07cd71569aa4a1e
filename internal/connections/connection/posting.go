package connection

import (
	"context"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
)

// postsWithin is how long a pending charge may take to post.
const postsWithin = 14 * 24 * time.Hour

// succeed finds the posted rows of pending rows that disappear with this page. Some banks post a
// row under another id without a reference to the pending row. A posted row has the same amount and
// currency, a date within two weeks and a similar text. If no text is similar, a single row of that
// amount is enough. The result is written into the row as if the bank had sent it.
func (r *syncRun) succeed(ctx context.Context, q pg.Querier, page bank.Page, rows []ledger.Incoming) error {
	gone := map[id.ID][]string{}
	for _, x := range page.Removed {
		for provider, account := range r.accounts {
			if x.AccountID == "" || x.AccountID == provider {
				gone[account] = append(gone[account], x.ProviderID)
			}
		}
	}
	for _, whole := range page.Complete {
		if account, ok := r.accounts[whole.AccountID]; ok {
			absent, err := missing(ctx, q, account, pg.Day(whole.From), r.brought[account])
			if err != nil {
				return err
			}
			gone[account] = append(gone[account], absent...)
		}
	}
	for account, ids := range gone {
		pending, err := waitingAmong(ctx, q, account, ids)
		if err != nil {
			return err
		}
		pending = slices.DeleteFunc(pending, func(p waiting) bool {
			return slices.ContainsFunc(rows, func(in ledger.Incoming) bool { return in.PendingID == p.ProviderID })
		})
		if len(pending) == 0 {
			continue
		}
		stored, err := known(ctx, q, account, providerIDs(rows))
		if err != nil {
			return err
		}
		for _, p := range pending {
			if at := successor(p, account, rows, stored); at >= 0 {
				rows[at].PendingID = p.ProviderID
			}
		}
	}
	return nil
}

// reissue finds rows to which the bank has given new ids, in accounts that were read completely.
// The old id is gone, and a row with a new id has the same content. Such a row stays the same
// transaction, even if a person has deleted it.
func (r *syncRun) reissue(ctx context.Context, q pg.Querier, page bank.Page, rows []ledger.Incoming) error {
	for _, whole := range page.Complete {
		account, ok := r.accounts[whole.AccountID]
		if !ok {
			continue
		}
		stored, err := pg.All[identical](ctx, q, `
			select t.provider_id, t.date, t.amount, t.currency, d.name, d.merchant_name, d.detail from transaction t
				join descriptor d on d.id = t.descriptor_id
			where t.account_id = $1 and t.date >= $2 and not t.pending and t.origin = 'bank' and t.moved_from is null
				and (t.deleted_at is null or t.deleted_source is distinct from 'provider')
			order by t.date, t.id`, account, pg.Day(whole.From))
		if err != nil {
			return err
		}
		gone := map[identical][]string{}
		for _, s := range stored {
			if !r.brought[account][s.ProviderID] {
				key := s.content()
				gone[key] = append(gone[key], s.ProviderID)
			}
		}
		if len(gone) == 0 {
			continue
		}
		known, err := known(ctx, q, account, providerIDs(rows))
		if err != nil {
			return err
		}
		for i, in := range rows {
			key := identical{
				"", in.Date, in.Amount, in.Currency, in.Name.Plain(), in.MerchantName.Plain(), in.Detail.Plain(),
			}
			if left := gone[key]; in.AccountID == account && !in.Pending && in.PendingID == "" && len(left) > 0 &&
				!known[in.ProviderID] {
				rows[i].PendingID, rows[i].Reissued, gone[key] = left[0], true, left[1:]
			}
		}
	}
	return nil
}

// An identical holds the fields that make two rows the same, apart from their ids.
type identical struct {
	ProviderID string         `db:"provider_id"`
	Date       pg.Date        `db:"date"`
	Amount     money.Amount   `db:"amount"`
	Currency   money.Currency `db:"currency"`
	Name       string         `db:"name"`
	Merchant   string         `db:"merchant_name"`
	Detail     string         `db:"detail"`
}

func (i identical) content() identical {
	i.ProviderID = ""
	return i
}

func providerIDs(rows []ledger.Incoming) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.ProviderID
	}
	return out
}

// successor returns the index of the row that the pending row p became, or -1.
func successor(p waiting, account id.ID, rows []ledger.Incoming, known map[string]bool) int {
	var fit []int
	for i, in := range rows {
		apart := in.Date.Time().Sub(p.Date.Time()).Abs()
		if in.AccountID == account && !in.Pending && in.PendingID == "" && !known[in.ProviderID] &&
			in.Amount == p.Amount && in.Currency == p.Currency && apart <= postsWithin {
			fit = append(fit, i)
		}
	}
	for _, i := range fit {
		if alike(rows[i].Name.Plain(), p.Name) || p.Merchant != "" && alike(rows[i].MerchantName.Plain(), p.Merchant) {
			return i
		}
	}
	if len(fit) == 1 {
		return fit[0]
	}
	return -1
}

// alike reports whether two texts begin with the same word, whatever its case: banks add places,
// dates and numbers when a charge posts.
func alike(a, b string) bool {
	first := func(s string) string {
		word, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(s)), " ")
		return word
	}
	return first(a) != "" && first(a) == first(b)
}

// missing returns the bank's ids of an account's transactions since a day that the bank did not
// return in this sync. Deleted transactions are left out.
func missing(ctx context.Context, q pg.Querier, account id.ID, from pg.Date, brought map[string]bool) ([]string,
	error,
) {
	stored, err := pg.Values[string](ctx, q, `select provider_id from transaction
		where account_id = $1 and date >= $2 and deleted_at is null and origin = 'bank' and moved_from is null`, account,
		from)
	return slices.DeleteFunc(stored, func(row string) bool { return brought[row] }), err
}

// A waiting is a transaction that its bank has not posted yet.
type waiting struct {
	ProviderID string         `db:"provider_id"`
	Date       pg.Date        `db:"date"`
	Amount     money.Amount   `db:"amount"`
	Currency   money.Currency `db:"currency"`
	Name       string         `db:"name"`
	Merchant   string         `db:"merchant_name"`
}

// waitingAmong returns those of an account's transactions with the given provider ids that are
// pending, oldest first.
func waitingAmong(ctx context.Context, q pg.Querier, account id.ID, providerIDs []string) ([]waiting, error) {
	return pg.All[waiting](ctx, q, `
		select t.provider_id, t.date, t.amount, t.currency, d.name, d.merchant_name from transaction t
			join descriptor d on d.id = t.descriptor_id
		where t.account_id = $1 and t.provider_id = any($2) and t.pending and t.deleted_at is null and t.origin = 'bank'
			order by t.date, t.id`, account, providerIDs)
}

// known returns those of the given provider ids under which the account has a transaction, now or
// earlier.
func known(ctx context.Context, q pg.Querier, account id.ID, providerIDs []string) (map[string]bool, error) {
	found, err := pg.Values[string](ctx, q, `
		select provider_id from transaction where account_id = $1 and provider_id = any($2)
		union all select provider_id from transaction_alias where account_id = $1
			and provider_id = any($2)`, account, providerIDs)
	out := make(map[string]bool, len(found))
	for _, f := range found {
		out[f] = true
	}
	return out, err
}

// oldestPending returns the day of a connection's oldest pending transaction, or the zero Date if
// there is none.
func oldestPending(ctx context.Context, q pg.Querier, connection id.ID) (pg.Date, error) {
	day, err := pg.Value[*pg.Date](ctx, q, `
		select min(t.date) from account a join transaction t on t.account_id = a.id
			where a.connection_id = $1 and t.pending and t.deleted_at is null and t.origin = 'bank'
				and t.moved_from is null`, connection)
	if err != nil || day == nil {
		return pg.Date{}, err
	}
	return *day, nil
}
