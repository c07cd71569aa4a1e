package finding

// A FindingKind is a kind of findings.
type FindingKind string //nolint:revive // the name of the shape in the contract

// The kinds of findings.
const (
	duplicate   FindingKind = "duplicate"
	refund      FindingKind = "refund"
	unusual     FindingKind = "unusual"
	priceChange FindingKind = "price_change"
	missed      FindingKind = "missed"
	gap         FindingKind = "gap"
)

var findingKinds = []FindingKind{duplicate, refund, unusual, priceChange, missed, gap}

// findingDocs explain the kinds whose names are not clear by themselves.
var findingDocs = map[FindingKind]string{
	duplicate: "Duplicate charges", refund: "Refunds", missed: "Recurring payments that are overdue",
	gap: "Balance mismatches",
}

// Enum lists the values of the type.
func (FindingKind) Enum() []string { return spelled(findingKinds...) }

// Doc explains the kind; "" if its name is clear enough.
func (k FindingKind) Doc() string { return findingDocs[k] }

// A FindingReason says why something is a finding.
type FindingReason string //nolint:revive // the name of the shape in the contract

// The reasons of findings.
const (
	sameAmount FindingReason = "same_amount_twice"
	inSeries   FindingReason = "twice_in_series"
	inFull     FindingReason = "in_full"
	inPart     FindingReason = "in_part"
	muchMore   FindingReason = "much_more_than_usual"
	newPayee   FindingReason = "large_first_charge"
	increased  FindingReason = "price_increased"
	decreased  FindingReason = "price_decreased"
	wentUp     FindingReason = "went_up" // for income, which has an amount and not a price
	wentDown   FindingReason = "went_down"
	overdue    FindingReason = "overdue"
	tooMuch    FindingReason = "books_hold_too_much"
	tooLittle  FindingReason = "balance_below_transactions"
)

// Enum lists the values of the type.
func (FindingReason) Enum() []string {
	return spelled(
		sameAmount, inSeries, inFull, inPart, muchMore, newPayee, increased, decreased, wentUp, wentDown, overdue,
		tooMuch, tooLittle,
	)
}

const series FindingKind = "recurring" // what agents can look for besides findings

// A PatternKind is a kind of pattern that agents can look for: recurring payments, or findings
// among transactions.
type PatternKind string

// Enum lists the values of the type.
func (PatternKind) Enum() []string {
	return spelled(series, priceChange, missed, duplicate, refund, unusual)
}

// A ReviewedKind is a kind of record that can be decided about: recurring payments and findings.
type ReviewedKind string

// Enum lists the values of the type.
func (ReviewedKind) Enum() []string { return append(spelled(series), FindingKind("").Enum()...) }

func spelled[T ~string](kinds ...T) []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = string(k)
	}
	return out
}
