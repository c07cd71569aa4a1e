package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/internal/books/account"
	"coffer/internal/books/journal"
	"coffer/internal/books/ledger"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
	"coffer/internal/platform/text"
	"coffer/internal/rules/rulebook"
)

const raceTransactions = 300

// A ruleRace is two servers on one database. Many callers edit and apply rules there, and run the
// rules on pages of a sync, all at the same time.
type ruleRace struct {
	t       *testing.T
	servers []hammerServer
	client  *http.Client
	key     string
	ctx     context.Context //nolint:containedctx // ends the race
	rows    []id.ID
	counter string    // a rule whose name is the number of its edits
	pair    [2]string // two rules that are always edited together
	torn    bool      // the control: each of the pair is edited in its own transaction

	generation atomic.Int64
	counted    atomic.Int64
	mu         sync.Mutex
	tally      map[string]int
}

func newRuleRace(t *testing.T, torn bool) *ruleRace {
	t.Helper()
	database := pgtest.URL(t) + "&synchronous_commit=off"
	r := &ruleRace{
		t: t, client: hammerClient(t), torn: torn, tally: map[string]int{},
		servers: []hammerServer{newHammerServer(t, database), newHammerServer(t, database)},
	}
	r.key, _ = hammerKey(t, r.servers[0].App, "race")
	r.fill()
	for _, name := range []string{"0", "pair a", "pair b"} {
		body := fmt.Sprintf(
			`{"rules":[{"name":%q,"conditions":{},"trigger":"always","actions":[{"type":"add_tag","tag_slug":%q}]}]}`,
			name, "gen-0-"+name[len(name)-1:])
		reply, err := hammerSend(t.Context(), r.client, http.MethodPost, r.servers[0].URL+"/rules", r.key, body)
		if err != nil || reply.Status != http.StatusCreated {
			t.Fatalf("create: %d %s %v", reply.Status, reply.Body, err)
		}
		var made struct{ Rules []struct{ ID string } }
		if err := json.Unmarshal([]byte(reply.Body), &made); err != nil {
			t.Fatal(err)
		}
		switch name {
		case "0":
			r.counter = made.Rules[0].ID
		case "pair a":
			r.pair[0] = made.Rules[0].ID
		default:
			r.pair[1] = made.Rules[0].ID
		}
	}
	for _, s := range r.servers {
		ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
		done := make(chan error, 1)
		go func() { done <- s.App.Jobs.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("jobs: %v", err)
			}
		})
	}
	return r
}

func (r *ruleRace) fill() {
	r.t.Helper()
	a := r.servers[0].App
	ctx := op.WithActor(r.t.Context(), op.Actor{Type: op.System, Name: "test"})
	err := a.DB.InTx(ctx, func(tx pg.Tx) error {
		accounts, err := a.Accounts.AddAccounts(ctx, tx,
			[]account.Incoming{{
				Provider: "plaid", ProviderID: "a", Name: text.Name("Everyday"), Type: "depository",
				Currency: "EUR",
			}})
		if err != nil {
			return err
		}
		_, err = a.Books.Load(ctx, tx, func(yield func(ledger.Incoming) bool) {
			for i := range raceTransactions {
				if !yield(ledger.Incoming{
					AccountID: accounts[0], ProviderID: strconv.Itoa(i), Date: pg.Day(time.Now()),
					Amount: money.MustParse("1.00"), Currency: "EUR", Name: text.Name(fmt.Sprintf("SHOP %d", i%10)),
				}) {
					return
				}
			}
		})
		if err != nil {
			return err
		}
		r.rows, err = pg.Values[id.ID](ctx, tx, `select id from transaction order by id`)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *ruleRace) add(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tally[what]++
}

// send makes a call on one of the servers. A call that comes too late may be rejected, but an
// internal error is a failure.
func (r *ruleRace) send(method, path, body string, headers ...string) (hammerReply, error) {
	reply, err := hammerSend(r.ctx, r.client, method, r.servers[rand.N(2)].URL+path, r.key, body, headers...)
	if err == nil && (reply.Status >= http.StatusInternalServerError ||
		reply.Status == http.StatusUnprocessableEntity || reply.Status == http.StatusBadRequest) {
		err = fmt.Errorf("%s %s %s: %d %s", method, path, body, reply.Status, reply.Body)
	}
	if err == nil {
		r.add(fmt.Sprintf("%s %s %d", method, strings.Split(path, "/")[1], reply.Status))
	}
	return reply, err
}

// count edits one rule with If-Match.
func (r *ruleRace) count() error {
	read, err := r.send(http.MethodGet, "/rules/"+r.counter, "")
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(read.Field("name"))
	if err != nil {
		return err
	}
	wrote, err := r.send(http.MethodPatch, "/rules/"+r.counter, fmt.Sprintf(`{"name":"%d"}`, n+1), "If-Match",
		read.Header.Get("ETag"))
	if err == nil && wrote.Status == http.StatusOK {
		r.counted.Add(1)
	}
	return err
}

// edit gives both rules of the pair the tags of a new generation, in one transaction unless torn is
// set.
func (r *ruleRace) edit() error {
	a, n := r.servers[rand.N(2)].App, r.generation.Add(1)
	ctx := op.WithActor(r.ctx, op.Actor{Type: op.User, ID: id.New(), Name: "Ada", Scope: op.Full})
	patch := func(tx pg.Tx, i int) error {
		_, err := a.Rules.Patch(ctx, tx, rulebook.PatchRule{
			ID:      r.pair[i],
			Actions: []rulebook.Action{{Type: "add_tag", TagSlug: fmt.Sprintf("gen-%d-%c", n, 'a'+i)}},
		})
		return err
	}
	r.add("pairs edited")
	if r.torn {
		if err := a.DB.InTx(ctx, func(tx pg.Tx) error { return patch(tx, 0) }); err != nil {
			return err
		}
		hammerPause(r.ctx, 50*time.Millisecond)
		return a.DB.InTx(ctx, func(tx pg.Tx) error { return patch(tx, 1) })
	}
	return a.DB.InTx(ctx, func(tx pg.Tx) error { return errors.Join(patch(tx, 0), patch(tx, 1)) })
}

// come creates a rule that also applies to stored transactions, and deletes it.
func (r *ruleRace) come() error {
	n := rand.N(10)
	made, err := r.send(http.MethodPost, "/rules", fmt.Sprintf(
		`{"rules":[{"name":"comes and goes","conditions":{"field":"name","op":"contains","value":"shop %d"},"category_slug":"travel","actions":[{"type":"add_tag","tag_slug":"shop-%d"}],"trigger":"always","apply_retroactively":true}]}`, n, n))
	if err != nil {
		return err
	}
	var out struct{ Rules []struct{ ID string } }
	if err := json.Unmarshal([]byte(made.Body), &out); err != nil || len(out.Rules) != 1 {
		return fmt.Errorf("%s: %w", made.Body, err)
	}
	_, err = r.send(http.MethodDelete, "/rules/"+out.Rules[0].ID, "")
	return err
}

// apply applies all rules or the pair, and waits until the job has ended.
func (r *ruleRace) apply() error {
	body := `{}`
	if rand.N(2) == 0 {
		body = fmt.Sprintf(`{"rule_ids":[%q,%q]}`, r.pair[0], r.pair[1])
	}
	reply, err := r.send(http.MethodPost, "/rules/apply?wait=20s", body)
	if err == nil && reply.Field("state") == "failed" {
		err = fmt.Errorf("an application failed: %s", reply.Body)
	}
	return err
}

// page runs the rules on a page of transactions, as a sync does. It locks the rows first, because a
// sync has just written them.
func (r *ruleRace) page() error {
	a := r.servers[rand.N(2)].App
	ctx := op.WithActor(r.ctx, op.Actor{Type: op.System, Name: "sync"})
	at := rand.N(raceTransactions - 20)
	rows := r.rows[at : at+20]
	return a.DB.InTx(ctx, func(tx pg.Tx) error {
		if err := a.Books.Lock(ctx, tx, rows); err != nil {
			return err
		}
		entries, _, err := a.Rules.Pass(ctx, tx, rulebook.Page{Run: id.New(), Created: rows[:10], Changed: rows[10:]})
		if err != nil {
			return err
		}
		r.add("pages")
		_, err = journal.Record(ctx, tx, journal.Note{Cause: journal.Sync, Summary: "page"}, entries)
		return err
	})
}

// run runs all steps concurrently for that time.
func (r *ruleRace) run(d time.Duration) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), hammerPatience)
	defer cancel()
	r.ctx = ctx
	end := time.Now().Add(d)
	var group sync.WaitGroup
	for _, step := range []func() error{
		r.count, r.count, r.count, r.count, r.edit, r.edit, r.come, r.come, r.apply,
		r.apply, r.page, r.page,
	} {
		group.Go(func() {
			for time.Now().Before(end) && !r.t.Failed() {
				if err := step(); err != nil {
					r.t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

// halves counts the changes and runs that saw the pair in two generations, and those that did not.
// Signs of two generations are a transaction with only one of the tags or tags of two generations,
// and different hit counts for the two rules.
func (r *ruleRace) halves() (halves, whole int) {
	r.t.Helper()
	type sums struct {
		Halves int `db:"halves"`
		Whole  int `db:"whole"`
	}
	s, err := pg.One[sums](r.t.Context(), r.servers[0].App.DB, `
		with got as (
			select c.id, e.subject_id, count(*) as tags, count(distinct split_part(g.slug, '-', 2)) as generations,
				min(split_part(g.slug, '-', 2)) as generation
			from change c join entry e on e.change_id = c.id and e.field = 'tag' and e.after is not null
				join tag g on g.id = e.ref
			where c.cause in ('rule', 'sync') and e.rule_id = any($1::text[]::uuid[]) group by c.id, e.subject_id),
		each as (select id, bool_or(tags <> 2 or generations <> 1) or count(distinct generation) > 1 as half from got
			group by id),
		run as (select run_id,
			count(*) filter (where rule_id = $2::text::uuid) <> count(*) filter (where rule_id = $3::text::uuid)
			or min(hits) <> max(hits) as half
			from rule_hit where rule_id = any($1::text[]::uuid[]) group by run_id)
		select ((select count(*) from each where half) + (select count(*) from run where half))::int as halves,
			((select count(*) from each where not half) + (select count(*) from run
				where not half))::int as whole`, r.pair[:], r.pair[0], r.pair[1])
	if err != nil {
		r.t.Fatal(err)
	}
	return s.Halves, s.Whole
}

// TestRulesContend: two servers edit, create, delete and apply rules, and run them on pages, at the
// same time. No edit is lost, every application and every page sees one version of the rules, and
// no call fails with an internal error. TestRulesContendControl edits the pair one after the other,
// and this is noticed.
func TestRulesContend(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	d := 6 * time.Second
	if os.Getenv("COFFER_TEST_LONG") != "" {
		d = 2 * time.Minute
	}
	r := newRuleRace(t, false)
	r.run(d)
	// A busy machine gets less done in the same time, so run longer.
	for more := 0; more < 10 && !t.Failed() && len(r.rare()) > 0; more++ {
		r.run(d / 2)
	}
	halves, whole := r.halves()
	name, err := pg.Value[string](t.Context(), r.servers[0].App.DB, `select name from rule
		where id = $1::text::uuid`, r.counter)
	if err != nil || name != fmt.Sprint(r.counted.Load()) {
		t.Errorf("%d edits were accepted, and the rule counts %s (%v)", r.counted.Load(), name, err)
	}
	if halves > 0 {
		t.Errorf("%d pages and applications saw half of an edit", halves)
	}
	deadlocks, err := pg.Value[int](t.Context(), r.servers[0].App.DB, `select deadlocks::int from pg_stat_database
		where datname = current_database()`)
	if err != nil || deadlocks > 0 {
		t.Errorf("%d deadlocks (%v)", deadlocks, err)
	}
	t.Logf("%d edits counted, %d pages and applications of one version each; %v", r.counted.Load(), whole, r.tally)
	if rare := r.rare(); len(rare) > 0 || whole < enough {
		t.Errorf("too few of %v, or of whole pages: %d", rare, whole)
	}
}

// enough is how often each event must have happened.
const enough = 3

// rare returns the events that have happened less often than enough.
func (r *ruleRace) rare() (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for what, n := range map[string]int{
		"edits counted": int(r.counted.Load()), "refused edits": r.tally["PATCH rules 412"], "pages": r.tally["pages"],
		"applications": r.tally["POST rules 200"],
		"pairs":        r.tally["pairs edited"], "made": r.tally["POST rules 201"],
	} {
		if n < enough {
			list = append(list, what)
		}
	}
	return list
}

func TestRulesContendControl(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	r := newRuleRace(t, true)
	r.run(2 * time.Second)
	if halves, whole := r.halves(); halves == 0 {
		t.Errorf("rules that are edited one after the other are never seen in between: %d pages and applications see "+
			"too little", whole)
	}
}
