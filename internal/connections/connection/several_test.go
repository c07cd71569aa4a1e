package connection

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/simplefin"
	"coffer/internal/books/account"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

// A mall is a household with one token for two banks, synced once.
type mall struct {
	*house
	sim *banks.SimpleFIN
}

func newMall(t *testing.T, o banks.SimpleFINOptions) *mall {
	t.Helper()
	o.Household = household.Options{Seed: 5, Transactions: 300, Years: 1, End: time.Now()}
	sim, err := banks.NewSimpleFIN(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	p, err := simplefin.New(simplefin.Config{Home: sim.URL(), Now: sim.Now})
	if err != nil {
		t.Fatal(err)
	}
	m := &mall{newHouse(t, p), sim}
	m.links(t, "simplefin", map[string]string{"setup_token": sim.SetupToken()})
	m.good(t)
	return m
}

// same compares the stored rows with those of the banks.
func (m *mall) same(t *testing.T) error {
	t.Helper()
	stored, err := pg.Values[string](t.Context(), m.db, `
		select concat_ws(' ', t.provider_id, t.date, t.amount, t.pending) from transaction t
		where t.deleted_at is null order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, b := range m.sim.Books() {
		for _, r := range b.Rows() {
			want = append(want, fmt.Sprintf("%s %s %s %.1s", r.ID, r.Date.Format(time.DateOnly), r.Amount,
				fmt.Sprint(r.Pending)))
		}
	}
	slices.Sort(stored)
	slices.Sort(want)
	if !slices.Equal(stored, want) {
		return fmt.Errorf("%d rows are stored, the banks have %d", len(stored), len(want))
	}
	return nil
}

// Bridge once gave 116 rows of an account new ids in one night. Each must stay the same
// transaction: none is duplicated, and people's choices stay.
func TestReissuedIDs(t *testing.T) {
	t.Parallel()
	m := newMall(t, banks.SimpleFINOptions{})
	book := m.sim.Books()[0]
	account := book.Accounts()[0].ID
	const rows = 116
	for i := range rows { // including equal ones
		book.Add(banks.Row{
			AccountID: account, Date: time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1-i%30),
			Amount: money.MustParse(fmt.Sprintf("%d.00", 1+i%7)), Name: text.Name(fmt.Sprint("Shop ", i%5)),
		})
	}
	m.good(t)
	m.edit(t, account, rows)
	before := m.edits(t)
	since := time.Now().UTC().AddDate(0, 0, -40)
	if n := book.Reissue(account, since); n < rows {
		t.Fatalf("%d rows have new ids", n)
	}
	out := m.good(t)
	if out.Added != 0 || out.Removed != 0 || m.edits(t) != before || before != rows {
		t.Errorf("%+v, %d edits of %d", out.Tally, m.edits(t), before)
	}
	if err := m.same(t); err != nil {
		t.Error(err)
	}
	if n := book.Reissue(account, since); n < rows || m.good(t).Added != 0 || m.edits(t) != before {
		t.Errorf("again: %d edits of %d", m.edits(t), before)
	}
	// Control: with another text it is another row, so the person's choices on the old row are
	// lost.
	for _, r := range book.Rows() {
		if r.AccountID == account && !r.Pending && r.Date.After(since) {
			book.Remove(r.ID)
			r.ID, r.Name = "", r.Name+" changed"
			book.Add(r)
		}
	}
	if out := m.good(t); out.Added < rows || m.edits(t) != 0 {
		t.Errorf("the control kept %d edits: %+v", m.edits(t), out.Tally)
	}
}

// A failure of one bank is shown at that bank. The others are still synced, and no row of the
// failed bank counts as removed.
func TestOneBanksTrouble(t *testing.T) {
	t.Parallel()
	for _, first := range []bool{false, true} {
		m := newMall(t, banks.SimpleFINOptions{First: first})
		if c := m.state(t); len(c.Banks) != 2 || c.Banks[0].Status != "active" || c.Banks[0].AccountsCount == 0 ||
			c.InstitutionName == nil || c.InstitutionName.Plain() == "" {
			t.Fatalf("%+v", c)
		}
		sick, well := m.sim.Books()[0], m.sim.Books()[1]
		m.sim.TroubleAt(sick, "", "con.auth")
		well.Add(banks.Row{
			AccountID: well.Accounts()[0].ID, Date: time.Now().UTC().Truncate(24 * time.Hour),
			Amount: money.MustParse("5.00"), Name: "News",
		})
		stored := m.rows(t)
		for range 2 {
			m.good(t)
		}
		c := m.state(t)
		at := slices.IndexFunc(c.Banks, func(b BankState) bool { return b.Status == "pending_reauth" })
		if c.Status != "active" || c.StatusReason != nil || at < 0 || *c.Banks[at].StatusReason != "con.auth" ||
			c.Banks[at].StatusMessage == nil || c.Banks[at].AccountsCount == 0 || c.Banks[1-at].Status != "active" {
			t.Errorf("%+v", c)
		}
		if m.rows(t) != stored+1 {
			t.Errorf("%d rows of %d", m.rows(t), stored+1)
		}
		if got := m.told(t); !slices.Equal(got, []string{"connection.needs_sign_in"}) {
			t.Errorf("notified %q", got)
		}
		m.sim.TroubleAt(sick, "", "")
		m.good(t)
		if c := m.state(t); c.Banks[0].Status != "active" || c.Banks[1].Status != "active" {
			t.Errorf("afterwards %+v", c.Banks)
		}
		if err := m.same(t); err != nil {
			t.Error(err)
		}
		if first {
			continue
		}
		m.sim.TroubleAt(sick, sick.Accounts()[0].ID, "act.missingdata")
		m.good(t)
		if c := m.state(t); m.rows(t) != stored+1 ||
			!slices.ContainsFunc(c.Banks, func(b BankState) bool { return b.Status == "error" }) {
			t.Errorf("an account's trouble: %d rows, %+v", m.rows(t), c.Banks)
		}
	}
}

// Coffer counts the requests of a day before it makes them. When they are used up, it does not call
// the bank. The sync reports when it can run again, and that is not a failure.
func TestDailyRequests(t *testing.T) {
	t.Parallel()
	m := newMall(t, banks.SimpleFINOptions{Quota: 24})
	used := m.sim.Requests()
	if counted := m.counted(t); counted != used || used > 10 {
		t.Fatalf("%d requests are counted, %d were made", counted, used)
	}
	var last job.Job
	for range 30 {
		if last, _ = m.once(t, "schedule"); last.State != job.Succeeded {
			break
		}
	}
	if last.State != job.Failed || last.Error.Code != errs.ConnNotSyncable || m.sim.Requests() != 20 {
		t.Errorf("after %d requests: %s %+v", m.sim.Requests(), last.State, last.Error)
	}
	h := m.health(t)
	if h.Status != "active" || h.Failures != 0 || h.Due == nil || *h.Due || len(m.told(t)) > 0 {
		t.Errorf("the connection is %+v, notified %q", h, m.told(t))
	}
	err := m.db.InTx(t.Context(), func(tx pg.Tx) error {
		_, err := m.SyncConnection(t.Context(), tx, ConnectionRef{m.connection.String()})
		return err
	})
	if !errs.Is(err, errs.ConnNotSyncable) {
		t.Errorf("a person's sync: %v", err)
	}
	if _, err := pg.Exec(t.Context(), m.db, `update connection set asked_at = array(select at - interval '24 hours'
		from unnest(asked_at) at)`); err != nil {
		t.Fatal(err)
	}
	m.sim.Forget()
	m.good(t)
	if m.sim.Requests() != 1 || m.counted(t) != 1 {
		t.Errorf("the next day: %d requests, %d counted", m.sim.Requests(), m.counted(t))
	}
}

// Over thirty days, four scheduled syncs a day and a person who syncs twice a day stay far below
// the limit.
func TestThirtyDays(t *testing.T) {
	t.Parallel()
	m := newMall(t, banks.SimpleFINOptions{Quota: 24})
	most := 0
	for range 30 * 6 {
		m.sim.Advance(4 * time.Hour)
		if _, err := pg.Exec(t.Context(), m.db, `update connection set asked_at = array(
			select at - interval '4 hours' from unnest(asked_at) at)`); err != nil {
			t.Fatal(err)
		}
		m.good(t)
		most = max(most, m.sim.Requests())
	}
	if most > 20 {
		t.Errorf("%d requests in a day", most)
	}
	t.Logf("at most %d requests in a day", most)
	refused := false // the control: coffer's count is reset before each sync
	for range 25 {
		m.exec(t, `update connection set asked_at = '{}'`)
		j, _ := m.once(t, "schedule")
		refused = refused || j.State == job.Failed && j.Error.Code != errs.ConnNotSyncable
	}
	if !refused {
		t.Error("control: the server does not notice 25 requests in a moment")
	}
}

// A failure of the whole access changes the connection's status, unless the failure is temporary.
func TestWholeAccess(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		code   string
		class  bank.Class
		want   string
	}{
		{0, "gen.auth", bank.Reauth, "pending_reauth"},
		{403, "ACCESS_REVOKED", bank.Reauth, "pending_reauth"},
		{402, "PAYMENT_REQUIRED", bank.Permanent, "error"},
		{429, "TOO_MANY_REQUESTS", bank.Later, "active"},
		{500, "UNAVAILABLE", bank.Later, "active"},
	} {
		m := newMall(t, banks.SimpleFINOptions{})
		if m.sim.Refuse(c.status); c.status == 0 {
			m.sim.Trouble(c.code)
		}
		if j, _ := m.once(t, "manual"); j.State != job.Failed {
			t.Errorf("%s: %s", c.code, j.State)
		}
		h := m.health(t)
		if h.Status != c.want || !h.Sealed || c.want != "active" && (h.Reason == nil || *h.Reason != c.code) {
			t.Errorf("%s: %+v", c.code, h)
		}
	}
}

// A guessed account type must be confirmed by a person. The balance follows the type that the
// person sets, also after the next sync.
func TestGuessedType(t *testing.T) {
	t.Parallel()
	m := newMall(t, banks.SimpleFINOptions{})
	book := m.sim.Books()[1] // the name of its mortgage does not indicate the type
	i := slices.IndexFunc(book.Accounts(), func(a banks.Account) bool { return a.Type == "loan" })
	loan := book.Accounts()[i]
	type row struct {
		ID      string       `db:"id"`
		Type    string       `db:"type"`
		Balance money.Amount `db:"balance_current"`
		Guessed bool         `db:"guessed"`
	}
	now := func() row {
		r, err := pg.One[row](t.Context(), m.db, `select id::text, type, balance_current, guessed from account
			where provider_id = $1`, loan.ID)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := now(); r.Type != "other" || r.Balance != loan.Current.Neg() || !r.Guessed {
		t.Fatalf("%+v, the bank says %s", r, loan.Current)
	}
	if err := m.db.InTx(t.Context(), func(tx pg.Tx) error {
		ctx := op.WithActor(t.Context(), op.Actor{Type: op.User, ID: id.New(), Scope: op.Full})
		_, err := account.New(m.db).PatchAccount(ctx, tx, account.PatchAccount{ID: now().ID, Type: new("loan")})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r := now(); r.Balance != *loan.Current {
			t.Errorf("%+v, the bank says %s", r, loan.Current)
		}
		m.good(t)
	}
	n, err := pg.Value[int64](t.Context(), m.db, `select count(*) from account_balance b join account a on a.id = b.account_id
		where a.provider_id = $1 and b.current < 0`, loan.ID)
	if err != nil || n > 0 {
		t.Errorf("%d balances of the loan are negative, %v", n, err)
	}
}
