package archive_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"coffer/internal/archive"
	"coffer/internal/platform/errs"
)

// A file gets its name when it is complete, is readable only by its owner, and leaves no temporary
// file. An existing file of that name is not changed.
func TestIntoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	holds := func(want string, files int) {
		t.Helper()
		text, _ := os.ReadFile(path)
		all, err := os.ReadDir(dir)
		if err != nil || string(text) != want || len(all) != files {
			t.Errorf("%q, %d files, %v", text, len(all), err)
		}
	}
	write := func(text string, then error) error {
		return archive.IntoFile(path, func(f *os.File) error {
			if _, err := os.Stat(path); err == nil {
				t.Error("it has its name before it is whole")
			}
			_, err := f.WriteString(text)
			return errors.Join(err, then)
		})
	}
	if err := write("half", errors.New("broken off")); err == nil {
		t.Error("a failure is not reported")
	}
	holds("", 0)
	if err := write("whole", nil); err != nil {
		t.Fatal(err)
	}
	holds("whole", 1)
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	if err := write("other", nil); !errs.Is(err, errs.Conflict) {
		t.Errorf("a name that is taken: %v", err)
	}
	holds("whole", 1)
}

// On a file system without hard links, a file gets its name too, and does not replace an existing
// one.
func TestNameWithoutLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, path := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	cannot := func(string, string) error { return &os.LinkError{Op: "link", Err: errors.ErrUnsupported} }
	for _, want := range []bool{true, false} {
		if err := os.WriteFile(from, []byte("new"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := archive.Name(from, path, cannot)
		if text, _ := os.ReadFile(path); (err == nil) != want || !want && !errs.Is(err, errs.Conflict) ||
			string(text) != map[bool]string{true: "new", false: "old"}[want] {
			t.Errorf("%q %v", text, err)
		}
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
