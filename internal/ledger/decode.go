package ledger

import (
	"encoding/binary"
	"errors"
	"math"
	"time"

	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// scanTransactions reads all rows. On a page of fifty the driver's way into a struct costs more than all else that the server does, so the wire's own form is read;
// a test holds this against the driver's. Should the driver have asked for text instead, it reads as ever.
func scanTransactions(rows pgx.Rows, room int) ([]Transaction, error) {
	defer rows.Close()
	out := make([]Transaction, 0, room)
	binary := isBinary(rows.FieldDescriptions())
	for rows.Next() {
		out = append(out, Transaction{})
		t := &out[len(out)-1]
		if !binary {
			if err := rows.Scan(t.scanned()...); err != nil {
				return nil, err
			}
			continue
		}
		w := wire{values: rows.RawValues()}
		t.decode(&w)
		if w.failed {
			return nil, errWire
		}
	}
	return out, rows.Err()
}

var errWire = errors.New("ledger: a column came in a form that is not expected")

func isBinary(fields []pgconn.FieldDescription) bool {
	for _, f := range fields {
		if f.Format != pgx.BinaryFormatCode && f.DataTypeOID != pgtype.TextOID {
			return false
		}
	}
	return true
}

// decode reads transactionColumns.
func (t *Transaction) decode(w *wire) {
	t.ID, t.ShortID, t.AccountID, t.AccountName = w.id(), w.text(), w.id(), text.Untrusted(w.text())
	t.ConnectionID, t.Provider, t.UserID, t.UserName = optional(w, w.id), w.text(), optional(w, w.id), optional(w, w.text)
	t.Date, t.AuthorizedDate, t.Datetime = w.date(), optional(w, w.date), optional(w, w.time)
	t.Amount, t.Currency = w.amount(), money.Currency(w.text())
	t.Name, t.MerchantName = w.untrusted(), optional(w, w.untrusted)
	t.CategoryPrimary, t.CategoryDetailed = optional(w, w.untrusted), optional(w, w.untrusted)
	t.Category, t.CategoryID, t.CategoryDisplayName, t.CategorySource = optional(w, w.text), optional(w, w.id), optional(w, w.text), optional(w, w.text)
	t.CounterpartyID, t.CounterpartyName, t.Tags = optional(w, w.id), optional(w, w.untrusted), w.texts()
	t.Pending, t.PaymentChannel, t.CommentCount = w.bool(), optional(w, w.text), int(w.int64())
	t.LinkedTransactionID, t.Excluded = optional(w, w.id), w.bool()
	t.DeletedAt, t.CreatedAt, t.UpdatedAt = optional(w, w.time), w.time(), w.time()
}

// A wire is a row as PostgreSQL sends it: its binary form, column by column.
type wire struct {
	values [][]byte
	failed bool
}

// take is the next column, which must have that many bytes; less than 0 is any number. NULL fails: it is optional's.
func (w *wire) take(size int) []byte {
	if len(w.values) == 0 || w.values[0] == nil || size >= 0 && len(w.values[0]) != size {
		w.failed = true
		return make([]byte, max(size, 0))
	}
	b := w.values[0]
	w.values = w.values[1:]
	return b
}

// optional is nil for NULL.
func optional[T any](w *wire, read func() T) *T {
	if len(w.values) > 0 && w.values[0] == nil {
		w.values = w.values[1:]
		return nil
	}
	return new(read())
}

func (w *wire) text() string { return string(w.take(-1)) }

func (w *wire) untrusted() text.Untrusted { return text.Untrusted(w.take(-1)) }

func (w *wire) bool() bool { return w.take(1)[0] != 0 }

func (w *wire) int64() int64 { return int64(binary.BigEndian.Uint64(w.take(8))) }

func (w *wire) id() id.ID {
	var u id.ID
	_ = u.ScanUUID(pgtype.UUID{Bytes: [16]byte(w.take(16)), Valid: true}) // a valid one cannot fail
	return u
}

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func (w *wire) date() pg.Date {
	days := int32(binary.BigEndian.Uint32(w.take(4)))
	if days == math.MaxInt32 || days == math.MinInt32 {
		w.failed = true // infinite
	}
	return pg.Day(epoch.AddDate(0, 0, int(days)))
}

func (w *wire) time() pg.Time {
	n := w.int64()
	if n == math.MaxInt64 || n == math.MinInt64 {
		w.failed = true // infinite
		return pg.Time{}
	}
	return pg.At(time.Unix(epoch.Unix()+n/1e6, n%1e6*1000))
}

// amount reads a numeric with two digits behind the point: groups of four digits, the first worth 10000 to the power of weight.
func (w *wire) amount() money.Amount {
	b := w.take(-1)
	const head, positive, negative = 8, 0, 0x4000
	if len(b) < head || (len(b)-head)%2 != 0 {
		w.failed = true
		return money.Amount{}
	}
	weight, sign := int(int16(binary.BigEndian.Uint16(b[2:]))), binary.BigEndian.Uint16(b[4:])
	cents := int64(0)
	for at := head; at < len(b); at += 2 {
		group := int64(binary.BigEndian.Uint16(b[at:]))
		switch {
		case weight >= 0 && weight <= 2:
			cents += group * 100 * [...]int64{1, 1e4, 1e8}[weight]
		case weight == -1 && group%100 == 0:
			cents += group / 100
		default:
			w.failed = true
		}
		weight--
	}
	if sign == negative {
		cents = -cents
	} else if sign != positive {
		w.failed = true
	}
	a, err := money.FromCents(cents)
	w.failed = w.failed || err != nil
	return a
}

// texts reads a text[] of one dimension without NULLs.
func (w *wire) texts() []string {
	b := w.take(-1)
	const head, dimension = 12, 8
	out := []string{}
	if len(b) == head && binary.BigEndian.Uint32(b) == 0 {
		return out
	}
	if len(b) < head+dimension || binary.BigEndian.Uint32(b) != 1 {
		w.failed = true
		return out
	}
	for b = b[head+dimension:]; len(b) >= 4; {
		n := int32(binary.BigEndian.Uint32(b))
		if n < 0 || int(n) > len(b)-4 {
			w.failed = true
			return out
		}
		out, b = append(out, string(b[4:4+n])), b[4+n:]
	}
	return out
}
