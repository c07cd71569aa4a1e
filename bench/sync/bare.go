package main

import (
	"bytes"
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"coffer/bench/measure"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// A cargo is what a sync stored, as lines in the text format of COPY.
type cargo struct {
	columns      string // the columns of transaction, except the descriptor
	transactions []string
	tags         []string
	entries      []string
}

// take reads from the database what the first sync stored, in the order in which the sync stored
// it.
func take(ctx context.Context, db *pg.DB) (cargo, error) {
	var c cargo
	columns, err := pg.Values[string](ctx, db, `
		select column_name::text from information_schema.columns
			where table_schema = 'public' and table_name = 'transaction' and column_name <> 'descriptor_id'
			order by ordinal_position`)
	if err != nil {
		return c, err
	}
	c.columns = strings.Join(columns, ", ")
	for into, query := range map[*[]string]string{
		&c.transactions: `select t.` + strings.Join(columns,
			", t.") + `, d.name, d.merchant_name, d.folded from transaction t join descriptor d on d.id = t.descriptor_id
				order by t.id`,
		&c.tags: `select * from transaction_tag order by transaction_id`,
		&c.entries: `select change_id, subject, subject_id, field, ref, before, after, before_source,
			after_source, rule_id, note from entry where subject = 'transaction' order by id`,
	} {
		var out bytes.Buffer
		err := with(ctx, db, func(conn *pgx.Conn) error {
			_, err := conn.PgConn().CopyTo(ctx, &out, "copy ("+query+") to stdout")
			return err
		})
		if err != nil {
			return c, err
		}
		*into = strings.SplitAfter(strings.TrimSuffix(out.String(), "\n"), "\n")
	}
	return c, nil
}

func with(ctx context.Context, db *pg.DB, f func(*pgx.Conn) error) error {
	conn, err := db.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return f(conn.Conn())
}

// bareTime runs f on its own connection and returns its time and cost.
func bareTime(ctx context.Context, db *pg.DB, f func(*pgx.Conn) error) (span, error) {
	conn, err := pgx.Connect(ctx, db.Config().ConnString())
	if err != nil {
		return span{}, err
	}
	defer conn.Close(ctx) //nolint:errcheck // nothing is left to lose
	pid := int(conn.PgConn().PID())
	backend, err := measure.CPU(pid)
	if err != nil {
		return span{}, err
	}
	at, err := wal(ctx, db)
	if err != nil {
		return span{}, err
	}
	own, start := measure.OwnCPU(), time.Now()
	if err := f(conn); err != nil {
		return span{}, err
	}
	s := span{took: time.Since(start), own: measure.OwnCPU() - own}
	end, err := wal(ctx, db)
	if err != nil {
		return span{}, err
	}
	after, err := measure.CPU(pid)
	s.cpu = s.own + after - backend
	s.wal = end - at
	return s, err
}

// part returns the nth of the given number of parts of the lines.
func part(lines []string, n, of int) *strings.Reader {
	return strings.NewReader(strings.Join(lines[len(lines)*n/of:len(lines)*(n+1)/of], ""))
}

// tagsOf returns how many lines of tags belong to transactions in the first n of the given number
// of parts. Both lists begin with the transaction's id and are sorted by it.
func (c cargo) tagsOf(n, of int) int {
	end := len(c.transactions) * n / of
	if end == len(c.transactions) {
		return len(c.tags)
	}
	const id = 36
	return sort.Search(len(c.tags), func(i int) bool { return c.tags[i][:id] >= c.transactions[end][:id] })
}

// merge empties the tables and fills them again: COPY into a temporary table, merge, and COPY of
// the tags and the journal, with one transaction per batch.
func (c cargo) merge(ctx context.Context, db *pg.DB, batch int) (span, error) {
	if err := c.empty(ctx, db); err != nil {
		return span{}, err
	}
	return bareTime(ctx, db, func(conn *pgx.Conn) error {
		if err := c.stage(ctx, conn); err != nil {
			return err
		}
		batches := (len(c.transactions) + batch - 1) / batch
		for n := range batches {
			err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				if _, err := conn.PgConn().CopyFrom(ctx, part(c.transactions, n, batches),
					"copy incoming from stdin"); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, `
					insert into descriptor (name, merchant_name, folded)
						select distinct on (name, merchant_name) name, merchant_name, folded from incoming
						on conflict (name, merchant_name, md5(detail)) do nothing`)
				if err != nil {
					return err
				}
				columns := "i." + strings.ReplaceAll(c.columns, ", ", ", i.")
				_, err = tx.Exec(ctx, fmt.Sprintf(`
					insert into transaction (%s, descriptor_id) select %s, d.id from incoming i
						join descriptor d on d.name = i.name and d.merchant_name = i.merchant_name
					on conflict (account_id, provider_id) do update
						set date = excluded.date, amount = excluded.amount, descriptor_id = excluded.descriptor_id,
						pending = excluded.pending
					where (transaction.date, transaction.amount, transaction.descriptor_id,
						transaction.pending) is distinct
						from (excluded.date, excluded.amount, excluded.descriptor_id, excluded.pending)`,
					c.columns, columns))
				if err != nil {
					return err
				}
				if _, err := conn.PgConn().CopyFrom(ctx,
					strings.NewReader(strings.Join(c.tags[c.tagsOf(n, batches):c.tagsOf(n+1, batches)], "")),
					"copy transaction_tag from stdin"); err != nil {
					return err
				}
				_, err = conn.PgConn().CopyFrom(ctx, part(c.entries, n, batches),
					"copy entry (change_id, subject, subject_id, field, ref, before, after, before_source, "+
						"after_source, rule_id, note) from stdin")
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// compare is the bare side of an unchanged sync: COPY into a temporary table and a search for
// differences, which finds none.
func (c cargo) compare(ctx context.Context, db *pg.DB) (span, error) {
	if _, err := pg.Exec(ctx, db, `vacuum analyze`); err != nil {
		return span{}, err
	}
	const batch = 5000
	return bareTime(ctx, db, func(conn *pgx.Conn) error {
		if err := c.stage(ctx, conn); err != nil {
			return err
		}
		batches := (len(c.transactions) + batch - 1) / batch
		for n := range batches {
			err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
				if _, err := conn.PgConn().CopyFrom(ctx, part(c.transactions, n, batches),
					"copy incoming from stdin"); err != nil {
					return err
				}
				tag, err := tx.Exec(ctx, `
					update transaction t set amount = i.amount from incoming i
						join descriptor d on d.name = i.name and d.merchant_name = i.merchant_name
					where t.account_id = i.account_id and t.provider_id = i.provider_id
						and (t.date, t.amount, t.currency, t.descriptor_id, t.pending) is distinct
							from (i.date, i.amount, i.currency, d.id, i.pending)`)
				if err == nil && tag.RowsAffected() != 0 {
					err = fmt.Errorf("%d rows differ", tag.RowsAffected())
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// stage creates the temporary table.
func (c cargo) stage(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `
		create temp table incoming on commit delete rows as
			select `+c.columns+
		`, ''::text as name, ''::text as merchant_name, ''::text as folded from transaction with no data`)
	return err
}

// empty deletes what the sync stored, except the changes to which entries belong. The checkpoint
// makes PostgreSQL write what it still has to write.
func (c cargo) empty(ctx context.Context, db *pg.DB) error {
	for _, s := range []string{
		`truncate transaction, transaction_tag, transaction_alias, descriptor, comment cascade`,
		`truncate entry`, `vacuum analyze`, `checkpoint`,
	} {
		if _, err := pg.Exec(ctx, db, s); err != nil {
			return err
		}
	}
	return nil
}
