package all_test

import "coffer/internal/platform/money"

func inCents(n int64) money.Amount {
	a, err := money.FromCents(n)
	if err != nil {
		panic(err)
	}
	return a
}
