package connection

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/sim/banks"
)

// failures are the ways in which a call can fail. A reset happens twice, because net/http itself
// repeats a reading request on a dead connection.
var failures = map[string]banks.Fault{
	"reset":              {Reset: true, Times: 2},
	"cut":                {Cut: true},
	"no JSON":            {Status: 200, Body: "<html>not the bank</html>"},
	"half a JSON":        {Status: 200, Body: `{"accounts":[{"account_id":"x"`},
	"another shape":      {Status: 200, Body: `{"accounts":{},"added":7,"next_cursor":1}`},
	"null":               {Status: 200, Body: `null`},
	"429":                {Status: 429, Code: "RATE_LIMIT"},
	"429 with a wait":    {Status: 429, Code: "RATE_LIMIT", Header: map[string][]string{"Retry-After": {"7200"}}},
	"500":                {Status: 500, Body: "<html>oops</html>"},
	"502":                {Status: 502, Body: ""},
	"503":                {Status: 503, Code: "PLANNED_MAINTENANCE"},
	"a redirect":         {Status: 302, Header: map[string][]string{"Location": {"http://127.0.0.1:1/"}}},
	"late, then a reset": {Delay: 200 * time.Millisecond, Reset: true, Times: 2},
}

// calls are the requests of a sync to each provider: the path, and how many requests to that path
// succeed first.
var calls = map[string][]banks.Fault{
	"plaid":  {{Path: "/accounts/get"}, {Path: "/transactions/sync"}},
	"teller": {{Path: "/accounts"}, {Path: "/accounts", Skip: 1}, {Path: "/accounts/"}, {Path: "/accounts/", Skip: 1}},
}

// For each fault in each call: the sync ends at once, reports the fault and does not move the
// cursor, and the next sync catches up.
func TestEveryFaultOfEveryCall(t *testing.T) {
	t.Parallel()
	for provider, places := range calls {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, provider, 300)
			before := o.sim.Calls("/")
			o.sync1(t)
			usual := o.sim.Calls("/") - before
			for _, at := range places {
				for name, fault := range failures {
					fault.Path, fault.Skip = at.Path, at.Skip
					o.news(3)
					rows, was, made := o.stored(t), o.health(t), o.sim.Calls("/")
					o.sim.Script(fault)
					where := fmt.Sprintf("%s of call %d to %s", name, at.Skip+1, at.Path)
					j := o.sync1(t)
					now, log := o.health(t), o.lastLog(t)
					switch {
					case j.State != job.Failed || j.Error == nil || !strings.HasPrefix(string(j.Error.Code), "PROVIDER_"):
						t.Errorf("%s: the job ended as %s, %+v", where, j.State, j.Error)
					case now.Cursor != was.Cursor || !slices.Equal(rows, o.stored(t)):
						t.Errorf("%s: something was stored", where)
					case now.Status != "active" || now.Failures != 1 || now.Due == nil || *now.Due || !now.Sealed:
						t.Errorf("%s: the connection is %+v", where, now)
					case log.Status != "error" || log.ErrorCode == nil || log.ErrorMessage == nil ||
						log.FinishedAt == nil || log.Added != 0:
						t.Errorf("%s: the log is %+v", where, log)
					}
					if n := o.sim.Calls("/") - made; n > usual+1 {
						t.Errorf("%s: %d calls, where a good sync makes %d", where, n, usual)
					}
					o.sim.Calm()
					if j := o.sync1(t); j.State != job.Succeeded {
						t.Errorf("%s: then it %s, %+v", where, j.State, j.Error)
					}
					if now := o.health(t); now.Status != "active" || now.Failures != 0 || now.Reason != nil {
						t.Errorf("%s: then the connection is %+v", where, now)
					}
					o.holds(t)
				}
				o.sim.Script(banks.Fault{Path: at.Path, Skip: at.Skip, Delay: 300 * time.Millisecond})
				o.news(3)
				if j := o.sync1(t); j.State != job.Succeeded {
					t.Errorf("a slow answer: %s, %+v", j.State, j.Error)
				}
				o.holds(t)
			}
		})
	}
}

// A failure after the first page keeps that page, with the effects of rules and its journal
// entries. The cursor stays where it was.
func TestFaultBetweenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t, "plaid", 50)
	for _, name := range []string{"reset", "cut", "no JSON", "429", "503"} {
		o.news(600)
		rows, was := len(o.stored(t)), o.health(t)
		fault := failures[name]
		fault.Path, fault.Skip = "/transactions/sync", 1
		o.sim.Script(fault)
		if j := o.sync1(t); j.State != job.Failed {
			t.Fatalf("%s: %+v", name, j)
		}
		now, log := o.health(t), o.lastLog(t)
		if got := len(o.stored(t)) - rows; got != 500 || log.Added != 500 || log.Pages != 1 || log.ChangeID == nil ||
			now.Cursor != was.Cursor {
			t.Errorf("%s: %d rows of a page of 500, %+v", name, got, log)
		}
		if n, err := pg.Value[int64](t.Context(), o.db, `select count(*) from transaction t
			where not exists (select from transaction_tag g where g.transaction_id = t.id)`); err != nil || n > 0 {
			t.Errorf("%s: no rule has seen %d rows, %v", name, n, err)
		}
		o.sim.Calm()
		j := o.sync1(t)
		var out Synced
		if err := json.Unmarshal(j.Result, &out); err != nil || out.Added != 100 || out.Unchanged != 500 {
			t.Errorf("%s: then %+v, %v", name, out, err)
		}
		o.holds(t)
	}
}

// Many errors of a bank do not cause many requests. Each sync makes one request and none starts
// early. The third error in a row puts the connection in error, from which it recovers by itself.
func TestStorm(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"plaid", "teller"} {
		for name, fault := range map[string]banks.Fault{
			"429": failures["429"], "503": failures["503"],
			"resets": failures["reset"],
		} {
			t.Run(provider+" "+name, func(t *testing.T) {
				t.Parallel()
				o := newOffice(t, provider, 50)
				o.news(3)
				fault.Times = -1
				o.sim.Script(fault)
				for n := 1; n <= 4; n++ {
					made := o.sim.Calls("/")
					o.sync1(t)
					if got := o.sim.Calls("/") - made; got != 1 && (got != 2 || !fault.Reset) {
						t.Errorf("sync %d made %d calls", n, got)
					}
					want := "active"
					if n >= patience {
						want = "error"
					}
					h := o.health(t)
					if h.Status != want || h.Failures != n ||
						(want == "error") != (h.Reason != nil && h.Message != nil) {
						t.Errorf("after %d: %+v", n, h)
					}
					if taken, err := o.SweepDue(t.Context()); taken != 0 || err != nil {
						t.Errorf("after %d errors it asks again at once, %v", n, err)
					}
				}
				o.sim.Calm()
				if _, err := pg.Exec(t.Context(), o.db, `update connection set next_sync_at = now()`); err != nil {
					t.Fatal(err)
				}
				if taken, err := o.SweepDue(t.Context()); taken != 1 || err != nil {
					t.Fatalf("%d are due, %v", taken, err)
				}
				for deadline := time.Now().Add(5 * time.Minute); o.health(t).Failures > 0 &&
					time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
					continue
				}
				if h := o.health(t); h.Status != "active" || h.Failures != 0 || h.Reason != nil || h.Message != nil {
					t.Errorf("afterwards: %+v", h)
				}
				o.holds(t)
			})
		}
	}
}

// If a bank fails while it is linked, nothing is stored. The widget's result can be sent again if
// the provider allows it.
func TestFaultsWhileLinking(t *testing.T) {
	t.Parallel()
	for provider, paths := range map[string][]string{
		"plaid":  {"/item/public_token/exchange", "/accounts/get"},
		"teller": {"/accounts"},
	} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, provider, 50)
			for _, path := range paths {
				for name, fault := range failures {
					var in CreateConnection
					switch sim := o.sim.(type) {
					case *banks.Plaid:
						token, _ := sim.NewItem("")
						in = CreateConnection{
							Provider: all.Name(provider),
							Credentials: map[string]json.RawMessage{
								"public_token": json.RawMessage(fmt.Sprintf("%q", token)),
							},
						}
					case *banks.Teller:
						e := sim.Enroll()
						in = CreateConnection{
							Provider: all.Name(provider),
							Credentials: map[string]json.RawMessage{
								"access_token":  json.RawMessage(fmt.Sprintf("%q", e.AccessToken)),
								"enrollment_id": json.RawMessage(fmt.Sprintf("%q", e.ID)),
							},
						}
					}
					made := o.sim.Calls("/")
					fault.Path = path
					o.sim.Script(fault)
					_, err := o.askBank(op.WithActor(t.Context(), op.Actor{}), o.db, in)
					if e, told := errors.AsType[*bank.Error](err); !told || e.Class != bank.Later || e.Advice == "" {
						t.Errorf("%s of %s: %v", name, path, err)
					}
					if n := o.sim.Calls("/") - made; n > 4 {
						t.Errorf("%s of %s: %d calls", name, path, n)
					}
					o.sim.Calm()
				}
			}
			if n, err := pg.Value[int64](t.Context(), o.db, `select count(*) from connection`); err != nil || n != 1 {
				t.Errorf("%d connections, %v", n, err)
			}
		})
	}
}
