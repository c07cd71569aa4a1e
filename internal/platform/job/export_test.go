package job

import (
	"time"

	"coffer/internal/platform/id"
)

// Quicken lets a test notice dead workers sooner than the usual tempo.
func (j *Jobs) Quicken(renew, lease time.Duration) { j.tempo = tempo{renew, lease} }

// Rest sets the longest sleep of the clock.
func (j *Jobs) Rest(d time.Duration) { j.clock.Fallback = d }

// Prune deletes old jobs.
var Prune = (*Jobs).prune

// Pauses are the pauses between tries.
var Pauses = pauses

// Workers is how many jobs of each lane one process runs at a time.
var Workers = workers

// MostQueued is how many jobs one caller may have waiting.
const MostQueued = mostQueued

// Stopping reports whether the server has begun to stop.
var Stopping = (*Jobs).stopping

// Listening reports whether notifications arrive.
func (j *Jobs) Listening() bool { return j.clock.Listening() }

// Watch returns a function that waits for the next change of the job and returns its progress. It
// returns -1 if the job was deleted, or did not change within patience.
func (j *Jobs) Watch(job id.ID, patience time.Duration) (done func() int64, leave func()) {
	w, leave := j.views.watch(job)
	return func() int64 {
		select {
		case <-w.news:
			if r := w.now(); r != nil {
				return r.Done
			}
		case <-time.After(patience):
		}
		return -1
	}, leave
}
