package journal

// Conditions for the transactions t that a query counts. A split transaction does not count, but
// its parts do. Counting both is the classic bug of splits, so no other code may decide which rows
// count.
const (
	// Leaf is for what people see and decide: lists, counts, totals and reviews.
	Leaf = "not t.is_split"
	// BankRow is for the arithmetic of accounts, links and rules. It selects the rows that changed
	// the account's balance, as the bank or a person entered them.
	BankRow = "t.origin <> 'part'"
	// Ruled is for rules: a rule must not undo a person's split.
	Ruled = Leaf + " and " + BankRow
	// Counted is for totals of income and spending. It leaves out duplicates and what somebody left
	// out of totals. Balances count everything, because the money did move.
	Counted = "not t.excluded and " + NotLeftOut
	// NotLeftOut is for sums of lists. They count what the list shows, except what somebody left
	// out.
	NotLeftOut = "t.excluded_reason is null"
	// Divided is for split transactions and parts. They are few and have an index.
	Divided = "(t.is_split or t.origin = 'part')"
)
