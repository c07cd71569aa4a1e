package all_test

import (
	"regexp"
	"strings"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/all"
	"coffer/internal/platform/errs"
)

// The content of a file decides its format. For a format that coffer cannot read, the error says
// what to do.
func TestFormatByContent(t *testing.T) {
	t.Parallel()
	const sgml = "OFXHEADER:100\nDATA:OFXSGML\nVERSION:102\n\n<OFX><SIGNONMSGSRSV1>"
	for _, c := range []struct{ file, want string }{
		{"", "csv"},
		{"Date,Name,Amount\n2026-05-01,OFXHEADER,1.00\n", "csv"},
		{"\ufeffDate;Name;Amount\n", "csv"},
		{"\"<html> & more\",1\n", "csv"},
		{sgml, "ofx"},
		{"\ufeff\r\n  " + sgml, "ofx"},
		{"<OFX>\n<SIGNONMSGSRSV1>", "ofx"},
		{"\xff\xfe" + strings.Join(strings.Split("<OFX><A>", ""), "\x00") + "\x00", "ofx"},
		{`<?xml version="1.0"?><?OFX OFXHEADER="200"?><OFX>`, "ofx"},
		{`<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08">`, "camt"},
		{`<?xml version="1.0"?><rss version="2.0">`, "this is an XML file"},
		{":20:STARTUMS\r\n:25:1/2\r\n:60F:C260227EUR1000,00\r\n", "mt940"},
		{"{1:F01INGBNL2A}{4:\n:20:P1\n:25:1\n:34F:EURD0,\n", "mt940"},
		{"!type:Cash\r\nD2026-03-02", "qif"},
		{"!Option:AutoSwitch\n!Account", "qif"},
		{"!important,1\n", "csv"},
		{"PK\x03\x04\x14\x00[Content_Types].xml", "xlsx"},
		{"PK\x03\x04 and so on", "this is an old Excel workbook or a compressed file"},
		{"%PDF-1.7", "this is a PDF or a picture"},
		{"\n<!DOCTYPE html>", "this is a web page"},
	} {
		f, err := statement.Detect(all.Formats, strings.NewReader(c.file))
		got := f.Name
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, c.want) || err != nil && (!errs.Is(err, errs.UnsupportedMediaType) ||
			!strings.HasSuffix(got, ", not a statement; export it as CSV, OFX, QIF, CAMT, MT940 or Excel (.xlsx)")) {
			t.Errorf("%.40q: %s, want %s", c.file, got, c.want)
		}
	}
}

// Every format in the list can be read, or describes what it is.
func TestFormats(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, f := range all.Formats {
		if !regexp.MustCompile(`^[a-z0-9]+$`).MatchString(f.Name) || names[f.Name] || f.Title == "" || f.Detect == nil {
			t.Errorf("%+v", f)
		}
		names[f.Name] = true
		if reads := f.Inspect != nil && f.Read != nil; reads == (f.Unread != "") {
			t.Errorf("%s is read, or says what it is", f.Name)
		}
	}
	if last := all.Formats[len(all.Formats)-1]; !last.Detect(nil) {
		t.Errorf("%s is last and does not take any file", last.Name)
	}
}
