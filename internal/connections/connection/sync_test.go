package connection

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"coffer/internal/bank"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

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

// holds compares the stored rows with the bank's.
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

// A pending row posts under another id, and its removal is on an earlier page. It stays the same
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

// The steps after a sync also run if the bank interrupted the sync after pages with changes,
// because the next sync finds those pages unchanged.
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

// The contract's table of the consequences of a failure.
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

// Whatever happens at the bank, and wherever loops are interrupted, the stored rows finally match
// the bank's.
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

// step makes a random change at the bank.
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

// An interrupted loop stored a row, and the bank removed it before a complete loop reported it. The
// next complete loop removes the row.
func TestSyncTakesGhostsAway(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 1)
	b.bank.put(charge("a", "1.00", "A"))
	b.once(t, "initial")
	b.bank.put(charge("ghost", "2.00", "B"), charge("c", "3.00", "C"))
	// interrupt the loop after its first page
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

// After a clock was set back, complete loops seem to be later than the last one. Their rows must
// not be removed.
func TestSyncKeepsRowsOfAClockSetBack(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 10)
	b.bank.put(charge("a", "1.00", "A"), charge("b", "2.00", "B"))
	b.once(t, "initial")
	if _, err := b.db.Exec(t.Context(), `update connection set last_sync_at = last_sync_at - interval '2 hours'`); err != nil {
		t.Fatal(err)
	}
	b.bank.put(charge("c", "3.00", "C"))
	b.once(t, "manual")
	b.holds(t)
}

// A mad bank has a client with a bug.
type mad struct{ *bankBook }

func (mad) Pull(context.Context, bank.Credentials, bank.Position) (bank.Page, error) { panic("a bug") }

// The client runs in another goroutine than the job. A panic in it ends the job, but not the
// server.
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

// Several pages are stored together, up to a limit, and each page is counted.
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
	// created_at is the time of the transaction
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

// A due connection is queued only once, however many servers check.
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
