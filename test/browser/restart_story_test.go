package browser_test

import (
	"fmt"
	"testing"
	"time"

	"coffer/internal/platform/pg"
)

// restartStory stops the server in the middle of a job and starts another one: the page that shows
// the job's progress waits for it, and shows its end.
func restartStory(t *testing.T, h *house, axe string) {
	t.Helper()
	payee, _ := h.commonPayee(t)
	rule := h.rule(t, "Through a restart", payee, "health", `, "priority": 900`, 0)
	b := newBrowser(t, "desktop")
	b.enterAt(t, h, "/rules/"+rule, "Overlapping rules")
	before := h.filed(t)
	release := h.freeze(t)
	b.do(t, step{Do: "click", Name: `Update \d+ transactions?`})
	b.do(t, step{Do: "see", Text: "Applying rule"})
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // the page asks, and nothing responds
	b.do(t, step{Do: "see", Text: "Applying rule"})
	h.build(t)
	h.serve(t)
	if n := h.count(t, `select count(*) from job where kind = 'rule.apply' and state in ('queued', 'running')`); n != 1 {
		t.Errorf("%d jobs of rules are on their way after the restart, not 1", n)
	}
	b.do(t, step{Do: "see", Text: "Applying rule"})
	release()
	b.do(t, step{Do: "see", Text: "Undo changes"})
	changed := 0
	for id, category := range h.filed(t) {
		if before[id] != category {
			changed++
		}
	}
	b.do(t, step{Do: "see", Text: fmt.Sprintf("Updated %d of", changed)})
	b.do(t, step{Do: "forgive"})
	b.whole(t, axe)
}

// freeze keeps every transaction as it is until it is released, beside whatever server there is.
func (h *house) freeze(t *testing.T) (release func()) {
	t.Helper()
	db, err := pg.Open(t.Context(), h.config.DatabaseURL.Reveal(), pg.Options{MaxConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	held, thaw, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- db.InTx(t.Context(), func(tx pg.Tx) error {
			_, err := pg.Exec(t.Context(), tx, `select id from transaction for no key update`)
			close(held)
			select {
			case <-thaw:
			case <-t.Context().Done():
			}
			return err
		})
	}()
	<-held
	return func() {
		close(thaw)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
