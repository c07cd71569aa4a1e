package teller

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

const sessionLife = 30 * time.Minute

// Accounts implements [bank.Provider]. Each balance costs a call, so balances come only from
// [Teller.Balances].
func (t *Teller) Accounts(ctx context.Context, c bank.Credentials) ([]bank.Account, error) {
	creds, err := t.open(c)
	if err != nil {
		return nil, err
	}
	accounts, err := t.accounts(ctx, creds)
	if err != nil {
		return nil, err
	}
	out := make([]bank.Account, 0, len(accounts))
	for _, a := range accounts {
		out = append(out, a.ours())
	}
	return out, nil
}

// accounts returns the accounts that have a valid id.
func (t *Teller) accounts(ctx context.Context, c credentials) ([]account, error) {
	var raws []json.RawMessage
	if err := t.get(ctx, "/accounts", c, &raws); err != nil {
		return nil, err
	}
	if raws == nil {
		return nil, t.client.Malformed()
	}
	var out []account
	for _, raw := range raws {
		var a account
		if json.Unmarshal(raw, &a) == nil && bank.IsID(string(a.ID)) {
			out = append(out, a)
		}
	}
	return out, nil
}

// Balances implements [bank.Balancer]. It reads one account after another, because Teller's rate
// limits are unknown.
func (t *Teller) Balances(ctx context.Context, c bank.Credentials, only []string) ([]bank.Account, error) {
	creds, err := t.open(c)
	if err != nil {
		return nil, err
	}
	accounts, err := t.accounts(ctx, creds)
	if err != nil {
		return nil, err
	}
	var out []bank.Account
	for _, a := range accounts {
		if a.Links.Balances == "" || a.Status == "closed" || len(only) > 0 && !slices.Contains(only, string(a.ID)) {
			continue
		}
		var got struct {
			Ledger    json.RawMessage `json:"ledger"`
			Available json.RawMessage `json:"available"`
		}
		err := t.get(ctx, "/accounts/"+url.PathEscape(string(a.ID))+"/balances", creds, &got)
		if f, ok := errors.AsType[*bank.Error](err); ok && f.Status == http.StatusGone {
			continue
		}
		if err != nil {
			return nil, err
		}
		ours := a.ours()
		ours.Current, ours.Available = balance(got.Ledger), balance(got.Available)
		out = append(out, ours)
	}
	return out, nil
}

func balance(token json.RawMessage) *money.Amount {
	a, err := bank.ParseAmount(token)
	if err != nil {
		return nil
	}
	return &a
}

// Revoke implements [bank.Revoker].
func (t *Teller) Revoke(ctx context.Context, c bank.Credentials) error {
	creds, err := t.open(c)
	if err != nil {
		return err
	}
	err = t.call(ctx, http.MethodDelete, "/accounts", creds, nil)
	if err != nil && bank.Classify(err).Class == bank.Permanent {
		return nil
	}
	return err
}

// Test implements [bank.Tester]: without a token Teller reports that one is missing, but checks the
// certificate first.
func (t *Teller) Test(ctx context.Context) error {
	answer, err := t.client.Do(ctx, bank.Call{
		Method: http.MethodGet, Path: "/accounts",
		Header: http.Header{"Teller-Version": {version}},
	})
	if err != nil {
		return err
	}
	if answer.Status == http.StatusUnauthorized {
		return nil
	}
	if answer.Status == http.StatusOK {
		return t.client.Malformed()
	}
	return t.refused(answer)
}

// Session implements [bank.Linker]. Teller Connect runs in the browser only; the nonce ties its
// result to this session.
func (t *Teller) Session(context.Context, bank.LinkRequest) (bank.Session, error) {
	return t.session(), nil
}

// Widget implements [bank.Embedder].
func (t *Teller) Widget() bank.Widget { return t.widget }

// Relink implements [bank.Relinker]: Connect opens the enrollment's bank directly, and the existing
// token works again.
func (t *Teller) Relink(_ context.Context, c bank.Credentials, _ bank.LinkRequest) (bank.Session, error) {
	creds, err := t.open(c)
	if err != nil {
		return bank.Session{}, err
	}
	s := t.session()
	s.Config["enrollmentId"] = creds.EnrollmentID
	return s, nil
}

func (t *Teller) session() bank.Session {
	nonce := rand.Text()
	return bank.Session{
		Token: nonce, ExpiresAt: t.now().Add(sessionLife),
		Config: map[string]any{
			"applicationId": t.application, "environment": t.environment,
			"products": []string{"transactions", "balance"}, "selectAccount": "multiple", "nonce": nonce,
		},
	}
}

// Exchange implements [bank.Linker]. The result comes from the member's browser, so it is not
// trusted: Teller must accept the token, and confirm that it belongs to this enrollment.
func (t *Teller) Exchange(ctx context.Context, session string, given json.RawMessage) (bank.Linked, error) {
	var in struct {
		credentials
		UserID     string   `json:"user_id"`
		Signatures []string `json:"signatures"`
	}
	if json.Unmarshal(given, &in) != nil || in.AccessToken == "" || in.EnrollmentID == "" {
		return bank.Linked{}, errs.Field("credentials", "required",
			"pass the access_token and enrollment_id that Teller Connect returned to onSuccess")
	}
	accounts, err := t.accounts(ctx, in.credentials)
	if err != nil {
		return bank.Linked{}, err
	}
	if len(accounts) == 0 || slices.ContainsFunc(accounts,
		func(a account) bool { return string(a.EnrollmentID) != in.EnrollmentID }) {
		return bank.Linked{}, errs.Field("credentials.enrollment_id", "conflict",
			"the access token does not belong to this enrollment; connect the bank again")
	}
	stored, err := json.Marshal(in.credentials) //nolint:gosec // credentials are made to be sealed
	if err != nil {
		return bank.Linked{}, err
	}
	out := bank.Linked{
		Credentials: stored, ConnectionID: in.EnrollmentID,
		InstitutionName: text.Name(string(accounts[0].Institution.Name)),
	}
	if bank.IsID(string(accounts[0].Institution.ID)) {
		out.InstitutionID = string(accounts[0].Institution.ID)
	}
	out.Signed = session != "" && t.signed(strings.Join([]string{
		session, in.AccessToken, in.UserID, in.EnrollmentID,
		t.environment,
	}, "."), in.Signatures)
	return out, nil
}

// signed reports whether one of the signatures is valid for that message. Teller's documentation
// does not say whether the message or its hash is signed, nor in which encoding, so all of them are
// accepted.
func (t *Teller) signed(message string, signatures []string) bool {
	if t.signingKey == nil {
		return false
	}
	sum := sha256.Sum256([]byte(message))
	for _, s := range signatures {
		signature := decode(s, ed25519.SignatureSize)
		if signature != nil && (ed25519.Verify(t.signingKey, []byte(message), signature) ||
			ed25519.Verify(t.signingKey, sum[:], signature)) {
			return true
		}
	}
	return false
}

func signingKey(s string) []byte { return decode(s, ed25519.PublicKeySize) }

// decode reads n bytes in hex or any base64. It returns nil if it cannot.
func decode(s string, n int) []byte {
	for _, read := range []func(string) ([]byte, error){
		hex.DecodeString, base64.StdEncoding.DecodeString, base64.RawStdEncoding.DecodeString,
		base64.URLEncoding.DecodeString, base64.RawURLEncoding.DecodeString,
	} {
		if b, err := read(s); err == nil && len(b) == n {
			return b
		}
	}
	return nil
}
