package statement_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"coffer/internal/bank/statement"
	"coffer/internal/platform/errs"
)

// packed returns a zip file of the given names. The content of each file is its name.
func packed(t *testing.T, names ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range names {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name})
		if err == nil && !strings.HasSuffix(name, "/") {
			_, err = w.Write([]byte(name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func numbered(n int, format string) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(format, i))
	}
	return out
}

// Unpack returns the files of a zip archive by name, without the archiver's own files.
func TestUnpack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		file []byte
		want string // the names, or a part of the error
	}{
		{"no zip", []byte("Date,Amount"), "[]"},
		{"two in a folder", packed(t, "a/", "a/2.xml", "a/1.xml"), "[1.xml 2.xml]"},
		{"names of Windows", packed(t, `a\2.csv`, `a\1.csv`), "[1.csv 2.csv]"},
		{"of a Mac", packed(t, "1.xml", ".DS_Store", "__MACOSX/._1.xml"), "[1.xml]"},
		{"of a Mac only", packed(t, ".DS_Store"), "is empty"},
		{"a workbook", packed(t, "[Content_Types].xml", "xl/workbook.xml"), "[]"},
		{"a zip file within", packed(t, "PK\x03\x04"), "is a zip file itself"},
		{"broken", []byte("PK\x03\x04 and so on"), "damaged"},
		{"too many", packed(t, numbered(statement.MaxMembers+1, "%d.xml")...), "more than 400 files"},
	} {
		all, err := statement.Unpack(c.file)
		var got string
		if err == nil {
			names := []string{}
			for _, m := range all {
				if m.Name != "" {
					names = append(names, m.Name)
				}
			}
			got = fmt.Sprint(names)
		} else if got = err.Error(); !errs.Is(err, errs.UnsupportedMediaType) && !errs.Is(err, errs.PayloadTooLarge) {
			t.Errorf("%s: %v", c.name, err)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// An archive with a file for each day of a year is accepted, even with the additional files that a
// Mac adds.
func TestUnpackAYearOfDays(t *testing.T) {
	t.Parallel()
	year := append(numbered(366, "%03d.xml"), numbered(366, "__MACOSX/._%03d.xml")...)
	if all, err := statement.Unpack(packed(t, year...)); err != nil || len(all) != 366 || all[365].Name != "365.xml" {
		t.Errorf("%d files, %v", len(all), err)
	}
}

// A directory with more files than an archive may have is not read, whatever their names.
func TestUnpackManyEntries(t *testing.T) { //nolint:paralleltest // it measures
	for _, name := range []string{".%d", "%d.xml"} {
		file := packed(t, numbered(100_000, name)...)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := statement.Unpack(file)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; !errs.Is(err, errs.PayloadTooLarge) || used > 4<<20 {
			t.Errorf("%s: %d KiB were allocated, %v", name, used>>10, err)
		}
	}
}
