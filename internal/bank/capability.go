package bank

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"coffer/internal/platform/text"
)

// A Linker can start a connection: the member signs in at the bank in the provider's own widget.
type Linker interface {
	// Session makes what the widget needs.
	Session(ctx context.Context, r LinkRequest) (Session, error)
	// Exchange makes credentials of what the widget gave. Session is the token of the session that
	// it ran in, "" if none of ours.
	Exchange(ctx context.Context, session string, given json.RawMessage) (Linked, error)
}

// A Former links by the form of its [Link]: what [Linker.Exchange] takes are the values of its
// fields, which are exchanged once, on the server.
type Former interface {
	// Check returns an error if the values cannot be right. It sends them nowhere.
	Check(given json.RawMessage) error
}

// A Chooser links the bank that the member chose in its list before: see [Link.Institutions].
type Chooser interface {
	// Institutions lists the banks of a country, by its ISO 3166 code.
	Institutions(ctx context.Context, country string) ([]Institution, error)
}

// A Hoster has its own page where the widget runs, so a session needs no page of coffer.
type Hoster interface {
	// Outcome returns how a session went; [Linker.Exchange] takes its result.
	Outcome(ctx context.Context, session string) (Outcome, error)
}

// An Embedder has a widget that can run in a page of coffer.
type Embedder interface {
	Widget() Widget
}

// A Glimpser can report whose accounts a widget returned before anything is exchanged for them.
type Glimpser interface {
	// Glimpse reads what the widget gave. Accounts have a name and a mask alone; none where it does
	// not say.
	Glimpse(given json.RawMessage) (institutionID string, accounts []Account)
}

// A Relinker can let the member sign in again without losing the connection. Its credentials stay
// the same where its [Link] is ByPage; in the other ways, linking gives new ones for the same
// accounts.
type Relinker interface {
	Relink(ctx context.Context, c Credentials, r LinkRequest) (Session, error)
}

// A Revoker can give up access. Credentials that are already invalid are not an error.
type Revoker interface {
	Revoke(ctx context.Context, c Credentials) error
}

// A Balancer can get current balances from the bank. The call is slow and may cost money: see
// [Traits].
type Balancer interface {
	// Balances reads those accounts, or all if none is named. Values that the bank omits are left
	// out.
	Balances(ctx context.Context, c Credentials, accounts []string) ([]Account, error)
}

// A Rereader can retry a quarantined row.
type Rereader interface {
	// Reread reads a row of that account. The Reason is "" where it could be read.
	Reread(raw Raw, a Account) (Transaction, Reason)
}

// A Tester can check whether the provider accepts its configuration, by a call that costs nothing
// and needs no connection.
type Tester interface {
	Test(ctx context.Context) error
}

// A Webhooker sends signed webhook events about connections.
type Webhooker interface {
	// Verify returns [ErrForged] unless the provider signed exactly this body a moment ago. It may
	// have to fetch a key: an [*Error] means that nothing is known yet, and the provider must send
	// the delivery again.
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

// Capabilities are what the provider can do, in the order of Enum.
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
	User     string // an id of the member that is meaningless to a stranger
	Webhook  string // where hints are to be sent; "" for none
	Redirect string // where the browser comes back to; "" for none
	Hosted   bool   // on the provider's own page, if it is a [Hoster]
	Accounts bool   // of Relink: let the member choose the accounts again
	// The bank that the member chose, of a [Chooser]; not of Relink.
	Institution string
}

// An Institution is a bank that a member can choose.
type Institution struct {
	ID      string // the same at any time
	Name    text.Untrusted
	Country string        // ISO 3166
	Consent time.Duration // how long the bank lets coffer in at most; 0 if unknown
	Trial   bool          // the provider has not finished it
}

// A Session is one run of a provider's widget. If its [Link] is ByRedirect, the page leads the
// browser back to [LinkRequest.Redirect] with the Token as the parameter state, and what
// [Linker.Exchange] takes are the other parameters, as strings.
type Session struct {
	Token     string // names the session; not to be guessed
	URL       string // the provider's own page; "" if the widget runs in ours
	ExpiresAt time.Time
	Config    map[string]any // what the widget is started with; no secret of coffer's is in it
}

// A Widget lists what a page must let a browser load to run the widget: full addresses on the
// provider's own hosts.
type Widget struct {
	Script  string   // the widget itself
	Frames  []string // what it opens
	Calls   []string // whom it asks
	Assets  []string // where its styles and pictures come from
	Connect string   // how it is started: the name of that function in the page's script
}

// Linked is a new connection.
type Linked struct {
	Credentials     Credentials
	ConnectionID    string // the provider's: Plaid's item, Teller's enrolment
	InstitutionID   string
	InstitutionName text.Untrusted
	Signed          bool      // the provider signed what the widget gave
	ConsentEnds     time.Time // when the member has to sign in again; zero if unknown
}

// An Outcome is the state of a hosted session.
type Outcome struct {
	Done  bool              // the member is through, or has left
	Given []json.RawMessage // one for each connection that was made; none and Done: the member left
}

// MarshalJSON keeps tokens out of responses and logs.
func (o Outcome) MarshalJSON() ([]byte, error) { return []byte(`"[outcome]"`), nil }

// An Effect is what a webhook asks for.
type Effect uint8

const (
	// Nothing is to be done.
	Nothing Effect = iota
	// Sync says that there is news.
	Sync
	// NeedsReauth says that the member must sign in again.
	NeedsReauth
	// Expiring says that the member's consent ends at [Event.ExpiresAt], if that is known.
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

// An Event is the content of a webhook.
type Event struct {
	ID           string // the same for a delivery and its repetitions
	Type         string // the provider's, such as TRANSACTIONS.SYNC_UPDATES_AVAILABLE
	Effect       Effect
	ConnectionID string // the provider's; "" if the event is about none
	AccountID    string
	Code         string    // of NeedsReauth, Expiring and Revoked: why
	Advice       string    // for NeedsReauth and Revoked: the action for a person
	Session      string    // of SessionDone
	ExpiresAt    time.Time // of Expiring; zero if unknown
}
