// Package simplefin reads accounts and transactions through a SimpleFIN server. It must not know
// what happens to them: it translates between SimpleFIN's protocol and the terms of package bank.
package simplefin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"coffer/internal/bank"
)

const (
	name  = "simplefin"
	title = "SimpleFIN"
	// A response has all rows of at most 90 days. Longer ranges are cut without notice.
	chunkDays = 89
	// Rows may appear weeks late, so these days are read again.
	windowDays = 45
	// These days before a window are read too: otherwise a row whose date moved to just before the
	// window would seem removed.
	marginDays = 3
	// Banks return 60 to 90 days of history, seldom more. When two chunks in a row are empty, the
	// whole history has been read.
	emptyChunks = 2
	historyDays = 8 * chunkDays
	// SimpleFIN allows 24 calls a day.
	dailyCalls = 20
	// The server asks many banks before it responds.
	callTimeout = 2 * time.Minute
)

// A Config is an installation's configuration of SimpleFIN. All fields are optional.
type Config struct {
	Home string           // address of the household's own server or of a simulator; "" for none
	Now  func() time.Time // time.Now if nil
}

// A SimpleFIN is the provider.
type SimpleFIN struct {
	visitor *bank.Visitor
	home    string
	now     func() time.Time
}

var (
	_ bank.Provider = (*SimpleFIN)(nil)
	_ bank.Linker   = (*SimpleFIN)(nil)
	_ bank.Former   = (*SimpleFIN)(nil)
	_ bank.Relinker = (*SimpleFIN)(nil)
	_ bank.Rereader = (*SimpleFIN)(nil)
	_ bank.Guided   = (*SimpleFIN)(nil)
)

// New returns the provider for the configuration.
func New(c Config) (*SimpleFIN, error) {
	visitor, err := bank.NewVisitor(name, c.Home)
	if err != nil {
		return nil, err
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return &SimpleFIN{visitor, c.Home, c.Now}, nil
}

// Name implements [bank.Provider].
func (s *SimpleFIN) Name() string { return name }

// Guide implements [bank.Guided].
func (s *SimpleFIN) Guide() string {
	if s.home == "" {
		return ""
	}
	return strings.TrimSuffix(s.home, "/") + "/create"
}

// Traits implements [bank.Provider].
func (s *SimpleFIN) Traits() bank.Traits {
	return bank.Traits{
		Title: title, Shape: bank.Window, WindowDays: windowDays, HistoryDays: historyDays, MinInterval: 6 * time.Hour,
		Lists: true, DailyCalls: dailyCalls,
	}
}

// credentials is the stored form of a connection.
type credentials struct {
	AccessURL string `json:"access_url"`
}

// An access is the address of the data, with its user and password.
type access struct {
	base *url.URL // without the secrets
	user *url.Userinfo
}

// open reads stored credentials.
func (s *SimpleFIN) open(c bank.Credentials) (at access, err error) {
	var stored credentials
	err = c.Open(name, &stored, func() (ok bool) {
		at, ok = readAccess(stored.AccessURL)
		return ok
	})
	return at, err
}

// readAccess reads an access URL.
func readAccess(s string) (access, bool) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User == nil || u.RawQuery != "" || u.Fragment != "" {
		return access{}, false
	}
	a := access{user: u.User}
	u.User = nil
	a.base = u
	return a, true
}

// get requests accounts.
func (s *SimpleFIN) get(ctx context.Context, a access, query url.Values) (answer, error) {
	req := http.Request{Header: http.Header{}}
	password, _ := a.user.Password()
	req.SetBasicAuth(a.user.Username(), password)
	query.Set("version", "2") // an older server ignores it and responds as before
	got, err := s.visitor.Do(ctx, a.base, bank.Call{
		Method: http.MethodGet, Path: "/accounts?" + query.Encode(), Header: req.Header, Timeout: callTimeout,
	})
	if err != nil {
		return answer{}, err
	}
	if got.Status < 200 || got.Status > 299 {
		return answer{}, s.refused(got)
	}
	var out answer
	if json.Unmarshal(got.Body, &out) != nil || out.Accounts == nil {
		return answer{}, s.visitor.Malformed()
	}
	out.settle()
	return out, out.refused()
}
