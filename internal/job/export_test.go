package job

import "time"

// Quicken lets a test notice dead workers sooner than the usual tempo.
func (j *Jobs) Quicken(renew, look, lease time.Duration) { j.tempo = tempo{renew, look, lease} }

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
