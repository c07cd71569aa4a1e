// Package crash kills servers and databases in the middle of syncs and compares what is left with
// what the banks know. It goes through the program's own surfaces, and must not know how syncs are
// made safe.
package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
	"github.com/google/go-cmp/cmp"
)

func long() bool { return os.Getenv("COFFER_TEST_LONG") != "" }

// A town has a Plaid and a Teller on real connections, and the settings with which a server finds
// them.
type town struct {
	plaid    *banks.Plaid
	teller   *banks.Teller
	settings []string
}

// newTown starts the simulators. Every call takes a moment, as at a real bank, so that a sync lasts
// long enough to be hit.
func newTown(t *testing.T, transactions int, latency time.Duration) *town {
	t.Helper()
	size := household.Options{Seed: 11, Transactions: transactions, Years: 1, End: time.Now()}
	p, err := banks.NewPlaid(banks.PlaidOptions{Household: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	tl, err := banks.NewTeller(banks.TellerOptions{Household: size})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tl.Close)
	p.Script(banks.Fault{Delay: latency, Times: -1})
	tl.Script(banks.Fault{Delay: latency, Times: -1})
	dir := t.TempDir()
	file := func(name string, pem []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return &town{p, tl, []string{
		"COFFER_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=", "COFFER_DATABASE_MAX_CONNS=5",
		"COFFER_PLAID_CLIENT_ID=client", "COFFER_PLAID_SECRET=secret", "COFFER_PLAID_URL=" + p.URL(),
		"COFFER_TELLER_APPLICATION_ID=app_1", "COFFER_TELLER_ENVIRONMENT=development", "COFFER_TELLER_URL=" + tl.URL(),
		"COFFER_TELLER_CERTIFICATE=" + file("cert.pem", tl.Certificate()),
		"COFFER_TELLER_PRIVATE_KEY=" + file("key.pem", tl.Key()), "COFFER_TELLER_CA=" + file("ca.pem", tl.CA()),
	}}
}

// A house is a household with a server of its own and a connection through each provider.
type house struct {
	town   *town
	server *apptest.Server
	db     *pg.DB // to look, not to touch
	key    string
	client *http.Client
	doors  []door
}

// A door is a connection, and what the bank behind it knows.
type door struct {
	id     string
	book   *banks.Book
	recent []banks.Row   // that the bank made since, and has still
	others []*banks.Book // of other banks behind the same token, which stand still
	// How the books name an account of a bank whose rows have no ids and stay once they are booked;
	// nil for other banks.
	hash func(account string) string
}

func (w *town) newHouse(t *testing.T, program, database string) *house {
	t.Helper()
	h := open(t, program, database, w.settings...)
	h.town = w
	token, book := w.plaid.NewItem("")
	h.link(t, book, fmt.Sprintf(`{"provider":"plaid","credentials":{"public_token":%q}}`, token))
	e := w.teller.Enroll()
	h.link(t, e.Book, fmt.Sprintf(`{"provider":"teller","credentials":{"access_token":%q,"enrollment_id":%q}}`,
		e.AccessToken, e.ID))
	return h
}

// open starts a server for a household that has nothing yet.
func open(t *testing.T, program, database string, settings ...string) *house {
	t.Helper()
	h := &house{
		server: apptest.Start(t, program, database, settings...), client: &http.Client{Timeout: 40 * time.Second},
	}
	var err error
	if h.db, err = pg.Open(t.Context(), database, pg.Options{MaxConns: 2}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.db.Close)
	err = h.db.InTx(t.Context(), func(tx pg.Tx) error {
		k, err := auth.New(h.db).Create(t.Context(), tx,
			auth.CreateKey{Name: "crash", Scope: "full_access", ActorType: "user"})
		h.key = k.Secret
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *house) link(t *testing.T, book *banks.Book, body string) {
	t.Helper()
	status, answer, err := h.send(t.Context(), http.MethodPost, "/connections", body)
	var c struct {
		ID string `json:"id"`
	}
	if err != nil || status != http.StatusCreated || json.Unmarshal(answer, &c) != nil {
		t.Fatalf("link: %d %s %v", status, answer, err)
	}
	h.doors = append(h.doors, door{id: c.ID, book: book})
}

// send makes one request and reads its answer.
func (h *house) send(ctx context.Context, method, path, body string, headers ...string) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, h.server.URL()+path, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, nil, err
	}
	req.GetBody = nil // or the transport itself sends it again, where nobody counts
	req.Header.Set("X-Api-Key", h.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := h.client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close() //nolint:errcheck // it was read to its end, or the error says why not
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, b, err
}

// liveOn lets the banks go on until the returned function is called.
func (h *house) liveOn(dice *rand.Rand) (stop func()) {
	end := make(chan struct{})
	var living sync.WaitGroup
	living.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(500*time.Millisecond + time.Duration(dice.IntN(1000))*time.Millisecond):
				for i := range h.doors {
					h.doors[i].move(dice, 1+dice.IntN(60))
				}
			}
		}
	})
	return func() { close(end); living.Wait() }
}

// move plays a while at a bank: charges come, pending and posted; some change, some are posted
// under their id or another, some are removed.
func (d *door) move(dice *rand.Rand, charges int) {
	today := time.Now().UTC().Truncate(24 * time.Hour)
	accounts := d.book.Accounts()
	for range charges {
		d.recent = append(d.recent, d.book.Add(banks.Row{
			AccountID: accounts[dice.IntN(len(accounts))].ID, Date: today.AddDate(0, 0, -dice.IntN(4)),
			Amount: money.MustParse(fmt.Sprintf("%d.%02d", 1+dice.IntN(900), dice.IntN(100))),
			Name:   text.Name(fmt.Sprintf("SHOP %d", dice.IntN(500))), Channel: "in store", Primary: text.Name("general"),
			Pending: dice.IntN(4) == 0,
		}))
	}
	for range len(d.recent) / 20 {
		at := dice.IntN(len(d.recent))
		r := d.recent[at]
		switch n := dice.IntN(4); {
		case n == 0 && (d.hash == nil || r.Pending):
			d.book.Remove(r.ID)
			d.recent = slices.Delete(d.recent, at, at+1)
		case n == 1 && r.Pending:
			d.recent[at] = d.book.Post(r.ID, nil)
		default:
			d.recent[at] = d.book.Change(r.ID, func(r *banks.Row) {
				r.Pending, r.Name = false,
					text.Name(r.Name.Plain()+"!")
			})
		}
	}
}

// settle syncs every connection to a good end, now that the banks stand still.
func (h *house) settle(t *testing.T) {
	t.Helper()
	for _, d := range h.doors {
		first := ""
		for tries := 1; ; tries++ {
			h.nextDay(t)
			status, answer, err := h.send(t.Context(), http.MethodPost, "/connections/"+d.id+"/sync?wait=30s", "")
			var sync struct{ ID, State string }
			if err == nil && status < http.StatusBadRequest {
				err = json.Unmarshal(answer, &sync)
			}
			// The first may be one that began before, and be joined until it ends.
			if first == "" {
				first = sync.ID
			}
			if err == nil && status == http.StatusOK && sync.State == "succeeded" && sync.ID != first {
				break
			}
			if tries == 20 {
				t.Fatalf("the connection cannot be synced any more: %d %s %v", status, answer, err)
			}
		}
	}
}

// nextDay lets servers forget how often providers were asked, as a day does.
func (h *house) nextDay(t *testing.T) {
	t.Helper()
	if _, err := h.db.Exec(t.Context(), `update connection set asked_at = '{}'`); err != nil {
		t.Fatal(err)
	}
}

// check compares the books with the banks, and looks for anything that hangs. It returns how many
// rows the banks have, and all differences.
func (h *house) check(t *testing.T) (rows int, wrong []string) {
	t.Helper()
	for _, d := range h.doors {
		stored, err := pg.Values[string](t.Context(), h.db, `
			select concat_ws(' ', case when $2 then a.provider_id else t.provider_id end, t.date, t.amount, t.currency,
				t.pending, d.name)
			from transaction t join account a on a.id = t.account_id join descriptor d on d.id = t.descriptor_id
			where a.connection_id = $1::uuid and t.deleted_at is null`, d.id, d.hash != nil)
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		known := d.book.Rows()
		for _, b := range d.others {
			known = append(known, b.Rows()...)
		}
		for _, r := range known {
			pending := "f"
			if r.Pending {
				pending = "t"
			}
			who := r.ID
			if d.hash != nil {
				who = d.hash(r.AccountID)
			}
			want = append(want, fmt.Sprintf("%s %s %s %s %s %s", who, r.Date.Format(time.DateOnly), r.Amount,
				r.Currency, pending, r.Name.Plain()))
		}
		slices.Sort(stored)
		slices.Sort(want)
		if !slices.Equal(stored, want) {
			text := cmp.Diff(want, stored)
			wrong = append(wrong,
				fmt.Sprintf("%d rows are stored, the bank has %d; the bank (-) and the books (+):\n%s", len(stored),
					len(want), text[:min(len(text), 3000)]))
		}
		rows += len(want)
	}
	for what, sql := range map[string]string{
		"transactions that no rule has seen": `select count(*) from transaction t
			where not exists (select from transaction_tag g where g.transaction_id = t.id)`,
		"transactions without an entry in a change": `select count(*) from transaction t
			where not exists (select from entry e where e.subject_id = t.id)`,
		"fields written twice in one change": `select count(*) from (select from entry
			group by subject_id, field, ref, change_id having count(*) > 1) x`,
		"jobs that have not ended": `select count(*) from job where state in ('queued', 'running')`,
		"sync logs that have not ended": `select count(*) from sync_log l join job j on j.id = l.job_id
			where l.status = 'running' and (j.state = 'succeeded' or j.finished_at < now() - interval '1 minute')`,
		"connections that are not well": `select count(*) from connection
			where provider <> 'csv' and (status <> 'active' or consecutive_failures > 0 or next_sync_at is null
				or last_sync_at is null)`,
		"rows that could not be read": `select count(*) from quarantine`,
		"syncs of one connection at the same time": `select count(*) from sync_log a
			join sync_log b on a.connection_id = b.connection_id and a.id < b.id and a.finished_at > b.started_at`,
		"logs of rows without a change": `select count(*) from sync_log
			where added > 0 and change_id is null`,
	} {
		n, err := pg.Value[int64](t.Context(), h.db, sql)
		if err != nil {
			t.Fatal(err)
		}
		if n != 0 {
			wrong = append(wrong, fmt.Sprintf("%d %s", n, what))
		}
	}
	return rows, wrong
}
