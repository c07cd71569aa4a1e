package teller

import (
	"encoding/json"
	"testing"

	"coffer/internal/bank"
)

func FuzzRows(f *testing.F) {
	f.Add([]byte(`[{"id":"t","account_id":"a","amount":"42.47","date":"2023-07-13","details":{"category":"service","counterparty":{"name":"X"}}},7,null,{"id":"u"}]`), "credit", "USD")
	f.Fuzz(func(t *testing.T, body []byte, kind, currency string) {
		var raws []json.RawMessage
		if json.Unmarshal(body, &raws) != nil {
			return
		}
		here := readPosition{Todo: []todo{{"a", kind, currency}}}
		var page bank.Page
		here.read(raws, &page)
		for _, row := range page.Transactions {
			if row.AccountID != "a" || !bank.IsID(row.ProviderID) || row.Date.IsZero() || len(row.Currency) != 3 {
				t.Errorf("read %+v", row)
			}
		}
		if len(page.Transactions)+len(page.Bad) > len(raws) {
			t.Error("more rows came out than went in")
		}
	})
}

func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"id":"wh","payload":{"enrollment_id":"enr","reason":"disconnected.account_locked"},"type":"enrollment.disconnected"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := readEvent(body)
		if err == nil && (bank.Code(e.Type) != e.Type || !bank.IsID(e.ID)) {
			t.Errorf("read %+v", e)
		}
	})
}
