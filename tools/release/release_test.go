package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/blakesmith/ar"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
)

// TestPagesAndCompletions: every command has a page, every shell has completions, and both are the
// same each time.
func TestPagesAndCompletions(t *testing.T) {
	t.Parallel()
	one, two := t.TempDir(), t.TempDir()
	for _, dir := range []string{one, two} {
		if err := writeManual(coffer(), filepath.Join(dir, "man")); err != nil {
			t.Fatal(err)
		}
		if err := writeCompletions(coffer(), filepath.Join(dir, "sh")); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := filepath.Glob(filepath.Join(one, "man", "coffer*.1"))
	if err != nil || len(pages) < 100 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	shells, err := filepath.Glob(filepath.Join(one, "sh", "coffer.*"))
	if err != nil || len(shells) != 4 {
		t.Fatalf("%d completions, %v", len(shells), err)
	}
	for _, p := range append(pages, shells...) {
		a, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(two + strings.TrimPrefix(p, one))
		if err != nil || string(a) != string(b) || len(a) == 0 {
			t.Errorf("%s differs the second time, or is empty: %v", filepath.Base(p), err)
		}
	}
}

// TestComponents: the list has the modules of a program and the packages of the web app. A program
// without modules or a web app without packages is refused.
func TestComponents(t *testing.T) {
	t.Parallel()
	self, err := os.Executable() // the test's own program, which has modules
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	web, out := filepath.Join(dir, "web.json"), filepath.Join(dir, "out.json")
	write(t, web, `{"components": [{"type": "library", "name": "react", "purl": "pkg:npm/react@1"}]}`)
	if err := writeComponents(self, web, out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"pkg:npm/react@1"`, `"pkg:golang/github.com/jackc/pgx/v5@v`, `"pkg:golang/stdlib@go`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %s", want)
		}
	}
	if !json.Valid(text) {
		t.Error("not JSON")
	}
	write(t, web, `{"components": []}`)
	if err := writeComponents(self, web, out); err == nil {
		t.Error("a web app without packages is listed")
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][]string{
		"v1.2.3":           {"1.2.3", "1.2", "1", "latest"},
		"v1.2.3-rc.1":      {"1.2.3-rc.1"},
		"v0.1.0-4-gabc+x":  {"0.1.0-4-gabc-x"},
		"a3f0-dirty":       {"a3f0-dirty"},
		"v1.2.3.4":         {"1.2.3.4"},
		"v10.20.30":        {"10.20.30", "10.20", "10", "latest"},
		"v1.2.3-5-gdeadbf": {"1.2.3-5-gdeadbf"},
	} {
		if got := tags(version); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", version, got, want)
		}
	}
}

// TestImage: the image contains the files, does not run as root, and is the same each time.
func TestImage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, f := range []string{"amd64", "arm64", "roots", "zones"} {
		write(t, filepath.Join(dir, f), "content of "+f)
	}
	make := func() string {
		i := image{
			programs:     map[string]string{"amd64": filepath.Join(dir, "amd64"), "arm64": filepath.Join(dir, "arm64")},
			certificates: filepath.Join(dir, "roots"), zones: filepath.Join(dir, "zones"),
			version: "v1.2.3", commit: "abc", source: "https://example.com/coffer", made: time.Unix(1e9, 0).UTC(),
		}
		index, err := i.index()
		if err != nil {
			t.Fatal(err)
		}
		digest, err := index.Digest()
		if err != nil {
			t.Fatal(err)
		}
		out := t.TempDir()
		if _, err := layout.Write(out, index); err != nil {
			t.Fatal(err)
		}
		m, err := index.IndexManifest()
		if err != nil || len(m.Manifests) != 2 || m.Annotations["org.opencontainers.image.version"] != "v1.2.3" {
			t.Fatalf("%+v %v", m, err)
		}
		img, err := index.Image(m.Manifests[1].Digest)
		if err != nil {
			t.Fatal(err)
		}
		c, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if c.Architecture != "arm64" || c.Config.User != "65532:65532" || c.Config.Healthcheck == nil ||
			c.Config.Labels["org.opencontainers.image.source"] == "" {
			t.Errorf("%+v", c)
		}
		// The directories of the volumes belong to the program's user, who writes there.
		extracted := mutate.Extract(img)
		defer extracted.Close() //nolint:errcheck // nothing more is read
		files := tar.NewReader(extracted)
		for _, dir := range []string{"backups/", "data/"} {
			h := entry(t, files, dir)
			if h.Uid != 65532 || h.Gid != 65532 || h.Mode != 0o700 || h.Typeflag != tar.TypeDir {
				t.Errorf("%+v", h)
			}
		}
		return digest.String()
	}
	if one, two := make(), make(); one != two {
		t.Errorf("%s, then %s", one, two)
	}
	if _, err := (image{}).index(); err == nil {
		t.Error("an image of nothing")
	}
}

// entry returns the next file of that name.
func entry(t *testing.T, files *tar.Reader, name string) *tar.Header {
	t.Helper()
	for {
		h, err := files.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if strings.TrimSuffix(h.Name, "/") == strings.TrimSuffix(name, "/") {
			return h
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPackage: a package contains the program, the units and the scripts, belongs to root, and
// contains no settings.
func TestPackage(t *testing.T) {
	t.Chdir("../..")
	if _, err := os.Stat(".release"); err != nil { // .release is filled before a release
		t.Cleanup(func() { _ = os.RemoveAll(".release") })
		for _, f := range []string{
			"completions/coffer.bash", "completions/coffer.zsh", "completions/coffer.fish", "man/coffer.1.gz",
		} {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(".release", f)), 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(".release", f), "x")
			if err := os.Chmod(filepath.Join(".release", f), 0o644); err != nil { //nolint:gosec // they are published
				t.Fatal(err)
			}
		}
	}
	program := filepath.Join(t.TempDir(), "coffer")
	write(t, program, "the program")
	var out bytes.Buffer
	if err := writePackage(&out, program, "0.1.0", "amd64"); err != nil {
		t.Fatal(err)
	}
	parts := archive(t, &out)
	modes := map[string]string{}
	for name, h := range parts["data.tar.gz"] {
		modes[name] = fmt.Sprintf("%o %d %d", h.Mode&0o777, h.Uid, h.Gid)
		if strings.HasPrefix(name, "./etc/") {
			t.Errorf("%s: settings belong to no package", name)
		}
	}
	for name, want := range map[string]string{
		"./usr/bin/coffer":                               "755 0 0",
		"./usr/sbin/coffer-household":                    "755 0 0",
		"./usr/lib/systemd/system/coffer.service":        "644 0 0",
		"./usr/lib/systemd/system/coffer@.service":       "644 0 0",
		"./usr/lib/systemd/system/coffer-backup.service": "644 0 0",
		"./usr/lib/systemd/system/coffer-backup.timer":   "644 0 0",
		"./usr/share/bash-completion/completions/coffer": "644 0 0",
		"./usr/share/man/man1/coffer.1.gz":               "644 0 0",
		"./usr/share/doc/coffer/running/install.md":      "644 0 0",
		"./usr/share/doc/coffer/copyright":               "644 0 0",
	} {
		if modes[name] != want {
			t.Errorf("%s: %q, want %s", name, modes[name], want)
		}
	}
	for _, script := range []string{"./postinst", "./prerm", "./postrm"} {
		if h, ok := parts["control.tar.gz"][script]; !ok || h.Mode&0o111 == 0 {
			t.Errorf("no script %s", script)
		}
	}
	if _, ok := parts["control.tar.gz"]["./conffiles"]; ok {
		t.Error("a package with settings of its own")
	}
}

// archive returns the files in the parts of a Debian package.
func archive(t *testing.T, r io.Reader) map[string]map[string]*tar.Header {
	t.Helper()
	parts := map[string]map[string]*tar.Header{}
	outer := ar.NewReader(r)
	for {
		part, err := outer.Next()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(part.Name, "/")
		if !strings.HasSuffix(name, ".tar.gz") {
			continue
		}
		z, err := gzip.NewReader(outer)
		if err != nil {
			t.Fatal(err)
		}
		parts[name] = map[string]*tar.Header{}
		for inner := tar.NewReader(z); ; {
			h, err := inner.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			parts[name][h.Name] = h
		}
	}
}
