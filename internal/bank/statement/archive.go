package statement

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
)

// Limits of an archive. They allow for one file for each day of a year.
const (
	MaxMembers = 400
	maxEntries = 1000 // including folders and the archiver's own files
)

// A Member is a file of an archive.
type Member struct {
	Name    string // "" for a file outside an archive
	Content []byte
}

const zipMagic = "PK\x03\x04"

// Unpack returns the files of a zip archive, sorted by name. Any other file is returned alone. Some
// banks deliver one archive with a file for each day or account. Nested archives and archives that
// are too large are errors.
func Unpack(raw []byte) ([]Member, error) {
	if !bytes.HasPrefix(raw, []byte(zipMagic)) {
		return []Member{{Content: raw}}, nil
	}
	archive, err := OpenZip(bytes.NewReader(raw))
	if errors.Is(err, errEntries) {
		return nil, err
	}
	if err != nil {
		return nil, errs.Wrap(err, errs.UnsupportedMediaType, "this zip file is damaged; download it again")
	}
	var out []Member
	room := int64(MaxSize)
	for _, f := range archive.File {
		name := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
		switch {
		case isWorkbook(f.Name):
			return []Member{{Content: raw}}, nil // an Excel workbook is a zip file too
		case f.FileInfo().IsDir(), strings.HasPrefix(name, "."), strings.Contains(f.Name, "__MACOSX/"):
			continue // files that archivers add
		case len(out) == MaxMembers:
			return nil, errs.New(errs.PayloadTooLarge, "the zip file has more than %d files; split it", MaxMembers)
		}
		content, err := unpackOne(f, room)
		if err != nil {
			return nil, err
		}
		room -= int64(len(content))
		out = append(out, Member{name, content})
	}
	if len(out) == 0 {
		return nil, errs.New(errs.UnsupportedMediaType, "this zip file is empty")
	}
	slices.SortStableFunc(out, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

var errEntries = errs.New(errs.PayloadTooLarge, "the zip file has more than %d files; split it", MaxMembers)

// OpenZip reads the directory of a zip file. It rejects files with too many entries before it reads
// the directory, because entries take more memory than space in the file.
func OpenZip(file io.ReaderAt) (*zip.Reader, error) {
	buf, entry := make([]byte, 64<<10), []byte("PK\x01\x02")
	entries, kept := 0, 0 // kept bytes of the previous block, because an entry may begin there
	for size := int64(0); ; {
		n, err := file.ReadAt(buf[kept:], size)
		size += int64(n)
		piece := buf[:kept+n]
		entries += bytes.Count(piece, entry)
		if entries > maxEntries || size > MaxSize {
			return nil, errEntries
		}
		if errors.Is(err, io.EOF) {
			return zip.NewReader(file, size)
		}
		if err != nil {
			return nil, err
		}
		kept = copy(buf, piece[max(0, len(piece)-len(entry)+1):])
	}
}

// holdsWorkbook reports whether a zip file is a workbook.
func holdsWorkbook(raw []byte) bool {
	archive, err := OpenZip(bytes.NewReader(raw))
	return err == nil && slices.ContainsFunc(archive.File, func(f *zip.File) bool { return isWorkbook(f.Name) })
}

func isWorkbook(name string) bool {
	return name == "[Content_Types].xml" || name == "mimetype" || strings.HasPrefix(name, "xl/")
}

// unpackOne reads a file of an archive. It does not trust the size that the archive states.
func unpackOne(f *zip.File, room int64) ([]byte, error) {
	broken := func(err error) ([]byte, error) {
		return nil, errs.Wrap(err, errs.UnsupportedMediaType,
			"this zip file is damaged or protected by a password; unpack it and choose the file in it")
	}
	r, err := f.Open()
	if err != nil {
		return broken(err)
	}
	defer r.Close() //nolint:errcheck // it is only read
	content, err := io.ReadAll(io.LimitReader(r, room+1))
	switch {
	case int64(len(content)) > room:
		return nil, errs.New(errs.PayloadTooLarge, "the files in the zip file are larger than %d MiB; split it",
			MaxSize>>20)
	case err != nil:
		return broken(err)
	case bytes.HasPrefix(content, []byte(zipMagic)) && !holdsWorkbook(content):
		return nil, errs.New(errs.UnsupportedMediaType, "a file in the zip file is a zip file itself; unpack it first")
	}
	return content, nil
}
