package plaid

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/text"
)

const hostedLife = 30 * time.Minute

type linkRequest struct {
	ClientName   string         `json:"client_name"`
	Language     string         `json:"language"`
	CountryCodes []string       `json:"country_codes"`
	User         linkUser       `json:"user"`
	Products     []string       `json:"products,omitempty"`
	Transactions *linkHistory   `json:"transactions,omitempty"`
	Webhook      string         `json:"webhook,omitempty"`
	RedirectURI  string         `json:"redirect_uri,omitempty"`
	Hosted       *linkHosted    `json:"hosted_link,omitempty"`
	AccessToken  string         `json:"access_token,omitempty"`
	Update       *linkSelection `json:"update,omitempty"`
}

type linkUser struct {
	ID string `json:"client_user_id"`
}

type linkHistory struct {
	Days int `json:"days_requested"`
}

type linkHosted struct {
	CompletionURI string `json:"completion_redirect_uri,omitempty"`
	Lifetime      int    `json:"url_lifetime_seconds"`
}

type linkSelection struct {
	Accounts bool `json:"account_selection_enabled"`
}

// Session implements [bank.Linker].
func (p *Plaid) Session(ctx context.Context, r bank.LinkRequest) (bank.Session, error) {
	in := p.link(r)
	in.Products = []string{"transactions"}
	in.Transactions = &linkHistory{historyDays}
	in.Webhook = r.Webhook
	return p.session(ctx, in)
}

// Test implements [bank.Tester]: it creates a session, which requires all settings to be right. An
// unused session costs nothing.
func (p *Plaid) Test(ctx context.Context) error {
	_, err := p.Session(ctx, bank.LinkRequest{User: "configuration-test"})
	return err
}

// Relink implements [bank.Relinker] with Link's update mode, which names no products.
func (p *Plaid) Relink(ctx context.Context, c bank.Credentials, r bank.LinkRequest) (bank.Session, error) {
	creds, err := p.open(c)
	if err != nil {
		return bank.Session{}, err
	}
	in := p.link(r)
	in.AccessToken = creds.AccessToken
	if r.Accounts {
		in.Update = &linkSelection{true}
	}
	return p.session(ctx, in)
}

func (p *Plaid) link(r bank.LinkRequest) linkRequest {
	in := linkRequest{ClientName: p.title, Language: p.language, CountryCodes: p.countries, User: linkUser{r.User}}
	if p.environment == "production" && !strings.HasPrefix(r.Redirect, "https://") {
		r.Redirect = "" // Plaid would reject the session; without it the member closes the page
	}
	if r.Hosted {
		in.Hosted = &linkHosted{r.Redirect, int(hostedLife / time.Second)}
	} else {
		in.RedirectURI = r.Redirect
	}
	return in
}

func (p *Plaid) session(ctx context.Context, in linkRequest) (bank.Session, error) {
	var out struct {
		Token      string    `json:"link_token"`
		Expiration time.Time `json:"expiration"`
		URL        string    `json:"hosted_link_url"`
	}
	if err := p.post(ctx, "/link/token/create", in, &out, 0); err != nil {
		return bank.Session{}, err
	}
	if out.Token == "" || in.Hosted != nil && out.URL == "" {
		return bank.Session{}, p.client.Malformed()
	}
	return bank.Session{
		Token: out.Token, URL: out.URL, ExpiresAt: out.Expiration,
		Config: map[string]any{"token": out.Token, "environment": p.environment},
	}, nil
}

// Exchange implements [bank.Linker]: a public token is exchanged once for an access token.
func (p *Plaid) Exchange(ctx context.Context, _ string, given json.RawMessage) (bank.Linked, error) {
	var in struct {
		PublicToken string `json:"public_token"`
	}
	if json.Unmarshal(given, &in) != nil || in.PublicToken == "" {
		return bank.Linked{}, errs.Field("credentials", "required",
			"pass the public_token that Link returned to onSuccess")
	}
	var creds credentials
	if err := p.post(ctx, "/item/public_token/exchange", in, &creds, 0); err != nil {
		return bank.Linked{}, err
	}
	if creds.AccessToken == "" || !bank.IsID(creds.ItemID) {
		return bank.Linked{}, p.client.Malformed()
	}
	stored, err := json.Marshal(creds) //nolint:gosec // credentials are made to be sealed
	if err != nil {
		return bank.Linked{}, err
	}
	out := bank.Linked{Credentials: stored, ConnectionID: creds.ItemID}
	// The public token cannot be used again, so a missing bank name must not fail the exchange.
	out.InstitutionID, out.InstitutionName = p.institution(ctx, creds)
	return out, nil
}

// institution returns the id and the name of an item's bank. They are empty if Plaid does not
// report them.
func (p *Plaid) institution(ctx context.Context, c credentials) (string, text.Untrusted) {
	var out struct {
		Item struct {
			ID   bank.OptionalString `json:"institution_id"`
			Name bank.OptionalString `json:"institution_name"`
		} `json:"item"`
	}
	if p.read(ctx, "/item/get", c, accountsRequest{AccessToken: c.AccessToken}, &out, 0) != nil ||
		!bank.IsID(string(out.Item.ID)) {
		return "", ""
	}
	return string(out.Item.ID), text.Name(string(out.Item.Name))
}

// added is an item that Link created, as the page and a hosted session report it.
type added struct {
	PublicToken string `json:"public_token"`
	Institution struct {
		ID bank.OptionalString `json:"institution_id"`
	} `json:"institution"`
	Accounts []struct {
		Name bank.OptionalString `json:"name"`
		Mask bank.OptionalString `json:"mask"`
	} `json:"accounts"`
}

// Glimpse implements [bank.Glimpser].
func (p *Plaid) Glimpse(given json.RawMessage) (string, []bank.Account) {
	var in added
	if json.Unmarshal(given, &in) != nil || !bank.IsID(string(in.Institution.ID)) {
		return "", nil
	}
	var accounts []bank.Account
	for _, a := range in.Accounts {
		accounts = append(accounts, bank.Account{Name: text.Name(string(a.Name)), Mask: string(a.Mask)})
	}
	return string(in.Institution.ID), accounts
}

// Widget implements [bank.Embedder]. Plaid serves its widget only from its own host, and without a
// version.
func (p *Plaid) Widget() bank.Widget {
	return bank.Widget{
		Script: cdn + "link/v2/stable/link-initialize.js", Frames: []string{cdn}, Assets: []string{cdn},
		Calls: []string{"https://" + p.environment + ".plaid.com/"}, Connect: name,
	}
}

const cdn = "https://cdn.plaid.com/"

// Outcome implements [bank.Hoster].
func (p *Plaid) Outcome(ctx context.Context, session string) (bank.Outcome, error) {
	var out struct {
		Sessions []struct {
			FinishedAt bank.OptionalString `json:"finished_at"`
			Results    *struct {
				Items []added `json:"item_add_results"`
			} `json:"results"`
		} `json:"link_sessions"`
	}
	if err := p.post(ctx, "/link/token/get", map[string]string{"link_token": session}, &out, 0); err != nil {
		return bank.Outcome{}, err
	}
	var o bank.Outcome
	for _, s := range out.Sessions {
		o.Done = o.Done || s.FinishedAt != ""
		if s.Results == nil {
			continue
		}
		for _, item := range s.Results.Items {
			given, err := json.Marshal(item)
			if err != nil {
				return bank.Outcome{}, err
			}
			o.Given = append(o.Given, given)
		}
	}
	return o, nil
}
