package rule

// Facts are what conditions read of a transaction and no rule can change. A missing value is the
// empty string.
type Facts struct {
	Name, MerchantName, Detail        string
	CategoryPrimary, CategoryDetailed string // as the provider wrote them
	Provider, AccountName, UserName   string
	AccountID, UserID                 string // text of the UUID, "" for none
	Cents                             int64  // the amount; positive is money out
	Currency                          string // its code
	Pending                           bool
	History                           bool // dated before the day from which its account is reviewed
}

// A Draft is a transaction as rules see it and change it.
type Draft struct {
	Facts
	Category         string   // slug, "" for none
	Tags             []string // slugs, sorted
	Counterparty     bool     // something was bound before the pass, and is never rebound
	HeldCategory     bool     // a person set it, be it to none
	HeldCounterparty bool
	HeldTags         []string // slugs of tags that a person put on or took off
}
