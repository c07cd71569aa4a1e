package signin

import (
	"golang.org/x/text/currency"
	"golang.org/x/text/language"
)

// since maps regions to their new currency, if they changed it after the library's data was
// compiled.
var since = map[string]string{
	"BG": "EUR", "CW": "XCG", "HR": "EUR", "MR": "MRU", "SL": "SLE", "SX": "XCG", "VE": "VES",
}

// currencyOf returns the currency of the place that a browser's languages indicate: the region of
// the first language, or the region where most of its speakers live. It returns "" if no country is
// named, as in es-419. A second language does not indicate the place, because browsers in Germany
// often send "de, en-US".
func currencyOf(accepted string) string {
	tags, _, err := language.ParseAcceptLanguage(accepted)
	if err != nil || len(tags) == 0 || tags[0].IsRoot() {
		return ""
	}
	first, _ := tags[0].Base()
	region, sure := tags[0].Region()
	for _, t := range tags {
		base, _ := t.Base()
		if r, c := t.Region(); base == first && c == language.Exact && sure != language.Exact { // "de, de-AT"
			region, sure = r, c
		}
	}
	if c, ok := since[region.String()]; ok {
		return c
	}
	unit, ok := currency.FromRegion(region)
	if !ok {
		return ""
	}
	return unit.String()
}
