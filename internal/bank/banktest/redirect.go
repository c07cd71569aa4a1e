package banktest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"coffer/internal/bank"
)

// A Desk is a [Bank] that members choose from a list and sign in to on its own page. The simulated
// bank of a [bank.Chooser] must be a Desk.
type Desk interface {
	Bank
	// Country is the country of its banks.
	Country() string
	// Visit acts as a member on the bank's page who shares everything or leaves. It returns the
	// address to which the page redirects the browser.
	Visit(ctx context.Context, page string, leave bool) (string, error)
	// People returns the headers of the calls that identified a person, and the number of other
	// calls.
	People() (named []http.Header, without int)
}

// back is the address in coffer to which the browser returns.
const back = "https://coffer.example/link/return"

func deskOf(s Subject) (Desk, bank.Chooser, error) {
	c, ok := s.Provider.(bank.Chooser)
	if !ok {
		return nil, nil, nil
	}
	d, ok := s.Bank.(Desk)
	if !ok {
		return nil, nil, errors.New("the bank of a Chooser must be a Desk")
	}
	return d, c, nil
}

// choosing checks that each listed bank has a unique id, and that no link session begins for a bank
// that is not in the list.
func choosing(ctx context.Context, s Subject) error {
	d, c, err := deskOf(s)
	if d == nil {
		return err
	}
	listed, err := c.Institutions(ctx, d.Country())
	if err != nil || len(listed) == 0 {
		return fmt.Errorf("%d banks, %w", len(listed), err)
	}
	seen := map[string]bool{}
	for _, b := range listed {
		if !bank.IsID(b.ID) || seen[b.ID] || b.Name == "" || b.Country != d.Country() || b.Consent < 0 {
			return fmt.Errorf("a bank is listed as %+v", b)
		}
		seen[b.ID] = true
	}
	if none, err := c.Institutions(ctx, "AQ"); err != nil || len(none) != 0 {
		return fmt.Errorf("a country without banks has %d, %w", len(none), err)
	}
	linker, ok := s.Provider.(bank.Linker)
	if !ok {
		return errors.New("a Chooser must be a Linker")
	}
	for _, wrong := range []string{"", "nobody", listed[0].ID + "x"} {
		_, err := linker.Session(ctx, bank.LinkRequest{User: "member", Redirect: back, Institution: wrong})
		if _, fault := errors.AsType[*bank.Error](err); err == nil || fault {
			return fmt.Errorf("the bank %q begins with %w", wrong, err)
		}
	}
	return nil
}

// redirected returns the parameters with which the bank's page redirects back, except the state.
func redirected(to string, session bank.Session) (json.RawMessage, error) {
	u, err := url.Parse(to)
	if err != nil || !strings.HasPrefix(to, back+"?") || u.Query().Get("state") != session.Token {
		return nil, fmt.Errorf("the bank leads to another place than coffer, or another session: %w", err)
	}
	given := map[string]string{}
	for name := range u.Query() {
		if name != "state" {
			given[name] = u.Query().Get(name)
		}
	}
	return json.Marshal(given)
}

// redirecting links a bank on its own page and then renews the consent. It checks that the accounts
// and their rows stay the same, even if the provider gives the accounts new ids.
func redirecting(ctx context.Context, s Subject) error {
	d, c, err := deskOf(s)
	if d == nil {
		return err
	}
	linker, _ := s.Provider.(bank.Linker)
	listed, err := c.Institutions(ctx, d.Country())
	if err != nil {
		return err
	}
	begin := func() (bank.Session, error) {
		return linker.Session(ctx, bank.LinkRequest{User: "member", Redirect: back, Institution: listed[0].ID})
	}
	visit := func(at bank.Session, leave bool) (bank.Linked, error) {
		if at.URL == "" || at.Token == "" || strings.Contains(at.URL, at.Token) {
			return bank.Linked{}, fmt.Errorf("a session without a page, or that shows its token: %+v", at)
		}
		to, err := d.Visit(ctx, at.URL, leave)
		if err != nil {
			return bank.Linked{}, err
		}
		given, err := redirected(to, at)
		if err != nil {
			return bank.Linked{}, err
		}
		linked, err := linker.Exchange(ctx, at.Token, given)
		if err == nil {
			if _, err := linker.Exchange(ctx, at.Token, given); err == nil {
				return bank.Linked{}, errors.New("one sign-in makes two connections")
			}
		}
		return linked, err
	}
	first, err := begin()
	if err != nil {
		return err
	}
	if _, err := visit(first, true); err == nil || bank.Classify(err).Class != bank.Permanent ||
		s.discreet(err) != nil {
		return fmt.Errorf("a member who left: %w", err)
	}
	second, err := begin()
	if err != nil || second.Token == first.Token {
		return fmt.Errorf("two sessions have one token: %w", err)
	}
	linked, err := visit(second, false)
	if err != nil {
		return err
	}
	if linked.InstitutionID != listed[0].ID || linked.InstitutionName != listed[0].Name ||
		!linked.ConsentEnds.After(time.Now()) {
		return fmt.Errorf("a new connection is %+v, to %+v", linked, listed[0])
	}
	l := newLedger(s)
	if err := l.sync(ctx, nil); err != nil {
		return err
	}
	before := l.changed
	relinker, ok := s.Provider.(bank.Relinker)
	if !ok {
		return nil
	}
	renewal, err := relinker.Relink(ctx, s.Credentials, bank.LinkRequest{User: "member", Redirect: back})
	if err != nil {
		return err
	}
	renewed, err := visit(renewal, false)
	if err != nil {
		return err
	}
	if string(renewed.Credentials) == string(s.Credentials) {
		return errors.New("a new consent has the credentials of the one before")
	}
	l.s.Credentials = renewed.Credentials
	if err := l.sync(ctx, nil); err != nil {
		return err
	}
	if l.changed != before {
		return fmt.Errorf("%d rows changed because consent was renewed", l.changed-before)
	}
	return l.compare()
}

// attended checks that a pull identifies a present person to the bank, and otherwise nobody.
func attended(ctx context.Context, s Subject) error {
	d, _, err := deskOf(s)
	if d == nil || !s.Provider.Traits().PerLoop {
		return err
	}
	pull := func(p *bank.Person) error {
		_, err := s.Provider.Pull(ctx, s.Credentials, bank.Position{Person: p})
		return err
	}
	if err := pull(nil); err != nil {
		return err
	}
	if named, without := d.People(); len(named) != 0 || without == 0 {
		return fmt.Errorf("%d calls name a person who is not there", len(named))
	}
	if err := pull(bank.NewPerson("9.9.9.9", "Firefox")); err != nil {
		return err
	}
	named, _ := d.People()
	if len(named) == 0 {
		return errors.New("the bank does not learn that a person is there")
	}
	text := fmt.Sprint(named)
	if !strings.Contains(text, "9.9.9.9") || !strings.Contains(text, "Firefox") {
		return fmt.Errorf("the bank learns %s", text)
	}
	return nil
}
