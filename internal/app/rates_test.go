package app_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestRatesOfAllSizes: rates have up to nine decimals over REST and as a command. An invalid rate
// is rejected with a message that names the field. A day whose converted amounts exceed the largest
// possible sum is left out with a note.
func TestRatesOfAllSizes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	set := func(rate string) reply {
		return w.send(t, exchange{
			method: "PUT", path: "/api/v1/rates", key: w.key,
			body: `{"iso_currency_code":"USD","in":"EUR","date":"2026-01-02","rate":` + rate + `}`,
		})
	}
	for given, want := range map[string]string{
		"1.0845": "1.0845", "0.000035": "0.000035", "0.123456789": "0.123456789", `"1.0845"`: "1.0845", "1e-9": "0.000000001",
		"1.25e-7": "0.000000125", "2": "2.0", "999999999.999999999": "999999999.999999999",
	} {
		if r := set(given); r.status != http.StatusOK || !strings.Contains(r.body, `"rate":`+want+`,`) {
			t.Errorf("%s: %d %s", given, r.status, r.body)
		}
	}
	for _, given := range []string{
		"0", "-1", "1000000000", "1e9", "0.0000000001", "1.0000000001", "1e-10", `"abc"`, `""`, "null", "true", "[]",
	} {
		r := set(given)
		if r.status != http.StatusBadRequest || !strings.Contains(r.body, `"field":"rate"`) {
			t.Errorf("%s: %d %s", given, r.status, r.body)
		}
		if given != "null" && !strings.Contains(r.body, "above zero with at most nine digits") {
			t.Errorf("%s is not refused in words: %s", given, r.body)
		}
	}
	set("999999999")
	for i := range 3 {
		r := w.send(t, exchange{
			method: "POST", path: "/api/v1/accounts", key: w.key,
			body: fmt.Sprintf(`{"name":"House %d","kind":"property","iso_currency_code":"USD","balance":9999999999.99,`+
				`"balance_date":"2026-02-01"}`, i),
		})
		if r.status >= 300 {
			t.Fatalf("%d %s", r.status, r.body)
		}
	}
	worth := func() reply {
		return w.send(t, exchange{method: "GET", path: "/api/v1/net-worth?in=EUR&start_date=2026-02-01", key: w.key})
	}
	if r := worth(); r.status != http.StatusOK || strings.Contains(r.body, `"converted":{`) ||
		!strings.Contains(r.body, "the sum is too large") {
		t.Errorf("a sum out of range: %d %s", r.status, r.body)
	}
	set("0.5")
	if r := worth(); !strings.Contains(r.body, `"net":15000000000.00`) && !strings.Contains(r.body, `"net":14999999999.99`) {
		t.Errorf("a sum in range: %d %s", r.status, r.body)
	}
}
