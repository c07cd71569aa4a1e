package connection

import (
	"encoding/json"
	"testing"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/pg"
)

// all requests a sync of all connections and waits until its job has ended.
func (h *house) all(t *testing.T) (job.Job, SyncedAll) {
	t.Helper()
	var j job.Job
	err := h.db.InTx(t.Context(), func(tx pg.Tx) (err error) {
		j, err = h.SyncAll(t.Context(), tx, SyncAll{})
		return err
	})
	if err == nil && (j.ID.IsZero() || j.Kind != SyncAllKind || j.State == "") {
		t.Fatalf("no job: %+v", j)
	}
	for err == nil && !j.Ended() {
		j, err = h.jobs.Wait(t.Context(), j.ID, 10*time.Second)
	}
	var out SyncedAll
	if err == nil && j.State == job.Succeeded {
		err = json.Unmarshal(j.Result, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return j, out
}

// A sync of all connections is one job. It ends after their syncs, and its result shows how each of
// them ended.
func TestSyncOfAllIsOneJob(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 2)
	b.bank.put(charge("x1", "1.00", "A"), charge("x2", "2.00", "B"), charge("x3", "3.00", "C"))
	j, out := b.all(t)
	if j.State != job.Succeeded || len(out.Connections) != 1 || out.Added != 3 || out.Failed != 0 ||
		j.Progress.Done != 1 || *j.Progress.Total != 1 {
		t.Fatalf("%+v: %+v", j, out)
	}
	first := out.Connections[0]
	sync, err := b.jobs.Get(t.Context(), b.db, job.Ref{JobID: first.JobID.String()})
	if err != nil || first.ConnectionID != b.connection || first.State != job.Succeeded || sync.Kind != SyncKind ||
		sync.State != job.Succeeded || sync.FinishedAt.Time().After(j.FinishedAt.Time()) {
		t.Errorf("the sync itself: %+v, %v", sync, err)
	}
	b.holds(t)
	b.bank.errs = []error{&bank.Error{
		Provider: "plaid", Class: bank.Later, Code: bank.CodeNetwork,
		Advice: "try again",
	}}
	if j, out = b.all(t); j.State != job.Succeeded || out.Failed != 1 || out.Connections[0].Error == nil ||
		out.Connections[0].State != job.Failed || out.Connections[0].JobID == first.JobID {
		t.Errorf("a bank that is away: %+v: %+v", j, out)
	}
	if _, err := b.db.Exec(t.Context(), `update connection set paused = true`); err != nil {
		t.Fatal(err)
	}
	if j, out = b.all(t); j.State != job.Succeeded || len(out.Connections) != 0 {
		t.Errorf("nothing to sync: %+v: %+v", j, out)
	}
}

// A request during a sync of all connections returns the running job.
func TestSyncOfAllIsJoined(t *testing.T) {
	t.Parallel()
	b := newBranch(t, 2)
	var ids [2]id.ID
	err := b.db.InTx(t.Context(), func(tx pg.Tx) error {
		for i := range ids {
			j, err := b.SyncAll(t.Context(), tx, SyncAll{})
			if err != nil {
				return err
			}
			ids[i] = j.ID
		}
		return nil
	})
	if err != nil || ids[0] != ids[1] {
		t.Errorf("%v, %v", ids, err)
	}
}
