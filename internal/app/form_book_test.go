package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"coffer/internal/app"
	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/people/auth"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
	"coffer/internal/platform/text"
)

// A formBook is a world with one record of every kind and many transactions. Its calls go directly
// to the handler, so that no HTTP library corrects malformed requests.
type formBook struct {
	*toolWorld
	handler             http.Handler
	ops                 []*op.Op
	account, connection id.ID
	rows                []id.ID
	next                atomic.Int64
	common              *formCast // the records that reading calls name
}

func newFormBook(t *testing.T, rows int) *formBook {
	t.Helper()
	b := &formBook{toolWorld: newToolWorld(t, nil, func(c *app.Config) {
		c.EncryptionKey = seal.NewSecret(testRing)
		// Starting to link through Teller needs no call to the provider.
		c.Providers = app.Providers{"teller": {"application_id": "app_1", "environment": "sandbox"}}
	})}
	var err error
	b.Jobs.Add(countKind(nil))
	b.enqueue(t, countWork{}, job.Options{})
	b.ops = b.Ops() // building the list of ops takes longer than a call
	if b.handler, err = b.Rest().Handler(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.DB.Exec(t.Context(),
		`do $$ begin execute format('alter database %I set synchronous_commit = off', current_database()); end $$`); err != nil {
		t.Fatal(err)
	}
	// The new connections do not wait for the disk, which saves time in thousands of calls.
	b.DB.Reset()
	err = b.DB.InTx(t.Context(), func(tx pg.Tx) error {
		member, err := pg.Value[id.ID](t.Context(), tx, `select id from member limit 1`)
		if err != nil {
			return err
		}
		connections, err := b.Connections.AddConnections(t.Context(), tx,
			[]connection.NewConnection{{MemberID: member, Provider: "csv", Institution: text.Name("Bank")}})
		if err != nil {
			return err
		}
		accounts, err := b.Accounts.AddAccounts(t.Context(), tx, []account.Incoming{{
			ConnectionID: &connections[0], Provider: "csv", ProviderID: "1", Name: text.Name("Current"),
			Type: "depository", Currency: "EUR", BalanceCurrent: new(money.MustParse("100.00")),
		}})
		if err != nil {
			return err
		}
		b.connection, b.account = connections[0], accounts[0]
		day, _ := pg.ParseDate("2026-01-02")
		_, err = b.Books.Load(t.Context(), tx, func(yield func(ledger.Incoming) bool) {
			for i := range rows {
				in := ledger.Incoming{
					AccountID: b.account, ProviderID: itoa(i), Date: day,
					Amount: money.MustParse("1.00"), Currency: "EUR", Name: text.Name("Shop"),
				}
				if !yield(in) {
					return
				}
			}
		})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if b.rows, err = pg.Values[id.ID](t.Context(), b.DB, `select id from transaction order by id`); err != nil {
		t.Fatal(err)
	}
	b.common = &formCast{book: b, have: map[formRef]formEntity{}}
	for _, o := range b.ops {
		for _, p := range formPlaces(o) {
			if r, known, _ := p.ref(); known && r.kind != "" && !o.Writes {
				b.common.get(t, r)
			}
		}
	}
	return b
}

// postpone delays the queued jobs. No worker runs them here, and a caller can have only a limited
// number of jobs that are due.
func (b *formBook) postpone(t *testing.T) {
	t.Helper()
	if _, err := b.DB.Exec(t.Context(), `
		update job set run_at = now() + interval '1 day'
		where id in (select id from job where state = 'queued'
			and run_at <= now() for update skip locked)`); err != nil {
		t.Fatal(err)
	}
}

// do runs an op as the service and returns the record.
func (b *formBook) do(t *testing.T, name string, args map[string]any) map[string]any {
	t.Helper()
	actor := op.Actor{Type: op.System, ID: b.account, Name: "fixture", Scope: op.Full}
	a, err := b.Runner.Call(t.Context(), opNamed(t, b.ops, name),
		op.Call{Actor: actor, Surface: op.REST, Args: args, RequestID: "fixture"})
	var v map[string]any
	if err != nil || len(a.Body) > 0 && json.Unmarshal(a.Body, &v) != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return v
}

type formEntity struct {
	id   id.ID
	slug string
}

// forms returns the ways to name the record.
func (e formEntity) forms(slug bool) map[string]string {
	f := map[string]string{
		"UUID": e.id.String(), "UUID in capitals": strings.ToUpper(e.id.String()),
		"short id": e.id.Short(),
	}
	if slug {
		f["slug"], f["slug in capitals"] = e.slug, strings.ToUpper(e.slug)
	}
	return f
}

// link creates a bank connection.
func (b *formBook) link(t *testing.T) (made id.ID) {
	t.Helper()
	err := b.DB.InTx(t.Context(), func(tx pg.Tx) error {
		member, err := pg.Value[id.ID](t.Context(), tx, `select id from member
			where role = 'admin' and deleted_at is null limit 1`)
		if err != nil {
			return err
		}
		ids, err := b.Connections.AddConnections(t.Context(), tx,
			[]connection.NewConnection{{MemberID: member, Provider: "plaid", Institution: text.Name("Bank")}})
		if err == nil {
			made = ids[0]
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// A formCast holds one record of each kind for one call, created when the call needs it, because a
// record that one call deletes must not be missing in the next.
type formCast struct {
	book *formBook
	op   *op.Op
	have map[formRef]formEntity
}

func (c *formCast) get(t *testing.T, r formRef) formEntity {
	t.Helper()
	r.slug, r.registers = false, false
	if e, ok := c.have[r]; ok {
		return e
	}
	made := func(name string, args map[string]any) formEntity {
		v := c.book.do(t, name, args)
		slug, _ := v["slug"].(string)
		return formEntity{id.Must(v["id"].(string)), slug}
	}
	var e formEntity
	subject := func() string { return c.get(t, formRef{kind: "transaction"}).id.String() }
	n := formCount.Add(1)
	switch r.kind {
	case "account":
		if e.id = c.book.account; r.second {
			e.id = c.book.anotherAccount(t)
		}
	case "account-link":
		e.id = c.book.linked(t)
	case "match":
		e.id = c.book.matched(t, c.get(t, formRef{kind: "account-link"}).id)
	case "connection":
		// Use a separate connection, because the op may sync or remove it.
		if e.id = c.book.connection; c.op != nil && slices.Contains([]string{"connection", "sync", "quarantine"},
			c.op.Group()) {
			e.id = c.book.link(t)
		}
	case "sync":
		e.id = c.book.synced(t)
	case "webhook":
		c.book.link(t)
		e.id = c.book.told(t, "plaid", "ITEM.NEW_ACCOUNTS_AVAILABLE", "new_accounts", "processed", "")
	case "quarantined":
		e.id = c.book.quarantined(t)
	case "view":
		// A household can have 200 views. Delete old ones, because only the newest are in use.
		if _, err := c.book.DB.Exec(t.Context(), `delete from saved_view where id in (
			select id from saved_view order by id desc offset 180)`); err != nil {
			t.Fatal(err)
		}
		e = made("view.create", map[string]any{
			"name": fmt.Sprintf("View %d", n), "filters": map[string]any{}, "shared": true,
		})
	case "workflow", "prompt-block", "run", "target", "recurring", "finding", "manual", "rate", "endpoint", "notification":
		e = c.agent(t, r.kind, n, made)
	case "report":
		e = made("report.create", map[string]any{"title": "A report", "body": "said"})
	case "transaction":
		e.id = c.book.rows[int(c.book.next.Add(1)-1)%len(c.book.rows)]
	case "comment":
		e = made("comment.create", map[string]any{"transaction_id": subject(), "content": "said"})
	case "change":
		v := c.book.do(t, "transaction.change",
			map[string]any{"operations": []any{map[string]any{
				"transaction_id": subject(),
				"tags_to_add":    []any{fmt.Sprintf("t%d", n)},
			}}})
		e.id = id.Must(v["change_id"].(string))
	case "category":
		e = made("category.create", map[string]any{"slug": fmt.Sprintf("c%d", n), "name": "Category"})
	case "tag":
		e = made("tag.create", map[string]any{"slug": fmt.Sprintf("t%d", n)})
	case "user":
		e = made("user.create", map[string]any{"name": "Member"})
	case "login":
		e.id = c.book.loggedIn(t, c.get(t, formRef{kind: "user"}).id.String())
	case "session":
		s, _, err := c.book.Auth.OpenSession(t.Context(),
			auth.SignIn{User: auth.User{ID: c.get(t, formRef{kind: "user"}).id}}, "Firefox on Linux")
		if err != nil {
			t.Fatal(err)
		}
		e.id = s.ID
	case "assistant":
		_, session, err := c.book.Auth.OpenSession(t.Context(),
			auth.SignIn{User: auth.User{ID: c.get(t, formRef{kind: "user"}).id}}, "Firefox on Linux")
		if err != nil {
			t.Fatal(err)
		}
		_, e.id = c.book.letIn(t, session, op.Read, c.book.OAuth.Resource())
	case "rule":
		v := c.book.do(t, "rule.create", map[string]any{"rules": []any{map[string]any{
			"name":          fmt.Sprint("Rule ", n),
			"category_slug": "home", "conditions": matchNothing,
		}}})
		e.id = id.Must(v["rules"].([]any)[0].(map[string]any)["id"].(string))
	case "job":
		e.id = c.book.enqueue(t, countWork{}, job.Options{}).ID
	case "key":
		e = made("key.create", map[string]any{"name": "key", "scope": "read_only"})
	case "counterparty":
		e = made("counterparty.create", map[string]any{"name": fmt.Sprintf("Counterparty %d", n)})
		if c.op != nil && strings.Contains(c.op.ID(), "unlink") { // only a linked counterparty can be unlinked
			c.book.do(t, "counterparty.link", map[string]any{"id": e.id.String(), "transaction_ids": []any{subject()}})
		}
	default:
		t.Fatalf("there is no %s in the fixture; make one in formCast.get", r.kind)
	}
	c.have[r] = e
	return e
}

// cast returns the records that a call of the op can name. Each writing call gets its own.
func (b *formBook) cast(o *op.Op) *formCast {
	if !o.Writes {
		return b.common
	}
	return &formCast{book: b, op: o, have: map[formRef]formEntity{}}
}
