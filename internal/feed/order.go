package feed

import (
	"context"
	"time"

	"coffer/internal/id"
	"coffer/internal/job"
	"coffer/internal/pg"
)

// An order is what a sync is asked to do.
type order struct {
	Connection id.ID  `json:"connection_id"`
	Trigger    string `json:"trigger"`
}

// order takes a sync on as a job. While one of the connection's is waiting or running it is that one, except that news which a webhook brings while it runs is read by one further run.
func (f *Feed) order(ctx context.Context, tx pg.Tx, o order) (job.Job, error) {
	made, err := f.orderAll(ctx, tx, []order{o})
	if err != nil {
		return job.Job{}, err
	}
	return made[0], nil
}

func (f *Feed) orderAll(ctx context.Context, tx pg.Tx, orders []order) ([]job.Job, error) {
	asked := make([]job.Order, len(orders))
	for i, o := range orders {
		asked[i] = job.Order{Args: o, Options: job.Options{Unique: o.Connection.String(), Again: o.Trigger == "webhook" || o.Trigger == "replay"}}
	}
	return f.jobs.EnqueueAll(ctx, tx, SyncKind, asked)
}

// SyncConnection takes a sync on, or joins the one that is under way.
func (f *Feed) SyncConnection(ctx context.Context, tx pg.Tx, in ConnectionRef) (job.Job, error) {
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
	return f.order(ctx, tx, order{c.ID, "manual"})
}

// SyncAll is the input of trigger_sync.
type SyncAll struct {
	ConnectionID *string `json:"connection_id,omitempty" minLength:"1" doc:"Only this connection: UUID or short id; without it every one that can be synced"`
}

// Orders are the syncs that were taken on: the job itself where one connection was named, else a list.
type Orders struct {
	*job.Job
	Jobs *[]job.Job `json:"jobs,omitempty" doc:"Where no connection was named: a job for each that can be synced"`
}

// SyncAll takes on a sync of one connection, or of every one that can be synced.
func (f *Feed) SyncAll(ctx context.Context, tx pg.Tx, in SyncAll) (Orders, error) {
	if in.ConnectionID != nil {
		c, err := pg.Value[id.ID](ctx, tx, `select id from connection where id = $1 or short_id = $2`, pg.RefTo(*in.ConnectionID).IDArgs()...)
		if err != nil {
			return Orders{}, pg.Named(err, "connection_id", "connection", "GET /api/v1/connections lists them")
		}
		j, err := f.SyncConnection(ctx, tx, ConnectionRef{c.String()})
		return Orders{Job: &j}, err
	}
	ids, err := pg.Values[id.ID](ctx, tx, `select id from connection where status in ('active', 'error') and not paused and provider <> 'csv' order by id`)
	if err != nil {
		return Orders{}, err
	}
	made, err := f.orderAll(ctx, tx, ordersOf(ids, "manual"))
	return Orders{Jobs: &made}, err
}

func ordersOf(connections []id.ID, trigger string) []order {
	orders := make([]order, len(connections))
	for i, c := range connections {
		orders[i] = order{c, trigger}
	}
	return orders
}

// await waits for the end of all syncs that were taken on.
func (f *Feed) await(ctx context.Context, o Orders, d time.Duration) (Orders, bool) {
	if o.Jobs == nil {
		now, ended := f.jobs.Await(ctx, *o.Job, d)
		return Orders{Job: &now}, ended
	}
	now, ended := f.jobs.AwaitAll(ctx, *o.Jobs, d)
	return Orders{Jobs: &now}, ended
}

// mostDue is how many due syncs are taken on in one transaction.
const mostDue = 200

// SweepDue takes on the syncs that are due, and answers how many. Every replica may do it: they skip each other's rows, and what is taken on is not due any more in the same transaction.
// A sync that never comes to its end is due again after a while.
func (f *Feed) SweepDue(ctx context.Context) (int, error) {
	for n := 0; ; {
		taken := 0
		err := f.db.InTx(ctx, func(tx pg.Tx) error {
			due, err := pg.Values[id.ID](ctx, tx, `
				update connection set next_sync_at = clock_timestamp() + interval '15 minutes' + random() * interval '1 minute'
				where id in (
					select id from connection where next_sync_at <= clock_timestamp() and status in ('active', 'error') and not paused and provider <> 'csv'
					order by next_sync_at limit $1 for update skip locked)
				returning id`, mostDue)
			if err != nil {
				return err
			}
			taken = len(due)
			_, err = f.orderAll(ctx, tx, ordersOf(due, "schedule"))
			return err
		})
		if n += taken; err != nil || taken < mostDue {
			return n, err
		}
	}
}
