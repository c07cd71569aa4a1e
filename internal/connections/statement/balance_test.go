package statement

import (
	"slices"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/pg"
)

// If the rows prove a file's balances, they become the account's balances at the end of each day. A
// debt on a card is positive. Balances that do not match the amounts are not stored, and the
// preview says so.
func TestFileBalances(t *testing.T) {
	t.Parallel()
	b := newBranch(t)
	const rows = "2026-05-01,COFFEE,-4.80,95.20\n2026-05-01,TEA,-3.10,92.10\n2026-05-02,RENT,-90.00,2.10\n" +
		"2026-05-03,PAY,2000.00,2002.10\n2026-05-05,SHOP,-20.55,1981.55\n2026-05-06,SHOP,-30.10,1951.45\n"
	const file = "Date,Description,Amount,Balance\n" + rows
	const odd = "Date,Description,Amount,Balance\n2026-05-01,A,-1.00,7.00\n2026-05-02,B,-2.00,8.00\n" +
		"2026-05-03,C,-3.00,9.50\n2026-05-04,D,-4.00,1.00\n2026-05-05,E,-5.00,33.00\n2026-05-06,F,-6.00,12.00\n"
	for kind, want := range map[string][]string{
		"depository": {"92.10", "2.10", "2002.10", "1981.55", "1951.45"},
		"credit":     {"-92.10", "-2.10", "-2002.10", "-1981.55", "-1951.45"},
	} {
		done := b.file(t, ImportFile{
			ID: b.bucket(t), File: []byte(file), Account: &FileAccount{Name: kind, Type: kind, Currency: "EUR"},
		})
		got, err := pg.Values[string](t.Context(), b.db, `select current::text from account_balance
			where account_id = $1 and source = 'statement' and exact order by day`, done.AccountID)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v, want %q", kind, got, err, want)
		}
	}
	done := b.file(t, ImportFile{ID: b.bucket(t), File: []byte(odd)})
	if n, err := pg.Value[int64](t.Context(), b.db, `select count(*) from account_balance
		where account_id = $1`, done.AccountID); err != nil || n != 0 {
		t.Errorf("%d balances that nothing proves, %v", n, err)
	}
	p, err := b.Preview(t.Context(), b.db, PreviewFile{File: []byte(file)})
	if err != nil || p.Balance == nil || !p.Balance.Proved || p.Balance.Days != 5 || p.Balance.Closing.String() != "1951.45" ||
		p.Balance.FirstDay.String() != "2026-05-01" || p.Balance.LastDay.String() != "2026-05-06" {
		t.Errorf("%+v, %v", p.Balance, err)
	}
	p, err = b.Preview(t.Context(), b.db, PreviewFile{File: []byte(odd)})
	if err != nil || p.Balance == nil || p.Balance.Proved || !slices.ContainsFunc(p.Warnings, func(w statement.Warning) bool {
		return w.Code == "balance_not_proved"
	}) {
		t.Errorf("%+v, %+v, %v", p.Balance, p.Warnings, err)
	}
}
