// Package all lists the statement formats that coffer recognizes. It must not know how a format
// works.
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

// Formats lists all formats. A file belongs to the first format that recognizes it. The last format
// accepts any file.
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
