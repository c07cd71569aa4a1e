package bank

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"coffer/internal/platform/text"
)

// A Linker can create a connection: the member signs in at the bank in the provider's own widget.
type Linker interface {
	// Session returns what the widget needs to start.
	Session(ctx context.Context, r LinkRequest) (Session, error)
	// Exchange exchanges the widget's result for credentials. Session is the token of the session
	// that the widget ran in, or "" if coffer did not start one.
	Exchange(ctx context.Context, session string, given json.RawMessage) (Linked, error)
}

// A Former connects a bank with a form: see [Link]. The values of the form's fields are the input
// of [Linker.Exchange], which the server calls once.
type Former interface {
	// Check returns an error if the values cannot be right. It does not send them anywhere.
	Check(given json.RawMessage) error
}

// A Chooser needs the member to choose a bank from its list first: see [Link.Institutions].
type Chooser interface {
	// Institutions lists the banks of a country, by its ISO 3166 code.
	Institutions(ctx context.Context, country string) ([]Institution, error)
}

// A Hoster runs the widget on its own page, so a session needs no page of coffer.
type Hoster interface {
	// Outcome returns the result of a session. Its parts are the input of [Linker.Exchange].
	Outcome(ctx context.Context, session string) (Outcome, error)
}

// An Embedder has a widget that can run in a page of coffer.
type Embedder interface {
	Widget() Widget
}

// A Glimpser can read from a widget's result which accounts it is about, before the exchange.
type Glimpser interface {
	// Glimpse reads the widget's result. The accounts have only a name and a mask. There are none
	// if the result does not contain them.
	Glimpse(given json.RawMessage) (institutionID string, accounts []Account)
}

// A Relinker lets the member sign in again without losing the connection. If its [Link] is ByPage,
// the credentials stay the same. Otherwise the sign-in results in new credentials for the same
// accounts.
type Relinker interface {
	Relink(ctx context.Context, c Credentials, r LinkRequest) (Session, error)
}

// A Revoker can end coffer's access. Credentials that are already invalid are not an error.
type Revoker interface {
	Revoke(ctx context.Context, c Credentials) error
}

// A Balancer can request current balances from the bank. The call is slow and may cost money: see
// [Traits].
type Balancer interface {
	// Balances reads the given accounts, or all if none is given. Values that the bank omits are
	// left out.
	Balances(ctx context.Context, c Credentials, accounts []string) ([]Account, error)
}

// A Rereader can retry a quarantined row.
type Rereader interface {
	// Reread reads a row of that account. The Reason is "" if the row could be read.
	Reread(raw Raw, a Account) (Transaction, Reason)
}

// A Tester can check whether the provider accepts its configuration. The call costs nothing and
// needs no connection.
type Tester interface {
	Test(ctx context.Context) error
}

// A Webhooker sends signed webhook events about connections.
type Webhooker interface {
	// Verify returns [ErrForged] unless the provider signed exactly this body recently. It may have
	// to fetch a key. An [*Error] means that it could not check the signature, and the provider
	// must send the event again.
	Verify(ctx context.Context, h http.Header, body []byte) (Event, error)
}

// A Capability is the name of one of the interfaces above.
type Capability string

// The capabilities that the interface reports.
const (
	CanLink    Capability = "link"
	CanRelink  Capability = "reauth"
	CanRevoke  Capability = "revoke"
	CanBalance Capability = "balances"
	CanWebhook Capability = "webhooks"
	CanTest    Capability = "test"
)

// Enum lists the values of the type.
func (Capability) Enum() []string {
	return []string{
		string(CanLink), string(CanRelink), string(CanRevoke), string(CanBalance), string(CanWebhook), string(CanTest),
	}
}

// Capabilities returns what the provider can do, in the order of Enum.
func (s Spec) Capabilities() []Capability {
	out := []Capability{}
	can := func(c Capability, ok bool) {
		if ok {
			out = append(out, c)
		}
	}
	_, link := s.Type.(Linker)
	_, relink := s.Type.(Relinker)
	_, revoke := s.Type.(Revoker)
	_, balance := s.Type.(Balancer)
	_, test := s.Type.(Tester)
	can(CanLink, link)
	can(CanRelink, relink)
	can(CanRevoke, revoke)
	can(CanBalance, balance)
	can(CanWebhook, s.Webhooks())
	can(CanTest, test)
	return out
}

// A LinkRequest is the data about a session that coffer sends to a provider.
type LinkRequest struct {
	User     string // an opaque id of the member
	Webhook  string // the address for webhook events; "" for none
	Redirect string // where the browser returns to; "" for none
	Hosted   bool   // use the provider's own page, if it is a [Hoster]
	Accounts bool   // for Relink: let the member choose the accounts again
	// The bank that the member chose, for a [Chooser]; not used by Relink.
	Institution string
}

// An Institution is a bank that a member can choose.
type Institution struct {
	ID      string // never changes
	Name    text.Untrusted
	Country string        // ISO 3166
	Consent time.Duration // the maximum duration of the bank's consent; 0 if unknown
	Trial   bool          // the provider's support for this bank is not finished
}

// A Session is one run of a provider's widget. If its [Link] is ByRedirect, the page redirects the
// browser to [LinkRequest.Redirect] with the Token as the parameter state. The other parameters, as
// strings, are the input of [Linker.Exchange].
type Session struct {
	Token     string // identifies the session; impossible to guess
	URL       string // the provider's own page; "" if the widget runs in coffer's page
	ExpiresAt time.Time
	Config    map[string]any // the widget's start configuration, without any secret of coffer
}

// A Widget lists what a page must allow the browser to load to run the widget. All addresses are
// complete and on the provider's own hosts.
type Widget struct {
	Script  string   // the widget itself
	Frames  []string // pages that it opens in frames
	Calls   []string // addresses that it calls
	Assets  []string // sources of its styles and pictures
	Connect string   // the function in the page's script that starts it
}

// Linked is a new connection.
type Linked struct {
	Credentials     Credentials
	ConnectionID    string // the provider's id, such as Plaid's item or Teller's enrollment
	InstitutionID   string
	InstitutionName text.Untrusted
	Signed          bool      // the provider signed the widget's result
	ConsentEnds     time.Time // when the member has to sign in again; zero if unknown
}

// An Outcome is the state of a hosted session.
type Outcome struct {
	Done  bool              // the member has finished or left
	Given []json.RawMessage // one result for each connection; none, with Done, if the member left
}

// MarshalJSON keeps tokens out of responses and logs.
func (o Outcome) MarshalJSON() ([]byte, error) { return []byte(`"[outcome]"`), nil }

// An Effect is the action that a webhook event requires.
type Effect uint8

const (
	// Nothing requires no action.
	Nothing Effect = iota
	// Sync reports new data.
	Sync
	// NeedsReauth says that the member must sign in again.
	NeedsReauth
	// Expiring reports that the member's consent ends at [Event.ExpiresAt], if that time is known.
	Expiring
	// Repaired says that the login works again.
	Repaired
	// Revoked says that access has ended for good.
	Revoked
	// NewAccounts says that the bank has accounts that the connection does not include.
	NewAccounts
	// AccountGone says that [Event.AccountID] is no longer shared.
	AccountGone
	// SessionDone says that the hosted session [Event.Session] has an outcome.
	SessionDone
)

var effects = [...]string{
	Nothing: "nothing", Sync: "sync", NeedsReauth: "needs_reauth", Expiring: "expiring", Repaired: "repaired",
	Revoked: "revoked", NewAccounts: "new_accounts", AccountGone: "account_gone", SessionDone: "session_done",
}

func (e Effect) String() string { return effects[e] }

// ParseEffect parses what String printed; any other text is an effect that requires no action.
func ParseEffect(s string) Effect { return Effect(max(slices.Index(effects[:], s), 0)) }

// An Event is the content of a webhook delivery.
type Event struct {
	ID           string // the same for a delivery and its repetitions
	Type         string // the provider's, such as TRANSACTIONS.SYNC_UPDATES_AVAILABLE
	Effect       Effect
	ConnectionID string // the provider's id; "" if the event is not about a connection
	AccountID    string
	Code         string    // for NeedsReauth, Expiring and Revoked: the reason
	Advice       string    // for NeedsReauth and Revoked: the action for a person
	Session      string    // for SessionDone
	ExpiresAt    time.Time // for Expiring; zero if unknown
}
