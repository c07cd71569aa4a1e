package linksession

import (
	"context"
	"encoding/json"
	"errors"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// FormValues holds what a member entered in a provider's form, by the names of the fields.
type FormValues map[string]string

// Schema describes the values in the API's contract.
func (FormValues) Schema() *op.Schema {
	s := op.SchemaOf[map[string]string]()
	s.Description = "The values of the provider's form, by the names of link.fields in GET /providers; only if its " +
		"link.way is form. Without them, the page asks for them"
	return s
}

// check returns the values in the form that the provider expects, or nil if there are none.
func (v FormValues) check(p bank.Provider) (json.RawMessage, error) {
	if len(v) == 0 {
		return nil, nil
	}
	former, ok := p.(bank.Former)
	if !ok {
		return nil, errs.Field("fields", "conflict", "must be omitted: banks are connected on the page of %s",
			p.Traits().Title)
	}
	spec, _ := all.Find(p.Name())
	for name := range v {
		if _, known := spec.Link.Field(name); !known {
			return nil, errs.Field("fields", "unknown", "have a name that is not in the form of %s", p.Traits().Title)
		}
	}
	given, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return given, errs.Renamed(former.Check(given), func(field string) string { return "fields." + field })
}

// finishForm finishes a session without a person on its page: its form was filled in when the
// session began, or the bank has redirected back. Nobody can try again, so any rejection ends the
// session.
func (l *Sessions) finishForm(ctx context.Context, s session) error {
	err := l.finish(ctx, s, nil, false)
	if e, ok := errors.AsType[*bank.Error](err); ok {
		return l.failSession(ctx, s.ID, e.Code, e.Advice)
	}
	if errs.Is(err, errs.ValidationError) {
		e := errs.Public(err, "")
		message := e.Message
		if len(e.Details) > 0 {
			message = "the value " + e.Details[0].Message
		}
		return l.failSession(ctx, s.ID, string(e.Code), message)
	}
	return err
}

// renew exchanges a new sign-in for credentials and stores them in the connection, if they give
// access to the same accounts.
func (l *Sessions) renew(ctx context.Context, s session, given json.RawMessage) error {
	c, provider, _, err := l.connections.Repairable(ctx, l.db, s.ConnectionID.String())
	if err != nil {
		return err
	}
	_, linker, err := l.connections.Linker(ctx, s.Provider)
	if err != nil {
		return err
	}
	sec, err := l.storedSecret(ctx, &s)
	if err != nil {
		return err
	}
	if len(sec.Linked) == 0 {
		linked, err := linker.Exchange(ctx, sec.Token, given)
		if err != nil {
			return err
		}
		sec.Linked = []exchanged{{Credentials: linked.Credentials, ConsentEnds: linked.ConsentEnds}}
		if err := l.putSecret(ctx, s.ID, sec); err != nil { // a second exchange would be rejected
			return err
		}
	}
	credentials := bank.Credentials(sec.Linked[0].Credentials)
	listed, err := provider.Accounts(ctx, credentials)
	if err != nil {
		return err
	}
	same, err := l.connections.Shares(ctx, l.db, c.ID, listed)
	if err != nil {
		return err
	}
	if !same {
		return errs.New(errs.Conflict,
			"these are other accounts than this connection has; connect them as a new bank instead")
	}
	return l.db.InTx(ctx, func(tx pg.Tx) error {
		if state, err := pg.Value[string](ctx, tx, `select state from link_session
			where id = $1 for update`, s.ID); err != nil || state != "pending" {
			return err
		}
		if _, err := l.connections.Repair(ctx, tx, c.ID); err != nil {
			return err
		}
		made := bank.Linked{Credentials: credentials, ConsentEnds: sec.Linked[0].ConsentEnds}
		if err := l.connections.Renew(ctx, tx, c.ID, made); err != nil {
			return err
		}
		return endSession(ctx, tx, s.ID, &c.ID)
	})
}
