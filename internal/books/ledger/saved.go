package ledger

import "coffer/internal/platform/text"

// Cleaned returns the filter in the form in which it is saved. Its texts are cleaned, because they
// are shown again like a name.
func (f Filter) Cleaned() Filter {
	f.Search, f.ExcludeSearch, f.Merchant = cleaned(f.Search), cleaned(f.ExcludeSearch), cleaned(f.Merchant)
	return f
}

// cleaned returns the text without invisible characters, or nil if nothing is left.
func cleaned(typed *string) *string {
	if typed == nil {
		return nil
	}
	if s := text.Name(*typed).Plain(); s != "" {
		return &s
	}
	return nil
}
