package ledger

import (
	"errors"
	"slices"

	"coffer/internal/bank"
	"coffer/internal/bank/all"
	"coffer/internal/books/payeename"
	"coffer/internal/platform/id"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"github.com/jackc/pgx/v5"
)

// A page holds transactions as a statement returned them. Their names are filled in later.
type page struct {
	rows     []Transaction
	version  id.ID   // of the naming that applies to them
	standing bool    // whether the row of the cursor exists
	tags     []id.ID // of all rows, one after the other
	tagged   []int   // how many tags each row has
	scanned  []id.ID // the tags of one row, as the driver scans them

	ids   keeper[id.ID]
	texts keeper[string]
	wire  pg.Wire
}

// A keeper allocates values for pointers in large blocks, because a page has hundreds of them.
type keeper[T any] struct{ room []T }

func (k *keeper[T]) keep(v T) *T {
	if len(k.room) == cap(k.room) {
		k.room = make([]T, 0, 128)
	}
	k.room = append(k.room, v)
	return &k.room[len(k.room)-1]
}

// scanPage reads all rows: whether the row of the cursor exists, then transactionColumns. It
// decodes the binary wire format itself, because on a page of fifty the driver's scan into a struct
// costs more than all other work of the server. A test compares the result with the driver's. If
// the driver asked for text format, the driver scans.
func scanPage(rows pgx.Rows, room int) (*page, error) {
	defer rows.Close()
	p := &page{rows: make([]Transaction, 0, room), tagged: make([]int, 0, room)}
	binary := pg.IsBinary(rows.FieldDescriptions())
	for rows.Next() {
		p.rows = append(p.rows, Transaction{})
		t := &p.rows[len(p.rows)-1]
		before := len(p.tags)
		if binary {
			p.wire.Values = rows.RawValues()
			p.decode(t, &p.wire)
		} else if err := p.scan(rows, t); err != nil {
			return nil, err
		}
		if p.wire.Failed {
			return nil, errWire
		}
		p.tagged = append(p.tagged, len(p.tags)-before)
	}
	return p, rows.Err()
}

var errWire = errors.New("ledger: a column has an unexpected format")

func (p *page) decode(t *Transaction, w *pg.Wire) {
	p.standing, p.version = w.Bool(), w.ID()
	for i := range storedColumns {
		storedColumns[i].decode(p, t, w)
	}
}

// untrusted reads the next column. The text was cleaned when it was stored.
func untrusted(w *pg.Wire) text.Untrusted { return text.Untrusted(w.Text()) }

// id reads the next column, which may be NULL.
func (p *page) id(w *pg.Wire) *id.ID {
	if w.Null() {
		return nil
	}
	return p.ids.keep(w.ID())
}

func (p *page) text(w *pg.Wire) *string {
	if w.Null() {
		return nil
	}
	return p.texts.keep(w.Text())
}

func (p *page) untrusted(w *pg.Wire) *text.Untrusted {
	return pg.Optional(w, func() text.Untrusted { return untrusted(w) })
}

// scan is decode with the driver's own scan.
func (p *page) scan(rows pgx.Rows, t *Transaction) error {
	places := []any{&p.standing, &p.version}
	for _, c := range storedColumns {
		places = append(places, c.place(p, t))
	}
	err := rows.Scan(places...)
	p.tags = append(p.tags, p.scanned...)
	return err
}

var errUnnamed = errors.New("ledger: a transaction refers to a record without a name")

// name fills in the names. They are shared with other responses.
func (p *page) name(n *naming) error {
	slugs, from := make([]string, 0, len(p.tags)), 0
	for i := range p.rows {
		t := &p.rows[i]
		a := n.accounts[t.AccountID]
		if a == nil {
			return errUnnamed
		}
		t.AccountName, t.Provider, t.UserName = a.name, all.Keeper(a.provider), a.userName
		t.ConnectionID, t.UserID = a.connection, a.user
		if t.Origin == Manual {
			t.Provider = bank.Manual
		}
		if t.CategoryID != nil {
			c := n.categories[*t.CategoryID]
			if c == nil {
				return errUnnamed
			}
			t.Category, t.CategoryDisplayName = &c.slug, &c.displayName
		}
		t.PayeeName = payeename.Shown(t.CounterpartyName, t.MerchantName, t.Name)
		start := len(slugs)
		for _, tag := range p.tags[from : from+p.tagged[i]] {
			if slug, ok := n.tags[tag]; ok {
				slugs = append(slugs, slug)
			}
		}
		from += p.tagged[i]
		t.Tags = slugs[start:len(slugs):len(slugs)]
		slices.Sort(t.Tags)
	}
	return nil
}
