package xlsx

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"path"
	"strings"

	"coffer/internal/bank/statement"
	"coffer/internal/bank/statement/reading"
	"coffer/internal/platform/errs"
)

// Limits of a workbook. A larger one is rejected completely.
const (
	maxSheet   = 256 << 20
	maxPart    = 32 << 20  // any other part of the workbook, and the table
	maxCell    = 128 << 10 // a cell has at most 32,767 characters
	maxColumns = 256
	maxRow     = 1 << 20
	maxStyles  = 1 << 16
	maxStrings = 1 << 20
	ctxTags    = 10_000 // between two checks of the context
)

var (
	errBroken = errs.New(errs.InvalidBody, "the workbook is broken or protected by a password; save it again")
	errLarge  = errs.New(errs.PayloadTooLarge, "the workbook is too large when unpacked; split it by year")
	errNoBook = errs.New(errs.UnsupportedMediaType, "this is not a workbook with a sheet; export the statement as CSV")
)

// A book is an open workbook.
type book struct {
	files   map[string]*zip.File
	epoch   int    // the day of serial number 0, in days since 1899-12-30
	dates   []bool // for each cell style: whether it shows a number as a date
	strings []string
	sheet   string
}

// convert writes the first sheet as a table of text.
func convert(ctx context.Context, file io.ReaderAt) ([]byte, error) {
	z, err := statement.OpenZip(file)
	if errs.Is(err, errs.PayloadTooLarge) {
		return nil, errLarge
	}
	if err != nil {
		return nil, errBroken
	}
	b := book{files: map[string]*zip.File{}}
	for _, f := range z.File {
		b.files[strings.TrimPrefix(f.Name, "/")] = f
	}
	for _, step := range []func(context.Context) error{b.workbook, b.styles, b.words} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	out := sheet{book: &b}
	if err := b.tags(ctx, b.sheet, maxSheet, out.take); err != nil {
		return nil, err
	}
	return out.text, nil
}

// tags calls see with every tag of a part of the workbook.
func (b *book) tags(ctx context.Context, name string, limit int64, see func(reading.Tag) error) error {
	f, ok := b.files[name]
	if !ok {
		return errNoBook
	}
	r, err := f.Open()
	if err != nil {
		return errBroken
	}
	defer func() { _ = r.Close() }()
	limited := &io.LimitedReader{R: r, N: limit}
	in := reading.NewTags(limited, false)
	for n := 0; ; n++ {
		if n%ctxTags == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		t, err := in.Next()
		switch {
		case errors.Is(err, io.EOF) && limited.N > 0:
			return nil
		case errors.Is(err, io.EOF):
			return errLarge
		case err != nil:
			return errBroken
		case strings.HasPrefix(t.Name, "!"):
			return errBroken
		}
		if err := see(t); err != nil {
			return err
		}
	}
}

// workbook finds the first sheet, and the day from which dates are counted.
func (b *book) workbook(ctx context.Context) error {
	id := ""
	err := b.tags(ctx, "xl/workbook.xml", maxPart, func(t reading.Tag) error {
		switch {
		case t.Name == "workbookPr" && (t.Attr("date1904") == "1" || t.Attr("date1904") == "true"):
			b.epoch = 1462
		case t.Name == "sheet" && id == "":
			id = t.Attr("r:id")
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.sheet = "xl/worksheets/sheet1.xml"
	if _, ok := b.files["xl/_rels/workbook.xml.rels"]; !ok {
		return nil
	}
	return b.tags(ctx, "xl/_rels/workbook.xml.rels", maxPart, func(t reading.Tag) error {
		if t.Name == "Relationship" && id != "" && t.Attr("Id") == id {
			target := t.Attr("Target")
			if b.sheet = path.Join("xl", target); strings.HasPrefix(target, "/") {
				b.sheet = strings.TrimPrefix(target, "/")
			}
		}
		return nil
	})
}

// styles finds out which cell styles show a number as a date.
func (b *book) styles(ctx context.Context) error {
	if _, ok := b.files["xl/styles.xml"]; !ok {
		return nil
	}
	shows := map[string]bool{}
	for id := range strings.FieldsSeq("14 15 16 17 22 27 28 29 30 31 34 35 36 50 51 52 53 54 55 56 57 58") {
		shows[id] = true
	}
	cells := false
	return b.tags(ctx, "xl/styles.xml", maxPart, func(t reading.Tag) error {
		switch {
		case len(shows) > maxStyles || len(b.dates) > maxStyles:
			return errLarge
		case t.Name == "numFmt" && !t.End:
			shows[t.Attr("numFmtId")] = isDate(t.Attr("formatCode"))
		case t.Name == "cellXfs":
			cells = !t.End
		case t.Name == "xf" && cells && !t.End:
			b.dates = append(b.dates, shows[t.Attr("numFmtId")])
		}
		return nil
	})
}

// isDate reports whether a number format shows a date. Words in quotes and colors in brackets do
// not count.
func isDate(format string) bool {
	var quoted, bracket bool
	for _, r := range strings.ToLower(format) {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '[' || r == ']':
			bracket = r == '['
		case bracket:
		case r == 'd' || r == 'y':
			return true
		case r == '0' || r == '#':
			return false
		}
	}
	return false
}

// words reads the strings that cells share, without their phonetic text.
func (b *book) words(ctx context.Context) error {
	if _, ok := b.files["xl/sharedStrings.xml"]; !ok {
		return nil
	}
	var now []byte
	phonetic := false
	return b.tags(ctx, "xl/sharedStrings.xml", maxPart, func(t reading.Tag) error {
		switch {
		case t.Name == "rPh":
			phonetic = !t.End && !t.Empty
		case t.Name == "t" && !t.End && !phonetic:
			now = extend(now, t)
		case t.Name == "si" && (t.End || t.Empty):
			b.strings = append(b.strings, string(now))
			now = now[:0]
			if len(b.strings) > maxStrings {
				return errLarge
			}
		}
		return nil
	})
}
