package workflow

import (
	"time"

	"coffer/internal/platform/job"
)

// Replica is the Workflows of one server, whose runs do nothing.
var Replica = replica

// Settle sets how long a workflow waits after a sync.
func (w *Workflows) Settle(d time.Duration) { w.settled = d }

// Jobs returns the jobs of the server.
func (w *Workflows) Jobs() *job.Jobs { return w.jobs }
