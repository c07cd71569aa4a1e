// Package all is the list of statement formats: one line for each that coffer recognizes. It must
// not know how they work.
package all

import (
	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/camt"
	"coffer/internal/bank/statement/csv"
	"coffer/internal/bank/statement/mt940"
	"coffer/internal/bank/statement/ofx"
	"coffer/internal/bank/statement/qif"
	"coffer/internal/bank/statement/unread"
	"coffer/internal/bank/statement/xlsx"
)

// Formats are all formats. The first one that recognizes a file has it, and the last one takes any.
var Formats = []statement.Format{
	ofx.Format,
	camt.Format,
	mt940.Format,
	qif.Format,
	xlsx.Format,
	unread.Archive,
	unread.Print,
	unread.XML,
	unread.Page,
	csv.Format,
}
