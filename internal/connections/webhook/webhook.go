// Package webhook receives webhook events from providers: it verifies an event, stores it once,
// responds, and lets a job process it. It must not distinguish the providers' protocols; package
// bank does that. It must not change a connection itself; package connection does that.
package webhook

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"coffer/internal/bank"
	"coffer/internal/connections/connection"
	"coffer/internal/connections/linksession"
	"coffer/internal/platform/errs"
	"coffer/internal/platform/id"
	"coffer/internal/platform/job"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/seal"
	"github.com/jackc/pgx/v5"
)

// MaxBody is the maximum size of an event, in bytes.
const MaxBody = 256 << 10

// Webhooks receives webhook events.
type Webhooks struct {
	db          *pg.DB
	connections *connection.Connections
	sessions    *linksession.Sessions
	jobs        *job.Jobs
	log         *slog.Logger
	ring        *seal.Ring // nil without an encryption key; then no provider is configured either
}

// A Config holds what New needs.
type Config struct {
	DB          *pg.DB
	Connections *connection.Connections // the connections that events are about
	Sessions    *linksession.Sessions   // the link sessions that events end
	Jobs        *job.Jobs
	Ring        *seal.Ring   // seals confidential identifiers in events; nil without an encryption key
	Log         *slog.Logger // nil for none
}

// New returns a Webhooks.
func New(c Config) *Webhooks {
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Webhooks{db: c.DB, connections: c.Connections, sessions: c.Sessions, jobs: c.Jobs, ring: c.Ring, log: c.Log}
}

// Receive handles the address of a provider's events. It responds with 200 if the event is stored,
// now or earlier; any other status makes the provider send it again.
func (w *Webhooks) Receive(provider string) func(http.ResponseWriter, *http.Request) error {
	return func(out http.ResponseWriter, r *http.Request) error {
		began := time.Now()
		body, err := io.ReadAll(r.Body)
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return errs.New(errs.PayloadTooLarge, "the body may be at most %d KiB", MaxBody>>10)
		}
		if err != nil {
			return errs.Wrap(err, errs.InvalidBody, "the body is incomplete; send it again")
		}
		event, err := w.verify(r, provider, body)
		if err != nil {
			return err
		}
		// The actor of an event is the system, not its sender.
		ctx := op.Acting(r.Context(), op.Actor{Type: op.System, Name: "coffer"})
		known, err := w.store(ctx, provider, event, body)
		if err != nil {
			return err
		}
		w.log.Info("webhook", "provider", provider, "type", event.Type, "effect", event.Effect.String(), "known", known,
			"took", time.Since(began))
		out.Header().Set("Content-Type", "application/json")
		_, _ = out.Write([]byte(`{"status":"received"}`)) // if the response is lost, the provider sends the event again
		return nil
	}
}

// verify checks the provider's signature of a delivery and reads its event. If the signature cannot
// be checked right now, the error makes the provider send the event again.
func (w *Webhooks) verify(r *http.Request, provider string, body []byte) (bank.Event, error) {
	p, err := w.connections.Webhooker(r.Context(), provider)
	if err != nil {
		return bank.Event{}, err
	}
	event, err := p.Verify(r.Context(), r.Header, body)
	if fault, ok := errors.AsType[*bank.Error](err); ok {
		return bank.Event{}, errs.Wrap(fault, errs.Unavailable,
			"the signature cannot be checked right now; send the event again")
	}
	return event, err
}

// store commits the event together with its job, unless the event is already stored. It reports
// whether the event was stored before. It takes one round trip to the database, because the
// provider waits for the response. Two deliveries of the same event wait for each other here.
func (w *Webhooks) store(ctx context.Context, provider string, e bank.Event, body []byte) (known bool, err error) {
	made := id.New() // if its short id is taken, this fails and the provider sends the event again
	sum := sha256.Sum256(body)
	session, err := w.conceal(made, e.Session)
	if err != nil {
		return false, err
	}
	var expires *pg.Time
	if !e.ExpiresAt.IsZero() {
		expires = new(pg.At(e.ExpiresAt))
	}
	var b pgx.Batch
	b.Queue(`
		insert into webhook_event (id, short_id, provider, identity, event_type, effect, connection_id, about,
			account, code, advice, session, expires_at, payload_hash)
		values (@id, @short, @provider, @identity, @type, @effect,
			(select c.id from connection c where c.provider = @provider and c.provider_id = @about),
			@about, @account, @code, @advice, @session, @expires, @hash)
		on conflict (provider, identity) do nothing`, pgx.NamedArgs{
		"id": made, "short": made.Short(), "provider": provider, "identity": e.ID, "type": e.Type,
		"effect": e.Effect.String(), "about": e.ConnectionID,
		"account": e.AccountID, "code": e.Code, "advice": e.Advice, "session": session, "expires": expires,
		"hash": hex.EncodeToString(sum[:]),
	})
	if err := w.jobs.Put(ctx, &b, Kind, task{made}, job.Options{Unique: made.String(), Priority: 1},
		`select from webhook_event where id = @about`, made); err != nil {
		return false, err
	}
	sent := w.db.SendBatch(ctx, &b) // one transaction
	event, err := sent.Exec()
	if err := errors.Join(err, sent.Close()); err != nil {
		return false, fmt.Errorf("store the event: %w", err)
	}
	return event.RowsAffected() == 0, nil
}

func sessionPlace(event id.ID) seal.Place {
	return seal.Place{Table: "webhook_event", Column: "session", Row: event.String()}
}

func (w *Webhooks) conceal(event id.ID, session string) ([]byte, error) {
	if session == "" || w.ring == nil {
		return nil, nil
	}
	return w.ring.Seal(sessionPlace(event), []byte(session))
}
