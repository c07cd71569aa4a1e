package signin

import "testing"

func TestCurrencyOfTheBrowsersPlace(t *testing.T) {
	t.Parallel()
	for accepted, want := range map[string]string{
		"en-US,en;q=0.9":                         "USD",
		"en-GB,en-US;q=0.9,en;q=0.8":             "GBP",
		"de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7":    "EUR",
		"de,en-US;q=0.7,en;q=0.3":                "EUR", // Firefox in Germany
		"de,de-CH;q=0.9":                         "CHF",
		"fr-CA,fr;q=0.9":                         "CAD",
		"fr":                                     "EUR",
		"en-IE":                                  "EUR",
		"sv":                                     "SEK",
		"pl-PL":                                  "PLN",
		"ja":                                     "JPY",
		"hr-HR":                                  "EUR",
		"bg":                                     "EUR",
		"zh-Hant-TW":                             "TWD",
		"":                                       "",
		"*":                                      "",
		"und":                                    "",
		"es-419":                                 "",
		"en-001":                                 "",
		"eo":                                     "",
		"xx-YY":                                  "",
		"\x00":                                   "",
		"en-US;q=abc":                            "",
		"en;q=0.5,de-DE;q=0.9":                   "EUR", // by weight
		"en-US-x-private, de;q=0.1, fr-FR;q=0.2": "USD",
	} {
		if got := currencyOf(accepted); got != want {
			t.Errorf("%q: %q, want %q", accepted, got, want)
		}
	}
}
