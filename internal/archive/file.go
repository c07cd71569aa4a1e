package archive

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"coffer/internal/platform/errs"
)

// IntoFile creates a new file that only its owner can read. The file gets its name when write has
// succeeded and everything is on disk. An interruption at any point, even kill -9, never leaves an
// incomplete file under that name.
func IntoFile(path string, write func(*os.File) error) error {
	if _, err := os.Lstat(path); err == nil {
		return there(path)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // readable only by its owner
	if err != nil {
		return errs.New(errs.ValidationError, "cannot write there: %v", err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // gone when all went well
	defer f.Close()           //nolint:errcheck // closed below when all went well
	if err := write(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := name(f.Name(), path, os.Link); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		_ = dir.Sync() // the directory entry too; some file systems cannot do that
		_ = dir.Close()
	}
	return f.Close()
}

func there(path string) error {
	return errs.New(errs.Conflict, "%s already exists; choose another name", path)
}

// name gives a file its name, or fails if the name is taken: of two concurrent calls one must fail.
// File systems without hard links, such as those of memory sticks, first need an empty file that
// reserves the name.
func name(from, path string, link func(from, path string) error) error {
	err := link(from, path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		var reserved *os.File
		if reserved, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil { //nolint:gosec // the person at the keyboard names a file of theirs
			_ = reserved.Close()
			if err = os.Rename(from, path); err != nil {
				_ = os.Remove(path)
			}
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return there(path)
	}
	if err != nil {
		return errs.New(errs.ValidationError, "cannot name the file: %v", err)
	}
	return nil
}
