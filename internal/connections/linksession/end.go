package linksession

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// Codes of sessions that failed or that wait for a decision, in addition to the providers' codes.
const (
	codeExpired   = "SESSION_EXPIRED"
	codeLeft      = "SESSION_LEFT"
	codeDuplicate = "SEEMS_LINKED" // the session has not ended: a person decides
)

// A Visit is a session as its page shows it.
type Visit struct {
	LinkOutcome
	Reauth      bool
	Provider    string // its display name
	HostedURL   string // the provider's own page
	Widget      bank.Widget
	Config      map[string]any // the widget's start configuration
	Institution text.Untrusted
	RedirectURL string
	Decide      bool         // the bank seems to be connected already, so the member must decide
	Fields      []bank.Field // of the provider's form; none if it has a widget
	Guide       string       // explains where the member finds the values of the form
	Returns     bool         // the provider's page leads back to coffer by itself
}

// Visit returns the session of a token for its page. For a hosted session it asks the provider for
// the outcome.
func (l *Sessions) Visit(ctx context.Context, token string) (Visit, error) {
	s, err := findSession(ctx, l.db, token)
	if err != nil {
		return Visit{}, err
	}
	if s.State == "pending" && (s.Hosted || s.Expired) {
		_ = l.look(ctx, s) // if the provider does not answer, the page shows the last state
		if s, err = findSession(ctx, l.db, token); err != nil {
			return Visit{}, err
		}
	}
	v := Visit{
		LinkOutcome: s.outcome(), Reauth: s.Purpose == "reauth",
		Decide: s.State == "pending" && s.ErrorCode != nil,
	}
	if s.RedirectURL != nil {
		v.RedirectURL = *s.RedirectURL
	}
	if s.ConnectionID != nil {
		if v.Institution, err = pg.Value[text.Untrusted](ctx, l.db, `select coalesce(institution_name, '')
			from connection where id = $1`, *s.ConnectionID); err != nil {
			return Visit{}, err
		}
	}
	provider, err := l.connections.Configured(ctx, s.Provider)
	if err != nil {
		return v, err
	}
	v.Provider = provider.Traits().Title
	if s.State == "pending" {
		sec, err := l.openSecret(s)
		if err != nil {
			return Visit{}, err
		}
		v.HostedURL, v.Config, v.Returns = sec.URL, sec.Config, redirects(s.Provider)
		if e, ok := provider.(bank.Embedder); ok {
			v.Widget = e.Widget()
		}
		if spec, _ := all.Find(s.Provider); spec.Link.Way == bank.ByForm {
			v.Fields, v.Guide = spec.Link.Fields, spec.GuideOf(provider)
		}
	}
	return v, nil
}

// Complete ends a session with the widget's result. With anyway it uses an earlier result, which
// was held back because the bank seems to be connected already. It does not change a session that
// has ended, so a second call is harmless.
func (l *Sessions) Complete(ctx context.Context, token string, given json.RawMessage, anyway bool) error {
	s, err := findSession(ctx, l.db, token)
	if err != nil || s.State != "pending" {
		return err
	}
	if s.Expired {
		return l.look(ctx, s)
	}
	var results []json.RawMessage
	if given != nil {
		results = append(results, given)
	}
	return l.finish(ctx, s, results, anyway)
}

// Abandon ends a session because the person on its page canceled it.
func (l *Sessions) Abandon(ctx context.Context, token string) error {
	s, err := findSession(ctx, l.db, token)
	if err != nil || s.State != "pending" {
		return err
	}
	return l.failSession(ctx, s.ID, codeLeft, "the bank was not connected; start again to connect it")
}

// Finish updates the session that a provider names in a webhook. It ignores sessions that are
// unknown or have ended.
func (l *Sessions) Finish(ctx context.Context, provider, name string) error {
	open, err := pg.All[session](ctx, l.db, sessionRows+` where provider = $1 and provider_hash = $2
		and state = 'pending'`, provider, hashed(provider, name))
	for _, s := range open {
		err = errors.Join(err, l.look(ctx, s))
	}
	return err
}

// Sweep updates open sessions: it asks the provider for the outcome of hosted ones and ends expired
// ones. Every replica may run it: replicas skip rows that another has locked.
func (l *Sessions) Sweep(ctx context.Context) (int, error) {
	open, err := pg.All[session](ctx, l.db, `
		update link_session set look_at = clock_timestamp() + interval '4 seconds'
		where id in (select id from link_session where state = 'pending' and look_at <= clock_timestamp()
			order by look_at limit 20 for update skip locked)
		returning id, purpose, provider, member_id, connection_id, secret, hosted, redirect_url, state, error_code,
			error_message, expires_at, expires_at < clock_timestamp() as expired`)
	for _, s := range open {
		err = errors.Join(err, l.look(ctx, s))
	}
	return len(open), err
}

// Forget deletes sessions that ended a week ago.
func (l *Sessions) Forget(ctx context.Context) error {
	_, err := pg.Exec(ctx, l.db, `delete from link_session
		where id in (select id from link_session where expires_at < now() - interval '7 days' limit 1000)`)
	return err
}

// look asks the provider for the outcome of a hosted session, and ends a session that has expired.
func (l *Sessions) look(ctx context.Context, s session) error {
	if kept(s.Provider) && s.ErrorCode == nil {
		// If the key that sealed the sign-in's result is lost, so is the result. The session then
		// expires.
		if sec, err := l.openSecret(s); err == nil && len(sec.Given) > 0 {
			return l.finishForm(ctx, s)
		}
	}
	if s.Hosted && s.ErrorCode == nil {
		provider, err := l.connections.Configured(ctx, s.Provider)
		if err != nil {
			return err
		}
		sec, err := l.openSecret(s)
		if err != nil {
			return err
		}
		hoster, ok := provider.(bank.Hoster)
		if !ok {
			return errs.New(errs.ProviderNotConfig, "this %s session has expired; start again to connect the "+
				"bank",
				s.Provider)
		}
		o, err := hoster.Outcome(ctx, sec.Token)
		fault, _ := errors.AsType[*bank.Error](err)
		switch {
		case fault != nil && fault.Class == bank.Permanent: // the provider no longer knows the session
			return l.failSession(ctx, s.ID, fault.Code,
				"the provider's session has expired; start again to connect the bank")
		case err != nil && !s.Expired:
			return err
		case err == nil && o.Done && s.Purpose == "new" && len(o.Given) == 0 && len(sec.Linked) == 0:
			return l.failSession(ctx, s.ID, codeLeft,
				"no account was shared; start again to connect the bank")
		case err == nil && o.Done:
			return l.finish(ctx, s, o.Given, false)
		}
	}
	if !s.Expired {
		return nil
	}
	return l.failSession(ctx, s.ID, codeExpired, "the sign-in at the bank was not completed in time; start "+
		"again")
}

// exchangeTime is how long a provider may take to exchange a sign-in for credentials. claimTime is
// longer, so that two servers never exchange the same sign-in.
const (
	exchangeTime = 90 * time.Second
	claimTime    = 2 * time.Minute
)

// finish exchanges the member's tokens and commits the result together with the session's end. Only
// one call does so at a time; a second call does nothing while the first one runs or after it is
// done.
func (l *Sessions) finish(ctx context.Context, s session, given []json.RawMessage, anyway bool) error {
	n, err := pg.Exec(ctx, l.db, `
		update link_session set claimed_until = clock_timestamp() + make_interval(secs => $2)
		where id = $1 and state = 'pending'
			and (claimed_until is null or claimed_until < clock_timestamp())`, s.ID, claimTime.Seconds())
	if err != nil || n == 0 {
		return err
	}
	// The person who opened the page is unknown, so the system is the actor.
	ctx = op.Acting(ctx, op.Actor{Type: op.System, Name: "coffer"})
	asking, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	if s.Purpose == "reauth" {
		err = l.finishReauth(asking, s, given)
	} else {
		err = l.finishNew(asking, s, given, anyway)
	}
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*bank.Error](err); ok && e.Class != bank.Later {
		return l.failSession(ctx, s.ID, e.Code, e.Advice)
	}
	if errs.Is(err, errs.Conflict) {
		e := errs.Public(err, "")
		return l.failSession(ctx, s.ID, string(e.Code), e.Message)
	}
	_, freed := pg.Exec(context.WithoutCancel(ctx), l.db, `update link_session set claimed_until = null
		where id = $1`, s.ID)
	return errors.Join(err, freed)
}

// finishNew creates connections from the result of the member's sign-in.
func (l *Sessions) finishNew(ctx context.Context, s session, given []json.RawMessage, anyway bool) error {
	provider, linker, err := l.connections.Linker(ctx, s.Provider)
	if err != nil {
		return err
	}
	sec, err := l.storedSecret(ctx, &s)
	if err != nil {
		return err
	}
	if len(given) == 0 {
		given = sec.Given
	}
	if glimpser, ok := provider.(bank.Glimpser); ok && !anyway && len(sec.Linked) == 0 {
		for _, g := range given {
			institution, accounts := glimpser.Glimpse(g)
			if held, err := l.holdDuplicate(ctx, s, sec, given, institution, accounts); err != nil || held {
				return err
			}
		}
	}
	for len(sec.Linked) < len(given) {
		linked, err := linker.Exchange(ctx, sec.Token, given[len(sec.Linked)])
		if err != nil {
			return err
		}
		sec.Linked = append(sec.Linked, exchanged{
			linked.Credentials, linked.ConnectionID, linked.InstitutionID,
			linked.InstitutionName.Plain(), linked.ConsentEnds,
		})
		if err := l.putSecret(ctx, s.ID, sec); err != nil { // a second exchange would be rejected
			return err
		}
	}
	if len(sec.Linked) == 0 {
		return errs.New(errs.ValidationError, "the provider returned no bank connection; try again")
	}
	banks := make([]connection.Opened, len(sec.Linked))
	_, glimpsed := provider.(bank.Glimpser)
	for i, x := range sec.Linked {
		banks[i].Linked = bank.Linked{
			Credentials: x.Credentials, ConnectionID: x.ConnectionID,
			InstitutionID: x.InstitutionID, InstitutionName: text.Name(x.InstitutionName),
			ConsentEnds: x.ConsentEnds,
		}
		if banks[i].Accounts, err = connection.FirstAccounts(ctx, provider, x.Credentials); err != nil {
			return err
		}
		if !glimpsed && !anyway {
			if held, err := l.holdDuplicate(ctx, s, sec, given, x.InstitutionID, banks[i].Accounts); err != nil ||
				held {
				return err
			}
		}
	}
	return l.db.InTx(ctx, func(tx pg.Tx) error {
		if state, err := pg.Value[string](ctx, tx, `select state from link_session
			where id = $1 for update`, s.ID); err != nil || state != "pending" {
			return err
		}
		var first *id.ID
		for _, b := range banks {
			c, err := l.connections.LinkBank(ctx, tx, s.MemberID, s.Provider, nil, b)
			if err != nil {
				return err
			}
			if first == nil {
				first = &c
			}
		}
		return endSession(ctx, tx, s.ID, first)
	})
}

func endSession(ctx context.Context, tx pg.Tx, session id.ID, connection *id.ID) error {
	_, err := pg.Exec(ctx, tx, `
		update link_session set state = 'done', connection_id = $2, secret = null, error_code = null,
			error_message = null, claimed_until = null where id = $1`, session, connection)
	return err
}

func (l *Sessions) failSession(ctx context.Context, session id.ID, code, advice string) error {
	_, err := pg.Exec(ctx, l.db, `
		update link_session set state = 'failed', secret = null, error_code = $2, error_message = $3,
			claimed_until = null where id = $1 and state = 'pending'`, session, code, advice)
	return err
}

func (l *Sessions) putSecret(ctx context.Context, session id.ID, v secret) error {
	sealed, err := l.sealSecret(session, v)
	if err != nil {
		return err
	}
	_, err = pg.Exec(ctx, l.db, `update link_session set secret = $2
		where id = $1 and state = 'pending'`, session, sealed)
	return err
}

// holdDuplicate holds a session back if an account of the same bank with the same name and last
// digits is already connected. At some banks a second connection ends the first.
func (l *Sessions) holdDuplicate(ctx context.Context, s session, sec secret, given []json.RawMessage,
	institution string, accounts []bank.Account,
) (bool, error) {
	names, masks := make([]string, len(accounts)), make([]string, len(accounts))
	for i, a := range accounts {
		names[i], masks[i] = a.Name.Plain(), a.Mask
	}
	found, err := pg.Values[string](ctx, l.db, `
		select c.short_id from connection c join account a on a.connection_id = c.id
		where c.status <> 'disconnected' and c.provider = $1 and c.institution_id = $2
			and (a.name, coalesce(a.mask, '')) in (select n, m from unnest($3::text[], $4::text[]) as given (n, m))
		limit 1`, s.Provider, institution, names, masks)
	if err != nil || len(found) == 0 {
		return false, err
	}
	sec.Given = given
	sealed, err := l.sealSecret(s.ID, sec)
	if err != nil {
		return false, err
	}
	_, err = pg.Exec(ctx, l.db, `
		update link_session set secret = $2, error_code = $3, error_message = $4, claimed_until = null
			where id = $1 and state = 'pending'`,
		s.ID, sealed, codeDuplicate, "accounts with the same name and number are already connected, by "+
			"connection "+
			found[0]+"; choose on the page whether to connect them again")
	return true, err
}

// finishReauth reactivates a connection after its member has signed in again.
func (l *Sessions) finishReauth(ctx context.Context, s session, given []json.RawMessage) error {
	if s.ConnectionID == nil {
		return errors.New("a reauthentication session without a connection")
	}
	c, provider, credentials, err := l.connections.Repairable(ctx, l.db, s.ConnectionID.String())
	if err != nil {
		return err
	}
	sec, err := l.openSecret(s)
	if err != nil {
		return err
	}
	if len(given) == 0 {
		given = sec.Given
	}
	if renews(s.Provider) && len(given) > 0 && !isEmpty(given[0]) {
		return l.renew(ctx, s, given[0])
	}
	if linker, ok := provider.(bank.Linker); ok && !s.Hosted && len(given) > 0 && !isEmpty(given[0]) {
		linked, err := linker.Exchange(ctx, sec.Token, given[0])
		if err != nil {
			return err
		}
		same, err := pg.Value[bool](ctx, l.db, `select coalesce(provider_id = $2, false) from connection
			where id = $1`, c.ID, linked.ConnectionID)
		if err != nil {
			return err
		}
		if !same {
			return errs.New(errs.Conflict,
				"this is a different bank login; sign in with the one this bank was connected with")
		}
	}
	if err := l.connections.Check(ctx, c.ID, provider, credentials); err != nil {
		return err
	}
	return l.db.InTx(ctx, func(tx pg.Tx) error {
		if state, err := pg.Value[string](ctx, tx, `select state from link_session
			where id = $1 for update`, s.ID); err != nil || state != "pending" {
			return err
		}
		if _, err := l.connections.Repair(ctx, tx, c.ID); err != nil {
			return err
		}
		return endSession(ctx, tx, s.ID, &c.ID)
	})
}

// isEmpty reports whether a widget returned nothing, as Plaid's does if the credentials stay the
// same.
func isEmpty(given json.RawMessage) bool {
	var v map[string]json.RawMessage
	return json.Unmarshal(given, &v) != nil || len(v) == 0
}
