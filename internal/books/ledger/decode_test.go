package ledger

import (
	"reflect"
	"testing"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"github.com/jackc/pgx/v5"
)

// The wire decoder returns the same values as the driver for every column, NULL or not, and for
// every amount in range.
func TestDecodeAsTheDriver(t *testing.T) {
	t.Parallel()
	b, db := filledBooks(t, 3000)
	ctx := as(t.Context(), "user")
	list, err := b.Transactions(ctx, db, ListTransactions{Limit: 500})
	if err != nil {
		t.Fatal(err)
	}
	amounts := []string{
		"0.00", "0.01", "-0.01", "0.10", "1.00", "-99.99", "100.00", "9999.00", "10000.00", "-10000.01",
		"12345678.90", "99999999.99", "100000000.00", "9999999999.99", "-9999999999.99",
	}
	for i, a := range amounts {
		if _, err := db.Exec(ctx, `update transaction set amount = $2, authorized_date = date - 1,
			datetime = date + interval '1.000001 s', deleted_at = '1999-12-31 23:59:59.999999Z',
			payment_channel = null, category_id = null, category_source = null
				where id = $1`, list.Transactions[i].ID, money.MustParse(a)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Exec(ctx, `update transaction set date = '1969-07-20', linked_id = id
		where id = $1`, list.Transactions[0].ID); err != nil {
		t.Fatal(err)
	}
	sql := `select true, ` + transactionColumns +
		` from transaction t join descriptor d on d.id = t.descriptor_id order by t.id`
	read := func(args ...any) []Transaction {
		rows, err := db.Query(ctx, sql, args...)
		if err != nil {
			t.Fatal(err)
		}
		p, err := scanPage(rows, 3000)
		if err != nil {
			t.Fatal(err)
		}
		n, err := b.names(ctx, db, p.version)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.name(n); err != nil {
			t.Fatal(err)
		}
		return p.rows
	}
	wire, driver := read(), read(pgx.QueryExecModeExec, pgx.QueryResultFormats{pgx.TextFormatCode})
	if len(wire) != 3000 || len(driver) != len(wire) {
		t.Fatalf("%d rows by the decoder, %d by the driver", len(wire), len(driver))
	}
	for i := range wire {
		if !reflect.DeepEqual(wire[i], driver[i]) {
			t.Fatalf("row %d: %+v, the driver has %+v", i, wire[i], driver[i])
		}
	}
}

// An unexpected format is an error, never a wrong value.
func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(*pg.Wire){
		"short id":       func(w *pg.Wire) { w.Values = [][]byte{{1}}; w.ID() },
		"null id":        func(w *pg.Wire) { w.Values = [][]byte{nil}; w.ID() },
		"no column":      func(w *pg.Wire) { w.Text() },
		"long bool":      func(w *pg.Wire) { w.Values = [][]byte{{1, 1}}; w.Bool() },
		"infinite date":  func(w *pg.Wire) { w.Values = [][]byte{{0x7f, 0xff, 0xff, 0xff}}; w.Date() },
		"NaN":            func(w *pg.Wire) { w.Values = [][]byte{{0, 0, 0, 0, 0xc0, 0, 0, 0}}; w.Amount() },
		"three decimals": func(w *pg.Wire) { w.Values = [][]byte{{0, 1, 0xff, 0xff, 0, 0, 0, 3, 0, 10}}; w.Amount() },
		"too large":      func(w *pg.Wire) { w.Values = [][]byte{{0, 1, 0, 5, 0, 0, 0, 2, 0, 10}}; w.Amount() },
		"null in a list": func(w *pg.Wire) {
			w.Values = [][]byte{append([]byte{
				0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 11, 134, 0, 0, 0, 1, 0, 0, 0, 1, 0xff, 0xff,
				0xff, 0xff,
			}, make([]byte, 16)...)}
			w.IDs(nil)
		},
	} {
		w := &pg.Wire{}
		if read(w); !w.Failed {
			t.Errorf("%s is accepted", name)
		}
	}
	w := &pg.Wire{Values: [][]byte{nil}}
	if got := pg.Optional(w, func() id.ID { return w.ID() }); got != nil || w.Failed {
		t.Errorf("NULL: %v", got)
	}
}
