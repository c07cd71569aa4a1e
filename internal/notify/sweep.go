package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"sync"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
)

const (
	atOnce  = 8 // maximum number of endpoints to which a server sends at the same time
	givenUp = 3 // an endpoint is disabled after so many failed messages in a row
)

// A claimed delivery is one that this server is sending.
type claimed struct {
	ID        id.ID   `db:"id"`
	Claim     id.ID   `db:"claim"`
	Attempts  int     `db:"attempts"`
	ShortID   string  `db:"short_id"` // of the notification
	Type      Type    `db:"type"`
	CreatedAt pg.Time `db:"created_at"`
	Data      []byte  `db:"data"`
	sealed
}

// sealed holds the address of an endpoint, and its secrets in stored form.
type sealed struct {
	Endpoint  id.ID  `db:"endpoint_id"`
	URL       string `db:"url"`
	Secret    []byte `db:"secret"`
	OldSecret []byte `db:"old_secret"` // nil unless it is still used for signing
}

// reached lists the columns of sealed for an endpoint e.
const reached = `e.id as endpoint_id, e.url, e.secret,
	case when e.old_until > clock_timestamp() then e.old_secret end as old_secret`

// Sweep sends all due deliveries. It sends only one message at a time to each endpoint, so a slow
// endpoint does not delay the others.
func (n *Notifier) Sweep(ctx context.Context) error {
	busy := []id.ID{}
	done := make(chan id.ID)
	var fault error
	var sending sync.WaitGroup
	defer sending.Wait()
	for {
		for len(busy) < atOnce && fault == nil && ctx.Err() == nil {
			c, err := n.claim(ctx, busy)
			if errors.Is(err, pg.ErrNoRow) {
				break
			}
			if err != nil {
				fault = err
				break
			}
			busy = append(busy, c.Endpoint)
			sending.Go(func() {
				n.deliver(ctx, c)
				done <- c.Endpoint
			})
		}
		if len(busy) == 0 {
			return fault
		}
		select {
		case free := <-done:
			busy = slices.DeleteFunc(busy, func(u id.ID) bool { return u == free })
		case <-time.After(n.limits.check):
		}
	}
}

// claim reserves a due delivery for a while, in a separate transaction. A concurrent claim gets
// another delivery.
func (n *Notifier) claim(ctx context.Context, busy []id.ID) (claimed, error) {
	return pg.One[claimed](ctx, n.db, `
		with due as (
			select id from delivery where next_at <= clock_timestamp() and endpoint_id <> all(@busy)
			order by next_at limit 1 for update skip locked)
		update delivery d set claim = @claim, last_attempt_at = clock_timestamp(),
			next_at = clock_timestamp() + @lease * interval '1 second'
		from due, notification n, endpoint e
		where d.id = due.id and n.id = d.notification_id and e.id = d.endpoint_id
		returning d.id, d.claim, d.attempts, n.short_id, n.type, n.created_at,
			(case e.content when 'full' then n.data || n.full_data else n.data end)::text::bytea as data, `+reached,
		pg.Args{"busy": busy, "claim": id.New(), "lease": n.limits.lease.Seconds()})
}

// deliver sends a claimed delivery and stores the outcome. If storing fails, that is only logged:
// the claim expires and the message is sent again.
func (n *Notifier) deliver(ctx context.Context, c claimed) {
	var o outcome
	if m, err := n.message(c); err != nil {
		o = outcome{fault: "the endpoint's secret can't be decrypted with this server's encryption key"}
	} else if o = send(ctx, m, n.limits.attempt); ctx.Err() != nil && o.fault != "" {
		return // the server stops; it is unknown whether the message arrived
	}
	// An accepted delivery must be stored even if the server is stopping.
	if err := n.settle(context.WithoutCancel(ctx), c, o); err != nil {
		n.log.Error("the outcome of a delivery was not stored; the message will be sent again", "error",
			errs.LogText(err))
	}
}

// message returns the message of an attempt.
func (n *Notifier) message(c claimed) (message, error) {
	secrets, err := n.secrets(c.sealed)
	if err != nil {
		return message{}, err
	}
	body, err := printed(c.Type, c.CreatedAt, c.Data)
	if err != nil {
		return message{}, fmt.Errorf("notify: print a message: %w", err)
	}
	return message{id: "msg_" + c.ShortID, url: c.URL, body: body, secrets: secrets}, nil
}

// printed returns the body of a message.
func printed(what Type, at pg.Time, data []byte) ([]byte, error) {
	return json.Marshal(struct {
		Type      Type            `json:"type"`
		Timestamp pg.Time         `json:"timestamp"`
		Message   string          `json:"message"`
		Data      json.RawMessage `json:"data"`
	}{what, at, words(what, data), data})
}

// secrets returns its signing secrets: the current one, and for a day after a rotation the former
// one.
func (n *Notifier) secrets(e sealed) ([][]byte, error) {
	current, err := n.ring.Open(place("secret", e.Endpoint), e.Secret)
	if err != nil {
		return nil, err
	}
	out := [][]byte{current}
	if e.OldSecret != nil {
		old, err := n.ring.Open(place("old_secret", e.Endpoint), e.OldSecret)
		if err != nil {
			return nil, err
		}
		out = append(out, old)
	}
	return out, nil
}

func place(column string, endpoint id.ID) seal.Place {
	return seal.Place{Table: "endpoint", Column: column, Row: endpoint.String()}
}

// settle stores the outcome of an attempt, and schedules a retry or disables the endpoint if
// necessary. It changes nothing if another server has taken over the delivery.
func (n *Notifier) settle(ctx context.Context, c claimed, o outcome) error {
	last := c.Attempts >= len(n.limits.pauses)
	var pause time.Duration
	if o.fault != "" && !last && !o.gone {
		pause = max(jitter(n.limits.pauses[c.Attempts]), o.after)
	}
	return n.db.InTx(ctx, func(tx pg.Tx) error {
		stored, err := pg.Exec(ctx, tx, `
			update delivery set attempts = attempts + 1, claim = null, last_status = nullif(@status, 0),
				last_error = nullif(@fault, ''),
				state = case when @fault = '' then 'delivered' when @again then 'pending' else 'failed' end,
				next_at = case when @fault <> '' and @again
					then clock_timestamp() + @pause * interval '1 second' end,
				delivered_at = case when @fault = '' then clock_timestamp() else delivered_at end
			where id = @id and claim = @claim`, pg.Args{
			"id": c.ID, "claim": c.Claim, "status": o.status, "fault": o.fault, "again": !last && !o.gone,
			"pause": pause.Seconds(),
		})
		if err != nil || stored == 0 {
			return err
		}
		switch {
		case o.fault == "":
			_, err = pg.Exec(ctx, tx, `update endpoint set given_up = 0, last_success_at = clock_timestamp()
				where id = $1`, c.Endpoint)
			return err
		case o.gone:
			return n.disable(ctx, tx, c, "gone")
		case last:
			in, err := pg.Value[int](ctx, tx, `update endpoint set given_up = given_up + 1 where id = $1
				returning given_up`, c.Endpoint)
			if err != nil || in < givenUp {
				return err
			}
			return n.disable(ctx, tx, c, "failing")
		}
		return nil
	})
}

// disable stops sending to an endpoint and stores a report about it.
func (n *Notifier) disable(ctx context.Context, tx pg.Tx, c claimed, why string) error {
	changed, err := pg.Exec(ctx, tx, `update endpoint set enabled = false, disabled_reason = $2,
		updated_at = clock_timestamp() where id = $1 and enabled`, c.Endpoint, why)
	if err != nil || changed == 0 {
		return err
	}
	if err := drop(ctx, tx, c.Endpoint); err != nil || n.report == nil {
		return err
	}
	cause := "it responded 410 (unsubscribed)"
	if why == "failing" {
		cause = fmt.Sprintf("%d messages in a row failed after %d attempts over three days",
			givenUp, len(usual.pauses)+1)
	}
	return n.report(ctx, tx, "Notifications to "+host(c.URL)+" are off", fmt.Sprintf(
		"coffer stopped sending to %s: %s.\n\nCheck the receiver, then turn it back on under Settings > "+
			"Notifications and resend missed messages.", host(c.URL), cause))
}

// drop marks all pending deliveries of an endpoint as failed.
func drop(ctx context.Context, tx pg.Tx, endpoint id.ID) error {
	_, err := pg.Exec(ctx, tx, `update delivery set state = 'failed', next_at = null, claim = null,
		last_error = 'the endpoint was disabled' where endpoint_id = $1 and next_at is not null`, endpoint)
	return err
}

// host returns the host of an address. The rest of the address may be a secret.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// jitter changes a retry's pause by up to a tenth, in either direction.
func jitter(d time.Duration) time.Duration {
	return d - d/10 + rand.N(d/5+1) //nolint:gosec // no secret
}
