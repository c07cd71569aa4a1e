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

// How much work one process does at once, and how much of it one caller may have waiting.
const (
	Workers    = workers
	MostQueued = mostQueued
)

// Stopping reports whether the server has begun to stop.
var Stopping = (*Jobs).stopping
