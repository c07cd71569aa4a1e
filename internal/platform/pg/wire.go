package pg

import (
	"encoding/binary"
	"math"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// IsBinary reports whether every column has the format that a Wire reads.
func IsBinary(fields []pgconn.FieldDescription) bool {
	for _, f := range fields {
		if f.Format != pgx.BinaryFormatCode && f.DataTypeOID != pgtype.TextOID {
			return false
		}
	}
	return true
}

// A Wire reads a row in PostgreSQL's binary format, column by column. This costs a fraction of the
// driver's scan into a struct.
type Wire struct {
	Values [][]byte
	Failed bool // a column did not have the expected type
}

// take returns the next column, which must have that many bytes; a negative size allows any number.
// NULL counts as a failure; columns that can be NULL are read through Optional or Null.
func (w *Wire) take(size int) []byte {
	if len(w.Values) == 0 || w.Values[0] == nil || size >= 0 && len(w.Values[0]) != size {
		w.Failed = true
		return make([]byte, max(size, 0))
	}
	b := w.Values[0]
	w.Values = w.Values[1:]
	return b
}

// Null reports whether the next column is NULL, and skips it if so.
func (w *Wire) Null() bool {
	if len(w.Values) == 0 || w.Values[0] != nil {
		return false
	}
	w.Values = w.Values[1:]
	return true
}

// Optional returns nil for NULL, else the value that read returns.
func Optional[T any](w *Wire, read func() T) *T {
	if w.Null() {
		return nil
	}
	return new(read())
}

// Text reads the next column, a text.
func (w *Wire) Text() string { return string(w.take(-1)) }

// Bool reads the next column, a boolean.
func (w *Wire) Bool() bool { return w.take(1)[0] != 0 }

// Int64 reads the next column, a bigint.
func (w *Wire) Int64() int64 { return int64(binary.BigEndian.Uint64(w.take(8))) }

// Int32 reads the next column, an integer.
func (w *Wire) Int32() int32 { return int32(binary.BigEndian.Uint32(w.take(4))) }

// ID reads the next column, a uuid.
func (w *Wire) ID() id.ID { return id.ID(w.take(16)) }

var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Date reads the next column, a date that is not infinite.
func (w *Wire) Date() Date {
	days := w.Int32()
	if days == math.MaxInt32 || days == math.MinInt32 {
		w.Failed = true // infinite
	}
	return Day(epoch.AddDate(0, 0, int(days)))
}

// Time reads the next column, a timestamptz that is not infinite.
func (w *Wire) Time() Time {
	n := w.Int64()
	if n == math.MaxInt64 || n == math.MinInt64 {
		w.Failed = true // infinite
		return Time{}
	}
	return At(time.Unix(epoch.Unix()+n/1e6, n%1e6*1000))
}

// Amount reads a numeric with two decimals. Its digits come in groups of four, and the first group
// counts 10000 to the power of weight.
func (w *Wire) Amount() money.Amount {
	b := w.take(-1)
	const head, positive, negative = 8, 0, 0x4000
	if len(b) < head || (len(b)-head)%2 != 0 {
		w.Failed = true
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
			w.Failed = true
		}
		weight--
	}
	if sign == negative {
		cents = -cents
	} else if sign != positive {
		w.Failed = true
	}
	a, err := money.FromCents(cents)
	w.Failed = w.Failed || err != nil
	return a
}

// IDs appends a uuid[] of one dimension without NULLs.
func (w *Wire) IDs(out []id.ID) []id.ID {
	b := w.take(-1)
	const head, dimension, element = 12, 8, 4 + 16
	if len(b) == head && binary.BigEndian.Uint32(b) == 0 {
		return out
	}
	if len(b) < head+dimension || binary.BigEndian.Uint32(b) != 1 || (len(b)-head-dimension)%element != 0 {
		w.Failed = true
		return out
	}
	for b = b[head+dimension:]; len(b) > 0; b = b[element:] {
		if binary.BigEndian.Uint32(b) != 16 {
			w.Failed = true
			return out
		}
		one := Wire{Values: [][]byte{b[4:element]}}
		out = append(out, one.ID())
	}
	return out
}
