package guide

import (
	"regexp"
	"strings"

	"coffer/internal/platform/errs"
)

// A Prompt is a task in words, which a person starts by its name.
type Prompt struct {
	Name, Title, About string
	Month              bool // takes a month
}

// Prompts are the tasks that assistants offer.
var Prompts = []Prompt{
	{Name: "review", Title: "Review", About: "Work through the review queue: categories, rules, questions"},
	{
		Name: "monthly_report", Title: "Monthly report", Month: true,
		About: "Report on a month: money in and out, changes, upcoming payments",
	},
	{
		Name: "subscriptions", Title: "Subscriptions",
		About: "List subscriptions and bills with yearly cost and price increases",
	},
	{
		Name: "clean_up", Title: "Clean up",
		About: "Find account links to confirm, duplicate charges and uncategorized transactions",
	},
	{Name: "undo_today", Title: "Undo today", About: "Review today's changes and undo the assistant's own"},
}

var monthForm = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])$`)

// Text returns the task for the model. month is "" for the last complete month. The task for a
// caller that may not write does not mention changes.
func (p Prompt) Text(readOnly bool, month string) (string, error) {
	text, err := written("prompts/"+p.Name, readOnly)
	if err != nil || !p.Month {
		return text, err
	}
	switch {
	case month == "":
		month = "the last whole month"
	case !monthForm.MatchString(month):
		return "", errs.Field("month", "format", "must be a month such as 2026-06")
	}
	return strings.ReplaceAll(text, "{month}", month), nil
}
