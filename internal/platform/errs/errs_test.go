package errs_test

import (
	"errors"
	"testing"

	"coffer/internal/platform/errs"
)

// A check of a part of an input does not know where the part is in the whole input.
func TestWithin(t *testing.T) {
	t.Parallel()
	got, ok := errors.AsType[*errs.Error](errs.Within("filters", errs.Missing("category", "category", "look")))
	if !ok || got.Details[0].Field != "filters.category" || got.Message != "filters.category: category not found; look" {
		t.Errorf("%+v", got)
	}
	several := errs.Within("filter", errs.Faults([]errs.Detail{{Field: "tags"}, {Field: ""}}))
	got, ok = errors.AsType[*errs.Error](several)
	if !ok || got.Details[0].Field != "filter.tags" || got.Details[1].Field != "" ||
		got.Message != "2 fields are invalid; see details" {
		t.Errorf("%+v", got)
	}
	other := errors.New("other")
	if got := errs.Within("filter", other); got != other { //nolint:errorlint // the very same
		t.Error(got)
	}
	if errs.Within("filter", nil) != nil {
		t.Error("an error of nothing")
	}
}
