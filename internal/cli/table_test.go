package cli_test

import (
	"strings"
	"testing"

	"coffer/internal/cli"
	"coffer/internal/op"
)

func printed(t *testing.T, s *op.Schema, answer string, width int) string {
	t.Helper()
	var out strings.Builder
	if err := cli.Table(&out, s, []byte(answer), width); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func object(props ...op.Prop) *op.Schema { return &op.Schema{Type: "object", Props: props} }

func list(name string, items *op.Schema) op.Prop {
	return op.Prop{Name: name, Schema: &op.Schema{Type: "array", Items: items}}
}

func field(name, kind string) op.Prop { return op.Prop{Name: name, Schema: &op.Schema{Type: kind}} }

func TestTables(t *testing.T) {
	t.Parallel()
	accounts := &op.Schema{Type: "array", Items: object(field("name", "string"), field("note", "string"), field("iso_currency_code", "string"), field("balance", "number"))}
	totals := object(list("groups", object(
		op.Prop{Name: "keys", Schema: &op.Schema{Type: "object", Values: &op.Schema{Type: "string"}}}, field("net", "number"))))
	reverted := object(field("dry_run", "boolean"), field("reverted", "integer"), list("skipped", object(field("field", "string"), field("reason", "string"))))
	paged := object(list("tags", object(field("slug", "string"))), field("next_cursor", "string"), field("has_more", "boolean"))
	for name, c := range map[string]struct {
		schema *op.Schema
		answer string
		width  int
		want   string
	}{
		"empty columns go and numbers end together": {accounts, `[{"name":"Giro","note":null,"iso_currency_code":"EUR","balance":7.50},{"name":"Depot","note":"","iso_currency_code":"EUR","balance":1234.00}]`, 80, `
NAME   CURRENCY  BALANCE
Giro   EUR          7.50
Depot  EUR       1234.00
`},
		"a number is never cut": {accounts, `[{"name":"Giro","note":null,"iso_currency_code":"EUR","balance":1234.50}]`, 18, `
NAME  CURRENCY
Giro  EUR
`},
		"the keys of a group are columns": {totals, `{"groups":[{"keys":{"month":"2026-04","primary_category":"food_and_drink"},"net":-1.00},{"keys":{"month":"2026-05","primary_category":null},"net":20.00}]}`, 80, `
MONTH    PRIMARY CATEGORY    NET
2026-04  food_and_drink    -1.00
2026-05                    20.00
`},
		"a record says all of it, though it has a list": {reverted, `{"dry_run":true,"reverted":2,"skipped":[]}`, 80, `
dry_run   yes
reverted  2
skipped
`},
		"and the list below": {reverted, `{"dry_run":false,"reverted":1,"skipped":[{"field":"category","reason":"touched since"}]}`, 80, `
dry_run   no
reverted  1

skipped
FIELD     REASON
category  touched since
`},
		"a page is its rows": {paged, `{"tags":[{"slug":"shared"}],"next_cursor":"abc","has_more":true}`, 80, `
SLUG
shared

There are more: --cursor abc
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := printed(t, c.schema, c.answer, c.width); got != c.want[1:] {
				t.Errorf("printed\n%s\nwant\n%s", got, c.want[1:])
			}
		})
	}
}
