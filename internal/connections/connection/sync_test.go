package connection

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A bankBook is a bank in memory that returns its changes as a Delta: an event for each row that
// came, changed or went, and cursors into the list of events.
type bankBook struct {
	mu     sync.Mutex
	size   int
	events []event
	truth  map[string]bank.Transaction
	errs   []error // what the next calls fail with; nil for one that does not
	moves  int     // how often a loop must begin again
	bad    []bank.Bad
	gone   string             // the account that is no longer shared
	during chan chan struct{} // receives a channel for each call; the call returns when that channel is closed
}

type event struct {
	row     bank.Transaction
	removed bool
}

func (b *bankBook) Name() string { return "plaid" }

func (b *bankBook) Traits() bank.Traits {
	return bank.Traits{
		Title: "Test", Shape: bank.Delta, PageSize: b.size, HasPendingLink: true,
		MinInterval: time.Minute,
	}
}

func (b *bankBook) Accounts(context.Context, bank.Credentials) ([]bank.Account, error) {
	return slices.DeleteFunc([]bank.Account{
		{
			ProviderID: "acc-1", Name: text.Name("Everyday"), Type: bank.Depository, Currency: "EUR",
			Current: new(money.MustParse("100.00")),
		},
		{ProviderID: "acc-2", Name: text.Name("Card"), Type: bank.Credit, Currency: "EUR"},
	}, func(a bank.Account) bool { return a.ProviderID == b.gone }), nil
}

func (b *bankBook) Pull(_ context.Context, c bank.Credentials, at bank.Position) (bank.Page, error) {
	b.mu.Lock()
	during := b.during
	b.mu.Unlock()
	if during != nil {
		release := make(chan struct{})
		during <- release
		<-release
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if string(c) != `{"token":"t"}` {
		return bank.Page{}, &bank.Error{Provider: "plaid", Class: bank.Ours, Code: "INVALID_ACCESS_TOKEN"}
	}
	if len(b.errs) > 0 {
		err := b.errs[0]
		b.errs = b.errs[1:]
		if err != nil {
			return bank.Page{}, err
		}
	}
	if at.Next != "" && b.moves > 0 {
		b.moves--
		return bank.Page{Restart: true}, nil
	}
	from := 0
	for _, s := range []string{at.Cursor, at.Next} {
		if s != "" {
			_, _ = fmt.Sscanf(s, "c%d", &from)
		}
	}
	end := min(len(b.events), from+b.size)
	page := bank.Page{Last: end == len(b.events), Bad: b.bad}
	b.bad = nil
	for _, e := range b.events[from:end] {
		if e.removed {
			page.Removed = append(page.Removed, bank.Removal{ProviderID: e.row.ProviderID, AccountID: e.row.AccountID})
		} else {
			page.Transactions = append(page.Transactions, e.row)
		}
	}
	page.Next = fmt.Sprintf("c%d", end)
	if page.Last {
		page.Cursor = page.Next
	}
	return page, nil
}

func (b *bankBook) put(rows ...bank.Transaction) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range rows {
		b.events, b.truth[r.ProviderID] = append(b.events, event{row: r}), r
	}
}

func (b *bankBook) drop(ids ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, x := range ids {
		b.events = append(b.events, event{row: b.truth[x], removed: true})
		delete(b.truth, x)
	}
}

func charge(provider, amount, name string) bank.Transaction {
	return bank.Transaction{
		ProviderID: provider, AccountID: "acc-1", Date: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
		Amount: money.MustParse(amount), Currency: "EUR", Name: text.Name(name),
		CategoryPrimary: text.Name("FOOD_AND_DRINK"), CategoryDetailed: text.Name("FOOD_AND_DRINK_COFFEE"),
	}
}

// A branch is a household with one connection to a bankBook.
type branch struct {
	*house
	bank *bankBook
}

func newBranch(t *testing.T, size int) *branch {
	t.Helper()
	b := &branch{bank: &bankBook{size: size, truth: map[string]bank.Transaction{}}}
	b.house = newHouse(t, b.bank)
	err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
		member, err := pg.Value[id.ID](t.Context(), tx, `select id from member limit 1`)
		if err != nil {
			return err
		}
		made, err := b.AddConnections(t.Context(), tx,
			[]NewConnection{{MemberID: member, Provider: "plaid", Institution: text.Name("First Bank")}})
		if err != nil {
			return err
		}
		b.connection = made[0]
		sealed, err := b.ring.Seal(credentialsPlace(b.connection), []byte(`{"token":"t"}`))
		if err != nil {
			return err
		}
		_, err = pg.Exec(t.Context(), tx, `update connection set credentials = $2, next_sync_at = now()
			where id = $1`, b.connection, sealed)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// holds compares the books with the bank's truth.
func (b *branch) holds(t *testing.T) {
	t.Helper()
	b.bank.mu.Lock()
	defer b.bank.mu.Unlock()
	var want []string
	for _, r := range b.bank.truth {
		want = append(want, written(r.ProviderID, r.Date, r.Amount, r.Pending, r.Name))
	}
	b.house.holds(t, want)
}

func TestSync(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 3)
	for i := range 10 {
		b.bank.put(charge(fmt.Sprintf("t%d", i), fmt.Sprintf("%d.50", i+1), "SHOP"))
	}
	j, out := b.once(t, "initial")
	if j.State != job.Succeeded || out.Added != 10 || out.Pages != 4 || out.RulesHit != 10 || out.ChangeID == nil {
		t.Fatalf("the first: %+v %+v", j, out)
	}
	b.holds(t)
	c, err := b.Connection(t.Context(), b.db, ConnectionRef{b.connection.String()})
	if err != nil || c.Status != "active" || c.LastSyncAt == nil || c.NextSyncAt == nil || c.AccountsCount != 2 {
		t.Errorf("the connection: %+v, %v", c, err)
	}
	if _, out = b.once(t, "manual"); out.Added+out.Modified+out.Removed != 0 || out.ChangeID != nil {
		t.Errorf("nothing new: %+v", out)
	}
	b.bank.put(charge("t3", "99.00", "SHOP"))
	b.bank.drop("t1")
	if _, out = b.once(t, "manual"); out.Modified != 1 || out.Removed != 1 {
		t.Errorf("one changed, one gone: %+v", out)
	}
	b.holds(t)
	log, err := b.SyncLogs(t.Context(), b.db, ListSyncLogs{Limit: 10})
	if err != nil || len(log.SyncLogs) != 3 || log.SyncLogs[0].Status != "success" || log.SyncLogs[0].Removed != 1 ||
		log.SyncLogs[2].Trigger != "initial" {
		t.Errorf("the logs: %+v, %v", log, err)
	}
}

// A pending row that posts under another id, with its removal on an earlier page, stays the same
// transaction, even if a loop is interrupted in between.
func TestSyncKeepsWhatPostsAcrossPages(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 2)
	hold := charge("p1", "40.00", "HOLD")
	hold.Pending = true
	b.bank.put(hold)
	b.once(t, "initial")
	before, err := pg.Value[id.ID](t.Context(), b.db, `select id from transaction`)
	if err != nil {
		t.Fatal(err)
	}
	posted := charge("p2", "44.00", "DINNER")
	posted.PendingID = "p1"
	b.bank.drop("p1")
	b.bank.put(charge("x1", "1.00", "A"), charge("x2", "2.00", "B"), posted, charge("x3", "3.00", "C"))
	away := &bank.Error{Provider: "plaid", Class: bank.Later, Code: bank.CodeNetwork, Advice: "try again"}
	b.bank.moves = 1
	if j, _ := b.once(t, "manual"); j.State != job.Succeeded {
		t.Fatalf("%+v", j)
	}
	b.holds(t)
	if after, err := pg.Value[id.ID](t.Context(), b.db, `select id from transaction
		where provider_id = 'p2'`); err != nil || after != before {
		t.Errorf("it became another: %v, %v", after, err)
	}
	told, err := pg.Values[string](t.Context(), b.db, `select concat_ws(' | ', action, before, after) from bank_event
		where transaction_id = $1 order by id`, before)
	if err != nil || !slices.Equal(told, []string{"posted | amount 40.00; name HOLD | amount 44.00; name DINNER"}) {
		t.Errorf("its timeline: %q, %v", told, err)
	}
	b.bank.errs = []error{away}
	if j, _ := b.once(t, "manual"); j.State != job.Failed || j.Error == nil || j.Error.Code != "PROVIDER_ERROR" {
		t.Errorf("a bank that is away: %+v", j)
	}
	b.holds(t)
}

// The steps after a sync also run after one that the bank interrupted, if its first pages brought
// something, because the next sync finds them unchanged.
func TestPagesBeforeAFailureAreFollowed(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 1)
	var followed []bool
	b.then = []func(context.Context, *job.Run, bool) error{
		func(_ context.Context, _ *job.Run, changed bool) error {
			followed = append(followed, changed)
			return nil
		},
	}
	away := &bank.Error{Provider: "plaid", Class: bank.Later, Code: "CODE"}
	for _, c := range []struct {
		name string
		news []string
		errs []error
		want []bool
	}{
		{"fails before anything came", []string{"t1", "t2"}, []error{away}, nil},
		{"fails after a page", nil, []error{nil, away}, []bool{true}},
		{"brings the rest", nil, nil, []bool{true}},
		{"brings nothing", nil, nil, []bool{false}},
	} {
		for _, n := range c.news {
			b.bank.put(charge(n, "1.00", "A"))
		}
		b.bank.errs, followed = c.errs, nil
		if b.once(t, "manual"); !slices.Equal(followed, c.want) {
			t.Errorf("a sync that %s is followed by %v, want %v", c.name, followed, c.want)
		}
	}
	b.holds(t)
}

// The contract's table of what follows from a failure.
func TestWhatFollowsFromAFailure(t *testing.T) {
	t.Parallel()
	fail := func(class bank.Class, revoked bool) *bank.Error {
		return &bank.Error{Provider: "plaid", Class: class, Code: "CODE", Advice: "do this", Revoked: revoked}
	}
	for name, c := range map[string]struct {
		errs   []error
		status string
		sealed bool
		told   string // the notifications
	}{
		"once": {[]error{fail(bank.Later, false)}, "active", true, ""},
		"three times": {
			[]error{fail(bank.Later, false), fail(bank.Later, false), fail(bank.Later, false)},
			"error",
			true,
			"sync.failed",
		},
		"sign in":    {[]error{fail(bank.Reauth, false)}, "pending_reauth", true, "connection.needs_sign_in"},
		"gone":       {[]error{fail(bank.Permanent, false)}, "error", true, "sync.failed"},
		"revoked":    {[]error{fail(bank.Permanent, true)}, "disconnected", false, ""},
		"our own":    {[]error{fail(bank.Ours, false)}, "error", true, "sync.failed"},
		"and mended": {[]error{fail(bank.Ours, false), nil}, "active", true, "sync.failed"},
		"still so":   {[]error{fail(bank.Ours, false), fail(bank.Ours, false)}, "error", true, "sync.failed"},
		"so again": {
			[]error{fail(bank.Ours, false), nil, fail(bank.Ours, false)}, "error", true, "sync.failed sync.failed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBranch(t, 10)
			b.bank.put(charge("t1", "1.00", "A"))
			for _, err := range c.errs {
				if err != nil {
					b.bank.errs = []error{err}
				}
				b.once(t, "manual")
			}
			type state struct {
				Status string `db:"status"`
				Sealed bool   `db:"sealed"`
				Due    bool   `db:"due"`
			}
			got, err := pg.One[state](t.Context(), b.db, `select status, credentials is not null as sealed,
				next_sync_at is not null as due from connection`)
			if err != nil || got.Status != c.status || got.Sealed != c.sealed ||
				got.Due != (c.status == "active" || c.status == "error") {
				t.Errorf("%+v, %v", got, err)
			}
			told, err := pg.Value[string](t.Context(), b.db, `select coalesce(string_agg(type, ' '), '') from notification`)
			if err != nil || told != c.told {
				t.Errorf("notified %q, not %q; %v", told, c.told, err)
			}
		})
	}
}

// However the bank's history goes and wherever loops break, the books end as the bank's truth.
func TestSyncEndsAtTheTruth(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dice := rand.New(rand.NewPCG(seed, 9))
			b := newBranch(t, 1+dice.IntN(5))
			next := 0
			for range 12 {
				for range dice.IntN(8) {
					b.step(dice, &next)
				}
				if dice.IntN(3) == 0 {
					b.bank.errs = []error{&bank.Error{
						Provider: "plaid", Class: bank.Later, Code: bank.CodeNetwork,
						Advice: "try again",
					}}
				}
				b.bank.moves = dice.IntN(2)
				b.once(t, "manual")
			}
			b.bank.errs, b.bank.moves = nil, 0
			b.once(t, "manual")
			b.holds(t)
			doubled, err := pg.Value[int64](t.Context(), b.db, `
				select count(*) from (select subject_id, field, ref, change_id from entry
					group by 1, 2, 3, 4 having count(*) > 1) x`)
			if err != nil || doubled > 0 {
				t.Errorf("%d fields were written twice in one change, %v", doubled, err)
			}
		})
	}
}

// step is something that happens at the bank.
func (b *branch) step(dice *rand.Rand, next *int) {
	known := slices.Sorted(maps.Keys(b.bank.truth))
	switch n := dice.IntN(6); {
	case n < 3 || len(known) == 0:
		*next++
		r := charge(fmt.Sprintf("r%d", *next), fmt.Sprintf("%d.00", 1+dice.IntN(50)),
			fmt.Sprintf("SHOP %d", dice.IntN(4)))
		r.Pending = dice.IntN(2) == 0
		b.bank.put(r)
	case n == 3:
		r := b.bank.truth[known[dice.IntN(len(known))]]
		r.Amount = money.MustParse(fmt.Sprintf("%d.25", dice.IntN(90)))
		b.bank.put(r)
	case n == 4:
		b.bank.drop(known[dice.IntN(len(known))])
	default:
		r := b.bank.truth[known[dice.IntN(len(known))]]
		if !r.Pending {
			return
		}
		*next++
		b.bank.drop(r.ProviderID)
		r.PendingID, r.ProviderID, r.Pending = r.ProviderID, fmt.Sprintf("r%d", *next), false
		b.bank.put(r)
	}
}

// The next complete loop removes a row that an interrupted loop stored and that the bank removed
// before a complete loop reported it.
func TestSyncTakesGhostsAway(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 1)
	b.bank.put(charge("a", "1.00", "A"))
	b.once(t, "initial")
	b.bank.put(charge("ghost", "2.00", "B"), charge("c", "3.00", "C"))
	// the loop breaks behind its first page
	b.bank.errs = []error{nil, &bank.Error{
		Provider: "plaid", Class: bank.Later, Code: bank.CodeNetwork,
		Advice: "try again",
	}}
	if j, _ := b.once(t, "manual"); j.State != job.Failed {
		t.Fatalf("%+v", j)
	}
	if n, err := pg.Value[int64](t.Context(), b.db, `select count(*) from transaction
		where provider_id = 'ghost' and deleted_at is null`); err != nil || n != 1 {
		t.Fatalf("control: %d ghosts, %v", n, err)
	}
	b.bank.mu.Lock()
	b.bank.events = slices.DeleteFunc(b.bank.events, func(e event) bool { return e.row.ProviderID == "ghost" })
	delete(b.bank.truth, "ghost")
	b.bank.mu.Unlock()
	b.once(t, "manual")
	b.holds(t)
}

// A mad bank is one whose client has a bug.
type mad struct{ *bankBook }

func (mad) Pull(context.Context, bank.Credentials, bank.Position) (bank.Page, error) { panic("a bug") }

// A bug in a client, which is asked beside the job, ends the job and not the server.
func TestSyncOutlivesABug(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.providers = only{mad{b.bank}}
	if j, _ := b.once(t, "manual"); j.State != job.Failed || j.Error == nil ||
		j.Error.Code != errs.InternalError {
		t.Errorf("%+v, %+v", j, j.Error)
	}
	b.providers = only{b.bank}
	if j, _ := b.once(t, "manual"); j.State != job.Succeeded {
		t.Errorf("then %+v, %+v", j, j.Error)
	}
}

// Pages are stored together, up to a bound, and each is counted.
func TestSyncStoresPagesTogether(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 400)
	for i := range 2500 {
		b.bank.put(charge(fmt.Sprintf("t%d", i), "1.00", "SHOP"))
	}
	j, out := b.once(t, "initial")
	if j.State != job.Succeeded || out.Added != 2500 || out.Pages != 7 {
		t.Fatalf("%+v %+v", j, out)
	}
	b.holds(t)
	// the moment of the transaction
	batches, err := pg.Values[int64](t.Context(), b.db, `select count(*) from transaction group by created_at
		order by created_at`)
	if err != nil || !slices.Equal(batches, []int64{2000, 500}) {
		t.Errorf("stored in batches of %d, %v", batches, err)
	}
}

// Rows that cannot be read are kept aside, and the rest is stored.
func TestQuarantine(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.bank.put(charge("t1", "1.00", "A"))
	stranger := charge("t2", "1.00", "B")
	stranger.AccountID = "acc-9"
	b.bank.put(stranger)
	delete(b.bank.truth, "t2")
	for range 2 {
		b.bank.bad = []bank.Bad{{
			ProviderID: "t3", AccountID: "acc-1", Reason: bank.BadAmount,
			Raw: bank.Raw(`{"amount":"1e9"}`),
		}}
		if _, out := b.once(t, "manual"); out.Quarantined == 0 {
			t.Errorf("%+v", out)
		}
	}
	b.holds(t)
	rows, err := pg.Values[string](t.Context(), b.db,
		`select provider_id || ' ' || reason || ' ' || (raw is not null) || ' ' || (position('1e9'::bytea in coalesce(raw, '')) > 0) from quarantine order by 1`)
	if err != nil || !slices.Equal(rows, []string{"t2 account false false", "t3 amount true false"}) {
		t.Errorf("%q, %v", rows, err)
	}
}

// A due connection is queued once, however many servers check.
func TestSweepDue(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.bank.put(charge("t1", "1.00", "A"))
	var all sync.WaitGroup
	var mu sync.Mutex
	total := 0
	for range 4 {
		all.Go(func() {
			n, err := b.SweepDue(t.Context())
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			total += n
			mu.Unlock()
		})
	}
	all.Wait()
	if total != 1 {
		t.Errorf("%d were taken on", total)
	}
	if n, err := b.SweepDue(t.Context()); n != 0 || err != nil {
		t.Errorf("again: %d, %v", n, err)
	}
}
