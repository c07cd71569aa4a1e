package simplefin

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/text"
)

const (
	fieldToken  = "setup_token"
	maxToken    = 2000
	sessionLife = 30 * time.Minute
)

// Session implements [bank.Linker]. The form needs no call to SimpleFIN.
func (s *SimpleFIN) Session(context.Context, bank.LinkRequest) (bank.Session, error) {
	return bank.Session{Token: rand.Text(), ExpiresAt: s.now().Add(sessionLife)}, nil
}

// Relink implements [bank.Relinker]: a new setup token results in a new address for the same
// accounts.
func (s *SimpleFIN) Relink(ctx context.Context, _ bank.Credentials, r bank.LinkRequest) (bank.Session, error) {
	return s.Session(ctx, r)
}

// Check implements [bank.Former].
func (s *SimpleFIN) Check(given json.RawMessage) error {
	_, err := s.claimURL(given)
	return err
}

// claimURL decodes the address in a setup token. People paste tokens from mail and chats, so
// blanks, quotes and missing padding are accepted.
func (s *SimpleFIN) claimURL(given json.RawMessage) (*url.URL, error) {
	var in map[string]string
	if json.Unmarshal(given, &in) != nil || strings.TrimSpace(in[fieldToken]) == "" || len(in[fieldToken]) > maxToken {
		return nil, errs.Field(fieldToken, "required",
			"is required: paste the setup token from your SimpleFIN server")
	}
	token := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) || strings.ContainsRune("\"'`<>=", r) {
			return -1
		}
		return r
	}, in[fieldToken])
	var plain []byte
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		if b, err := encoding.DecodeString(token); err == nil {
			plain = b
			break
		}
	}
	u, err := url.Parse(strings.TrimSpace(string(plain)))
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return nil, errs.Field(fieldToken, "pattern",
			"is incomplete or damaged; copy the whole token from your SimpleFIN server and paste it here")
	}
	if err := s.visitor.Judge(u); err != nil {
		return nil, errInward()
	}
	return u, nil
}

func errInward() error {
	return errs.Field(fieldToken, "address",
		"leads to an address that is not public, so nothing was sent; create the token on your "+
			"SimpleFIN server's own page")
}

// Exchange implements [bank.Linker]: it claims the token, which works once.
func (s *SimpleFIN) Exchange(ctx context.Context, _ string, given json.RawMessage) (bank.Linked, error) {
	u, err := s.claimURL(given)
	if err != nil {
		return bank.Linked{}, err
	}
	path := ""
	if u.RawQuery != "" {
		path = "?" + u.RawQuery
	}
	got, err := s.visitor.Do(ctx, u, bank.Call{Method: http.MethodPost, Path: path, Timeout: callTimeout})
	if e := bank.Classify(err); err != nil && e.Code == bank.CodeAddress {
		return bank.Linked{}, errInward()
	}
	if err != nil {
		return bank.Linked{}, err
	}
	switch {
	case got.Status == http.StatusForbidden || got.Status == http.StatusNotFound || got.Status == http.StatusGone:
		return bank.Linked{}, &bank.Error{
			Provider: name, Class: bank.Permanent, Code: "TOKEN_CLAIMED", Status: got.Status,
			Advice: "this setup token has been used before, or is not valid. If you did not use it, somebody " +
				"else may have: disable it on your SimpleFIN server, then create a new one",
		}
	case got.Status < 200 || got.Status > 299:
		return bank.Linked{}, s.refused(got)
	}
	a, ok := readAccess(strings.TrimSpace(string(got.Body)))
	if !ok || s.visitor.Judge(a.base) != nil {
		return bank.Linked{}, &bank.Error{
			Provider: name, Class: bank.Permanent, Code: bank.CodeMalformed,
			Advice: "the server did not answer with an access URL for a public address; create a new setup token",
		}
	}
	whole := *a.base
	whole.User = a.user
	stored, err := json.Marshal(credentials{whole.String()})
	return bank.Linked{Credentials: stored, InstitutionID: a.base.Hostname()}, err
}

// Accounts implements [bank.Provider].
func (s *SimpleFIN) Accounts(ctx context.Context, c bank.Credentials) ([]bank.Account, error) {
	a, err := s.open(c)
	if err != nil {
		return nil, err
	}
	got, err := s.get(ctx, a, url.Values{"balances-only": {"1"}})
	return got.ours(), err
}

// ours returns the accounts that have a currency. Points and miles have none.
func (a answer) ours() []bank.Account {
	var out []bank.Account
	for _, x := range a.listed {
		if x.account.Currency != "" && !slices.ContainsFunc(out,
			func(o bank.Account) bool { return o.ProviderID == x.account.ProviderID }) {
			out = append(out, x.account)
		}
	}
	return out
}

// bankName returns the name of a bank in one line.
func bankName(s bank.OptionalString) text.Untrusted { return text.Name(string(s)) }
