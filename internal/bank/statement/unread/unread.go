// Package unread recognizes files that coffer cannot read, so that the error can say what they are.
// Formats that read some of these files come earlier in the list.
package unread

import (
	"bytes"
	"slices"

	"coffer/internal/bank/statement"
)

// The formats that are rejected.
var (
	Archive = begins("archive", "Old workbook or archive", "an old Excel workbook or a compressed file",
		"\xd0\xcf\x11\xe0", "PK\x03\x04", "\x1f\x8b")
	Print = begins("print", "PDF or picture", "a PDF or a picture", "%PDF", "\x89PNG", "\xff\xd8\xff")
	XML   = begins("xml", "XML", "an XML file", "<?xml")
	Page  = begins("page", "Web page", "a web page (your bank session may have expired)", "<!DOCTYPE", "<!doctype",
		"<html")
)

func begins(name, title, what string, magics ...string) statement.Format {
	return statement.Format{Name: name, Title: title, Unread: what, Detect: func(head []byte) bool {
		return slices.ContainsFunc(magics, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
	}}
}
