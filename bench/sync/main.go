// Command sync measures a bank's first sync and its repetition. coffer's real server reads from a
// simulator of Plaid. For comparison, bare.go writes the same rows and the same journal with
// nothing but COPY and merge. Both sides take turns in one run. sync must not know how coffer
// stores a page: it starts the real binary, sends HTTP requests, and then reads the database.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"coffer/bench/measure"
	"coffer/internal/people/auth"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/banks"
	"coffer/internal/sim/household"
)

const (
	goal   = 0.5 // the least share of the bare side's rows per second
	manner = "COFFER_ENCRYPTION_KEY=MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY="
)

type options struct {
	transactions, rules, rounds int
	binary                      string
}

func main() { measure.Main("sync", run) }

func run(ctx context.Context) error {
	var o options
	flag.IntVar(&o.transactions, "transactions", 50_000, "how many transactions the bank has")
	flag.IntVar(&o.rules, "rules", 200, "how many rules the household has")
	flag.IntVar(&o.rounds, "rounds", 3, "rounds of each side, alternating, each in a database of its own")
	flag.StringVar(&o.binary, "binary", "", "measure this coffer instead of building one")
	flag.Parse()
	binary, remove, err := measure.Coffer(ctx, o.binary)
	if err != nil {
		return err
	}
	defer remove()
	o.binary = binary
	var all []figures
	for range o.rounds {
		f, err := round(ctx, o)
		if err != nil {
			return err
		}
		all = append(all, f)
	}
	report(os.Stdout, o, all)
	return nil
}

// figures are the measurements of a round.
type figures struct {
	machine       measure.Machine
	rows, entries int64
	tags          int64
	first, again  span // coffer's first and second sync
	bare, bare500 span // COPY and merge, in batches of 5,000 and of a page
	compare       span // COPY and compare
	written       []tableWrites
	strangers     float64 // share of the cores that other programs used
}

// A span is the time that a step took, the CPU time that it cost and the bytes that it wrote.
type span struct {
	took time.Duration
	cpu  time.Duration // of the program and PostgreSQL's backends
	own  time.Duration // the program's part of cpu
	wal  int64         // of the whole server
}

func (s span) rate(rows int64) float64 { return float64(rows) / s.took.Seconds() }

// A tableWrites is the number of rows written in a table.
type tableWrites struct {
	Table string `db:"table"`
	Rows  int64  `db:"rows"`
}

// round runs both sides once, in a new database.
func round(ctx context.Context, o options) (figures, error) {
	var f figures
	scratch, err := measure.NewScratch(ctx)
	if err != nil {
		return f, err
	}
	defer scratch.Drop(ctx)
	if f.machine, err = measure.Describe(ctx, scratch); err != nil {
		return f, err
	}
	db, err := pg.Open(ctx, scratch.URL, pg.Options{MaxConns: 2, StatementTimeout: 10 * time.Minute})
	if err != nil {
		return f, err
	}
	defer db.Close()
	busy, own, began := machineNow(), time.Duration(0), time.Now()
	house, err := open(ctx, o, scratch, db)
	if err != nil {
		return f, err
	}
	defer house.close()
	if err := house.makeRules(ctx, o.rules); err != nil {
		return f, err
	}
	if f.first, err = house.timed(ctx, func() error { return house.link(ctx) }); err != nil {
		return f, err
	}
	if f.again, f.written, err = house.unchanged(ctx); err != nil {
		return f, err
	}
	own += house.spent()
	house.close()
	load, err := take(ctx, db)
	if err != nil {
		return f, err
	}
	f.rows, f.tags, f.entries = int64(len(load.transactions)), int64(len(load.tags)), int64(len(load.entries))
	for _, b := range []struct {
		into  *span
		batch int
	}{{&f.bare, 5000}, {&f.bare500, 500}} {
		if *b.into, err = load.merge(ctx, db, b.batch); err != nil {
			return f, err
		}
		own += b.into.cpu
	}
	if f.compare, err = load.compare(ctx, db); err != nil {
		return f, err
	}
	own += f.compare.cpu
	f.strangers = max(0, (machineNow()-busy-own).Seconds()/(time.Since(began).Seconds()*float64(f.machine.Cores)))
	return f, nil
}

func machineNow() time.Duration {
	d, _ := measure.MachineCPU() // 0 without /proc; strangers is then 0 too
	return d
}

// A house is the server, its bank and its household.
type house struct {
	db      *pg.DB
	scratch *measure.Scratch
	sim     *banks.Plaid
	book    *banks.Book
	token   string
	server  *measure.Child
	key     string
	client  http.Client
	total   time.Duration
	closed  bool
}

func open(ctx context.Context, o options, scratch *measure.Scratch, db *pg.DB) (*house, error) {
	// A household's transactions are spread over its banks. Make it large enough that the bank
	// behind Plaid has the requested number.
	share := 1.0
	for range 2 {
		sim, err := banks.NewPlaid(banks.PlaidOptions{Household: household.Options{
			Seed:         1,
			Transactions: int(float64(o.transactions) * share), Years: 5, End: time.Now(),
		}})
		if err != nil {
			return nil, err
		}
		token, book := sim.NewItem("")
		if n := len(book.Rows()); n < o.transactions*98/100 {
			share *= float64(o.transactions) / float64(max(n, 1))
			sim.Close()
			continue
		}
		h := &house{db: db, scratch: scratch, sim: sim, book: book, token: token}
		err = h.start(ctx, o.binary)
		return h, err
	}
	return nil, errors.New("the simulator cannot be given that many transactions")
}

func (h *house) start(ctx context.Context, binary string) error {
	err := h.db.InTx(ctx, func(tx pg.Tx) error {
		k, err := auth.New(h.db).Create(ctx, tx, auth.CreateKey{
			Name: "bench sync", Scope: "full_access",
			ActorType: "user",
		})
		h.key = k.Secret
		return err
	})
	if err != nil {
		return err
	}
	h.server, err = measure.Start(ctx, binary, []string{"serve"}, func(address string) []string {
		return []string{
			"COFFER_DATABASE_URL=" + h.scratch.URL, "COFFER_LISTEN=" + address, "COFFER_LOG_LEVEL=WARN", manner,
			"COFFER_PLAID_CLIENT_ID=client", "COFFER_PLAID_SECRET=secret", "COFFER_PLAID_URL=" + h.sim.URL(),
		}
	})
	if err != nil {
		return err
	}
	_, err = h.server.Ready(ctx, "/api/v1/health/ready")
	return err
}

func (h *house) close() {
	if h.closed {
		return
	}
	h.closed = true
	h.server.Stop()
	h.sim.Close()
}

func (h *house) spent() time.Duration { return h.total }

// call makes one request and decodes its response.
func (h *house) call(ctx context.Context, path string, body, into any) error {
	printed, err := json.Marshal(body)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+h.server.Address+"/api/v1"+path,
		bytes.NewReader(printed))
	if err != nil {
		return err
	}
	req.Header.Set("X-Api-Key", h.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := h.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // it was read to its end, or the error says why not
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("POST %s: %d %s: %w", path, res.StatusCode, answer, err)
	}
	return json.Unmarshal(answer, into)
}

// makeRules creates rules like those of households: most search for a word, some for a pattern, and
// some compare the amount.
func (h *house) makeRules(ctx context.Context, n int) error {
	var words []string
	seen := map[string]bool{}
	for _, r := range h.book.Rows() {
		for word := range strings.FieldsSeq(strings.ToLower(r.Name.Plain())) {
			if len(word) > 4 && !seen[word] && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == "" {
				seen[word] = true
				words = append(words, word)
			}
		}
	}
	type m = map[string]any
	var rules []m
	for i := range n {
		word := words[i*len(words)/n%len(words)]
		r := m{"name": fmt.Sprintf("bench %d", i), "priority": i + 1}
		switch {
		case i%10 < 7:
			r["conditions"] = m{"field": "name", "op": "contains", "value": word}
			r["actions"] = []m{{"type": "add_tag", "tag_slug": fmt.Sprintf("bench-%d", i%20)}}
			if i%2 == 0 {
				r["category_slug"] = []string{"travel", "entertainment"}[i/2%2]
			}
		case i%10 < 9:
			r["conditions"] = m{"field": "name", "op": "matches", "value": "^" + word + " [0-9]+"}
			r["actions"] = []m{{"type": "add_tag", "tag_slug": "bench-pattern"}}
		default:
			r["conditions"] = m{"and": []m{
				{"field": "amount", "op": "gt", "value": 100 + i},
				{"field": "amount", "op": "lt", "value": 110 + i},
			}}
			r["actions"] = []m{{"type": "add_tag", "tag_slug": "bench-amount"}}
		}
		rules = append(rules, r)
	}
	for len(rules) > 0 {
		part := rules[:min(50, len(rules))]
		rules = rules[len(part):]
		var made any
		if err := h.call(ctx, "/rules", m{"rules": part}, &made); err != nil {
			return err
		}
	}
	return nil
}

// link connects the bank and waits for its first sync.
func (h *house) link(ctx context.Context) error {
	var made any
	if err := h.call(ctx, "/connections", map[string]any{
		"provider":    "plaid",
		"credentials": map[string]any{"public_token": h.token},
	}, &made); err != nil {
		return err
	}
	return h.synced(ctx)
}

// synced waits until no sync is running, and checks that the last one succeeded.
func (h *house) synced(ctx context.Context) error {
	for {
		status, err := pg.Value[string](ctx, h.db, `select status from sync_log union all select 'running'
			where not exists (select from sync_log) order by 1 limit 1`)
		if err != nil {
			return err
		}
		live, err := pg.Value[int64](ctx, h.db, `select count(*) from job where state in ('queued', 'running')`)
		if err != nil {
			return err
		}
		switch {
		case status == "error" || status == "cancelled":
			return errors.New("a sync failed")
		case status == "success" && live == 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond): // asking more often would cost the backends CPU time that counts
		}
	}
}

// timed runs do. It returns the sync's own time, from its log, and the CPU time and bytes used
// meanwhile.
func (h *house) timed(ctx context.Context, do func() error) (span, error) {
	if _, err := pg.Exec(ctx, h.db, `checkpoint`); err != nil {
		return span{}, err
	}
	before, own, err := h.cost(ctx)
	if err != nil {
		return span{}, err
	}
	at, err := wal(ctx, h.db)
	if err != nil {
		return span{}, err
	}
	if err := do(); err != nil {
		return span{}, err
	}
	end, err := wal(ctx, h.db)
	if err != nil {
		return span{}, err
	}
	after, ownAfter, err := h.cost(ctx)
	if err != nil {
		return span{}, err
	}
	ms, err := pg.Value[int64](ctx, h.db, `select (extract(epoch from finished_at - started_at) * 1000)::bigint
		from sync_log order by id desc limit 1`)
	s := span{took: time.Duration(ms) * time.Millisecond, cpu: after - before, own: ownAfter - own, wal: end - at}
	h.total += s.cpu
	return s, err
}

// cost returns the CPU time that the server and its backends have used so far, and the server's
// part of it.
func (h *house) cost(ctx context.Context) (sum, own time.Duration, err error) {
	if own, err = measure.CPU(h.server.Pid()); err != nil {
		return 0, 0, err
	}
	sum = own
	pids, err := h.scratch.Backends(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, pid := range pids {
		one, err := measure.CPU(pid)
		if err != nil {
			return 0, 0, err
		}
		sum += one
	}
	return sum, own, nil
}

func wal(ctx context.Context, db *pg.DB) (int64, error) {
	return pg.Value[int64](ctx, db, `select (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint`)
}

// unchanged syncs the same rows again: it resets the cursor, so the bank sends all of them again.
func (h *house) unchanged(ctx context.Context) (span, []tableWrites, error) {
	if _, err := pg.Exec(ctx, h.db, `update connection set cursor = ''`); err != nil {
		return span{}, nil, err
	}
	if _, err := pg.Exec(ctx, h.db, `vacuum analyze`); err != nil {
		return span{}, nil, err
	}
	before, err := h.writes(ctx)
	if err != nil {
		return span{}, nil, err
	}
	s, err := h.timed(ctx, func() error {
		connection, err := pg.Value[string](ctx, h.db, `select id::text from connection where provider = 'plaid'`)
		if err != nil {
			return err
		}
		var made any
		if err := h.call(ctx, "/connections/"+connection+"/sync", struct{}{}, &made); err != nil {
			return err
		}
		return h.synced(ctx)
	})
	if err != nil {
		return span{}, nil, err
	}
	time.Sleep(1500 * time.Millisecond) // backends report their writes at most once a second
	after, err := h.writes(ctx)
	for i := range after {
		after[i].Rows -= before[i].Rows
	}
	return s, after, err
}

func (h *house) writes(ctx context.Context) ([]tableWrites, error) {
	return pg.All[tableWrites](ctx, h.db, `
		select relname as table, n_tup_ins + n_tup_upd + n_tup_del as rows from pg_stat_user_tables
		where schemaname = 'public'
			and relname in ('transaction', 'transaction_tag', 'entry', 'change', 'descriptor', 'transaction_alias',
			'quarantine') order by 1`)
}
