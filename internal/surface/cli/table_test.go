package cli_test

import (
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/op"
	"coffer/internal/surface/cli"
)

func printed(t *testing.T, s *op.Schema, answer string, width int) string {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := (&cli.Screen{Out: &out, Width: width, Zone: zone, Order: []string{"month"}}).Print(s,
		[]byte(answer)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func object(props ...op.Prop) *op.Schema { return &op.Schema{Type: "object", Props: props} }

func list(name string, items *op.Schema) op.Prop {
	return op.Prop{Name: name, Schema: &op.Schema{Type: "array", Items: items}}
}

func field(name, kind string) op.Prop {
	kind, format, _ := strings.Cut(kind, "/")
	return op.Prop{Name: name, Schema: &op.Schema{Type: kind, Format: format}}
}

// Rows that were selected because they changed show both prices and the date first, uncut.
func TestChangedRows(t *testing.T) {
	t.Parallel()
	changes := list("price_changes", object(field("date", "string/date"), field("before", "number/decimal")))
	changes.Screen = "newest"
	key := field("payee", "string")
	key.Screen = "none"
	schema := object(list("recurring", object(field("short_id", "string"), key, field("next_date", "string/date"),
		field("amount", "number/decimal"), field("payee_name", "string"), changes)))
	answer := `{"recurring":[
		{"short_id":"k3xK9a2Q","payee":"I0HKmjMnaXA","next_date":"2026-12-01","amount":-3100.00,"payee_name":"Nordlicht Energie","price_changes":[{"date":"2026-06-01","before":-3000.00,"after":-3100.00},{"date":"2025-06-01","before":-2900.00,"after":-3000.00}]},
		{"short_id":"m7Pz2LbR","payee":"J0HKmjMnaXA","next_date":"2026-12-03","amount":9.99,"payee_name":"Films","price_changes":[]}]}`
	for changed, want := range map[bool]string{
		true: `
ID        NEW PRICE                          PAYEE
k3xK9a2Q  +3000.00 → +3100.00 on 2026-06-01  Nordlicht Ener…
m7Pz2LbR                                     Films
`,
		false: `
ID        NEXT DATE     AMOUNT  PAYEE
k3xK9a2Q  2026-12-01  +3100.00  Nordlicht Energie
m7Pz2LbR  2026-12-03      9.99  Films
`,
	} {
		var out strings.Builder
		if err := (&cli.Screen{Out: &out, Width: 60, Changed: changed}).Print(schema, []byte(answer)); err != nil {
			t.Fatal(err)
		}
		if got := out.String(); got != want[1:] {
			t.Errorf("printed\n%s\nwant\n%s", got, want[1:])
		}
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	accounts := &op.Schema{Type: "array", Items: object(
		field("name", "string"), field("note", "string"), field("iso_currency_code", "string"),
		field("balance", "number/decimal"), field("hidden", "boolean"))}
	totals := object(list("groups", object(
		op.Prop{Name: "keys", Schema: &op.Schema{Type: "object", Values: &op.Schema{Type: "string"}}},
		field("net", "number/decimal"))))
	reverted := object(field("dry_run", "boolean"), field("reverted", "integer"),
		list("skipped", object(field("field", "string"), field("reason", "string"))))
	paged := object(list("tags", object(field("slug", "string"))), field("next_cursor", "string"),
		field("has_more", "boolean"))
	rows := object(list("rows", object(
		field("note", "string"), field("field", "string"), field("before", "string"), field("after", "string"),
		field("created_at", "string/date-time"),
		field("name", "string"), field("amount", "number/decimal"), field("date", "string/date"),
		field("short_id", "string"))))
	note := object(field("id", "string/uuid"), field("short_id", "string"), field("title", "string"),
		field("body", "string"),
		op.Prop{Name: "by", Schema: object(field("name", "string"), field("at", "string/date-time"),
			field("amount", "number/decimal"), field("iso_currency_code", "string"))})
	for name, c := range map[string]struct {
		schema *op.Schema
		answer string
		width  int
		want   string
	}{
		"empty columns go and money comes first": {
			accounts,
			`[{"name":"Giro","note":null,"iso_currency_code":"EUR","balance":7.50,"hidden":false},{"name":"Depot","note":"","iso_currency_code":"EUR","balance":1234.00,"hidden":false}]`, 80, `
BALANCE  CUR  NAME
   7.50  EUR  Giro
1234.00  EUR  Depot
`,
		},
		"debts are less than nothing, and the type says why": {
			&op.Schema{Type: "array", Items: object(
				field("name", "string"), field("type", "string"), field("iso_currency_code", "string"),
				field("balance_today", "number/decimal"), field("provider", "string"))},
			`[{"name":"Giro","type":"depository","iso_currency_code":"EUR","balance_today":7.50,"provider":"plaid"},
				{"name":"House","type":"loan","iso_currency_code":"EUR","balance_today":148322.17,"provider":"plaid"},
				{"name":"Card","type":"credit","iso_currency_code":"EUR","balance_today":-5.00,"provider":"plaid"},
				{"name":"Paid","type":"loan","iso_currency_code":"EUR","balance_today":0.00,"provider":"plaid"},
				{"name":"New","type":"loan","iso_currency_code":"EUR","balance_today":null,"provider":"plaid"}]`, 60, `
   BALANCE  CUR  NAME   TYPE        PROVIDER
      7.50  EUR  Giro   depository  plaid
-148322.17  EUR  House  loan        plaid
      5.00  EUR  Card   credit      plaid
      0.00  EUR  Paid   loan        plaid
            EUR  New    loan        plaid
`,
		},
		"groups with their totals and suggestion; keys come last": {
			object(list("groups", object(field("payee", "string"), field("payee_name", "string"),
				field("count", "integer"),
				op.Prop{Name: "amounts", Schema: &op.Schema{Type: "array", Screen: "totals", Items: object(
					field("total", "number/decimal"), field("iso_currency_code", "string"))}},
				op.Prop{Name: "suggestion", Schema: &op.Schema{
					Type: "object", Screen: "category", Props: []op.Prop{field("category", "string")},
				}}))),
			`{"groups":[{"payee":"k1","payee_name":"Rewe","count":2,"amounts":[{"total":12.50,"iso_currency_code":"EUR"},
				{"total":-3.00,"iso_currency_code":"USD"}],"suggestion":{"category":"food","basis":"person"}},
				{"payee":"k2","payee_name":"Kiosk","count":1,"amounts":[{"total":1.00,"iso_currency_code":"EUR"}],"suggestion":null}]}`,
			80, `
AMOUNTS               PAYEE  SUGGESTION  COUNT  PAYEE KEY
12.50 EUR, +3.00 USD  Rewe   food            2  k1
1.00 EUR              Kiosk                  1  k2
`,
		},
		"a no is printed where yes is usual": {
			object(list("endpoints", object(field("short_id", "string"), field("enabled", "boolean"),
				field("paused", "boolean"), op.Prop{Name: "events", Schema: &op.Schema{
					Type: "array", Items: &op.Schema{Type: "string"}, Screen: "all",
				}}))),
			`{"endpoints":[{"short_id":"k3xK9a2Q","enabled":false,"paused":false,"events":[]}]}`, 80, `
ID        ENABLED  EVENTS
k3xK9a2Q  no       all
`,
		},
		"conditions in a few words": {
			object(list("rules", object(field("name", "string"), op.Prop{Name: "conditions", Schema: &op.Schema{
				Type: "object", Values: &op.Schema{}, Screen: "tree",
			}}))),
			`{"rules":[{"name":"a","conditions":{}},{"name":"b","conditions":{"field":"name","op":"contains","value":"rewe"}},
				{"name":"c","conditions":{"and":[{"field":"amount","op":"gt","value":10},{"or":[{"not":{"field":"pending","op":"eq","value":true}},{"field":"tags","op":"in","value":["x","y"]}]}]}}]}`,
			120, `
NAME  CONDITIONS
a     everything
b     name contains rewe
c     amount gt 10 and (not pending eq yes or tags in x, y)
`,
		},
		"an empty list can mean all": {
			object(field("name", "string"), op.Prop{Name: "events", Schema: &op.Schema{
				Type: "array", Items: &op.Schema{Type: "string"}, Screen: "all",
			}}), `{"name":"Hook","events":[]}`, 80, `
name    Hook
events  all
`,
		},
		"texts give way, numbers never": {
			accounts,
			`[{"name":"Gemeinschaftskonto Haushalt","note":null,"iso_currency_code":"EUR","balance":1234.50,"hidden":true}]`, 30, `
BALANCE  CUR  NAME
1234.50  EUR  Gemeinschaftsko…
`,
		},
		"keys in the order asked for": {
			totals,
			`{"groups":[{"keys":{"category":"food_and_drink","month":"2026-04"},"net":-1.00},{"keys":{"month":"2026-05","category":null},"net":20.00}]}`, 80, `
MONTH    CATEGORY          NET
2026-04  food_and_drink  -1.00
2026-05  (none)          20.00
`,
		},
		"a table drops its oldest columns": {
			totals, `{"groups":[],"pivot":{"measure":"out","columns":[{"key":"2026-03","complete":true},{"key":"2026-04","complete":true},{"key":"2026-05","complete":false}],"rows":[{"keys":{"category":"home_rent"},"iso_currency_code":"EUR","values":[1.00,2.00,0.00],"total":3.00,"average":1.50,"count":2}],"other":[{"iso_currency_code":"EUR","groups":3,"values":[0.00,-7.00,0.00],"total":-7.00,"average":-3.50,"count":1}]}}`, 55, `
CATEGORY   CUR  TOTAL  AVERAGE  2026-05*  2026-04
home_rent  EUR   3.00     1.50         ·     2.00
(other)    EUR  -7.00    -3.50         ·    -7.00
`,
		},
		"a record says all of it, though it has a list": {reverted, `{"dry_run":true,"reverted":2,"skipped":[]}`, 80, `
dry run   yes
reverted  2
skipped   none
`},
		"and the list below": {
			reverted,
			`{"dry_run":false,"reverted":1,"skipped":[{"field":"category","reason":"touched since"}]}`, 80, `
dry run   no
reverted  1

skipped
  FIELD     REASON
  category  touched since
`,
		},
		"a page is its rows": {paged, `{"tags":[{"slug":"shared"}],"next_cursor":"abc","has_more":true}`, 80, `
SLUG
shared
`},
		"what changed, money in and the household's clock": {
			rows, `{"rows":[{"note":"n","field":"category","before":null,"after":"home_rent","created_at":"2026-07-01T22:30:00.000000Z","name":"Rent","amount":-12.50,"date":"2026-07-01","short_id":"k3xK9a2Q"}]}`, 120, `
ID        DATE        AMOUNT  BEFORE → AFTER  NAME  NOTE  FIELD     CREATED AT
k3xK9a2Q  2026-07-01  +12.50  – → home_rent   Rent  n     category  2026-07-02 00:30
`,
		},
		"text of several lines": {
			note,
			`{"id":"019a3c5e-4000-7000-8cc0-0e42d6dadb03","short_id":"sr2duSrD","title":"March","body":"# March\n\nWe spent **12**.\n","by":{"name":"Anna","at":"2026-01-01T00:00:00.000000Z","amount":5.00,"iso_currency_code":"EUR"}}`, 80, `
id     sr2duSrD
title  March

by
  name    Anna
  at      2026-01-01 01:00:00 CET
  amount  5.00 EUR

body

# March

We spent **12**.
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := printed(t, c.schema, c.answer, c.width); got != c.want[1:] {
				t.Errorf("printed\n%s\nwant\n%s", got, c.want[1:])
			}
		})
	}
}

// A row shows people's words instead of those of a bank or of the API. If a row lacks them, or if
// fields were selected, each field shows its own value.
func TestWordsOfPeople(t *testing.T) {
	t.Parallel()
	payee, category := field("payee_name", "string"), field("category_display_name", "string")
	payee.Screen, category.Screen = "instead name", "instead category"
	schema := object(list("transactions", object(field("short_id", "string"), field("name", "string"),
		field("category", "string"), payee, category)))
	for answer, want := range map[string]string{
		`{"transactions":[
			{"short_id":"k3xK9a2Q","name":"KARTENZAHLUNG REWE","category":"food_and_drink_groceries","payee_name":"Rewe","category_display_name":"Groceries"},
			{"short_id":"m7Pz2LbR","name":"SHOP 7","category":null,"payee_name":null,"category_display_name":null}]}`: `
ID        NAME    CATEGORY
k3xK9a2Q  Rewe    Groceries
m7Pz2LbR  SHOP 7
`,
		`{"transactions":[{"short_id":"k3xK9a2Q","payee_name":"Rewe","category_display_name":"Groceries"}]}`: `
ID        PAYEE  CATEGORY DISPLAY
k3xK9a2Q  Rewe   Groceries
`,
	} {
		if got := "\n" + printed(t, schema, answer, 60); got != want {
			t.Errorf("printed:%swant:%s", got, want)
		}
	}
}
