package connection

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/notify"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A BankState is one of several banks that a connection reads.
type BankState struct {
	Name          text.Untrusted `json:"name" doc:"Untrusted: the bank's name as the provider gives it"`
	Status        string         `json:"status" enum:"active,error,pending_reauth"`
	StatusReason  *string        `json:"status_reason" doc:"A stable error code"`
	StatusMessage *string        `json:"status_message" doc:"What to do about it"`
	AccountsCount int            `json:"accounts_count"`
}

// bankColumn selects the banks of a connection c as the API shows them.
const bankColumn = `(select coalesce(jsonb_agg(jsonb_build_object('name', b ->> 'name', 'status', b ->> 'status',
			'status_reason', b -> 'reason', 'status_message', b -> 'message',
			'accounts_count', jsonb_array_length(b -> 'accounts'))), '[]') from jsonb_array_elements(c.banks) b) as banks,`

// A bankState is a bank as it is stored.
type bankState struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Status   string   `json:"status"`
	Reason   *string  `json:"reason"`
	Message  *string  `json:"message"`
	Accounts []string `json:"accounts"`
}

// bankStates are the banks that the pages of a sync have named.
type bankStates []bankState

func (s *bankStates) of(id, name string) *bankState {
	at := slices.IndexFunc(*s, func(b bankState) bool { return b.ID == id })
	if at < 0 {
		at = len(*s)
		*s = append(*s, bankState{ID: id, Status: "active", Accounts: []string{}})
	}
	b := &(*s)[at]
	b.Name = cmp.Or(name, b.Name)
	return b
}

// hear notes what a page says about accounts and banks. If a provider lists its accounts on the
// same pages as the rows, hear stores the accounts first.
func (r *syncRun) hear(ctx context.Context, page bank.Page) error {
	if r.provider.Traits().Lists && r.accounts == nil {
		if err := r.settleAccounts(ctx, page.Accounts); err != nil {
			return err
		}
	}
	for _, a := range page.Accounts {
		if a.BankID == "" {
			continue
		}
		if b := r.banks.of(a.BankID, a.BankName.Plain()); !slices.Contains(b.Accounts, a.ProviderID) {
			b.Accounts = append(b.Accounts, a.ProviderID)
		}
	}
	for _, t := range page.Troubles {
		b := r.banks.of(t.BankID, t.BankName.Plain())
		if b.Status == "pending_reauth" {
			continue // a person can fix that, so it is more important than other errors
		}
		b.Status, b.Reason, b.Message = "error", &t.Code, &t.Advice
		if t.Class == bank.Reauth {
			b.Status = "pending_reauth"
		}
	}
	return nil
}

// settleBanks stores the states of the banks with the last page of a loop. It notifies people if a
// bank needs them to sign in since this sync. A bank in trouble may list no accounts; it then keeps
// the accounts it had.
func (r *syncRun) settleBanks(ctx context.Context, tx pg.Tx) ([]bankState, error) {
	stored, err := pg.Value[[]byte](ctx, tx, `select banks::text::bytea from connection where id = $1`, r.link.ID)
	if err != nil || len(r.banks) == 0 && string(stored) == "[]" {
		return nil, err
	}
	var before bankStates
	if err := json.Unmarshal(stored, &before); err != nil {
		return nil, fmt.Errorf("stored banks: %w", err)
	}
	asks := false
	var names []string
	for i := range r.banks {
		b := &r.banks[i]
		at := slices.IndexFunc(before, func(o bankState) bool { return o.ID == b.ID })
		var was bankState
		if at >= 0 {
			was = before[at]
		}
		if b.Status != "active" && len(b.Accounts) == 0 && was.Accounts != nil {
			b.Accounts = was.Accounts
		}
		asks = asks || b.Status == "pending_reauth" && was.Status != b.Status
		if b.Name != "" {
			names = append(names, b.Name)
		}
	}
	slices.SortStableFunc(r.banks, func(x, y bankState) int { return cmp.Compare(x.Name, y.Name) })
	plain, err := json.Marshal(append([]bankState{}, r.banks...))
	if err != nil {
		return nil, fmt.Errorf("print banks: %w", err)
	}
	if _, err := pg.Exec(ctx, tx, `update connection set banks = $2,
		institution_name = coalesce(nullif(institution_name, ''), nullif($3, '')), updated_at = clock_timestamp()
		where id = $1`, r.link.ID, string(plain), named(names).Plain()); err != nil {
		return nil, err
	}
	if asks {
		err = tell(ctx, tx, notify.NeedsSignIn, r.link.ID)
	}
	return r.banks, err
}

// excused returns the accounts of banks in trouble. If the provider does not list them, they are
// not treated as removed.
func excused(banks []bankState) []string {
	var out []string
	for _, b := range banks {
		if b.Status != "active" {
			out = append(out, b.Accounts...)
		}
	}
	return out
}
