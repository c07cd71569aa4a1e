package notify

import (
	"encoding/json"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"text/template"

	"coffer/internal/platform/pg"
)

// samples are the data of every type, as the packages that post them write it: the data for every
// endpoint, and the additional data with bank text.
var samples = map[Type][2]string{
	NeedsSignIn:  {`{"provider":"plaid","reason":"x"}`, `{"institution_name":"Sparbank"}`},
	Expiring:     {`{"provider":"plaid","expires_at":"2026-11-20T10:00:00Z"}`, `{"institution_name":"Sparbank"}`},
	SyncFailed:   {`{"provider":"plaid","reason":null}`, `{"institution_name":"Sparbank"}`},
	LargeCharge:  {`{"account":"Joint","date":"2026-11-14","amount":812.40,"iso_currency_code":"EUR","category":null}`, `{"name":"REWE 123","merchant_name":"REWE SAGT DANKE","payee_name":"Rewe","account_name":"GIRO"}`},
	LowBalance:   {`{"account":null,"amount":-20.50,"low_balance":100.00,"iso_currency_code":"EUR"}`, `{"account_name":"GIRO"}`},
	Waiting:      {`{"count":12,"date":"2026-11-14"}`, `{}`},
	PriceChanged: {`{"name":null,"account":"Joint","iso_currency_code":"EUR","direction":"in","date":"2026-11-03","before":-2500.00,"after":-2600.00,"percent":4.0}`, `{"payee_name":"Employer"}`},
	Missed:       {`{"name":"Piano","account":null,"iso_currency_code":"EUR","direction":"out","expected_on":"2026-11-03","amount":45.00}`, `{"payee_name":"M. Chen"}`},
	Gap:          {`{"account":"Joint","after":"2026-10-01","until":"2026-11-01"}`, `{}`},
	Submitted:    {`{"author_type":"agent"}`, `{"title":"October","kind":"monthly"}`},
	Proposed:     {`{"rule_id":"x"}`, `{"name":"Groceries"}`},
	NoBackup:     {`{"last_backup_at":null}`, `{"last_backup_at":"2026-11-15T02:00:00Z"}`},
}

// TestWords: every type has a sentence, and it contains bank text only if the data does.
func TestWords(t *testing.T) {
	t.Parallel()
	want := map[Type][2]string{
		NeedsSignIn: {"A bank needs you to reconnect.", "Sparbank needs you to reconnect."},
		Expiring: {
			"Access to a bank expires on 2026-11-20. Reconnect before then.",
			"Access to Sparbank expires on 2026-11-20. Reconnect before then.",
		},
		SyncFailed: {"A bank has stopped syncing.", "Sparbank has stopped syncing."},
		LargeCharge: {
			"Large transaction: 812.40 EUR from Joint on 2026-11-14.",
			"Large transaction: 812.40 EUR to Rewe from Joint on 2026-11-14.",
		},
		LowBalance: {
			"An account is low: -20.50 EUR (your limit is 100.00 EUR).",
			"GIRO is low: -20.50 EUR (your limit is 100.00 EUR).",
		},
		Waiting: {"12 transactions to review.", "12 transactions to review."},
		PriceChanged: {
			"Recurring income changed from 2500.00 EUR to 2600.00 EUR on 2026-11-03.",
			"Employer changed from 2500.00 EUR to 2600.00 EUR on 2026-11-03.",
		},
		Missed: {
			"Piano (45.00 EUR) was due on 2026-11-03 and hasn't arrived.",
			"Piano (45.00 EUR) was due on 2026-11-03 and hasn't arrived.",
		},
		Gap: {
			"Joint: balances don't match transactions between 2026-10-01 and 2026-11-01.",
			"Joint: balances don't match transactions between 2026-10-01 and 2026-11-01.",
		},
		Submitted: {"New report.", "New report: October."},
		Proposed:  {"Suggested rule.", "Suggested rule: Groceries."},
		NoBackup:  {"No backup has been made.", "The last backup is from 2026-11-15."},
	}
	for _, name := range Type("").Enum() {
		what := Type(name)
		for i, data := range bodies(t, what) {
			if got := words(what, data); got != want[what][i] {
				t.Errorf("%s: %q, want %q", what, got, want[what][i])
			}
		}
	}
	if got := words(test, []byte(`{}`)); got != "This is a test message." {
		t.Error(got)
	}
}

// bodies returns the data of a type, without and with bank text.
func bodies(t *testing.T, what Type) [2][]byte {
	t.Helper()
	all := map[string]any{}
	var out [2][]byte
	for i, part := range samples[what] {
		d := json.NewDecoder(strings.NewReader(part))
		d.UseNumber()
		if err := d.Decode(&all); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var err error
		if out[i], err = json.Marshal(all); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var ntfyAddress = regexp.MustCompile(`https://ntfy\.example/[^']+`)

// TestGuideForNtfy simulates ntfy with the address of the guide: it fills the Go templates in the
// address from the JSON of a message.
func TestGuideForNtfy(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/using/notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(ntfyAddress.FindString(string(guide)))
	if err != nil || address.Query().Get("tpl") != "1" {
		t.Fatalf("%v %v", address, err)
	}
	shows := func(text string, what Type, data []byte) string {
		var body any
		sent, err := printed(what, pg.Time{}, data)
		if err == nil {
			err = json.Unmarshal(sent, &body)
		}
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := template.Must(template.New("").Parse(text)).Execute(&b, body); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	raw := regexp.MustCompile(`map\[|<no value>|<nil>|e\+`)
	for what := range samples {
		for _, data := range bodies(t, what) {
			if got := shows(address.Query().Get("m"), what, data); raw.MatchString(got) || !strings.HasSuffix(got, ".") {
				t.Errorf("%s: ntfy shows %q", what, got)
			}
		}
	}
	if got := shows("{{.data}}", LargeCharge, bodies(t, LargeCharge)[0]); !raw.MatchString(got) {
		t.Errorf("raw data are not noticed: %q", got)
	}
}
