package enablebanking

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/text"
)

const (
	sessionLife = 30 * time.Minute
	// Banks reject a consent that is too long, even by a moment on their own clock.
	consentMargin = 24 * time.Hour
	// Requested if a bank does not state its maximum.
	consentUsual = 90 * 24 * time.Hour
)

// An aspsp is a bank in Enable Banking's list.
type aspsp struct {
	Name    string                `json:"name"`
	Country string                `json:"country"`
	Consent json.RawMessage       `json:"maximum_consent_validity"` // in seconds
	Beta    json.RawMessage       `json:"beta"`
	Users   []bank.OptionalString `json:"psu_types"`
}

// institution returns the bank as members choose it. Enable Banking identifies banks by their
// names, which may contain blanks and any letters.
func (a aspsp) institution() bank.Institution {
	out := bank.Institution{
		ID: institutionID(a.Name, a.Country), Name: text.Name(a.Name), Country: a.Country,
		Trial: string(a.Beta) == "true",
	}
	var seconds int64
	if json.Unmarshal(a.Consent, &seconds) == nil && seconds > 0 && seconds < 10*365*24*60*60 {
		out.Consent = time.Duration(seconds) * time.Second
	}
	return out
}

func institutionID(name, country string) string {
	sum := sha256.Sum256([]byte(name))
	return strings.ToUpper(country) + "-" + hex.EncodeToString(sum[:8])
}

// aspsps lists the banks of a country for personal customers.
func (e *EnableBanking) aspsps(ctx context.Context, country string) ([]aspsp, error) {
	var out struct {
		Banks []json.RawMessage `json:"aspsps"`
	}
	query := url.Values{"country": {country}, "psu_type": {"personal"}}
	if err := e.call(ctx, http.MethodGet, "/aspsps?"+query.Encode(), nil, nil, &out); err != nil {
		return nil, err
	}
	if out.Banks == nil {
		return nil, e.client.Malformed()
	}
	var banks []aspsp
	for _, raw := range out.Banks {
		var a aspsp
		if json.Unmarshal(raw, &a) != nil || text.Name(a.Name) == "" || !strings.EqualFold(a.Country, country) ||
			len(a.Users) > 0 && !slices.Contains(a.Users, "personal") {
			continue
		}
		banks = append(banks, a)
	}
	return banks, nil
}

// Institutions implements [bank.Chooser].
func (e *EnableBanking) Institutions(ctx context.Context, country string) ([]bank.Institution, error) {
	banks, err := e.aspsps(ctx, country)
	if err != nil {
		return nil, err
	}
	out := make([]bank.Institution, len(banks))
	for i, a := range banks {
		out[i] = a.institution()
	}
	return out, nil
}

// Session implements [bank.Linker].
func (e *EnableBanking) Session(ctx context.Context, r bank.LinkRequest) (bank.Session, error) {
	country, _, ok := strings.Cut(r.Institution, "-")
	if !ok {
		return bank.Session{}, errs.Field("institution_id", "required",
			"is required: {provider.institutions} lists the banks of a country")
	}
	return e.begin(ctx, r, country, func(a aspsp) bool { return institutionID(a.Name, a.Country) == r.Institution })
}

// Relink implements [bank.Relinker]: the member consents again, in a new session.
func (e *EnableBanking) Relink(ctx context.Context, c bank.Credentials, r bank.LinkRequest) (bank.Session, error) {
	creds, err := e.open(c)
	if err != nil {
		return bank.Session{}, err
	}
	return e.begin(ctx, r, creds.Country, func(a aspsp) bool { return a.Name == creds.Bank })
}

func (e *EnableBanking) begin(ctx context.Context, r bank.LinkRequest, country string, is func(aspsp) bool) (
	bank.Session, error,
) {
	banks, err := e.aspsps(ctx, country)
	if err != nil {
		return bank.Session{}, err
	}
	at := slices.IndexFunc(banks, is)
	if at < 0 {
		return bank.Session{}, errs.Field("institution_id", "unknown",
			"is not in the list of %s; {provider.institutions} lists the banks of a country", title)
	}
	state := rand.Text()
	in := map[string]any{
		"access": map[string]any{
			"valid_until": e.validUntil(banks[at]).Format(time.RFC3339), "balances": true, "transactions": true,
		},
		"aspsp": map[string]any{"name": banks[at].Name, "country": banks[at].Country}, "state": state,
		"redirect_url": cmp.Or(e.redirect, r.Redirect), "psu_type": "personal",
	}
	var out struct {
		URL string `json:"url"`
	}
	if err := e.call(ctx, http.MethodPost, "/auth", nil, in, &out); err != nil {
		return bank.Session{}, err
	}
	page, err := url.Parse(out.URL)
	if err != nil || page.Host == "" || page.Scheme != "https" && (!e.plain || page.Scheme != "http") {
		return bank.Session{}, e.client.Malformed()
	}
	return bank.Session{Token: state, URL: out.URL, ExpiresAt: e.now().Add(sessionLife)}, nil
}

// validUntil returns the end of the consent that coffer requests.
func (e *EnableBanking) validUntil(a aspsp) time.Time {
	longest := cmp.Or(a.institution().Consent, consentUsual)
	margin := min(consentMargin, longest/10)
	return e.now().UTC().Add(longest - margin).Truncate(time.Second)
}

// Exchange implements [bank.Linker]. Given are the parameters with which the bank's page redirected
// back.
func (e *EnableBanking) Exchange(ctx context.Context, _ string, given json.RawMessage) (bank.Linked, error) {
	var in struct {
		Code  string `json:"code"`
		Error string `json:"error"`
	}
	if json.Unmarshal(given, &in) != nil || in.Code == "" && in.Error == "" || len(in.Code) > 4000 {
		return bank.Linked{}, errs.Field("credentials", "required",
			"pass the code that the bank's page returned")
	}
	if in.Error != "" {
		return bank.Linked{}, &bank.Error{
			Provider: name, Class: bank.Permanent, Code: "NOT_AUTHORIZED",
			Advice: "the bank did not let coffer in: the sign-in was canceled, or the bank refused it; start again " +
				"to connect the bank",
		}
	}
	var out struct {
		Session  string            `json:"session_id"`
		Accounts []json.RawMessage `json:"accounts"`
		Bank     struct {
			Name    string `json:"name"`
			Country string `json:"country"`
		} `json:"aspsp"`
		Access struct {
			ValidUntil string `json:"valid_until"`
		} `json:"access"`
	}
	err := e.call(ctx, http.MethodPost, "/sessions", nil, map[string]string{"code": in.Code}, &out)
	if f := bank.Classify(err); err != nil && f.Class != bank.Later && f.Status != http.StatusUnauthorized {
		f.Class, f.Advice = bank.Permanent, "the sign-in at the bank is not valid any more; start again to connect "+
			"the bank"
		return bank.Linked{}, f
	}
	if err != nil {
		return bank.Linked{}, err
	}
	creds := credentials{
		Session: out.Session, Bank: out.Bank.Name, Country: out.Bank.Country, Accounts: readAccounts(out.Accounts),
	}
	if !bank.IsID(creds.Session) || creds.Bank == "" {
		return bank.Linked{}, e.client.Malformed()
	}
	if len(creds.Accounts) == 0 {
		return bank.Linked{}, &bank.Error{
			Provider: name, Class: bank.Permanent, Code: "NO_ACCOUNTS",
			Advice: "the bank shared no account with your application; link your accounts to it in Enable Banking's " +
				"control panel, then connect the bank again",
		}
	}
	stored, err := json.Marshal(creds)
	if err != nil {
		return bank.Linked{}, err
	}
	ends, _ := time.Parse(time.RFC3339, out.Access.ValidUntil) // zero if it states none
	return bank.Linked{
		Credentials: stored, ConnectionID: "", InstitutionID: institutionID(creds.Bank, creds.Country),
		InstitutionName: text.Name(creds.Bank), ConsentEnds: ends,
	}, nil
}

// Revoke implements [bank.Revoker].
func (e *EnableBanking) Revoke(ctx context.Context, c bank.Credentials) error {
	creds, err := e.open(c)
	if err != nil {
		return err
	}
	err = e.call(ctx, http.MethodDelete, "/sessions/"+url.PathEscape(creds.Session), nil, nil, nil)
	if f := bank.Classify(err); err != nil && (f.Class == bank.Permanent || f.Class == bank.Reauth ||
		f.Status == http.StatusNotFound) {
		return nil
	}
	return err
}
