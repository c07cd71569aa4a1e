package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"coffer/internal/bank"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
)

// A syncRequest holds the arguments of a sync job.
type syncRequest struct {
	Connection id.ID     `json:"connection_id"`
	Trigger    string    `json:"trigger"`
	Waits      *presence `json:"waits,omitempty"`
}

// presenceLasts is how long coffer assumes that a person who asked for a sync waits for it.
const presenceLasts = 15 * time.Minute

// A presence is a person who waits for a sync.
type presence struct {
	bank.Person
	Until time.Time `json:"until"`
}

// present returns the person who makes the call. It is nil for a program, and for a person whose
// address is not public, because banks have no use for an address of a home network.
func present(ctx context.Context) *presence {
	if op.ActorOf(ctx).Type != op.User {
		return nil
	}
	from := op.OriginOf(ctx)
	p := bank.NewPerson(from.Address, from.Agent)
	if p == nil {
		return nil
	}
	return &presence{*p, time.Now().Add(presenceLasts)}
}

// person returns the person who waits for the sync now, or nil.
func (o syncRequest) person() *bank.Person {
	if o.Waits == nil || time.Now().After(o.Waits.Until) {
		return nil
	}
	return &o.Waits.Person
}

// requestSync queues a sync of a connection as a job. If a sync of the connection is already
// waiting or running, it returns that job. If a webhook reports new data while the sync runs,
// another run follows.
func (f *Connections) requestSync(ctx context.Context, tx pg.Tx, o syncRequest) (job.Job, error) {
	made, err := f.requestSyncs(ctx, tx, []syncRequest{o})
	if err != nil {
		return job.Job{}, err
	}
	return made[0], nil
}

func (f *Connections) requestSyncs(ctx context.Context, tx pg.Tx, orders []syncRequest) ([]job.Job, error) {
	asked := make([]job.Order, len(orders))
	for i, o := range orders {
		asked[i] = job.Order{Args: o, Options: job.Options{
			Unique: o.Connection.String(),
			Again:  o.Trigger == "webhook" || o.Trigger == "replay",
		}}
	}
	return f.jobs.EnqueueAll(ctx, tx, SyncKind, asked)
}

// SyncConnection starts a sync, or joins the running one.
func (f *Connections) SyncConnection(ctx context.Context, tx pg.Tx, in ConnectionRef) (job.Job, error) {
	c, err := f.Connection(ctx, tx, in)
	if err != nil {
		return job.Job{}, err
	}
	l, err := lockLink(ctx, tx, c.ID)
	if err != nil {
		return job.Job{}, err
	}
	if err := l.syncable("manual"); err != nil {
		return job.Job{}, err
	}
	request := syncRequest{Connection: c.ID, Trigger: "manual", Waits: present(ctx)}
	if err := f.affords(ctx, tx, l, request.Waits != nil); err != nil {
		return job.Job{}, err
	}
	return f.requestSync(ctx, tx, request)
}

// SyncAll is the input of trigger_sync.
type SyncAll struct {
	ConnectionID *string `json:"connection_id,omitempty" minLength:"1" doc:"Only this connection: UUID or short id; defaults to all that can be synced" agent:"Only this one"`
}

// SyncAll starts a sync of one connection and returns its job. Without a connection it starts a
// sync of every connection that can be synced, and returns a job that ends when they have ended.
func (f *Connections) SyncAll(ctx context.Context, tx pg.Tx, in SyncAll) (job.Job, error) {
	if in.ConnectionID != nil {
		c, err := pg.Value[id.ID](ctx, tx, `select id from connection
			where id = $1 or short_id = $2`, pg.RefTo(*in.ConnectionID).IDArgs()...)
		if err != nil {
			return job.Job{}, pg.Named(err, "connection_id", "connection", "{connection.list} lists them")
		}
		return f.SyncConnection(ctx, tx, ConnectionRef{c.String()})
	}
	ids, err := pg.Values[id.ID](ctx, tx, `select id from connection
		where status in ('active', 'error') and not paused and provider <> 'csv' order by id`)
	if err != nil {
		return job.Job{}, err
	}
	orders := ordersOf(ids, "manual")
	for i := range orders {
		orders[i].Waits = present(ctx)
	}
	if _, err := f.requestSyncs(ctx, tx, orders); err != nil {
		return job.Job{}, err
	}
	return f.jobs.Enqueue(ctx, tx, SyncAllKind, allOrder{ids}, job.Options{Unique: "all"})
}

// SyncAllKind is the job that waits for the syncs of all connections. The syncs are separate jobs:
// they start even if no worker is free for this job, and continue if it is canceled.
const SyncAllKind = "feed.sync-all"

// An allOrder lists the connections whose syncs a job of SyncAllKind waits for.
type allOrder struct {
	Connections []id.ID `json:"connections"`
}

// SyncedAll is the result of a sync of all connections.
type SyncedAll struct {
	Connections []Outcome `json:"connections"`
	Added       int64     `json:"added"`
	Modified    int64     `json:"modified"`
	Removed     int64     `json:"removed"`
	Failed      int       `json:"failed" doc:"Number of connections that failed to sync"`
}

// An Outcome is how the sync of one connection ended.
type Outcome struct {
	ConnectionID id.ID           `json:"connection_id"`
	JobID        id.ID           `json:"job_id"`
	State        string          `json:"state" enum:"succeeded,failed,cancelled"`
	Result       json.RawMessage `json:"result"`
	Error        *job.Failure    `json:"error"`
}

// lookAgain is how long the job of all syncs waits before it records their progress.
const lookAgain = 5 * time.Second

// awaitSyncs is the job of SyncAllKind.
func (f *Connections) awaitSyncs(ctx context.Context, run *job.Run) (any, error) {
	var all allOrder
	if err := run.Args(&all); err != nil {
		return nil, err
	}
	var noted int64
	if _, err := run.Position(&noted); err != nil {
		return nil, err
	}
	keys := make([]string, len(all.Connections))
	for i, c := range all.Connections {
		keys[i] = c.String()
	}
	for {
		// The newest sync of each connection counts: another one may have been requested meanwhile.
		syncs, err := f.jobs.Newest(ctx, SyncKind, keys)
		if err != nil {
			return nil, err
		}
		var live []job.Job
		for _, j := range syncs {
			if !j.Ended() {
				live = append(live, j)
			}
		}
		done := int64(len(keys) - len(live))
		err = run.Batch(ctx, func(context.Context, pg.Tx) (job.Step, error) {
			return job.Step{Position: done, Done: done - noted, Total: int64(len(keys))}, nil
		})
		if err != nil {
			return nil, err
		}
		if noted = done; len(live) == 0 {
			return outcomes(all.Connections, syncs)
		}
		if f.jobs.AwaitAll(ctx, live, lookAgain); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// outcomes adds up how syncs ended.
func outcomes(connections []id.ID, syncs map[string]job.Job) (SyncedAll, error) {
	out := SyncedAll{Connections: []Outcome{}}
	for _, c := range connections {
		j, ok := syncs[c.String()]
		if !ok {
			continue // the connection was deleted, with its jobs
		}
		out.Connections = append(out.Connections, Outcome{c, j.ID, j.State, j.Result, j.Error})
		if j.State != job.Succeeded {
			out.Failed++
			continue
		}
		var t Tally
		if err := json.Unmarshal(j.Result, &t); err != nil {
			return SyncedAll{}, fmt.Errorf("read the result of a sync: %w", err)
		}
		out.Added, out.Modified, out.Removed = out.Added+t.Added, out.Modified+t.Modified, out.Removed+t.Removed
	}
	return out, nil
}

func ordersOf(connections []id.ID, trigger string) []syncRequest {
	orders := make([]syncRequest, len(connections))
	for i, c := range connections {
		orders[i] = syncRequest{Connection: c, Trigger: trigger}
	}
	return orders
}

// mostDue is the maximum number of due syncs that are queued in one transaction.
const mostDue = 200

// SweepDue starts the syncs that are due and returns their number. Every replica may run it:
// replicas skip rows that another has locked, and the transaction that starts a sync also moves its
// next due time. A sync that never finishes is due again after a while.
func (f *Connections) SweepDue(ctx context.Context) (int, error) {
	for n := 0; ; {
		taken := 0
		err := f.db.InTx(ctx, func(tx pg.Tx) error {
			due, err := pg.Values[id.ID](ctx, tx, `
				update connection
					set next_sync_at = clock_timestamp() + interval '15 minutes' + random() * interval '1 minute'
				where id in (
					select id from connection where next_sync_at <= clock_timestamp()
						and status in ('active', 'error') and not paused and provider <> 'csv'
					order by next_sync_at limit $1 for update skip locked)
				returning id`, mostDue)
			if err != nil {
				return err
			}
			taken = len(due)
			_, err = f.requestSyncs(ctx, tx, ordersOf(due, "schedule"))
			return err
		})
		if n += taken; err != nil || taken < mostDue {
			return n, err
		}
	}
}
