package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"coffer/internal/app"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/pg/pgtest"
	"coffer/internal/platform/racetest"
)

// A contender edits and reverts the same transactions as other contenders, at the same time.
type contender struct {
	client  *http.Client
	servers []hammerServer
	key     string
	dice    *rand.Rand
	rows    []string // all contenders edit these transactions
	mu      *sync.Mutex
	codes   map[string]int // counts of all contenders, guarded by mu
}

// do makes a call on either server. A call that comes too late may be rejected, but an internal
// error is a failure.
func (c *contender) do(ctx context.Context, method, path, body string) (hammerReply, error) {
	r, err := hammerSend(ctx, c.client, method, c.servers[c.dice.IntN(len(c.servers))].URL+path, c.key, body)
	if err != nil {
		return r, err
	}
	c.mu.Lock()
	c.codes[fmt.Sprintf("%s %d %s", method, r.Status, r.Code())]++
	c.mu.Unlock()
	if r.Status >= http.StatusInternalServerError || r.Status == http.StatusUnprocessableEntity ||
		r.Status == http.StatusBadRequest {
		return r, fmt.Errorf("%s %s %s: %d %s", method, path, body, r.Status, r.Body)
	}
	return r, nil
}

func (c *contender) one(of ...string) string { return of[c.dice.IntN(len(of))] }

// some returns a random selection of the rows in random order, so that two contenders ask for the
// same locks in different orders.
func (c *contender) some() []string {
	var out []string
	for _, i := range c.dice.Perm(len(c.rows))[:1+c.dice.IntN(len(c.rows))] {
		out = append(out, c.rows[i])
	}
	return out
}

func (c *contender) step(ctx context.Context) error {
	category := c.one("food_and_drink_groceries", "transport_taxis", "income_salary", "home_rent")
	row := c.one(c.rows...)
	var err error
	switch c.dice.IntN(8) {
	case 0:
		ids, _ := json.Marshal(c.some())
		_, err = c.do(ctx, http.MethodPost, "/transactions/batch-categorize",
			fmt.Sprintf(`{"transaction_ids":%s,"category_id":%q}`, ids, category))
	case 1, 2:
		var operations []string
		for _, u := range c.some() {
			operations = append(operations, fmt.Sprintf(`{"transaction_id":%q,"category":%q,%q:[%q]}`, u, category,
				c.one("tags_to_add", "tags_to_remove"), c.one("needs-review", "hot", "cold")))
		}
		_, err = c.do(ctx, http.MethodPost, "/transactions/update",
			`{"operations":[`+strings.Join(operations, ",")+`]}`)
	case 3:
		_, err = c.do(ctx, http.MethodPatch, "/transactions/"+row, fmt.Sprintf(`{"category":%q}`, category))
	case 4:
		_, err = c.do(ctx, http.MethodDelete, "/transactions/"+row, "")
		if err == nil {
			_, err = c.do(ctx, http.MethodPost, "/transactions/"+row+"/restore", "")
		}
	default:
		err = c.revert(ctx)
	}
	return err
}

// revert reverts one of the last changes, which another contender may be reverting too.
func (c *contender) revert(ctx context.Context) error {
	r, err := c.do(ctx, http.MethodGet, "/changes?limit=8", "")
	if err != nil {
		return err
	}
	var list struct {
		Changes []struct {
			ID string `json:"id"`
		} `json:"changes"`
	}
	if err := json.Unmarshal([]byte(r.Body), &list); err != nil || len(list.Changes) == 0 {
		return err
	}
	_, err = c.do(ctx, http.MethodPost, "/changes/"+list.Changes[c.dice.IntN(len(list.Changes))].ID+"/revert", "")
	return err
}

// TestEditsAndRevertsContend: several callers edit and revert the same transactions through two
// servers. No call fails with an internal error. The history of every field is a chain without a
// gap that ends with the stored value.
func TestEditsAndRevertsContend(t *testing.T) {
	t.Parallel()
	racetest.Concurrent(t)
	database := pgtest.URL(t)
	w := newWorldOn(t, database, app.Config{})
	w.fillBooks(t)
	servers := []hammerServer{newHammerServer(t, database), newHammerServer(t, database)}
	client, mu, codes := hammerClient(t), &sync.Mutex{}, map[string]int{}
	rows, err := pg.Values[string](t.Context(), w.DB, `select id::text from transaction order by id`)
	if err != nil {
		t.Fatal(err)
	}
	const contenders, steps = 8, 40
	var all sync.WaitGroup
	for n := range contenders {
		c := &contender{
			client: client, servers: servers, key: w.key, rows: rows, mu: mu, codes: codes,
			dice: rand.New(rand.NewPCG(uint64(n), 7)),
		}
		all.Go(func() {
			for range steps {
				if err := c.step(t.Context()); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	t.Log(codes)
	if n := brokenChains(t, w.DB); n != 0 {
		t.Errorf("%d entries do not begin where the one before ended", n)
	}
	ends, err := pg.Value[int](t.Context(), w.DB, `
		select count(*) from transaction t cross join lateral (
			select e.after, e.after_source from entry e where e.subject_id = t.id and e.field = 'category'
				order by e.id desc limit 1) e
		where (e.after, e.after_source) is distinct from (t.category_id::text, t.category_source)`)
	if err != nil || ends != 0 {
		t.Errorf("%d transactions have another category than their history ends in (%v)", ends, err)
	}
	reverts, err := pg.Value[int](t.Context(), w.DB, `select count(*) from change where reverts is not null`)
	if err != nil || reverts < contenders {
		t.Errorf("%d reverts (%v), so the test proves nothing", reverts, err)
	}
	// The control: the test notices a missing entry.
	if _, err := w.DB.Exec(t.Context(), `delete from entry where id in (
		select id from (select id, row_number() over (partition by subject_id order by id) n from entry
			where field = 'category' and before is distinct from after) x where n % 2 = 0)`); err != nil {
		t.Fatal(err)
	}
	if brokenChains(t, w.DB) == 0 {
		t.Error("missing links go unnoticed, so the test proves nothing")
	}
}

// brokenChains returns the number of entries whose old value is not the new value of the entry
// before.
func brokenChains(t *testing.T, db *pg.DB) int {
	t.Helper()
	n, err := pg.Value[int](t.Context(), db, `
		select count(*) from (
			select before, before_source, lag(after) over field as last, lag(after_source) over field as last_source,
				lag(id) over field as previous
			from entry window field as (partition by subject_id, field, ref order by id)) e
		where previous is not null and (before, before_source) is distinct from (last, last_source)`)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
