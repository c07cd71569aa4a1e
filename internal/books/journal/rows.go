package journal

// Conditions for the transactions t that a query counts. A split transaction does not count, but
// its parts do. Counting both is the classic bug of splits, so no other code may decide which rows
// count.
const (
	// Leaf is for meaning: lists, counts, totals, reviews, and decisions of people and agents.
	Leaf = "not t.is_split"
	// BankRow is for the arithmetic of accounts, links and rules: the rows that changed the
	// account's balance, as the bank or a person entered them.
	BankRow = "t.origin <> 'part'"
	// Ruled is for rules: a rule must not undo a person's split.
	Ruled = Leaf + " and " + BankRow
	// Counted is for totals of income and spending: a duplicate counts once, and what somebody left
	// out does not count. Balances count everything, because the money did move.
	Counted = "not t.excluded and " + NotLeftOut
	// NotLeftOut is for sums of lists, which count what they show but for what somebody left out.
	NotLeftOut = "t.excluded_reason is null"
	// Divided is for split transactions and parts. They are few and have an index.
	Divided = "(t.is_split or t.origin = 'part')"
)
