package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"coffer/internal/books/category"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	bareURL    = "SEAM_DATABASE_URL"
	bareListen = "SEAM_LISTEN"
	poolSize   = 10 // coffer's default, for both
)

// bare is the least that a careful person would write by hand: it looks up the key in the database
// for every request, runs the query and writes the response. It uses coffer's record type, so that
// both encode the same fields. It leaves out everything else that coffer does between the socket
// and the query.
type bare struct{ pool *pgxpool.Pool }

// serveBare is the hidden command that runs the bare server, in a separate process like coffer's.
func serveBare(ctx context.Context) error {
	cfg, err := pgxpool.ParseConfig(os.Getenv(bareURL))
	if err != nil {
		return fmt.Errorf("%s: %w", bareURL, err)
	}
	cfg.MaxConns = poolSize
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("open pool: %w", err)
	}
	defer pool.Close()
	b := bare{pool}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/tags/{slug}", b.tag)
	mux.HandleFunc("GET "+readyPath, func(w http.ResponseWriter, r *http.Request) {
		if err := pool.Ping(r.Context()); err != nil {
			http.Error(w, "no database", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok")) // a client that has disconnected needs no response
	})
	server := &http.Server{Addr: os.Getenv(bareListen), Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() {
		<-ctx.Done()
		_ = server.Close() // nobody waits for a response after the measurement
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (b bare) tag(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	hash := sha256.Sum256([]byte(r.Header.Get("X-API-Key")))
	var id, scope, actorType, actorName string
	var expired, revoked bool
	err := b.pool.QueryRow(ctx, `
		select id, scope, actor_type, coalesce(actor_name, name) as actor_name,
			coalesce(expires_at <= now(), false) as expired, revoked_at is not null as revoked
		from token where hash = $1
			and kind = 'api_key'`, hash[:]).Scan(&id, &scope, &actorType, &actorName, &expired, &revoked)
	if errors.Is(err, pgx.ErrNoRows) || expired || revoked {
		http.Error(w, "no such key", http.StatusUnauthorized)
		return
	}
	if err != nil {
		http.Error(w, "key", http.StatusInternalServerError)
		return
	}
	var t category.Tag
	slug := r.PathValue("slug")
	err = b.pool.QueryRow(ctx, `
		select id, short_id, slug, display_name, description, color, icon, is_system, created_at, updated_at from tag
		where deleted_at is null and (id = $1 or slug = $2 or short_id = $3)
		order by (slug = $2) desc limit 1`, nil, slug, slug,
	).Scan(&t.ID, &t.ShortID, &t.Slug, &t.Name, &t.Description, &t.Color, &t.Icon, &t.IsSystem, &t.CreatedAt,
		&t.UpdatedAt)
	if errors.Is(err, pgx.ErrNoRows) {
		http.Error(w, "no such tag", http.StatusNotFound)
		return
	}
	if err != nil {
		http.Error(w, "tag", http.StatusInternalServerError)
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
