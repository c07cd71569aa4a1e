package hijack_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/app/apptest"
	"coffer/internal/people/auth"
	"coffer/internal/platform/op"
)

// unseen are declarations whose removal the frame cannot show, with the reason.
var unseen = map[string]string{
	"connection.create":   "a connection to a bank needs what only the bank's own page gives",
	"connection.repaired": "a connection that is well stays as it is",
	"provider.test":       "it asks the provider and keeps nothing; what it costs is not in the books",
	"model.test":          "it asks the model and keeps nothing",
	"account.merge":       "the house has no two accounts that can be merged: the banks of all of them sync",
	"workflow-run.revert": "what it does is a revert, which every agent may make",
}

// first are the ops whose damage other ops cause too: recovery codes end with a sign-in method.
var first = []string{"login-method.drop-codes"}

// last are the ops whose damage leaves too little for the others.
var last = []string{"workflow.delete", "prompt-block.delete", "connection.delete", "user.delete", "user.erase"}

// TestHijackNoticesRemovedGuards removes the declaration of one op after the other, and lets the
// same attacker call it. Each time, the frame or a response that nobody may get must show the
// missing guard.
func TestHijackNoticesRemovedGuards(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	key := h.newKey(t, auth.CreateKey{
		Name: "writer", Scope: "full_access", ActorType: "agent",
		MaxWritesPerDay: new(1_000_000),
	})
	var guards []string
	for _, o := range h.Ops() {
		if o.People.String() != "" && unseen[o.Name] == "" && !slices.Contains(slices.Concat(first, last), o.Name) {
			guards = append(guards, o.Name)
		}
	}
	if len(guards) < 20 {
		t.Fatalf("only %d ops are for people", len(guards))
	}
	calls := 0
	guards = slices.Concat(first, guards, last)
	for _, guard := range guards {
		ops := h.Ops()
		server := h.Rest()
		server.Ops = ops
		var drawn []*op.Op
		for _, o := range ops {
			if o.Name == guard {
				o.People = op.People{}
				drawn = append(drawn, slices.Repeat([]*op.Op{o}, 8)...)
			}
			if strings.HasSuffix(o.Name, ".list") { // an attacker first looks around
				drawn = append(drawn, o)
			}
		}
		handler, err := server.Handler()
		if err != nil {
			t.Fatal(err)
		}
		weak := httptest.NewServer(handler)
		me, err := h.Auth.Key(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		a := &attacker{
			Rand: rand.New(rand.NewPCG(1, 7)), baits: []string{"http://127.0.0.1:9/x"}, routes: routesOf(t, drawn),
			url: weak.URL, key: key, client: http.DefaultClient,
			loot: newLoot(me),
		}
		score := &tally{times: map[string]time.Duration{}, failed: map[string]int{}}
		h.settle(t) // otherwise a job of the previous op could end now and look like damage
		frame, found := h.frame(t), false
		for n := 0; n < 20_000 && !found; n++ {
			h.judge(t, score, a)
			calls++
			found = len(score.broken) > 0 || n%10 == 9 && h.frame(t) != frame
		}
		weak.Close()
		if !found {
			t.Errorf("nobody notices that %s is open to agents: %v", guard, score.failed)
		}
	}
	t.Logf("%d guards, each found missing, in %d calls", len(guards), calls)
}

// rowsOnly counts transactions and nothing else.
var rowsOnly = apptest.Mutant{
	File: "internal/books/journal/budget.go",
	Old:  `	return len(subjects) + n.Writes`,
	New: `	for _, e := range entries {
		if e.Subject != Transaction {
			delete(subjects, e.SubjectID)
		}
	}
	return len(subjects)`,
}

// TestHijackNoticesALimitOfTransactions: the same attack detects a limit that counts only
// transactions.
func TestHijackNoticesALimitOfTransactions(t *testing.T) {
	t.Parallel()
	program := apptest.TestProgram(t, "coffer/test/hijack", rowsOnly)
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestHijackedAgent$", "-test.v", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), hijackCalls+"=4000")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "a key that may make 20 writes made") {
		t.Fatalf("nobody notices that only transactions are counted: %v\n%s", err, out)
	}
}
