package ledger

import (
	"strconv"
	"strings"

	"coffer/internal/bank/all"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// A Transaction is money that moved, with the bank's data and the household's own. The field names
// are those of rule conditions and filters.
type Transaction struct {
	ID                  id.ID           `json:"id"`
	ShortID             string          `json:"short_id,omitempty" required:"true"`
	AccountID           id.ID           `json:"account_id"`
	AccountName         text.Untrusted  `json:"account_name"`
	ConnectionID        *id.ID          `json:"connection_id"`
	Provider            all.Keeper      `json:"provider"`
	UserID              *id.ID          `json:"user_id" doc:"Who owns it: the account's owner if set, else the connection's member"`
	UserName            *string         `json:"user_name"`
	Origin              string          `json:"origin" enum:"bank,manual,part" doc:"bank: from a bank or a statement; manual: added manually; part: part of a split transaction"`
	Date                pg.Date         `json:"date" doc:"The posting day"`
	AuthorizedDate      *pg.Date        `json:"authorized_date"`
	Datetime            *pg.Time        `json:"datetime"`
	Amount              money.Amount    `json:"amount" doc:"Positive is money out"`
	Currency            money.Currency  `json:"iso_currency_code"`
	Name                text.Untrusted  `json:"name" doc:"Untrusted: the bank's text"`
	MerchantName        *text.Untrusted `json:"merchant_name" doc:"Untrusted: the bank's text"`
	Detail              *text.Untrusted `json:"detail" doc:"Untrusted: the memo, as reported by the bank"`
	CategoryPrimary     *text.Untrusted `json:"category_primary" doc:"Untrusted: the provider's own category, never rewritten"`
	CategoryDetailed    *text.Untrusted `json:"category_detailed" doc:"Untrusted: the provider's own category, never rewritten"`
	Category            *string         `json:"category" doc:"The assigned category's slug"`
	CategoryID          *id.ID          `json:"category_id"`
	CategoryDisplayName *string         `json:"category_display_name" screen:"instead category"`
	CategorySource      *string         `json:"category_source" enum:"rule,user,agent,provider" doc:"Who set it; rules and agents don't change values set by a user"`
	CounterpartyID      *id.ID          `json:"counterparty_id"`
	CounterpartyName    *text.Untrusted `json:"counterparty_name"`
	Payee               id.Key          `json:"payee" doc:"Key of the payee, for the filter payee"`
	PayeeName           text.Untrusted  `json:"payee_name" screen:"instead name" doc:"Untrusted: the counterparty's name, else the name in the bank's text, without card numbers, references and towns"`
	Tags                []string        `json:"tags" doc:"Slugs, sorted"`
	Pending             bool            `json:"pending"`
	PaymentChannel      *string         `json:"payment_channel"`
	CommentCount        int             `json:"comment_count"`
	LinkedTransactionID *id.ID          `json:"linked_transaction_id" doc:"The other transaction of a confirmed account link match; for a matched manual transaction, the bank's"`
	Transfer            bool            `json:"transfer" doc:"A side of a confirmed transfer between your own accounts, so totals skip it"`
	Excluded            bool            `json:"excluded" doc:"Duplicate of another transaction, so totals skip it: the mirror of a confirmed link, or a matched manual transaction"`
	ExcludedReason      *string         `json:"excluded_reason" enum:"reimbursed,duplicate,other" doc:"Why somebody left it out of totals; null: it counts"`
	RefundOf            *id.ID          `json:"refund_of" doc:"For a confirmed refund: its purchase, in whose category it counts"`
	IsSplit             bool            `json:"is_split" doc:"Totals count its parts instead"`
	ParentID            *id.ID          `json:"parent_id" doc:"The transaction that this is a part of"`
	IsRemainder         bool            `json:"is_remainder" doc:"The part that gets the remainder, also when the bank changes the amount"`
	DeletedAt           *pg.Time        `json:"deleted_at"`
	CreatedAt           pg.Time         `json:"created_at"`
	UpdatedAt           pg.Time         `json:"updated_at"`
}

// A column is one field of a Transaction: how a statement selects it, how it is read, and how it is
// written as JSON. If the column is a fact, it also says what a bank delivers for it.
type column struct {
	name   string
	sql    string                              // "" if it comes from the names
	decode func(*page, *Transaction, *pg.Wire) // reads the binary wire format
	place  func(*page, *Transaction) any       // where the driver scans it
	json   func([]byte, *Transaction) []byte
	tool   func([]byte, *Transaction) []byte // json with short ids

	kind     string              // the type in SQL, for kinds that a fact can have
	fact     func(*Incoming) any // the value in a row of a bank; nil if banks deliver none
	ruled    bool                // a fact that rules read; if a bank changes it, the rules run again
	partsOwn bool                // a fact that parts of a split have of their own
}

// columns are the fields of a transaction in the order of the record. To add a field, add a line
// here and a field in Transaction. If banks deliver the field, end its line with a call of from.
// Then all code that stores, compares and copies facts includes it (see fact.go). The first two
// columns are always shown; callers choose among the others.
var columns = []column{
	stored("id", "t.id", ids, func(t *Transaction) *id.ID { return &t.ID }),
	stored("short_id", "t.short_id", texts, func(t *Transaction) *string { return &t.ShortID }),
	stored("account_id", "t.account_id", ids, func(t *Transaction) *id.ID { return &t.AccountID }),
	ofNames("account_name", untrusteds, func(t *Transaction) *text.Untrusted { return &t.AccountName }),
	ofNames("connection_id", maybeIDs, func(t *Transaction) **id.ID { return &t.ConnectionID }),
	ofNames("provider", providers, func(t *Transaction) *all.Keeper { return &t.Provider }),
	ofNames("user_id", maybeIDs, func(t *Transaction) **id.ID { return &t.UserID }),
	ofNames("user_name", maybeTexts, func(t *Transaction) **string { return &t.UserName }),
	stored("origin", "t.origin", texts, func(t *Transaction) *string { return &t.Origin }),
	stored("date", "t.date", days, func(t *Transaction) *pg.Date { return &t.Date }).
		from(func(in *Incoming) any { return in.Date }).forRules(),
	stored("authorized_date", "t.authorized_date",
		maybeDays, func(t *Transaction) **pg.Date { return &t.AuthorizedDate }).
		from(func(in *Incoming) any { return in.AuthorizedDate }).forRules(),
	stored("datetime", "t.datetime", maybeTimes, func(t *Transaction) **pg.Time { return &t.Datetime }).
		from(func(in *Incoming) any { return in.Datetime }),
	stored("amount", "t.amount", amounts, func(t *Transaction) *money.Amount { return &t.Amount }).
		from(func(in *Incoming) any { return in.Amount }).forRules().ownInParts(),
	stored("iso_currency_code", "t.currency",
		currencies, func(t *Transaction) *money.Currency { return &t.Currency }).
		from(func(in *Incoming) any { return string(in.Currency) }).forRules(),
	stored("name", "d.name", untrusteds, func(t *Transaction) *text.Untrusted { return &t.Name }),
	stored("merchant_name", "nullif(d.merchant_name, '')",
		maybeUntrusteds, func(t *Transaction) **text.Untrusted { return &t.MerchantName }),
	stored("detail", "nullif(d.detail, '')",
		maybeUntrusteds, func(t *Transaction) **text.Untrusted { return &t.Detail }),
	stored("category_primary", "t.category_primary",
		maybeUntrusteds, func(t *Transaction) **text.Untrusted { return &t.CategoryPrimary }).
		from(func(in *Incoming) any { return pg.OrNull(in.CategoryPrimary.Plain()) }).forRules(),
	stored("category_detailed", "t.category_detailed",
		maybeUntrusteds, func(t *Transaction) **text.Untrusted { return &t.CategoryDetailed }).
		from(func(in *Incoming) any { return pg.OrNull(in.CategoryDetailed.Plain()) }).forRules(),
	ofNames("category", maybeTexts, func(t *Transaction) **string { return &t.Category }),
	stored("category_id", "t.category_id", maybeIDs, func(t *Transaction) **id.ID { return &t.CategoryID }),
	ofNames("category_display_name", maybeTexts, func(t *Transaction) **string { return &t.CategoryDisplayName }),
	stored("category_source", "t.category_source",
		maybeTexts, func(t *Transaction) **string { return &t.CategorySource }),
	stored("counterparty_id", "t.counterparty_id",
		maybeIDs, func(t *Transaction) **id.ID { return &t.CounterpartyID }),
	stored("counterparty_name", "(select p.name from counterparty p where p.id = t.counterparty_id)",
		maybeUntrusteds, func(t *Transaction) **text.Untrusted { return &t.CounterpartyName }),
	stored("payee", "coalesce(d.payee, d.id)", keyed, func(t *Transaction) *id.Key { return &t.Payee }),
	ofNames("payee_name", untrusteds, func(t *Transaction) *text.Untrusted { return &t.PayeeName }),
	{
		name:   "tags",
		sql:    "array(select tt.tag_id from transaction_tag tt where tt.transaction_id = t.id and tt.present)",
		decode: func(p *page, _ *Transaction, w *pg.Wire) { p.tags = w.IDs(p.tags) },
		place:  func(p *page, _ *Transaction) any { return &p.scanned },
		json:   func(b []byte, t *Transaction) []byte { return text.AppendJSONList(b, t.Tags) },
		tool:   func(b []byte, t *Transaction) []byte { return text.AppendJSONList(b, t.Tags) },
	},
	stored("pending", "t.pending", bools, func(t *Transaction) *bool { return &t.Pending }).
		from(func(in *Incoming) any { return in.Pending }).forRules(),
	stored("payment_channel", "t.payment_channel",
		maybeTexts, func(t *Transaction) **string { return &t.PaymentChannel }).
		from(func(in *Incoming) any { return pg.OrNull(in.PaymentChannel) }),
	stored("comment_count", "(select count(*) from comment o where o.transaction_id = t.id and o.deleted_at is null)",
		counts, func(t *Transaction) *int { return &t.CommentCount }),
	stored("linked_transaction_id", "t.linked_id",
		maybeIDs, func(t *Transaction) **id.ID { return &t.LinkedTransactionID }),
	stored("transfer", "t.transfer", bools, func(t *Transaction) *bool { return &t.Transfer }),
	stored("excluded", "t.excluded", bools, func(t *Transaction) *bool { return &t.Excluded }),
	stored("excluded_reason", "t.excluded_reason",
		maybeTexts, func(t *Transaction) **string { return &t.ExcludedReason }),
	stored("refund_of", "t.refund_of", maybeIDs, func(t *Transaction) **id.ID { return &t.RefundOf }),
	stored("is_split", "t.is_split", bools, func(t *Transaction) *bool { return &t.IsSplit }),
	stored("parent_id", "t.parent_id", maybeIDs, func(t *Transaction) **id.ID { return &t.ParentID }),
	stored("is_remainder", "t.remainder", bools, func(t *Transaction) *bool { return &t.IsRemainder }),
	stored("deleted_at", "t.deleted_at", maybeTimes, func(t *Transaction) **pg.Time { return &t.DeletedAt }),
	stored("created_at", "t.created_at", times, func(t *Transaction) *pg.Time { return &t.CreatedAt }),
	stored("updated_at", "t.updated_at", times, func(t *Transaction) *pg.Time { return &t.UpdatedAt }),
}

const alwaysShown = 2 // of columns: id and short_id

// transactionColumns are the columns that a statement selects, in the order in which a page reads
// them. Instead of the names of accounts, categories and tags, a statement selects the version of
// the names.
var transactionColumns = func() string {
	sql := []string{"(select version from naming)"}
	for _, c := range storedColumns {
		sql = append(sql, c.sql)
	}
	return strings.Join(sql, ", ")
}()

// storedColumns are the columns that a statement selects.
var storedColumns = func() (out []column) {
	for _, c := range columns {
		if c.sql != "" {
			out = append(out, c)
		}
	}
	return out
}()

// A kind reads a Go type from the wire and writes it as JSON. Encoding by reflection costs a
// quarter of a page's throughput; a test compares the result with encoding/json byte for byte.
type kind[T any] struct {
	sql   string // its type, for kinds that a fact can have
	read  func(*page, *pg.Wire) T
	write func([]byte, T) []byte
	short func([]byte, T) []byte // for tools, with short ids
}

// stored returns a column that a statement selects.
func stored[T any](name, expression string, k kind[T], at func(*Transaction) *T) column {
	c := ofNames(name, k, at)
	c.sql, c.kind = expression, k.sql
	c.decode = func(p *page, t *Transaction, w *pg.Wire) { *at(t) = k.read(p, w) }
	c.place = func(_ *page, t *Transaction) any { return at(t) }
	return c
}

// from makes the column a fact: what banks deliver.
func (c column) from(value func(*Incoming) any) column {
	c.fact = value
	return c
}

// forRules marks a fact that rules read.
func (c column) forRules() column {
	c.ruled = true
	return c
}

// ownInParts marks a fact that each part of a split has for itself, instead of a copy of its
// transaction's.
func (c column) ownInParts() column {
	c.partsOwn = true
	return c
}

// ofNames returns a column whose value comes from the names.
func ofNames[T any](name string, k kind[T], at func(*Transaction) *T) column {
	c := column{name: name, json: func(b []byte, t *Transaction) []byte { return k.write(b, *at(t)) }}
	if c.tool = c.json; k.short != nil {
		c.tool = func(b []byte, t *Transaction) []byte { return k.short(b, *at(t)) }
	}
	return c
}

// optional returns a writer for a value that may be nil.
func optional[T any](one func([]byte, T) []byte) func([]byte, *T) []byte {
	return func(b []byte, v *T) []byte {
		if v == nil {
			return append(b, "null"...)
		}
		return one(b, *v)
	}
}

var (
	ids = kind[id.ID]{
		read:  func(_ *page, w *pg.Wire) id.ID { return w.ID() },
		write: func(b []byte, u id.ID) []byte { return appendID(b, &u, false) },
		short: func(b []byte, u id.ID) []byte { return appendID(b, &u, true) },
	}
	maybeIDs = kind[*id.ID]{
		read:  (*page).id,
		write: func(b []byte, u *id.ID) []byte { return appendID(b, u, false) },
		short: func(b []byte, u *id.ID) []byte { return appendID(b, u, true) },
	}
	keyed = kind[id.Key]{
		read:  func(_ *page, w *pg.Wire) id.Key { return id.Key(w.Int64()) },
		write: func(b []byte, k id.Key) []byte { return text.AppendJSON(b, k.String()) },
	}
	texts = kind[string]{
		sql:   "text",
		read:  func(_ *page, w *pg.Wire) string { return w.Text() },
		write: text.AppendJSON,
	}
	maybeTexts = kind[*string]{sql: "text", read: (*page).text, write: optional(text.AppendJSON)}
	untrusteds = kind[text.Untrusted]{
		sql:   "text",
		read:  func(_ *page, w *pg.Wire) text.Untrusted { return untrusted(w) },
		write: appendUntrusted,
	}
	maybeUntrusteds = kind[*text.Untrusted]{sql: "text", read: (*page).untrusted, write: optional(appendUntrusted)}
	days            = kind[pg.Date]{
		sql:   "date",
		read:  func(_ *page, w *pg.Wire) pg.Date { return w.Date() },
		write: appendDate,
	}
	maybeDays = kind[*pg.Date]{
		sql:   "date",
		read:  func(_ *page, w *pg.Wire) *pg.Date { return pg.Optional(w, w.Date) },
		write: optional(appendDate),
	}
	times = kind[pg.Time]{
		sql:   "timestamptz",
		read:  func(_ *page, w *pg.Wire) pg.Time { return w.Time() },
		write: appendTime,
	}
	maybeTimes = kind[*pg.Time]{
		sql:   "timestamptz",
		read:  func(_ *page, w *pg.Wire) *pg.Time { return pg.Optional(w, w.Time) },
		write: optional(appendTime),
	}
	bools = kind[bool]{
		sql:   "boolean",
		read:  func(_ *page, w *pg.Wire) bool { return w.Bool() },
		write: strconv.AppendBool,
	}
	amounts = kind[money.Amount]{
		sql:   "numeric(12,2)",
		read:  func(_ *page, w *pg.Wire) money.Amount { return w.Amount() },
		write: func(b []byte, a money.Amount) []byte { return a.Append(b) },
	}
	currencies = kind[money.Currency]{
		sql:   "text",
		read:  func(_ *page, w *pg.Wire) money.Currency { return money.Currency(w.Text()) },
		write: func(b []byte, c money.Currency) []byte { return text.AppendJSON(b, string(c)) },
	}
	counts = kind[int]{
		read:  func(_ *page, w *pg.Wire) int { return int(w.Int64()) },
		write: func(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) },
	}
	providers = kind[all.Keeper]{write: func(b []byte, n all.Keeper) []byte { return text.AppendJSON(b, string(n)) }}
)
