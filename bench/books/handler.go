package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"

	"coffer/bench/measure"
	"coffer/internal/books/ledger"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	handlerURL    = "BENCH_DATABASE_URL"
	handlerListen = "BENCH_LISTEN"
)

// handlerSide is the comparison for "get one": a bare net/http handler with a connection pool,
// which looks up the key and runs the same query.
func handlerSide(ctx context.Context, w *world, connections int) (side, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	child, err := measure.Start(ctx, self, []string{"handler"}, func(address string) []string {
		return []string{handlerURL + "=" + w.url, handlerListen + "=" + address}
	})
	if err != nil {
		return nil, err
	}
	if _, err := child.Ready(ctx, readyPath); err != nil {
		child.Stop()
		return nil, err
	}
	requests, err := oneEach(ctx, w, child.Address)
	if err != nil {
		child.Stop()
		return nil, err
	}
	l, err := connect(ctx, child.Address, child.Pid(), connections,
		func(c, n int) []byte { return requests[(c*131+n)%len(requests)] })
	if err != nil {
		child.Stop()
		return nil, err
	}
	l.child = child
	return l, nil
}

func serveHandler(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(os.Getenv(handlerURL))
	if err != nil {
		return errors.New(handlerURL + " is not a URL")
	}
	cfg.MaxConns = 10 // the size of coffer's pool
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		c.TypeMap().RegisterType(&pgtype.Type{
			Name: "timestamptz", OID: pgtype.TimestamptzOID,
			Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC},
		})
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("open pool: %w", err)
	}
	defer pool.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+readyPath, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	mux.HandleFunc("GET /api/v1/transactions/{id}", func(w http.ResponseWriter,
		r *http.Request,
	) {
		answerOne(w, r, pool)
	})
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", os.Getenv(handlerListen))
	if err != nil {
		return err
	}
	context.AfterFunc(ctx, func() { _ = server.Close() })
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// oneQuery is the query of coffer's own handler, with the same joins.
const oneQuery = `
	select t.id, t.short_id, t.account_id, coalesce(a.display_name, a.name), a.connection_id, a.provider,
		coalesce(a.owner_id, cn.member_id), m.name,
		t.date, t.authorized_date, t.datetime, t.amount, t.currency, d.name, nullif(d.merchant_name, ''),
			t.category_primary, t.category_detailed,
		c.slug, t.category_id, c.display_name, t.category_source, t.counterparty_id, p.name,
		array(select g.slug from transaction_tag tt join tag g on g.id = tt.tag_id
			where tt.transaction_id = t.id and tt.present and g.deleted_at is null order by g.slug),
		t.pending, t.payment_channel, (select count(*) from comment o
			where o.transaction_id = t.id and o.deleted_at is null),
		t.linked_id, t.excluded, t.deleted_at, t.created_at, t.updated_at
	from transaction t
	join account a on a.id = t.account_id
	left join connection cn on cn.id = a.connection_id
	left join member m on m.id = coalesce(a.owner_id, cn.member_id)
	join descriptor d on d.id = t.descriptor_id
	left join category c on c.id = t.category_id
	left join counterparty p on p.id = t.counterparty_id
	where t.id = $1`

func answerOne(w http.ResponseWriter, r *http.Request, pool *pgxpool.Pool) {
	if err := lookUp(r.Context(), pool, sha256.Sum256([]byte(r.Header.Get("X-API-Key")))); err != nil {
		http.Error(w, "key", http.StatusUnauthorized)
		return
	}
	var t ledger.Transaction
	err := pool.QueryRow(r.Context(), oneQuery, r.PathValue("id")).Scan(
		&t.ID, &t.ShortID, &t.AccountID, &t.AccountName, &t.ConnectionID, &t.Provider, &t.UserID, &t.UserName,
		&t.Date, &t.AuthorizedDate, &t.Datetime, &t.Amount, &t.Currency, &t.Name, &t.MerchantName, &t.CategoryPrimary,
		&t.CategoryDetailed,
		&t.Category, &t.CategoryID, &t.CategoryDisplayName, &t.CategorySource, &t.CounterpartyID, &t.CounterpartyName,
		&t.Tags, &t.Pending, &t.PaymentChannel, &t.CommentCount, &t.LinkedTransactionID, &t.Excluded, &t.DeletedAt,
		&t.CreatedAt, &t.UpdatedAt)
	if err != nil {
		http.Error(w, "no such transaction", http.StatusNotFound)
		return
	}
	body, err := json.Marshal(t)
	if err != nil {
		http.Error(w, "encode", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a client that has disconnected needs no response
}
