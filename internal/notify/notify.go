// Package notify notifies programs outside coffer: it sends Standard Webhooks to the endpoints that
// admins configured. It must not know what its events mean; packages above it call [Post] in the
// transaction that causes an event.
//
// # Life of a notification
//
// Post stores the notification and a delivery for each endpoint that takes its type. Every server
// sweeps the deliveries that are due. A server claims one, commits, sends it with no transaction
// open, and then stores the outcome. If it dies in between, the claim expires and the delivery is
// sent again, with the same webhook-id. So a message arrives at least once.
//
// # Addresses
//
// Data leaves the household through endpoints. So only people create them, and the dialer checks
// every address right before it connects.
package notify

import (
	"context"
	"log/slog"
	"time"

	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/schedule"
	"coffer/internal/platform/seal"
)

// A Notifier sends notifications.
type Notifier struct {
	db   *pg.DB
	ring *seal.Ring // nil without an encryption key
	log  *slog.Logger
	// report stores a report of the system.
	report func(ctx context.Context, tx pg.Tx, title, body string) error
	limits limits
}

// limits bound the time of an attempt and define the retries. Tests shorten them.
type limits struct {
	attempt time.Duration   // for one attempt, from resolving the name to the last byte read
	lease   time.Duration   // until another server may take over a delivery
	pauses  []time.Duration // before each retry
	check   time.Duration   // pause between searches for due deliveries while others are being sent
}

var usual = limits{
	attempt: 15 * time.Second,
	lease:   30 * time.Second,
	pauses: []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
		14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	},
	check: time.Second,
}

// A Config holds what New needs.
type Config struct {
	DB   *pg.DB
	Ring *seal.Ring // nil without an encryption key
	Log  *slog.Logger
	// Report stores a report of the system about a disabled endpoint.
	Report func(ctx context.Context, tx pg.Tx, title, body string) error
}

// New returns the Notifier of a household.
func New(c Config) *Notifier {
	return &Notifier{db: c.DB, ring: c.Ring, log: c.Log, report: c.Report, limits: usual}
}

// Ops returns the operations of notifications. None of them is a tool, because agents must not send
// data out of the household.
func (n *Notifier) Ops() []*op.Op {
	return []*op.Op{
		op.Reading(op.Spec{
			Name: "endpoint.list", Route: "GET /notifications/endpoints", Record: true,
			Summary: "Lists notification endpoints.",
		}, n.Endpoints),
		op.Writing(op.Spec{
			Name: "endpoint.create", Route: "POST /notifications/endpoints", People: op.PeopleStrictly, Seals: true,
			Summary: "Adds an endpoint and returns its signing secret, only once.",
		}, n.CreateEndpoint),
		op.Writing(op.Spec{
			Name: "endpoint.update", Route: "PATCH /notifications/endpoints/{id}", People: op.PeopleStrictly,
			Summary: "Changes an endpoint's URL, description, events or content, or turns it on or off.",
		}, n.PatchEndpoint),
		op.Writing(op.Spec{
			Name: "endpoint.delete", Route: "DELETE /notifications/endpoints/{id}", People: op.PeopleStrictly,
			Summary: "Deletes an endpoint; undelivered messages are dropped.",
		}, n.DeleteEndpoint),
		op.Calling(op.Spec{
			Name: "endpoint.test", Route: "POST /notifications/endpoints/{id}/test", People: op.PeopleStrictly,
			Outside: usual.attempt, Summary: "Sends one test message to an endpoint and shows the result.",
		}, n.tryEndpoint, n.TestEndpoint),
		op.Writing(op.Spec{
			Name: "endpoint.rotate", Route: "POST /notifications/endpoints/{id}/rotate", People: op.PeopleStrictly,
			Seals: true, Summary: "Replaces an endpoint's signing secret; the previous secret stays valid " +
				"for 24 hours.",
		}, n.RotateEndpoint),
		op.Reading(op.Spec{
			Name: "notification.list", Route: "GET /notifications",
			Summary: "Lists notifications from the last 90 days and their deliveries, newest first.",
		}, n.List),
		op.Writing(op.Spec{
			Name: "notification.resend", Route: "POST /notifications/{id}/resend", People: op.PeopleStrictly,
			Summary: "Sends a notification again, with the same webhook-id: to every enabled endpoint that takes its " +
				"type, or to one endpoint.",
		}, n.Resend),
	}
}

// Tasks returns the scheduled work of notifications. Database triggers wake the task by its name.
func (n *Notifier) Tasks() []schedule.Task {
	return []schedule.Task{{Name: "notify", Next: next, Do: n.Sweep, Fault: "notifications not sent"}}
}

// next returns how long it is until a delivery is due.
func next(ctx context.Context, q pg.Querier) (time.Duration, error) {
	ms, err := pg.Value[*int64](ctx, q, `
		select ceil(extract(epoch from min(next_at) - clock_timestamp()) * 1000)::bigint from delivery
		where next_at is not null`)
	return schedule.In(ms), err
}

// Forget deletes notifications that are older than 90 days, with their deliveries.
func (n *Notifier) Forget(ctx context.Context) error {
	for {
		gone, err := pg.Exec(ctx, n.db, `delete from notification where id = any(array(select id from notification
			where created_at < now() - interval '90 days' order by created_at limit 1000 for update skip locked))`)
		if err != nil || gone == 0 {
			return err
		}
	}
}
