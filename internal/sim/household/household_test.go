package household_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
	"coffer/internal/sim/household"
)

// sizes are households from the smallest to one with more payments than a real one.
var sizes = []household.Options{
	{Seed: 1, Transactions: 1},
	{Seed: 2, Transactions: 2},
	{Seed: 3, Transactions: 57},
	{Seed: 4, Transactions: 1_000, Years: 1},
	{Seed: 5},
	{Seed: 6, Transactions: 3_000, Years: 10, End: time.Date(2024, time.February, 29, 23, 30, 0, 0,
		time.FixedZone("", -3600))},
	{Seed: 7, Transactions: 60_000, Years: 1},
	{Seed: 8, Transactions: 40_000, Years: 10},
}

// each runs a test over the rows of every size.
func each(t *testing.T, check func(*testing.T, *household.Household, []household.Transaction)) {
	t.Helper()
	for _, o := range sizes {
		t.Run(fmt.Sprintf("%d rows", o.Transactions), func(t *testing.T) {
			t.Parallel()
			h := household.New(o)
			check(t, h, slices.Collect(h.Transactions()))
		})
	}
}

// line prints all fields of a row.
func line(t *household.Transaction) string {
	moment := func(at *time.Time) string {
		if at == nil {
			return "-"
		}
		return at.Format(time.RFC3339Nano)
	}
	return fmt.Sprintln(t.AccountIndex, t.ProviderID, t.Date.Format(time.RFC3339Nano), moment(t.AuthorizedDate),
		moment(t.Datetime), t.Amount, t.Currency,
		t.Name.Plain(), t.MerchantName.Plain(), t.RawPrimary.Plain(), t.RawDetailed.Plain(), t.PaymentChannel,
		t.Pending, t.Kind, t.PairID, t.RefundOf, t.PendingAmount)
}

func digest(h *household.Household, rows int) string {
	sum := sha256.New()
	for _, a := range h.Accounts {
		fmt.Fprintln(sum, a.Connection, a.Owner, a.MirrorOf, a.ProviderID, a.Name.Plain(), a.Type, a.Subtype, a.Mask,
			a.Currency, a.Current, a.Available, a.Limit)
	}
	for t := range h.Transactions() {
		if rows--; rows < 0 {
			break
		}
		_, _ = io.WriteString(sum, line(&t))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// golden must change only when the generator is changed on purpose. Older benchmarks and fixtures
// are then no longer comparable.
const golden = "2d6b71ca8ea560acb2c1455791f41ec1e0fa9f36ff886fa45ce21327b3af926f"

func TestSameSeedSameRows(t *testing.T) {
	t.Parallel()
	if got := digest(household.New(household.Options{Seed: 42}), 10_000); got != golden {
		t.Errorf("the rows of seed 42 have changed: %s", got)
	}
	h := household.New(household.Options{Seed: 42, Transactions: 20_000})
	want := digest(h, 20_000)
	for range 4 {
		t.Run("again", func(t *testing.T) {
			t.Parallel()
			if got := digest(h, 20_000); got != want {
				t.Error("a second walk gave other rows")
			}
		})
	}
	if digest(household.New(household.Options{Seed: 43, Transactions: 20_000}), 20_000) == want {
		t.Error("another seed gave the same rows")
	}
}

func TestStreams(t *testing.T) {
	t.Parallel()
	rows := 0
	for range household.New(household.Options{Transactions: 100_000_000, Years: 10}).Transactions() {
		if rows++; rows == 1000 {
			break
		}
	}
	if rows != 1000 {
		t.Errorf("got %d rows", rows)
	}
}

func TestDefaults(t *testing.T) {
	t.Parallel()
	for _, o := range []household.Options{{}, {Transactions: -1, Years: -1}} {
		h := household.New(o)
		want := household.Options{
			Transactions: 10_000, Years: 3,
			End: time.Date(2026, time.June, 30, 0, 0, 0, 0, time.UTC),
		}
		if h.Options != want || !h.Start.Equal(time.Date(2023, time.July, 1, 0, 0, 0, 0, time.UTC)) {
			t.Errorf("got %+v from %s", h.Options, h.Start)
		}
	}
}

func TestCountOrderAndIDs(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *household.Household, rows []household.Transaction) {
		t.Helper()
		if len(rows) != h.Options.Transactions {
			t.Errorf("got %d rows", len(rows))
		}
		type key struct {
			account int
			id      string
		}
		shapes := map[string]*regexp.Regexp{
			"plaid":  regexp.MustCompile(`^[0-9A-Za-z]{37}$`),
			"teller": regexp.MustCompile(`^txn_[0-9a-v]{21}$`),
			"csv":    regexp.MustCompile(`^[0-9a-f]{32}$`),
		}
		ids := make(map[key]bool, len(rows))
		before := h.Start
		for _, r := range rows {
			if r.Date.Before(before) || r.Date.After(h.Options.End) || r.Date.Location() != time.UTC ||
				!r.Date.Equal(r.Date.Truncate(24*time.Hour)) {
				t.Fatalf("%s follows %s", r.Date, before)
			}
			before = r.Date
			k := key{r.AccountIndex, r.ProviderID}
			if ids[k] || !shapes[h.Provider(r.AccountIndex)].MatchString(r.ProviderID) {
				t.Fatalf("%+v came twice or is not an id of %s", k, h.Provider(r.AccountIndex))
			}
			ids[k] = true
		}
	})
}

func TestRowsAreWhatProvidersSend(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, h *household.Household, rows []household.Transaction) {
		t.Helper()
		for _, r := range rows {
			account, provider := h.Accounts[r.AccountIndex], h.Provider(r.AccountIndex)
			bad := ""
			switch {
			case r.Currency != account.Currency:
				bad = "another currency than its account's"
			case r.Amount.IsZero() || r.PendingAmount.IsZero():
				bad = "no amount"
			case r.Name == "" || r.Name != text.Name(r.Name.Plain()) ||
				r.MerchantName != text.Name(r.MerchantName.Plain()) || r.Detail != text.Detail(r.Detail.Plain(), r.Name):
				bad = "text that is not clean"
			case provider == "csv" && (r.Pending || r.MerchantName != "" || r.RawPrimary != "" ||
				r.PaymentChannel != ""):
				bad = "what no file tells"
			case provider == "teller" && (r.RawDetailed != "" || r.PaymentChannel != "" ||
				(r.RawPrimary == "") != r.Pending):
				bad = "what Teller does not tell, or lacks what it does"
			case provider == "plaid" && (r.RawPrimary == "" || r.RawDetailed == "" ||
				!slices.Contains([]string{"online", "in store", "other"}, r.PaymentChannel)):
				bad = "less than Plaid tells"
			case provider != "plaid" && (r.AuthorizedDate != nil || r.Datetime != nil):
				bad = "times that only Plaid has"
			case r.AuthorizedDate != nil && (r.AuthorizedDate.After(r.Date) ||
				r.Date.Sub(*r.AuthorizedDate) > 72*time.Hour):
				bad = "an authorised date that does not go with it"
			case r.Datetime != nil && !r.Datetime.Truncate(24*time.Hour).Equal(r.Date):
				bad = "a time on another day"
			case r.Pending && h.Options.End.Sub(r.Date) > 72*time.Hour:
				bad = "stayed pending"
			case r.Pending && r.Amount != r.PendingAmount, r.Kind != household.Tip && r.Amount != r.PendingAmount,
				r.Kind == household.Tip && !r.Pending && r.Amount.Cmp(r.PendingAmount) <= 0:
				bad = "a pending amount that does not go with it"
			}
			if bad != "" {
				t.Fatalf("%s\nhas %s", line(&r), bad)
			}
			if _, err := money.Parse(r.Amount.String()); err != nil {
				t.Fatalf("%s does not fit: %v", r.Amount, err)
			}
		}
	})
}

func TestRawCategoriesAreMapped(t *testing.T) {
	t.Parallel()
	seed, err := os.ReadFile("../../platform/pg/migrations/00002_seed.sql")
	if err != nil {
		t.Fatal(err)
	}
	mapped := map[[3]string]bool{}
	for _, m := range regexp.MustCompile(`\('(plaid|teller)', '([^']*)', '([^']*)', '[^']*'\)`).FindAllStringSubmatch(
		string(seed), -1) {
		mapped[[3]string(m[1:4])] = true
	}
	if len(mapped) < 150 {
		t.Fatalf("read only %d mappings", len(mapped))
	}
	each(t, func(t *testing.T, h *household.Household, rows []household.Transaction) {
		t.Helper()
		used := map[[3]string]bool{}
		for _, r := range rows {
			if r.RawPrimary == "" {
				continue
			}
			raw := [3]string{h.Provider(r.AccountIndex), r.RawPrimary.Plain(), r.RawDetailed.Plain()}
			if used[raw] = true; !mapped[raw] {
				t.Fatalf("no category of ours for %q", raw)
			}
		}
		if len(rows) >= 10_000 && len(used) < 60 {
			t.Errorf("only %d raw categories are used", len(used))
		}
	})
}

func TestMembersConnectionsAccounts(t *testing.T) {
	t.Parallel()
	h := household.New(household.Options{})
	if len(h.Members) != 2 || len(h.Connections) != 3 || len(h.Accounts) < 12 {
		t.Fatalf("%d members, %d connections, %d accounts", len(h.Members), len(h.Connections), len(h.Accounts))
	}
	seen := map[string]bool{}
	currencies := map[money.Currency]bool{}
	for i, a := range h.Accounts {
		currencies[a.Currency] = true
		if seen[a.ProviderID] || a.ProviderID == "" || a.Name == "" || a.Connection >= len(h.Connections) ||
			a.Owner >= len(h.Members) || len(a.Mask) != 4 {
			t.Errorf("account %d: %+v", i, a)
		}
		seen[a.ProviderID] = true
		if !slices.Contains([]string{"depository", "credit", "loan", "investment", "other"}, a.Type) {
			t.Errorf("the contract has no type %s", a.Type)
		}
		if a.Limit != nil && a.Limit.Cents() != a.Current.Cents()+a.Available.Cents() {
			t.Errorf("account %d: what is owed and what is free do not make up the limit", i)
		}
	}
	if len(currencies) != 2 {
		t.Errorf("got %v", currencies)
	}
	for _, m := range h.Members {
		if m.Name == "" || !strings.HasSuffix(m.Email, "@example.org") {
			t.Errorf("got %+v", m)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, k := range household.Kinds() {
		if names[k.String()] || k.String() == "" {
			t.Errorf("kind %d has no name of its own", k)
		}
		names[k.String()] = true
	}
}
