package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"coffer/internal/platform/errs"
)

const (
	maxSmall = 16 << 20 // the manifest and the checksums; those of coffer have a few kB
	// A row of an export has a few kB, or contains a model's response. A backup may also contain
	// uploaded files.
	maxLine       = 16 << 20
	maxBackupLine = 256 << 20
)

// damaged returns the error for a file that was changed after it was written.
func damaged(err error, where string) error {
	return errs.Wrap(err, errs.ValidationError, "this archive is damaged or was modified (%s): use another copy of it",
		where)
}

var (
	errSum   = errors.New("the hash does not match")
	errLarge = errors.New("its size is wrong")
)

// A reader is an archive whose bytes all match its checksums.
type reader struct {
	Manifest
	files  map[string]*zip.File
	newest int64  // this program's schema
	closed Closed // what was switched off
}

// open reads an archive and verifies that it is complete: it must contain exactly the files that
// the checksums name, each once and with that hash.
func open(r io.ReaderAt, size int64, want Kind, newest int64) (*reader, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, errs.Wrap(err, errs.ValidationError,
			"this is not a coffer archive, or it is damaged: expected a zip file with a manifest")
	}
	a := &reader{newest: newest, files: map[string]*zip.File{}}
	for _, f := range z.File {
		if a.files[f.Name] != nil {
			return nil, damaged(errSum, f.Name+" twice")
		}
		a.files[f.Name] = f
	}
	sums, err := a.sums()
	if err != nil {
		return nil, err
	}
	text, err := a.small(manifestName)
	if err == nil {
		err = json.Unmarshal(text, &a.Manifest)
	}
	if err != nil {
		return nil, damaged(err, manifestName)
	}
	if err := a.bounded(); err != nil {
		return nil, err
	}
	for name, f := range a.files {
		if name == sumsName {
			continue
		}
		sum, err := hashOf(f)
		if err == nil && sum != sums[name] {
			err = errSum
		}
		if err != nil {
			return nil, damaged(err, name)
		}
	}
	if err := a.fits(want); err != nil {
		return nil, err
	}
	return a, nil
}

// bounded rejects an archive if one of its files is larger than the manifest says. It does so
// before it reads the files, because a few megabytes can expand to many gigabytes.
func (a *reader) bounded() error {
	limits := map[string]uint64{}
	for _, c := range a.Tables {
		limits[c.File] = uint64(max(c.Bytes, 0))
	}
	for name, f := range a.files {
		limit, table := limits[name]
		if !table {
			limit = maxSmall
		}
		if f.UncompressedSize64 > limit {
			return damaged(errLarge, name)
		}
	}
	return nil
}

// sums reads the hash of each file. It returns an error if a listed file is missing.
func (a *reader) sums() (map[string]string, error) {
	text, err := a.small(sumsName)
	if err != nil {
		return nil, damaged(err, sumsName)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || a.files[name] == nil || sums[name] != "" {
			return nil, damaged(errSum, sumsName)
		}
		sums[name] = sum
	}
	return sums, nil
}

func (a *reader) small(name string) ([]byte, error) {
	f := a.files[name]
	if f == nil || f.UncompressedSize64 > maxSmall {
		return nil, errors.New("it is missing, or too large")
	}
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // reading says what is wrong
	return io.ReadAll(r)
}

func hashOf(f *zip.File) (string, error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close() //nolint:errcheck // reading says what is wrong
	h := sha256.New()
	_, err = io.Copy(h, r) //nolint:gosec // nothing of it is kept
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// fits returns an error if this program cannot import the archive.
func (a *reader) fits(want Kind) error {
	newer := a.Version > formatNumber || a.Schema > a.newest && !a.development()
	switch {
	case a.Format != formatName || newer:
		return errs.New(errs.ValidationError,
			"this archive is from a newer coffer (%s, schema %d; this one knows %d): upgrade this coffer first",
			a.Coffer, a.Schema, a.newest)
	case a.Kind != want && want == Export:
		return errs.New(errs.ValidationError, "this is a backup, not an export: use coffer restore")
	case a.Kind != want:
		return errs.New(errs.ValidationError, "this is an export, not a backup: use coffer import")
	}
	for _, c := range a.Tables {
		if a.files[c.File] == nil {
			return damaged(errSum, c.File)
		}
	}
	return nil
}

// line reads a row. It stops with an error at the maximum length of a row.
func (a *reader) line(r *bufio.Reader) ([]byte, error) {
	limit := maxLine
	if a.Kind == Backup {
		limit = maxBackupLine
	}
	var out []byte
	for {
		part, err := r.ReadSlice('\n')
		out = append(out, part...)
		if len(out) > limit {
			return nil, errLarge
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return out, err
		}
	}
}

// batches passes the rows of a table to f as JSON arrays of about one megabyte.
func (a *reader) batches(c Content, f func(array []byte, rows int64) error) error {
	r, err := a.files[c.File].Open()
	if err != nil {
		return damaged(err, c.File)
	}
	defer r.Close() //nolint:errcheck // reading says what is wrong
	lines := bufio.NewReaderSize(r, 64<<10)
	var batch bytes.Buffer
	n, all := int64(0), int64(0)
	for {
		line, err := a.line(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return damaged(err, c.File)
		}
		if len(line) > 0 {
			separator := byte(',')
			if n == 0 {
				separator = '['
			}
			batch.WriteByte(separator)
			batch.Write(bytes.TrimSuffix(line, []byte("\n")))
			n++
		}
		if ended := err != nil; n > 0 && (ended || batch.Len() > 1<<20) {
			batch.WriteByte(']')
			if err := f(batch.Bytes(), n); err != nil {
				return err
			}
			batch.Reset()
			all, n = all+n, 0
		}
		if err != nil {
			break
		}
	}
	if all != c.Rows {
		return damaged(errSum, c.File)
	}
	return nil
}
