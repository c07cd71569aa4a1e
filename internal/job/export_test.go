package job

import "time"

// Quicken lets a test notice dead workers sooner than the usual tempo.
func (j *Jobs) Quicken(renew, lease time.Duration) { j.tempo = tempo{renew, lease} }

// Rest sets how long the clock sleeps at most.
func (j *Jobs) Rest(d time.Duration) { j.clock.Fallback = d }

// Forget is the sweep of old jobs.
var Forget = (*Jobs).forget

// Pauses are those between tries.
var Pauses = pauses

// Workers is how many jobs of each lane one process does at once.
var Workers = workers

// MostQueued is how many jobs one caller may have waiting.
const MostQueued = mostQueued

// Stopping reports whether the server has begun to stop.
var Stopping = (*Jobs).stopping
