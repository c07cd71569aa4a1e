package plaid

import (
	"encoding/json"
	"strings"
	"testing"

	"coffer/internal/bank"
)

const goodRow = `{"transaction_id":"t1","account_id":"a1","amount":72.1,"iso_currency_code":"USD","unofficial_currency_code":null,"date":"2023-09-24",
	"datetime":"2023-09-24T11:01:01Z","authorized_date":"2023-09-22","name":"PURCHASE WM SUPERCENTER #1700","merchant_name":"Walmart","payment_channel":"in store",
	"original_description":"PURCHASE WM SUPERCENTER #1700 VISA 4411 REF 99 00 12",
	"pending":false,"pending_transaction_id":"p1","personal_finance_category":{"primary":"GENERAL_MERCHANDISE","detailed":"GENERAL_MERCHANDISE_SUPERSTORES"},
	"something_new":{"a":[1,2]}}`

func TestReadTransaction(t *testing.T) {
	t.Parallel()
	got, reason := readTransaction([]byte(goodRow))
	if reason != "" || got.Amount.String() != "72.10" || got.Currency != "USD" || got.PendingID != "p1" ||
		got.MerchantName != "Walmart" || got.Detail != "PURCHASE WM SUPERCENTER #1700 VISA 4411 REF 99 00 12" ||
		got.Date.Day() != 24 || got.AuthorizedDate.Day() != 22 || got.Datetime.Hour() != 11 ||
		got.CategoryDetailed == "" || got.Pending {
		t.Errorf("got %+v, %q", got, reason)
	}
	for _, c := range []struct {
		old, new string
		want     bank.Reason
	}{
		{`"t1"`, `""`, bank.BadID},
		{`"t1"`, `null`, bank.BadID},
		{`"t1"`, `17`, bank.BadID},
		{`"t1"`, `"a b"`, bank.BadID},
		{`"t1"`, `"` + strings.Repeat("x", 200) + `"`, bank.BadID},
		{`"a1"`, `null`, bank.BadAccount},
		{`72.1`, `null`, bank.BadAmount},
		{`72.1`, `"72.1"`, bank.BadAmount},
		{`72.1`, `0.30000000000000004`, bank.BadAmount},
		{`72.1`, `1e10`, bank.BadAmount},
		{`72.1`, `{"a":1}`, bank.BadAmount},
		{`"USD"`, `null`, bank.BadCurrency},
		{`"USD"`, `"usd"`, bank.BadCurrency},
		{`"unofficial_currency_code":null`, `"unofficial_currency_code":"BTC"`, bank.BadCurrency},
		{`"2023-09-24"`, `"2023-02-30"`, bank.BadDate},
		{`"2023-09-24"`, `null`, bank.BadDate},
		{`"2023-09-24"`, `"0001-01-01"`, bank.BadDate},
		{`{"primary":"GENERAL_MERCHANDISE","detailed":"GENERAL_MERCHANDISE_SUPERSTORES"}`, `[]`, bank.BadShape},
		{`72.1`, `1e3`, ""},
		{`"p1"`, `"t1"`, ""},
		{`"p1"`, `7`, ""},
		{`"Walmart"`, `{"a":1}`, ""},
		{`"2023-09-24T11:01:01Z"`, `"noon"`, ""},
		{`"in store"`, `"telepathy"`, ""},
	} {
		row := strings.Replace(goodRow, c.old, c.new, 1)
		if !json.Valid([]byte(row)) || row == goodRow {
			t.Fatalf("the case %s does not exist", c.new)
		}
		if _, reason := readTransaction([]byte(row)); reason != c.want {
			t.Errorf("%s for %s: got %q, want %q", c.new, c.old, reason, c.want)
		}
	}
}

// The bank's own text is the purpose, unless it only repeats the name.
func TestOriginalDescription(t *testing.T) {
	t.Parallel()
	const original = "PURCHASE WM SUPERCENTER #1700 VISA 4411 REF 99 00 12"
	for said, want := range map[string]string{
		`null`: "", `""`: "", `7`: "", `"PURCHASE  WM SUPERCENTER #1700"`: "",
		`"RENT\u202e\n<b>May"`: "RENT <b>May", `"` + strings.Repeat("é", 600) + `"`: strings.Repeat("é", 512),
	} {
		got, reason := readTransaction([]byte(strings.Replace(goodRow, `"`+original+`"`, said, 1)))
		if reason != "" || got.Detail.Plain() != want {
			t.Errorf("%s became %q, %q", said, got.Detail.Plain(), reason)
		}
	}
}

func TestHostileText(t *testing.T) {
	t.Parallel()
	row := strings.Replace(goodRow, "Walmart", `Wal\u202emart\u0000\n<script>`, 1)
	got, reason := readTransaction([]byte(row))
	if reason != "" || got.MerchantName != "Walmart <script>" {
		t.Errorf("got %q, %q", got.MerchantName.Plain(), reason)
	}
}

func TestReadAccount(t *testing.T) {
	t.Parallel()
	a, ok := readAccount([]byte(
		`{"account_id":"a","name":"Coins","type":"brokerage","subtype":"crypto exchange","mask":null,"balances":{"current":0.12345678,"available":1.5,"limit":null,"iso_currency_code":null,"unofficial_currency_code":"BTC"}}`))
	if !ok || a.Type != bank.Investment || a.Currency != "BTC" || a.Current != nil || a.Available.String() != "1.50" ||
		a.Limit != nil || a.Mask != "" {
		t.Errorf("got %+v", a)
	}
	if _, ok := readAccount([]byte(`{"name":"nameless"}`)); ok {
		t.Error("an account without an id is read")
	}
	if a, _ := readAccount([]byte(`{"account_id":"a","type":"spaceship","balances":{}}`)); a.Type != bank.Other ||
		a.Currency != "" {
		t.Errorf("got %+v", a)
	}
}

func FuzzPage(f *testing.F) {
	// Each seed is short and tests one thing: the fuzzer spends a minute on minimizing a long one,
	// and tries nothing meanwhile.
	const row = `{"transaction_id":"t","account_id":"a","amount":7.1,"iso_currency_code":"USD","date":"2023-09-24"}`
	for _, seed := range []string{
		`{"added":[` + row + `]}`, `{"modified":[` + row + `]}`, `{"added":[7,null,{}]}`,
		`{"removed":[{"transaction_id":"x"},{}]}`,
		`{"accounts":[{"account_id":"a","balances":{"current":1}}]}`, `{"next_cursor":"n","has_more":true}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var page syncPage
		if json.Unmarshal(body, &page) != nil {
			return
		}
		out := page.read()
		once := make(map[string]bool)
		for _, row := range out.Transactions {
			key := row.AccountID + "/" + row.ProviderID
			if once[key] || !bank.IsID(row.ProviderID) || !bank.IsID(row.AccountID) || row.Date.IsZero() ||
				len(row.Currency) != 3 {
				t.Errorf("read %+v", row)
			}
			once[key] = true
		}
		rows := len(page.Added) + len(page.Modified) + len(page.Removed)
		if len(out.Transactions)+len(out.Removed)+len(out.Bad) > rows {
			t.Error("more rows came out than went in")
		}
		for _, b := range out.Bad {
			if b.Reason == "" || len(b.Raw) > bank.MaxRaw {
				t.Errorf("bad %+v", b)
			}
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"webhook_type":"ITEM","webhook_code":"ERROR","item_id":"i","error":{"error_code":"ITEM_LOGIN_REQUIRED"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := readEvent(body)
		if err == nil && (bank.Code(e.Type) != e.Type || e.ConnectionID != "" && !bank.IsID(e.ConnectionID)) {
			t.Errorf("read %+v", e)
		}
	})
}
