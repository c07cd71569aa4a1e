package household_test

import (
	"fmt"
	"time"

	"coffer/internal/sim/household"
)

func Example() {
	h := household.New(household.Options{Seed: 1, Transactions: 5_000, Years: 2})
	fmt.Println(len(h.Members), "members,", len(h.Connections), "connections,", len(h.Accounts), "accounts from",
		h.Start.Format(time.DateOnly))

	shown := map[household.Kind]bool{}
	for t := range h.Transactions() {
		if t.Kind == household.Salary || t.Kind == household.Groceries || t.Kind == household.Subscription {
			if !shown[t.Kind] {
				fmt.Println(t.Date.Format(time.DateOnly), t.Kind, t.Amount, t.Currency, t.Name.Plain())
			}
			shown[t.Kind] = true
		}
	}
	// Output:
	// 2 members, 3 connections, 13 accounts from 2024-07-01
	// 2024-07-01 subscription 29.90 EUR FITX STUDIO BERLIN MITGLIEDSBEITRAG
	// 2024-07-01 groceries 2.33 EUR EDEKA 4111 BERLIN DE
	// 2024-07-25 salary -3471.44 EUR LOHN/GEHALT 07/2024 NORDLICHT ENERGIE AG
}
