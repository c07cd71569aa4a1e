package ledger

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"coffer/internal/id"
	"coffer/internal/money"
	"coffer/internal/pg"
	"coffer/internal/text"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// A page is transactions as a statement gives them, whose names are still to come.
type page struct {
	rows     []Transaction
	version  id.ID   // of the naming that holds for them
	standing bool    // the row that the cursor points at is there
	tags     []id.ID // of all rows, one after the other
	tagged   []int   // how many of them each row has

	ids   keeper[id.ID]
	texts keeper[string]
	wire  wire
}

// A keeper holds values that are pointed at, many in one piece of memory: a page has hundreds of them.
type keeper[T any] struct{ room []T }

func (k *keeper[T]) keep(v T) *T {
	if len(k.room) == cap(k.room) {
		k.room = make([]T, 0, 128)
	}
	k.room = append(k.room, v)
	return &k.room[len(k.room)-1]
}

// scanPage reads all rows: whether the cursor stands, then transactionColumns. On a page of fifty the driver's way into a struct costs more than all else that the server does,
// so the wire's own form is read; a test holds this against the driver's. Should the driver have asked for text instead, it reads as ever.
func scanPage(rows pgx.Rows, room int) (*page, error) {
	defer rows.Close()
	p := &page{rows: make([]Transaction, 0, room), tagged: make([]int, 0, room)}
	binary := isBinary(rows.FieldDescriptions())
	for rows.Next() {
		p.rows = append(p.rows, Transaction{})
		t := &p.rows[len(p.rows)-1]
		before := len(p.tags)
		if binary {
			p.wire.values = rows.RawValues()
			p.decode(t, &p.wire)
		} else if err := p.scan(rows, t); err != nil {
			return nil, err
		}
		if p.wire.failed {
			return nil, errWire
		}
		p.tagged = append(p.tagged, len(p.tags)-before)
	}
	return p, rows.Err()
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

func (p *page) decode(t *Transaction, w *wire) {
	p.standing, p.version = w.bool(), w.id()
	t.ID, t.ShortID, t.AccountID = w.id(), w.text(), w.id()
	t.Date, t.AuthorizedDate, t.Datetime = w.date(), optional(w, w.date), optional(w, w.time)
	t.Amount, t.Currency = w.amount(), money.Currency(w.text())
	t.Name, t.MerchantName = w.untrusted(), optional(w, w.untrusted)
	t.CategoryPrimary, t.CategoryDetailed = optional(w, w.untrusted), optional(w, w.untrusted)
	t.CategoryID, t.CategorySource = p.id(w), p.text(w)
	t.CounterpartyID, t.CounterpartyName = p.id(w), optional(w, w.untrusted)
	p.tags = w.ids(p.tags)
	t.Pending, t.PaymentChannel, t.CommentCount = w.bool(), p.text(w), int(w.int64())
	t.LinkedTransactionID, t.Excluded = p.id(w), w.bool()
	t.DeletedAt, t.CreatedAt, t.UpdatedAt = optional(w, w.time), w.time(), w.time()
}

// id is the next column, which may be NULL.
func (p *page) id(w *wire) *id.ID {
	if w.null() {
		return nil
	}
	return p.ids.keep(w.id())
}

func (p *page) text(w *wire) *string {
	if w.null() {
		return nil
	}
	return p.texts.keep(w.text())
}

// scan is decode by the driver.
func (p *page) scan(rows pgx.Rows, t *Transaction) error {
	var tags []id.ID
	err := rows.Scan(&p.standing, &p.version, &t.ID, &t.ShortID, &t.AccountID, &t.Date, &t.AuthorizedDate, &t.Datetime, &t.Amount, &t.Currency, &t.Name, &t.MerchantName,
		&t.CategoryPrimary, &t.CategoryDetailed, &t.CategoryID, &t.CategorySource, &t.CounterpartyID, &t.CounterpartyName, &tags,
		&t.Pending, &t.PaymentChannel, &t.CommentCount, &t.LinkedTransactionID, &t.Excluded, &t.DeletedAt, &t.CreatedAt, &t.UpdatedAt)
	p.tags = append(p.tags, tags...)
	return err
}

var errUnnamed = errors.New("ledger: a transaction refers to what has no name")

// name gives the names. Ids are copied, because tools shorten an answer's ids in place; texts are shared.
func (p *page) name(n *naming) error {
	slugs, from := make([]string, 0, len(p.tags)), 0
	for i := range p.rows {
		t := &p.rows[i]
		a := n.accounts[t.AccountID.Bytes()]
		if a == nil {
			return errUnnamed
		}
		t.AccountName, t.Provider, t.UserName = a.name, a.provider, a.userName
		if a.connection != nil {
			t.ConnectionID = p.ids.keep(*a.connection)
		}
		if a.user != nil {
			t.UserID = p.ids.keep(*a.user)
		}
		if t.CategoryID != nil {
			c := n.categories[t.CategoryID.Bytes()]
			if c == nil {
				return errUnnamed
			}
			t.Category, t.CategoryDisplayName = &c.slug, &c.displayName
		}
		start := len(slugs)
		for _, tag := range p.tags[from : from+p.tagged[i]] {
			if slug, ok := n.tags[tag.Bytes()]; ok {
				slugs = append(slugs, slug)
			}
		}
		from += p.tagged[i]
		t.Tags = slugs[start:len(slugs):len(slugs)]
		slices.Sort(t.Tags)
	}
	return nil
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

// null reports whether the next column is NULL, and if so takes it.
func (w *wire) null() bool {
	if len(w.values) == 0 || w.values[0] != nil {
		return false
	}
	w.values = w.values[1:]
	return true
}

// optional is nil for NULL.
func optional[T any](w *wire, read func() T) *T {
	if w.null() {
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

// ids appends a uuid[] of one dimension without NULLs.
func (w *wire) ids(out []id.ID) []id.ID {
	b := w.take(-1)
	const head, dimension, element = 12, 8, 4 + 16
	if len(b) == head && binary.BigEndian.Uint32(b) == 0 {
		return out
	}
	if len(b) < head+dimension || binary.BigEndian.Uint32(b) != 1 || (len(b)-head-dimension)%element != 0 {
		w.failed = true
		return out
	}
	for b = b[head+dimension:]; len(b) > 0; b = b[element:] {
		if binary.BigEndian.Uint32(b) != 16 {
			w.failed = true
			return out
		}
		one := wire{values: [][]byte{b[4:element]}}
		out = append(out, one.id())
	}
	return out
}
