package engine

import (
	"unicode/utf8"

	"coffer/internal/platform/id"
	"coffer/internal/platform/text"
)

// maxName is the most characters that the name of a counterparty may have.
const maxName = 200

// assignCounterparty sets the transaction's counterparty. If several rules match, the last one
// prevails. A counterparty that is already set stays.
var assignCounterparty = effect{
	name: AssignCounterparty, payload: []string{"counterparty_id", "counterparty_name"}, once: true,
	doc: "links the transaction to a counterparty, by id or name; if several rules match, the last wins; a " +
		"transaction that already has a counterparty keeps it",
	check: func(f *faults, path string, a *Action) {
		if a.CounterpartyID != "" {
			if u, err := id.Parse(a.CounterpartyID); err == nil {
				a.CounterpartyID = u.String()
			} else if !id.IsShort(a.CounterpartyID) {
				f.add(at(path, "counterparty_id"), "pattern", "must be a UUID or a short id of 8 letters and digits")
			}
		}
		switch name, where := a.CounterpartyName, at(path, "counterparty_name"); {
		case utf8.RuneCountInString(name) > maxName:
			f.add(where, "length", "must have at most %d characters", maxName)
		case text.Line(name, len(name)+1).Plain() != name:
			f.add(where, "pattern",
				"must be one line of plain text, without invisible characters and without spaces around it")
		}
	},
	do: func(r *run, a *Action) {
		held := r.draft.HeldCounterparty && !r.pass.OverwriteManual
		if held || r.draft.Counterparty {
			r.keep(AboutCounterparty, a, !held)
			return
		}
		r.counterparty = ruled{r.rule, a}
		r.note(AboutCounterparty, a, "")
	},
}
