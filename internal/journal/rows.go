package journal

// Which transactions t a reading means. A transaction that is split is not counted itself, its
// parts are: counting both is the classic fault of splits, so nothing else may say which rows
// count.
const (
	// Leaf is for meaning: lists, counts, totals, reviews, what a person or an agent decides about.
	Leaf = "not t.is_split"
	// BankRow is for the arithmetic of accounts, links and rules: what moved the account's money,
	// as the bank or a person wrote it down.
	BankRow = "t.origin <> 'part'"
	// Ruled are those that rules look at: a rule must not undo how a person divided a transaction.
	Ruled = Leaf + " and " + BankRow
	// Divided are those that are split, and parts. They are few and have an index.
	Divided = "(t.is_split or t.origin = 'part')"
)
