package app_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"coffer/internal/bank"
	"coffer/internal/books/account"
	"coffer/internal/books/ledger"
	"coffer/internal/connections/connection"
	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/pg"
	"coffer/internal/platform/text"
)

// TestHostileBanks puts hostile strings into everything that a bank sends. They are returned
// cleaned and only as JSON values, and a search for them takes them literally.
func TestHostileBanks(t *testing.T) {
	t.Parallel()
	b, list, watch := newFormBook(t, 1), hostileList(t), &hostileWatch{}
	accounts := b.hostileLoad(t, list)
	at := map[string]int{}
	for i, u := range accounts {
		at[u.String()], at[u.Short()] = i, i
	}
	query, summary, accountList := opNamed(t, b.ops, "transaction.list"), opNamed(t, b.ops,
		"transaction.summary"), opNamed(t, b.ops, "account.list")
	seen := 0
	for road, call := range b.formSurfaces(query) {
		for _, by := range []string{"merchant", "payee", "account", "user"} {
			watch.check(t, hostileText{raw: "summary"},
				b.formSurfaces(summary)[road](t, summary, map[string]any{"group_by": []any{by, "day"}}))
		}
		watch.check(t, hostileText{raw: "accounts"}, b.formSurfaces(accountList)[road](t, accountList, nil))
		args := map[string]any{"fields": "all", "limit": json.Number("100")}
		for more := true; more; {
			a := call(t, query, args)
			watch.check(t, hostileText{raw: "list"}, a)
			page := a.value.(map[string]any)
			for _, row := range page["transactions"].([]any) {
				row := row.(map[string]any)
				if i, ok := at[row["account_id"].(string)]; ok {
					seen++
					hostileRow(t, list[i], row, "name", "merchant_name", "detail", "category_primary", "category_detailed",
						"payment_channel", "account_name")
				}
			}
			next, _ := page["next_cursor"].(string)
			args["cursor"], more = next, next != ""
		}
	}
	for _, v := range b.rest(t, accountList, nil).value.([]any) {
		row := v.(map[string]any)
		if i, ok := at[row["id"].(string)]; ok {
			seen++
			hostileRow(t, list[i], row, "name", "official_name", "subtype", "mask")
		}
	}
	if seen != 3*len(list) {
		t.Errorf("%d records came back of %d", seen, 3*len(list))
	}
	searches := 0
	for i, h := range list {
		for _, mode := range []string{"contains", "words", "fuzzy"} {
			searches++
			b.hostileSearch(t, watch, at, i, h, mode)
		}
	}
	b.hostileLog(t, list)
	t.Logf("%d strings in 13 fields, %d records, %d searches, %d answers", len(list), seen, searches,
		watch.calls.Load())
}

// hostileLoad puts each string into every text of a connection, an account and a transaction. Each
// is cleaned as the packages that talk to banks clean it.
func (b *formBook) hostileLoad(t *testing.T, list []hostileText) (accounts []id.ID) {
	t.Helper()
	err := b.DB.InTx(t.Context(), func(tx pg.Tx) error {
		member, err := pg.Value[id.ID](t.Context(), tx, `select id from member limit 1`)
		if err != nil {
			return err
		}
		connections, given, rows := make([]connection.NewConnection, len(list)), make([]account.Incoming,
			len(list)), make([]ledger.Incoming, len(list))
		for i, h := range list {
			connections[i] = connection.NewConnection{MemberID: member, Provider: "plaid", Institution: text.Name(h.raw)}
		}
		ids, err := b.Connections.AddConnections(t.Context(), tx, connections)
		if err != nil {
			return err
		}
		for i, h := range list {
			c := text.Name(h.raw)
			given[i] = account.Incoming{
				ConnectionID: &ids[i], Provider: "plaid", ProviderID: c.Plain(), Name: c,
				OfficialName: c, Type: "other", Subtype: c.Plain(), Mask: c.Plain(), Currency: "EUR",
			}
		}
		if accounts, err = b.Accounts.AddAccounts(t.Context(), tx, given); err != nil {
			return err
		}
		day, _ := pg.ParseDate("2026-01-02")
		for i, h := range list {
			c := text.Name(h.raw)
			rows[i] = ledger.Incoming{
				AccountID: accounts[i], ProviderID: c.Plain(), Date: day, Amount: money.MustParse("1.00"),
				Currency: "EUR",
				Name:     c, MerchantName: c, Detail: c, CategoryPrimary: c, CategoryDetailed: c, Extra: bank.Extra{PaymentChannel: c.Plain()},
			}
		}
		_, err = b.Books.Load(t.Context(), tx, slices.Values(rows))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return accounts
}

func hostileRow(t *testing.T, h hostileText, row map[string]any, fields ...string) {
	t.Helper()
	want := text.Name(h.raw).Plain()
	for _, field := range fields {
		if got, _ := row[field].(string); got != want {
			t.Errorf("%q came out as %s %q, want %q", h.raw, field, got, want)
		}
	}
}

// hostileSearch searches for the string itself. The search finds the string's own row. In mode
// contains, it finds no row without the string.
func (b *formBook) hostileSearch(t *testing.T, watch *hostileWatch, at map[string]int, own int, h hostileText,
	mode string,
) {
	t.Helper()
	term := text.Name(h.raw).Plain()
	look := func(typed string) formAnswer {
		a := b.rest(t, opNamed(t, b.ops, "transaction.list"),
			map[string]any{"search": typed, "search_mode": mode, "fields": "name,account_id", "limit": json.Number("500")})
		watch.check(t, h, a)
		if n := utf8.RuneCountInString(typed); a.fault.Code != "" && 0 < n && n <= 200 &&
			strings.ReplaceAll(typed, ",", "") != "" {
			t.Errorf("%s %q: %s", mode, typed, a.body)
		}
		return a
	}
	a := look(term)
	// Without quotes, a search text may mean an amount, a tag or alternatives. In quotes it is
	// literal.
	if term == "" || strings.Contains(term, `"`) {
		return
	}
	if mode != "fuzzy" {
		a = look(`"` + term + `"`)
	}
	if a.fault.Code != "" {
		return
	}
	found := false
	for _, v := range a.value.(map[string]any)["transactions"].([]any) {
		row := v.(map[string]any)
		i, hostile := at[row["account_id"].(string)]
		found = found || hostile && i == own
		if name := row["name"].(string); mode == "contains" &&
			!strings.Contains(strings.ToLower(name), strings.ToLower(term)) {
			t.Errorf("the search for %q finds %q", term, name)
		}
	}
	if !found && mode != "fuzzy" {
		t.Errorf("%s %q does not find itself", mode, term)
	}
}
