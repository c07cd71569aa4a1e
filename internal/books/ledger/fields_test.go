package ledger

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/op"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
	"pgregory.net/rapid"
)

func anyTransaction(t *rapid.T) Transaction {
	str := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		"", `<b>&"\`, "\u2028\u2029", "a\tb\nc\rd\be\f",
		"\x00\x1f\x7f", "\xff\xfe", "日本 🍣",
	}))
	opt := func(label string) *string {
		if rapid.Bool().Draw(t, label) {
			return nil
		}
		return new(str.Draw(t, label+" text"))
	}
	un := func(label string) *text.Untrusted {
		if s := opt(label); s != nil {
			return new(text.Line(*s, 300))
		}
		return nil
	}
	ref := func(label string) *id.ID {
		if rapid.Bool().Draw(t, label) {
			return nil
		}
		return new(id.New())
	}
	at := pg.At(time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "at")))
	amount, err := money.FromCents(rapid.Int64Range(-999999999999, 999999999999).Draw(t, "amount"))
	if err != nil {
		t.Fatal(err)
	}
	day, _ := pg.ParseDate("2026-02-28")
	u := id.New()
	v := Transaction{
		ID: u, ShortID: u.Short(), AccountID: id.New(), AccountName: text.Line(str.Draw(t, "account"), 300),
		ConnectionID: ref("connection"), Provider: "plaid",
		UserID: ref("user"), UserName: opt("user name"), Date: day, Amount: amount, Currency: "EUR",
		Name:         text.Line(str.Draw(t, "name"), 300),
		MerchantName: un("merchant"), CategoryPrimary: un("primary"), CategoryDetailed: un("detailed"),
		Category: opt("category"), CategoryID: ref("category id"),
		CategoryDisplayName: opt("category name"), CategorySource: opt("source"), CounterpartyID: ref("counterparty"),
		CounterpartyName: un("counterparty name"),
		Tags:             rapid.SliceOf(str).Draw(t, "tags"), Pending: rapid.Bool().Draw(t, "pending"),
		PaymentChannel: opt("channel"), CommentCount: rapid.IntRange(0, 9).Draw(t, "comments"),
		LinkedTransactionID: ref("linked"), Excluded: rapid.Bool().Draw(t, "excluded"), CreatedAt: at, UpdatedAt: at,
	}
	if rapid.Bool().Draw(t, "dates") {
		v.AuthorizedDate, v.Datetime, v.DeletedAt = &day, &at, &at
	}
	return v
}

// The fast encoder writes exactly the bytes of encoding/json.
func TestEncoderIsEncodingJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyTransaction(t)
		want, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.appendJSON(nil, allFields, false); !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		if want, err = op.Short(v); err != nil {
			t.Fatal(err)
		}
		if got := v.appendJSON(nil, allFields, true); !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

// The columns are exactly the fields of the record, with the same names.
func TestFieldsAreTheRecords(t *testing.T) {
	t.Parallel()
	i := 0
	for f := range reflect.TypeFor[Transaction]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if columns[i].name != name {
			t.Fatalf("column %d is %s, the record has %s", i, columns[i].name, name)
		}
		i++
	}
	if i != len(columns) {
		t.Fatalf("%d columns, the record has %d fields", len(columns), i)
	}
	if _, err := fieldsNamed("name,nonsense"); err == nil {
		t.Error("a field that does not exist was accepted")
	}
	v := Transaction{Tags: []string{}}
	set, err := fieldsNamed("minimal")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"00000000-0000-0000-0000-000000000000","date":"0001-01-01","amount":0.00,"iso_currency_code":"","name":""}`
	if got := string(v.appendJSON(nil, set, false)); got != want {
		t.Errorf("minimal has %s", got)
	}
}
