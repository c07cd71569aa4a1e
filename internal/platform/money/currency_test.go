package money_test

import (
	"encoding/json"
	"errors"
	"testing"

	"coffer/internal/platform/money"
)

func TestParseCurrency(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"EUR", "USD", "XXX", "ABC"} {
		if c, err := money.ParseCurrency(s); err != nil || string(c) != s {
			t.Errorf("%s: %q, %v", s, c, err)
		}
		var c money.Currency
		if err := json.Unmarshal([]byte(`"`+s+`"`), &c); err != nil || string(c) != s {
			t.Errorf("%s from JSON: %q, %v", s, c, err)
		}
	}
	for _, s := range []string{"", "EU", "EURO", "eur", "E R", "EU1", "ÉUR", "EU\x00"} {
		if c, err := money.ParseCurrency(s); !errors.Is(err, money.ErrCurrency) || c != "" {
			t.Errorf("%q: %q, %v", s, c, err)
		}
	}
	var c money.Currency
	if err := json.Unmarshal([]byte(`"eur"`), &c); !errors.Is(err, money.ErrCurrency) {
		t.Errorf("from JSON: %q, %v", c, err)
	}
}
