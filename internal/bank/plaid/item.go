package plaid

import (
	"context"
	"encoding/json"
	"time"

	"coffer/internal/bank"
)

type accountsRequest struct {
	AccessToken string           `json:"access_token"`
	Options     *accountsOptions `json:"options,omitempty"`
}

type accountsOptions struct {
	AccountIDs []string `json:"account_ids,omitempty"`
}

// Accounts implements [bank.Provider]. The balances are the last ones that Plaid has read.
func (p *Plaid) Accounts(ctx context.Context, c bank.Credentials) ([]bank.Account, error) {
	return p.accounts(ctx, "/accounts/get", c, nil, 0)
}

// Balances implements [bank.Balancer]: Plaid asks the bank, which is slow.
func (p *Plaid) Balances(ctx context.Context, c bank.Credentials, accounts []string) ([]bank.Account, error) {
	return p.accounts(ctx, "/accounts/balance/get", c, accounts, liveTimeout)
}

func (p *Plaid) accounts(ctx context.Context, path string, c bank.Credentials, only []string,
	timeout time.Duration,
) ([]bank.Account, error) {
	creds, err := p.open(c)
	if err != nil {
		return nil, err
	}
	in := accountsRequest{AccessToken: creds.AccessToken}
	if len(only) > 0 {
		in.Options = &accountsOptions{only}
	}
	var out struct {
		Accounts []json.RawMessage `json:"accounts"`
	}
	if err := p.read(ctx, path, creds, in, &out, timeout); err != nil {
		return nil, err
	}
	if out.Accounts == nil {
		return nil, p.client.Malformed()
	}
	accounts := make([]bank.Account, 0, len(out.Accounts))
	for _, raw := range out.Accounts {
		if a, ok := readAccount(raw); ok {
			accounts = append(accounts, a)
		}
	}
	return accounts, nil
}

// Revoke implements [bank.Revoker]. It also ends Plaid's billing for the item.
func (p *Plaid) Revoke(ctx context.Context, c bank.Credentials) error {
	creds, err := p.open(c)
	if err != nil {
		return err
	}
	err = p.read(ctx, "/item/remove", creds, accountsRequest{AccessToken: creds.AccessToken}, &struct{}{}, 0)
	if err != nil {
		if e := bank.Classify(err); e.Class == bank.Permanent && (e.Revoked || e.Code == "INVALID_ACCESS_TOKEN") {
			return nil
		}
	}
	return err
}
