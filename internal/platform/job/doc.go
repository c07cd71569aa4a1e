// Package job runs long work. It enqueues a job in the caller's transaction, gives it to one worker
// at a time across all servers, stores its progress, and resumes it elsewhere if its worker dies.
// It does not know the work itself, because kinds are passed in.
//
// # Terms
//
//   - A job is a row that says who asked for which work, how far it is, and what came of it.
//   - A kind is a sort of work, with its code, its number of retries and its lane.
//   - A lane is a group of workers. Each lane has its own, so a lane that is full delays no other.
//   - A lease is a worker's ownership of a job. The worker renews it every two seconds.
//   - The lease's number is the fence: it grows each time the job changes hands.
//   - A batch is one transaction of a running job: its effects and, last, its new position.
//
// # The life of a job
//
// Enqueue writes the job, queued, in the caller's transaction, whose commit wakes all servers. One
// of them claims it and the job is running. The work commits batches until it ends as succeeded,
// failed or canceled. A failure that may pass is retried after a delay. If a lease is not renewed
// for seven seconds, any server puts the job back with a higher number, and the next worker resumes
// at the position. Canceling a job and stopping a server take effect between batches: a batch that
// has begun commits, and work that waits outside one finds its context canceled within the two
// seconds between renewals, with [ErrCancelled] or [ErrStopping] as the cause. Any
// transaction that ends a job also calls its kind's Ended.
//
// # Invariants
//
//   - A batch commits only if the job still has the worker's number. A worker that lost its lease
//     commits nothing, even if it does not know.
//   - Position, progress and effects commit together, so no batch is lost or done twice.
//   - Work without batches starts from the beginning when it is resumed; effects outside the
//     database must tolerate that.
//   - Leases and claims use reserved connections, so a busy server does not lose its jobs.
//
// The reasons are in docs/decisions: 0010-jobs.md and 0022-connections.md.
package job
