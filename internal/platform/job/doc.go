// Package job runs long work. It enqueues a job in the caller's transaction, gives it to one worker
// at a time across all servers, and stores its progress. If the worker dies, another worker resumes
// the job. Package job does not know the work itself: other packages register their kinds of work.
//
// # Terms
//
//   - A job is a row that says who requested which work, how far the work is, and its result.
//   - A kind is a sort of work, with its code, its number of retries and its lane.
//   - A lane is a group of workers. Jobs in a full lane do not delay jobs in other lanes.
//   - A lease is a worker's ownership of a job. The worker renews it every two seconds.
//   - The lease's number is the fence: it grows each time the job changes hands.
//   - A batch is one transaction of a running job: its effects and, last, its new position.
//
// # The life of a job
//
// Enqueue writes the job, queued, in the caller's transaction. The commit wakes all servers. One of
// them claims the job, which is then running. The work commits batches until it ends as succeeded,
// failed or canceled. A temporary failure is retried after a delay. If a lease is not renewed for
// seven seconds, any server queues the job again with a higher number, and the next worker resumes
// it at its position.
//
// Canceling a job and stopping a server take effect between batches. A batch that has begun
// commits. Work that waits outside a batch finds its context canceled within two seconds, the time
// between renewals; the cause is [ErrCancelled] or [ErrStopping]. Every transaction that ends a job
// also calls its kind's Ended.
//
// # Invariants
//
//   - A batch commits only if the job still has the worker's number. A worker that lost its lease
//     commits nothing, even if it does not know about the loss.
//   - Position, progress and effects commit together, so no batch is lost or done twice.
//   - Work without batches starts from the beginning when it is resumed; effects outside the
//     database must tolerate that.
//   - Leases and claims use reserved connections, so a busy server does not lose its jobs.
//
// The reasons are in docs/decisions: 0010-jobs.md and 0022-connections.md.
package job
