package linksession

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/books/account"
	"coffer/internal/books/category"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/seal"
)

// A lobby is a provider that records the member for whom a session was started.
type lobby struct {
	bank.Provider // nil: only the methods below are called
	user          string
}

func (*lobby) Name() string { return "plaid" }

func (*lobby) Exchange(context.Context, string, json.RawMessage) (bank.Linked, error) {
	return bank.Linked{}, errors.New("not asked")
}

// only is the Providers of a household with one provider.
type only struct{ p bank.Provider }

func (o only) Provider(context.Context, string) (bank.Provider, error) { return o.p, nil }

func (l *lobby) Session(_ context.Context, r bank.LinkRequest) (bank.Session, error) {
	l.user = r.User
	return bank.Session{Token: "t"}, nil
}

// A session that names no member belongs to the caller, both at the provider and in coffer.
func TestSessionIsTheCallers(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t)
	ring, err := seal.NewRing("MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
	if err != nil {
		t.Fatal(err)
	}
	members, l := auth.New(db), &lobby{}
	sessions := New(Config{DB: db, Ring: ring, Pages: "https://coffer.example/", Connections: connection.New(connection.Config{
		DB: db, Auth: members, Accounts: account.New(db), Books: ledger.New(db, category.New(ledger.CategoryUser{})),
		Ring: ring, Providers: only{l},
	})})
	var robin auth.User
	err = db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		robin, err = members.CreateUser(t.Context(), tx, auth.CreateUser{Name: "Robin", Role: "member"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, ctx := range map[string]context.Context{
		"Household": t.Context(), "Robin": op.WithActor(t.Context(), op.Actor{Type: op.User, Member: &robin.ID}),
	} {
		in := StartLink{Provider: "plaid"}
		b, err := sessions.askSession(ctx, db, in)
		if err == nil {
			err = db.InTx(ctx, func(tx pg.Tx) error {
				_, err := sessions.StartLink(ctx, tx, in, b)
				return err
			})
		}
		stored, wrong := pg.Value[string](ctx, db, `select m.name from link_session s
			join member m on m.id = s.member_id order by s.id desc limit 1`)
		asked, none := pg.Value[string](ctx, db, `select name from member where id = $1::text::uuid`, l.user)
		if err := errors.Join(err, wrong, none); err != nil || stored != name || asked != name {
			t.Errorf("the session of %s is %s's here and %s's at the bank, %v", name, stored, asked, err)
		}
	}
}
