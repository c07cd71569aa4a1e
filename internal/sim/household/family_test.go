package household_test

import (
	"slices"
	"testing"
	"time"

	"coffer/internal/sim/household"
)

// told returns the family whose story leads up to one day, with rows up to another day.
func told(t *testing.T, on, end time.Time) (*household.Household, []household.Transaction) {
	t.Helper()
	h := household.New(household.Options{Seed: 3, Years: 2, Family: on, End: end})
	return h, slices.Collect(h.Transactions())
}

// TestFamilyOnAnyDay generates the family for every day of a leap year. In each month so far more
// has come in than gone out, and all events of the story have happened.
func TestFamilyOnAnyDay(t *testing.T) {
	t.Parallel()
	budgets := map[string]int64{
		"FOOD_AND_DRINK": 1700_00, "GENERAL_MERCHANDISE": 700_00, "TRANSPORTATION": 500_00, "MEDICAL": 120_00,
	}
	for day := time.Date(2028, 1, 1, 0, 0, 0, 0, time.UTC); day.Year() < 2029; day = day.AddDate(0, 0, 1) {
		h, rows := told(t, day, day)
		month := day.AddDate(0, 0, 1-day.Day())
		var net, tickets int64
		spent, same := map[string]int64{}, map[string]int{}
		for _, r := range rows {
			if r.Kind.Paired() || h.Accounts[r.AccountIndex].MirrorOf != household.None {
				continue
			}
			if r.MerchantName == "Zalando" && day.Sub(r.Date) < 9*24*time.Hour {
				same[r.Amount.String()]++
			}
			if r.Date.Before(month) {
				continue
			}
			net -= r.Amount.Cents()
			for group := range budgets {
				if len(r.Truth) > len(group) && string(r.Truth[:len(group)]) == group {
					spent[group] += r.Amount.Cents()
				}
			}
			if r.MerchantName == "Eventim" {
				tickets += r.Amount.Cents()
			}
		}
		for group, most := range budgets {
			if spent[group] > most {
				t.Errorf("%s: %s costs %d", day.Format(time.DateOnly), group, spent[group])
			}
		}
		if net <= 0 || tickets <= 120_00 || same["89.95"] != 2 {
			t.Errorf("%s: net %d, tickets %d, Zalando %v", day.Format(time.DateOnly), net, tickets, same)
		}
	}
}

// TestFamilyGoesOn checks that a later end adds rows and changes none, so that a bank that is asked
// again has the same past, and that the balances follow from the rows.
func TestFamilyGoesOn(t *testing.T) {
	t.Parallel()
	on := time.Date(2028, 2, 29, 0, 0, 0, 0, time.UTC)
	before, earlier := told(t, on, on.AddDate(0, 0, -9))
	_, first := told(t, on, on)
	after, later := told(t, on, on.AddDate(0, 1, 0))
	for _, part := range [][]household.Transaction{earlier, first} {
		for i, r := range part {
			if r.ProviderID != later[i].ProviderID || r.Amount != later[i].Amount || !r.Date.Equal(later[i].Date) {
				t.Fatalf("row %d was %v and is %v", i, r, later[i])
			}
		}
	}
	if len(earlier) >= len(first) || len(first) >= len(later) {
		t.Errorf("%d, %d and %d rows", len(earlier), len(first), len(later))
	}
	for i, a := range after.Accounts {
		was := before.Accounts[i]
		if a.Current == nil || a.Name == "Mortgage" || a.MirrorOf != household.None {
			continue
		}
		moved := int64(0)
		for _, r := range later[len(earlier):] {
			if r.AccountIndex == i {
				moved -= r.Amount.Cents()
			}
		}
		if a.Type == "credit" {
			moved = -moved
		}
		if a.Current.Cents() != was.Current.Cents()+moved {
			t.Errorf("%s: %s, and before %s and %d", a.Name.Plain(), a.Current, was.Current, moved)
		}
	}
	ids := map[string]bool{}
	for _, r := range later {
		if ids[r.ProviderID] {
			t.Errorf("%s is there twice", r.ProviderID)
		}
		ids[r.ProviderID] = true
	}
}
