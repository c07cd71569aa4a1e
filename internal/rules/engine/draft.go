package engine

// Facts are the values of a transaction that conditions read and no rule can change. A missing
// value is the empty string.
type Facts struct {
	Name, MerchantName, Detail        string
	CategoryPrimary, CategoryDetailed string // as the provider wrote them
	Provider, AccountName, UserName   string
	AccountID, UserID                 string // text of the UUID, "" for none
	Cents                             int64  // the amount; positive is money out
	Currency                          string // its code
	Pending                           bool
	History                           bool // dated before the first day from which its account is reviewed
}

// A Draft is a transaction as rules see and change it.
type Draft struct {
	Facts
	Category         string   // slug, "" for none
	Tags             []string // slugs, sorted
	Counterparty     bool     // one was set before the pass, and rules never replace it
	HeldCategory     bool     // a person set or cleared it
	HeldCounterparty bool
	HeldTags         []string // slugs of tags that a person added or removed
}
