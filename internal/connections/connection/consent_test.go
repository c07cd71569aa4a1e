package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/enablebanking"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// A hall is a household with a connection by consent, synced once.
type hall struct {
	*house
	sim *banks.EnableBanking
	p   consenting
}

// consenting is a provider whose banks give access by consent.
type consenting interface {
	bank.Provider
	bank.Linker
	bank.Chooser
	bank.Relinker
}

// newHall connects a bank. If spoil is not nil, it replaces the provider.
func newHall(t *testing.T, o banks.EnableBankingOptions, spoil func(consenting) consenting) *hall {
	t.Helper()
	o.Household = household.Options{Seed: 5, Transactions: 300, Years: 1, End: time.Now()}
	sim, err := banks.NewEnableBanking(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	right, err := enablebanking.New(enablebanking.Config{
		Application: sim.Application(), Key: []byte(sim.Key()), BaseURL: sim.URL(), Now: sim.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	h := &hall{sim: sim, p: right}
	if spoil != nil {
		h.p = spoil(right)
	}
	h.house = newHouse(t, h.p)
	h.enters(t, 0)
	h.good(t)
	return h
}

const hallReturn = "https://coffer.example/link/return"

// enters connects the nth bank of the list.
func (h *hall) enters(t *testing.T, n int) {
	t.Helper()
	listed, err := h.p.Institutions(t.Context(), "DE")
	if err != nil {
		t.Fatal(err)
	}
	session, err := h.p.Session(t.Context(), bank.LinkRequest{Redirect: hallReturn, Institution: listed[n].ID})
	if err != nil {
		t.Fatal(err)
	}
	h.links(t, "enablebanking", map[string]string{"code": h.consents(t, session)})
}

// consents signs the member in at the bank, and returns the code with which its page redirects
// back.
func (h *hall) consents(t *testing.T, session bank.Session) string {
	t.Helper()
	to, err := h.sim.Visit(t.Context(), session.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	return u.Query().Get("code")
}

// renews lets the member consent again, and stores the new credentials in the connection.
func (h *hall) renews(t *testing.T) {
	t.Helper()
	_, _, before, err := h.Repairable(t.Context(), h.db, h.connection.String())
	if err != nil {
		t.Fatal(err)
	}
	session, err := h.p.Relink(t.Context(), before, bank.LinkRequest{Redirect: hallReturn})
	if err != nil {
		t.Fatal(err)
	}
	given, err := json.Marshal(map[string]string{"code": h.consents(t, session)})
	if err != nil {
		t.Fatal(err)
	}
	made, err := h.p.Exchange(t.Context(), session.Token, given)
	if err != nil {
		t.Fatal(err)
	}
	for _, uid := range h.sim.Secrets() {
		if strings.Contains(string(before), uid) {
			t.Error("the bank uses an id of the session before")
		}
	}
	if err := h.db.InTx(t.Context(), func(tx pg.Tx) error {
		return h.Renew(t.Context(), tx, h.connection, made)
	}); err != nil {
		t.Fatal(err)
	}
}

// bySession is a provider with a defect: it uses the ids of a session as the ids of the accounts.
type bySession struct{ consenting }

func (p bySession) Exchange(ctx context.Context, session string, given json.RawMessage) (bank.Linked, error) {
	out, err := p.consenting.Exchange(ctx, session, given)
	if err != nil {
		return out, err
	}
	var stored map[string]any
	if err := json.Unmarshal(out.Credentials, &stored); err != nil {
		return out, err
	}
	for _, a := range stored["accounts"].([]any) {
		a.(map[string]any)["hash"] = a.(map[string]any)["uid"]
	}
	out.Credentials, err = json.Marshal(stored)
	return out, err
}

// A new consent results in other ids of sessions and accounts, and this bank also numbers its rows
// again. Accounts and rows must stay the same: nothing is duplicated, and people's choices stay.
func TestRenewedConsent(t *testing.T) {
	t.Parallel()
	const rows = 116
	for name, spoil := range map[string]func(consenting) consenting{
		"as it is": nil,
		"control":  func(p consenting) consenting { return bySession{p} },
	} {
		h := newHall(t, banks.EnableBankingOptions{}, spoil)
		first := h.sim.Book().Accounts()[0].ID
		for i := range rows { // including equal ones
			h.sim.Book().Add(banks.Row{
				AccountID: first, Date: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1-i%20),
				Amount: money.MustParse(fmt.Sprintf("%d.00", 1+i%7)), Name: text.Name(fmt.Sprint("Shop ", i%5)),
			})
		}
		h.good(t)
		ours, err := pg.Value[string](t.Context(), h.db, `select provider_id from account where connection_id = $1
			order by (select count(*) from transaction where account_id = account.id) desc limit 1`, h.connection)
		if err != nil {
			t.Fatal(err)
		}
		h.edit(t, ours, rows)
		stored, accounts := h.rows(t), len(h.sim.Book().Accounts())
		for range 2 {
			h.renews(t)
			h.sim.Renumber()
			out := h.good(t)
			if spoil == nil && (out.Added != 0 || out.Removed != 0) {
				t.Errorf("%s: %+v", name, out.Tally)
			}
		}
		listed, err := pg.Value[int64](t.Context(), h.db, `select count(*) from account where connection_id = $1`,
			h.connection)
		if err != nil {
			t.Fatal(err)
		}
		kept := listed == int64(accounts) && h.rows(t) == stored && h.edits(t) == rows
		if kept != (spoil == nil) {
			t.Errorf("%s: %d accounts of %d, %d rows of %d, %d edits", name, listed, accounts, h.rows(t), stored, h.edits(t))
		}
	}
}

// If a bank rejects one account, the others are still read. A bank whose consent has ended does not
// affect the next bank.
func TestOtherBanksGoOn(t *testing.T) {
	t.Parallel()
	h := newHall(t, banks.EnableBankingOptions{}, nil)
	book := h.sim.Book()
	news := func(n int) {
		book.Add(banks.Row{
			AccountID: book.Accounts()[n].ID, Date: time.Now().UTC().Truncate(24 * time.Hour),
			Amount: money.MustParse("5.00"), Name: text.Name("News"),
		})
	}
	stored := h.rows(t)
	h.sim.Deny(book.Accounts()[0].ID, true)
	news(0)
	news(1)
	h.good(t)
	if c := h.state(t); h.rows(t) != stored+1 || c.Status != "active" ||
		!slices.ContainsFunc(c.Banks, func(b BankState) bool { return b.Status == "error" }) {
		t.Errorf("%d rows of %d: %+v", h.rows(t), stored+1, c)
	}
	h.sim.Deny(book.Accounts()[0].ID, false)
	h.good(t)
	if c := h.state(t); h.rows(t) != stored+2 ||
		slices.ContainsFunc(c.Banks, func(b BankState) bool { return b.Status != "active" }) {
		t.Errorf("%d rows of %d: %+v", h.rows(t), stored+2, c)
	}
	well := h.connection
	h.enters(t, 1)
	h.good(t)
	h.sim.Status("EXPIRED") // status of the newest session
	if j, _ := h.once(t, "schedule"); j.State != job.Failed || h.state(t).Status != "pending_reauth" {
		t.Errorf("%s: %+v", j.State, h.state(t))
	}
	h.connection = well
	news(1)
	if out := h.good(t); out.Added != 1 || h.state(t).Status != "active" {
		t.Errorf("the other bank: %+v, %+v", out.Tally, h.state(t))
	}
}

// This test covers thirty days. Coffer wants to sync every four hours, and a person syncs once a
// day. The bank lets a program read each account four times in 24 hours, and must never have to
// reject a request.
func TestThirtyDaysOfConsent(t *testing.T) {
	t.Parallel()
	h := newHall(t, banks.EnableBankingOptions{Daily: 4}, nil)
	synced, rested := 0, 0
	for n := range 30 * 6 {
		h.sim.Advance(4 * time.Hour)
		h.exec(t, `update connection set asked_at = array(select at - interval '4 hours' from unnest(asked_at) at)`)
		switch j, _ := h.once(t, "schedule"); {
		case j.State == job.Succeeded:
			synced++
		case j.Error.Code == errs.ConnNotSyncable:
			rested++
		default:
			t.Fatalf("sync %d: %+v", n, j.Error)
		}
		if n%6 == 0 {
			h.attended(t)
		}
	}
	if s := h.health(t); s.Status != "active" || s.Failures != 0 || synced < 30*3 || rested == 0 || h.counted(t) > 4 {
		t.Errorf("%d syncs, %d not made: %+v", synced, rested, s)
	}
	t.Logf("%d syncs without a person, %d not made", synced, rested)
	refused := false // the control: coffer's count is reset before each sync
	for range 5 {
		h.exec(t, `update connection set asked_at = '{}'`)
		j, _ := h.once(t, "schedule")
		refused = refused || j.State == job.Failed && j.Error.Code == errs.ProviderError
	}
	if !refused {
		t.Error("control: the bank does not notice five syncs in a moment")
	}
}

// attended runs a sync for which a person waits. It must not count for the limit.
func (h *hall) attended(t *testing.T) {
	t.Helper()
	with, without, _ := h.sim.Reads()
	var j job.Job
	err := h.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		j, err = h.requestSync(t.Context(), tx, syncRequest{Connection: h.connection, Trigger: "manual", Waits: &presence{
			Person: *bank.NewPerson("9.9.9.9", "Firefox"), Until: time.Now().Add(time.Minute),
		}})
		return err
	})
	for err == nil && !j.Ended() {
		j, err = h.jobs.Wait(t.Context(), j.ID, 10*time.Second)
	}
	if err != nil || j.State != job.Succeeded {
		t.Fatalf("%+v, %v", j.Error, err)
	}
	if named, alone, _ := h.sim.Reads(); named == with || alone != without {
		t.Errorf("%d calls name the person, %d more name none", named-with, alone-without)
	}
}
