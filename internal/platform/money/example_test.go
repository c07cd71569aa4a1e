package money_test

import (
	"fmt"

	"coffer/internal/platform/money"
)

func Example() {
	coffee, _ := money.Parse("4.5")
	fmt.Println(coffee, coffee.Cents(), coffee.Neg())
	_, err := money.Parse("4.505")
	fmt.Println(err)
	// Output:
	// 4.50 450 -4.50
	// an amount must be a plain decimal number with at most two decimals, such as -12.50
}
