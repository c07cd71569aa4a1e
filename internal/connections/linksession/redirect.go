package linksession

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// ReturnPath is the path to which banks redirect browsers after a sign-in.
const ReturnPath = "/link/return"

// redirects reports whether a provider's banks redirect back to coffer from pages of their own.
func redirects(provider string) bool {
	spec, _ := all.Find(provider)
	return spec.Link.Way == bank.ByRedirect
}

// renews reports whether signing in again at a provider's bank results in new credentials.
func renews(provider string) bool {
	spec, _ := all.Find(provider)
	return spec.Link.Way == bank.ByForm || spec.Link.Way == bank.ByRedirect
}

// kept reports whether the result of a sign-in is stored before it is exchanged, so that it is
// exchanged even if this server stops in between.
func kept(provider string) bool { return renews(provider) }

func errStrange() error {
	return errs.New(errs.NotFound, "this address belongs to no sign-in that is still open; start again to connect the "+
		"bank")
}

const mostReturned = 8 << 10

// Return stores the parameters with which a bank's page redirected back, and returns the token of
// the session's page. The state parameter names the session. It works once: later calls with the
// same state store nothing.
func (l *Sessions) Return(ctx context.Context, query url.Values) (string, error) {
	state := query.Get("state")
	if state == "" || len(query.Encode()) > mostReturned {
		return "", errStrange()
	}
	var hashes [][]byte
	for _, spec := range all.Specs {
		if redirects(spec.Name) {
			hashes = append(hashes, hashed(spec.Name, state))
		}
	}
	given := map[string]string{}
	for name := range query {
		if name != "state" {
			given[name] = query.Get(name)
		}
	}
	printed, err := json.Marshal(given)
	if err != nil {
		return "", err
	}
	var s session
	var sec secret
	err = l.db.InTx(ctx, func(tx pg.Tx) error {
		found, err := pg.All[session](ctx, tx, sessionRows+` where provider_hash = any($1) and state = 'pending'
			and expires_at > clock_timestamp() for update`, hashes)
		if err != nil {
			return err
		}
		if len(found) != 1 {
			return errStrange()
		}
		s = found[0]
		if sec, err = l.openSecret(s); err != nil || len(sec.Given) > 0 {
			return err
		}
		sec.Given = []json.RawMessage{printed}
		if s.Sealed, err = l.sealSecret(s.ID, sec); err != nil {
			return err
		}
		_, err = pg.Exec(ctx, tx, `update link_session set secret = $2, look_at = clock_timestamp()
			where id = $1`, s.ID, s.Sealed)
		return err
	})
	if err != nil {
		return "", err
	}
	if s.ErrorCode == nil {
		err = l.finishForm(ctx, s)
	}
	return sec.Page, err
}

// Pasted is Return for a browser that cannot reach this server: the member pastes the address at
// which the browser ended. Only an address of this session is accepted.
func (l *Sessions) Pasted(ctx context.Context, token, address string) error {
	s, err := findSession(ctx, l.db, token)
	if err != nil || s.State != "pending" {
		return err
	}
	wrong := errs.Field("address", "pattern",
		"is not where the bank led you: sign in at the bank, then copy the whole address from the browser")
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Query().Get("state") == "" {
		return wrong
	}
	sec, err := l.openSecret(s)
	if err != nil {
		return err
	}
	if sec.Token != u.Query().Get("state") {
		return wrong
	}
	_, err = l.Return(ctx, u.Query())
	return err
}
