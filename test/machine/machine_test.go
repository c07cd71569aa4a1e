package machine_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

const (
	// length is how long a sequence is, on average.
	length = 20
	// seed is the draw of the ordinary run; COFFER_TEST_SEED or -rapid.seed names another one.
	seed = 1
)

// A search counts the steps of all sequences.
type search struct {
	*house
	other  *other // where archives are brought in
	t      *testing.T
	most   int  // steps
	steps  int  // of sequences that broke no law
	broken bool // a law was broken: the rest searches for the shortest sequence that breaks it
	at     int  // after how many steps
	runs   int
	began  time.Time
}

// TestMachine: whatever people, an agent, files and a bank do, in whatever order, and however it is
// undone, totals match the sources, and undo is complete.
func TestMachine(t *testing.T) { //nolint:paralleltest // it sets how rapid draws
	steps := 2000
	if os.Getenv("COFFER_TEST_LONG") != "" {
		steps = 100_000
	}
	s := &search{house: newHouse(t), other: newOther(t), t: t, most: steps, began: time.Now()}
	draw(t)
	defer func() {
		t.Logf("%d steps in %d sequences, %.0f s", s.steps, s.runs, time.Since(s.began).Seconds())
		if s.broken {
			t.Logf("a law was broken after %d steps", s.at)
		}
	}()
	rapid.Check(t, s.sequence)
	if s.steps < steps {
		t.Errorf("only %d of %d steps were made", s.steps, steps)
	}
}

// draw has rapid draw as many sequences as it takes, from a seed that is printed.
func draw(t *testing.T) {
	t.Helper()
	for name, value := range map[string]string{
		"rapid.checks": "1000000", "rapid.steps": fmt.Sprint(length), "rapid.nofailfile": "true",
	} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		if err := flag.Set("rapid.seed", fmt.Sprint(seed)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("drawn from -rapid.seed=%s", flag.Lookup("rapid.seed").Value)
}

// sequence is one sequence, from the beginning. When enough steps were made it does nothing.
func (s *search) sequence(t *rapid.T) {
	if s.steps >= s.most && !s.broken {
		return
	}
	s.made++
	s.clearBank()
	if err := s.frozen.thaw(); err != nil {
		t.Fatalf("%v", err)
	}
	r := &run{
		house: s.house, model: newModel(), atBank: map[string]*bankRow{}, listed: map[*source][]*payment{},
		away: map[string]bool{},
	}
	for _, src := range r.fromFiles() {
		for _, p := range src.rows[:atFirst] {
			r.tell(src, 1, p, true)
		}
	}
	r.remember(t)
	steps := 0
	r.stepped = func() { steps++ }
	whole := false
	defer func() {
		if !whole && !s.broken {
			s.broken, s.at = true, s.steps+steps
			s.t.Logf("after %d steps a law is broken, and a shorter way to it is sought:\n%s", s.at, strings.Join(r.story, "\n"))
		}
	}()
	t.Repeat(r.steps())
	if rapid.IntRange(0, 3).Draw(t, "archive") == 3 {
		r.archive(t, s.other)
	}
	r.undoAll(t)
	whole = true
	if !s.broken {
		was := s.steps
		s.steps += steps - 1
		s.runs++
		if part := min(s.most/10, 1000); was/part != s.steps/part {
			s.t.Logf("%d steps in %d sequences, %.0f s", s.steps, s.runs, time.Since(s.began).Seconds())
		}
	}
}
