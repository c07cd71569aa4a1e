package job

import "time"

// Quicken lets a test notice dead workers sooner than the usual tempo.
func (j *Jobs) Quicken(renew, look, lease time.Duration) { j.tempo = tempo{renew, look, lease} }

// Unfence lets a worker commit whoever holds the lease: a test of the fence must then fail.
func (j *Jobs) Unfence() { j.faults.unfenced = true }

// Spare leaves the connections of workers that lost their lease alone, so that only the fence
// stands between them and the data.
func (j *Jobs) Spare() { j.faults.merciful = true }

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
