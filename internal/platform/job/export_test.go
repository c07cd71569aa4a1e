package job

import (
	"time"

	"coffer/internal/platform/id"
)

// Quicken lets a test notice dead workers sooner than the usual tempo.
func (j *Jobs) Quicken(renew, lease time.Duration) { j.tempo = tempo{renew, lease} }

// Rest sets how long the clock sleeps at most.
func (j *Jobs) Rest(d time.Duration) { j.clock.Fallback = d }

// Prune is the sweep of old jobs.
var Prune = (*Jobs).prune

// Pauses are those between tries.
var Pauses = pauses

// Workers is how many jobs of each lane one process does at once.
var Workers = workers

// MostQueued is how many jobs one caller may have waiting.
const MostQueued = mostQueued

// Stopping reports whether the server has begun to stop.
var Stopping = (*Jobs).stopping

// Listening reports whether notifications arrive.
func (j *Jobs) Listening() bool { return j.clock.Listening() }

// Watch returns how much of the job is done, each time when it has moved, or -1 when it is gone or
// has not moved for that long.
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
