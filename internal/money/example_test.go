package money_test

import (
	"encoding/json"
	"fmt"

	"coffer/internal/money"
)

func Example() {
	coffee := money.Money{Amount: money.MustParse("4.5"), Currency: "EUR"}
	refund := money.Money{Amount: money.MustParse("-20"), Currency: "EUR"}
	taxi := money.Money{Amount: money.MustParse("31.20"), Currency: "USD"}

	_, err := coffee.Add(taxi)
	fmt.Println(err)

	var spent money.Totals
	for _, m := range []money.Money{coffee, refund, taxi} {
		if err := spent.Add(m); err != nil {
			fmt.Println(err)
		}
	}
	out, _ := json.Marshal(spent)
	fmt.Println(string(out))
	// Output:
	// amounts in different currencies cannot be added
	// {"EUR":-15.50,"USD":31.20}
}
