package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"coffer/internal/platform/id"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// bare is a side that only queries PostgreSQL: it looks up the key, runs the obvious query and
// reads every row. It uses neither HTTP nor JSON.
type bare struct {
	conns []*pgx.Conn
	asked []int
	key   [32]byte
	ask   asker
}

// An asker makes the nth request of a connection.
type asker func(ctx context.Context, conn *pgx.Conn, connection, n int) error

// bareSide calls prepare and opens the connections. The side then runs the function that prepare
// returned for each request.
func bareSide(prepare func(ctx context.Context, w *world, connections int) (asker, error)) func(context.Context, *world,
	int) (side, error) {
	return func(ctx context.Context, w *world, connections int) (side, error) {
		ask, err := prepare(ctx, w, connections)
		if err != nil {
			return nil, err
		}
		b := &bare{key: sha256.Sum256([]byte(w.key)), ask: ask, asked: make([]int, connections)}
		for range connections {
			conn, err := pgx.Connect(ctx, w.url)
			if err != nil {
				b.close(ctx)
				return nil, fmt.Errorf("connect: %w", err)
			}
			b.conns = append(b.conns, conn)
		}
		return b, nil
	}
}

func (b *bare) pid() int { return os.Getpid() }

func (b *bare) close(ctx context.Context) {
	for _, c := range b.conns {
		_ = c.Close(context.WithoutCancel(ctx)) // nothing uses it any more
	}
}

func (b *bare) round(ctx context.Context, length time.Duration) ([]time.Duration, error) {
	var all sync.WaitGroup
	took, failures := make([][]time.Duration, len(b.conns)), make([]error, len(b.conns))
	end := time.Now().Add(length)
	for i, conn := range b.conns {
		all.Go(func() {
			at := time.Now()
			for n := 0; n < most && at.Before(end); n++ {
				if failures[i] = b.one(ctx, conn, i); failures[i] != nil {
					return
				}
				now := time.Now()
				took[i] = append(took[i], now.Sub(at))
				at = now
			}
		})
	}
	all.Wait()
	var out []time.Duration
	for _, t := range took {
		out = append(out, t...)
	}
	return out, errors.Join(failures...)
}

func (b *bare) one(ctx context.Context, conn *pgx.Conn, connection int) error {
	if err := lookUp(ctx, conn, b.key); err != nil {
		return err
	}
	n := b.asked[connection]
	b.asked[connection]++
	return b.ask(ctx, conn, connection, n)
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// lookUp is the first step of every request: it looks the key up.
func lookUp(ctx context.Context, q querier, key [32]byte) error {
	var u [16]byte
	var scope, actorType, name string
	var expired, revoked bool
	err := q.QueryRow(ctx, `
		select id, scope, actor_type, coalesce(actor_name, name), coalesce(expires_at <= now(), false),
			revoked_at is not null
		from token where hash = $1
			and kind = 'api_key'`, key[:]).Scan(&u, &scope, &actorType, &name, &expired, &revoked)
	if err == nil && (expired || revoked) {
		err = errors.New("the key is no longer good")
	}
	return err
}

// row is a transaction as the table has it, with its wording and tags.
type row struct {
	ID, Account                                       [16]byte
	ShortID, Currency, Name, Merchant                 string
	Date                                              time.Time
	Authorized, Datetime, Deleted                     *time.Time
	Amount                                            pgtype.Numeric
	Primary, Detailed, CategorySource, PaymentChannel *string
	Category, Counterparty, Linked                    *[16]byte
	Tags                                              []string
	Pending, Excluded                                 bool
	Created, Updated                                  time.Time
}

const columns = `t.id, t.short_id, t.account_id, t.date, t.authorized_date, t.datetime, t.amount, t.currency, d.name,
	d.merchant_name, t.category_primary, t.category_detailed,
	t.category_id, t.category_source, t.counterparty_id,
	array(select g.slug from transaction_tag tt join tag g on g.id = tt.tag_id where tt.transaction_id = t.id
		and tt.present and g.deleted_at is null order by g.slug),
	t.pending, t.payment_channel, t.linked_id, t.excluded, t.deleted_at, t.created_at, t.updated_at`

func (r *row) places() []any {
	return []any{
		&r.ID, &r.ShortID, &r.Account, &r.Date, &r.Authorized, &r.Datetime, &r.Amount, &r.Currency, &r.Name,
		&r.Merchant, &r.Primary, &r.Detailed,
		&r.Category, &r.CategorySource, &r.Counterparty, &r.Tags, &r.Pending, &r.PaymentChannel, &r.Linked, &r.Excluded,
		&r.Deleted, &r.Created, &r.Updated,
	}
}

// page lists transactions with one more condition. It reads one row more than it shows, to see
// whether there are more.
func page(condition string, arg any) func(context.Context, *world, int) (asker, error) {
	sql := `select ` + columns + ` from transaction t join descriptor d on d.id = t.descriptor_id
		where t.deleted_at is null ` + condition + ` order by t.date desc, t.id desc limit 51`
	var args []any
	if arg != nil {
		args = []any{arg}
	}
	return func(context.Context, *world, int) (asker, error) { return pageOf(sql, args), nil }
}

func pageOf(sql string, args []any) asker {
	return func(ctx context.Context, conn *pgx.Conn, _, _ int) error {
		rows, err := conn.Query(ctx, sql, args...)
		if err != nil {
			return err
		}
		out := make([]row, 0, 51)
		var r row
		places := r.places()
		_, err = pgx.ForEachRow(rows, places, func() error {
			out = append(out, r)
			r = row{}
			return nil
		})
		if err == nil && len(out) == 0 {
			err = errors.New("the page is empty")
		}
		return err
	}
}

const commonSearch = `and d.folded like $1`

func pattern(term string) string { return "%" + term + "%" }

// deepPage reads the second page of a list that begins in the middle of the books. coffer's side
// does the same.
func deepPage(ctx context.Context, w *world, _ int) (asker, error) {
	var day time.Time
	var u [16]byte
	err := w.admin.QueryRow(ctx, `select date, id from transaction where deleted_at is null and date <= $1
		order by date desc, id desc offset 49 limit 1`, middleDay).Scan(&day, &u)
	if err != nil {
		return nil, err
	}
	sql := `select ` + columns + ` from transaction t join descriptor d on d.id = t.descriptor_id
		where t.deleted_at is null and t.date <= $1 and (t.date, t.id) < ($2, $3)
			order by t.date desc, t.id desc limit 51`
	return pageOf(sql, []any{middleDay, day, u}), nil
}

func categoryPage(ctx context.Context, w *world, n int) (asker, error) {
	u, err := category(ctx, w, leaf)
	if err != nil {
		return nil, err
	}
	return page(`and t.category_id = $1`, u)(ctx, w, n)
}

func category(ctx context.Context, w *world, slug string) (id.ID, error) {
	var u id.ID
	err := w.admin.QueryRow(ctx, `select id from category where slug = $1 and deleted_at is null`, slug).Scan(&u)
	return u, err
}

func count(ctx context.Context, w *world, _ int) (asker, error) {
	u, err := category(ctx, w, leaf)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, conn *pgx.Conn, _, _ int) error {
		var n int64
		return conn.QueryRow(ctx, `select count(*) from transaction
			where deleted_at is null and category_id = $1 and date >= $2
			and date <= $3`, u, yearStart, yearEnd).Scan(&n)
	}, nil
}

// flowing groups a year by category. A cash flow consists of such groups.
func flowing(from, to string) func(context.Context, *world, int) (asker, error) {
	return asking(`select category_id, currency, coalesce(-sum(amount) filter (where amount < 0), 0),
		coalesce(sum(amount) filter (where amount > 0), 0), count(*)
		from transaction where deleted_at is null and not excluded and date >= $1 and date <= $2 group by 1, 2`, from, to)
}

// comparing groups two months in one scan.
func comparing(before, from, to string) func(context.Context, *world, int) (asker, error) {
	return asking(`select category_id, currency,
		-sum(amount) filter (where date >= $2 and amount < 0), sum(amount) filter (where date >= $2 and amount > 0),
		count(*) filter (where date >= $2),
		-sum(amount) filter (where date < $2 and amount < 0), sum(amount) filter (where date < $2 and amount > 0),
		count(*) filter (where date < $2)
		from transaction where deleted_at is null and not excluded and date >= $1 and date <= $3 group by 1, 2`, before,
		from, to)
}

// payees adds up by counterparty, or by the payee of the wording. The alphabetically first wording
// is the name.
func payees(from, to string) func(context.Context, *world, int) (asker, error) {
	return asking(`select t.counterparty_id, case when t.counterparty_id is null then d.payee end, t.currency,
		coalesce(-sum(t.amount) filter (where t.amount < 0), 0), coalesce(sum(t.amount) filter (where t.amount > 0), 0),
		count(*), min(coalesce(nullif(d.merchant_name, ''), d.name))
		from transaction t join descriptor d on d.id = t.descriptor_id
		where t.deleted_at is null and not t.excluded and t.date >= $1 and t.date <= $2 group by 1, 2, 3`, from, to)
}

// standing adds up each account's transactions until the end of each month.
func standing(from, to string) func(context.Context, *world, int) (asker, error) {
	return asking(`select account_id, month, sum(amount) over (partition by account_id order by month)
		from (select account_id, date_trunc('month', date::timestamp) as month, sum(amount) as amount
			from transaction where deleted_at is null and date >= $1 and date <= $2 group by 1, 2) x`, from, to)
}

// asking runs a query and reads its rows.
func asking(sql string, args ...any) func(context.Context, *world, int) (asker, error) {
	return func(context.Context, *world, int) (asker, error) {
		return func(ctx context.Context, conn *pgx.Conn, _, _ int) error {
			rows, err := conn.Query(ctx, sql, args...)
			if err != nil {
				return err
			}
			groups := 0
			for rows.Next() {
				groups++
			}
			if err = rows.Err(); err == nil && groups == 0 {
				err = errors.New("no groups")
			}
			return err
		}, nil
	}
}

// grouping groups by id without looking up names. It leaves the exclusion of transfers to its
// reader, who knows the groups' categories.
func grouping(from, to string) func(context.Context, *world, int) (asker, error) {
	sql := `select category_id, date_trunc('month', date::timestamp), currency,
		coalesce(-sum(amount) filter (where amount < 0), 0), coalesce(sum(amount) filter (where amount > 0), 0),
		count(*)
		from transaction where deleted_at is null and not excluded`
	var args []any
	if from != "" {
		sql, args = sql+` and date >= $1 and date <= $2`, []any{from, to}
	}
	sql += ` group by 1, 2, 3`
	return func(context.Context, *world, int) (asker, error) {
		return func(ctx context.Context, conn *pgx.Conn, _, _ int) error {
			rows, err := conn.Query(ctx, sql, args...)
			if err != nil {
				return err
			}
			var u *[16]byte
			var month time.Time
			var currency string
			var in, out pgtype.Numeric
			var n, groups int64
			_, err = pgx.ForEachRow(rows, []any{&u, &month, &currency, &in, &out, &n}, func() error {
				groups++
				return nil
			})
			if err == nil && groups == 0 {
				err = errors.New("no groups")
			}
			return err
		}, nil
	}
}

// bareTrigram is the obvious way to search: names in the table itself, with a trigram index. It
// does not change with coffer. coffer's tables differ, so the side creates its own.
func bareTrigram(ctx context.Context, w *world, connections int) (side, error) {
	const drop = `drop schema if exists bench_bare cascade`
	w.made = append(w.made, drop)
	for _, sql := range []string{
		drop, `create schema bench_bare`,
		`create table bench_bare.transaction as
			select t.*, d.name, d.merchant_name from transaction t join descriptor d on d.id = t.descriptor_id
				order by t.date, t.id`,
		`alter table bench_bare.transaction add primary key (id)`,
		`create index on bench_bare.transaction (date desc, id desc) where deleted_at is null`,
		`create index on bench_bare.transaction using gin ((name || ' ' || merchant_name) gin_trgm_ops)`,
		`vacuum analyze bench_bare.transaction`,
	} {
		if _, err := w.admin.Exec(ctx, sql); err != nil {
			return nil, fmt.Errorf("%s: %w", sql, err)
		}
	}
	inline := strings.NewReplacer("d.name", "t.name", "d.merchant_name", "t.merchant_name").Replace(columns)
	conditions := []string{"t.deleted_at is null"}
	var args []any
	for word := range strings.FieldsSeq(rare) {
		args = append(args, pattern(word))
		conditions = append(conditions, fmt.Sprintf(`(name || ' ' || merchant_name) ilike $%d`, len(args)))
	}
	sql := `select ` + inline + ` from bench_bare.transaction t
		where ` + strings.Join(conditions, " and ") + ` order by t.date desc, t.id desc limit 51`
	return bareSide(func(context.Context, *world, int) (asker, error) { return pageOf(sql, args), nil })(ctx, w,
		connections)
}

// bareCategorize uses one statement for each necessary step: lock and read, update, record the
// change, record the entries.
func bareCategorize(ctx context.Context, w *world, connections int) (asker, error) {
	all, err := blocks(ctx, w, connections)
	if err != nil {
		return nil, err
	}
	into := make([]id.ID, len(targets))
	for i, slug := range targets {
		if into[i], err = category(ctx, w, slug); err != nil {
			return nil, err
		}
	}
	return func(ctx context.Context, conn *pgx.Conn, connection, n int) error {
		block, target := turn(connection, n)
		return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return fileUnder(ctx, tx, all[block], into[target]) })
	}, nil
}

func fileUnder(ctx context.Context, tx pgx.Tx, ids []id.ID, into id.ID) error {
	rows, err := tx.Query(ctx, `select id, category_id::text, category_source from transaction where id = any($1)
		order by id for update`, ids)
	if err != nil {
		return err
	}
	var u id.ID
	var old, source *string
	var found []id.ID
	var before, sources []*string
	_, err = pgx.ForEachRow(rows, []any{&u, &old, &source}, func() error {
		found, before, sources = append(found, u), append(before, old), append(sources, source)
		return nil
	})
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `update transaction set category_id = $2, category_source = 'user',
		updated_at = clock_timestamp() where id = any($1)`, found, into)
	if err != nil {
		return err
	}
	change := id.New()
	_, err = tx.Exec(ctx, `insert into change (id, short_id, cause, summary, actor_type, actor_name, transactions,
		entries) values ($1, $2, 'api', 'bench', 'user', 'bench', $3, $3)`,
		change, change.Short(), len(found))
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `
		insert into entry (change_id, subject, subject_id, field, before, after, before_source, after_source)
		select $1, 'transaction', v.id, 'category', v.before, $2, v.source, 'user'
			from unnest($3::uuid[], $4::text[], $5::text[]) v (id, before, source)`,
		change, into.String(), found, before, sources)
	return err
}
