// Package browser opens every page of the service in a real browser, as a person does, on a phone
// and at a desk. It knows pages by what people read and click, and looks into the service only for
// what a person gets elsewhere: links and codes.
package browser_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A browser is Chromium, and the program that drives it.
type browser struct {
	*driver
	t     *testing.T
	size  string
	house *house
	shots int
	acts  int    // what a person did so far: clicks, keys, fields and addresses
	clock string // the moment that the browser takes for now, if it is another
	place place  // where the browser is, if it is somewhere else
	kept  string // "worker" if it has a service worker
}

// A place is the language and the time zone of a browser.
type place struct{ locale, zone string }

// deeds are the steps with which a person does something; the others look and wait.
var deeds = []string{
	"visit", "click", "follow", "press", "fill", "write", "tick", "upload", "choose", "enter", "key", "chord", "reach", "swipe",
}

// find returns the path of a program or file that the test needs. A machine without it skips the
// test, except in CI.
func find(t *testing.T, how string, paths ...string) string {
	t.Helper()
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("%s is missing; %s", paths[0], how)
	}
	t.Skipf("%s is missing; %s", paths[0], how)
	return ""
}

// A driver is a running drive.mjs with its Chromium.
type driver struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// idle holds the drivers that no test uses. Starting one takes two seconds of a processor, and the
// step open, with which every test begins, gives it an empty profile anyway.
var idle struct {
	sync.Mutex
	drivers []*driver
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, d := range idle.drivers {
		if err := d.quit(); err != nil {
			fmt.Fprintln(os.Stderr, "a browser ended badly:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// newBrowser returns a browser that only this test uses, until the test ends. Certificates with one
// of the keys, given as base64 of their SHA-256, are trusted, and no others beside the system's.
func newBrowser(t *testing.T, size string, keys ...string) *browser {
	t.Helper()
	b := &browser{t: t, size: size}
	if len(keys) == 0 {
		b.driver = idleDriver()
	}
	if b.driver == nil {
		b.driver = startDriver(t, keys)
	}
	t.Cleanup(func() {
		kept := false
		defer func() {
			if kept {
				return
			}
			if err := b.quit(); err != nil {
				t.Errorf("the browser ended badly: %v", err)
			}
		}()
		// A failed test may have left the browser in the middle of something.
		if len(keys) == 0 && !t.Failed() {
			b.do(t, step{Do: "leave"})
			idle.Lock()
			defer idle.Unlock()
			idle.drivers = append(idle.drivers, b.driver)
			kept = true
		}
	})
	return b
}

func idleDriver() *driver {
	idle.Lock()
	defer idle.Unlock()
	n := len(idle.drivers)
	if n == 0 {
		return nil
	}
	d := idle.drivers[n-1]
	idle.drivers = idle.drivers[:n-1]
	return d
}

func startDriver(t *testing.T, keys []string) *driver {
	t.Helper()
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	modules, err := filepath.Abs("node_modules")
	if err != nil {
		t.Fatal(err)
	}
	const npm, apt = "run npm ci in test/browser", "install Debian's package chromium"
	find(t, npm, filepath.Join(modules, "playwright-core", "package.json"))
	node := find(t, npm, filepath.Join(modules, "node-"+runtime.GOOS+"-"+arch, "bin", "node"))
	chromium := find(t, apt, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
	d := &driver{cmd: exec.Command(node, "drive.mjs", chromium, strings.Join(keys, ","))}
	d.cmd.Stderr = os.Stderr
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	pipe, err := d.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	d.out = bufio.NewReader(pipe)
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return d
}

// quit ends the driver and its Chromium.
func (d *driver) quit() error {
	stuck := time.AfterFunc(time.Minute, func() { _ = d.cmd.Process.Kill() }) // Wait then says so
	defer stuck.Stop()
	_, _ = io.WriteString(d.in, `{"do":"quit"}`+"\n") // if the browser has gone, Wait reports it
	_ = d.in.Close()
	return d.cmd.Wait()
}

// A step is what a person does; the names are the driver's.
type step struct {
	Do    string   `json:"do"`
	Look  bool     `json:"look"`
	Size  string   `json:"size,omitempty"`
	Allow []string `json:"allow,omitempty"`
	URL   string   `json:"url,omitempty"`
	Name  string   `json:"name,omitempty"`
	Value string   `json:"value,omitempty"`
	Text  string   `json:"text,omitempty"`
	Frame bool     `json:"frame,omitempty"`
	File  string   `json:"file,omitempty"`
	// of a browser that is somewhere else
	Locale string `json:"locale,omitempty"`
	Zone   string `json:"zone,omitempty"`
}

// A view is a page as the browser has it.
type view struct {
	URL    string   `json:"url"`
	Status int      `json:"status"`
	Title  string   `json:"title"`
	Text   string   `json:"text"`
	Faults []string `json:"faults"`
	Error  string   `json:"error"`
}

func (b *browser) do(t *testing.T, s step) view {
	t.Helper()
	if slices.Contains(deeds, s.Do) {
		b.acts++
	}
	line, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.in.Write(append(line, '\n')); err != nil {
		t.Fatal(err)
	}
	answer, err := b.out.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%s: the browser is gone: %v", s.Do, err)
	}
	var v view
	if err := json.Unmarshal(answer, &v); err != nil {
		t.Fatal(err)
	}
	if v.Error != "" {
		t.Fatalf("%s %s%s%s: %s\nat %s, which reads:\n%s\n%v", s.Do, s.URL, s.Name, s.Text, v.Error, v.URL, v.Text,
			v.Faults)
	}
	return v
}

// open starts again at a house, as someone who has never been there; allow names what its pages may
// load from elsewhere.
func (b *browser) open(t *testing.T, h *house, allow ...string) {
	t.Helper()
	b.house = h
	b.do(t, step{
		Do: "open", Size: b.size, Allow: append(allow, h.url), Locale: b.place.locale, Zone: b.place.zone,
	})
}

// visit goes to a page that is answered with that status, and sees the text.
func (b *browser) visit(t *testing.T, path string, status int, text string) view {
	t.Helper()
	if strings.HasPrefix(path, "/") {
		path = b.house.url + path
	}
	b.do(t, step{Do: "visit", URL: path})
	v := b.see(t, text)
	if v.Status != status {
		t.Errorf("%s: %d, not %d", path, v.Status, status)
	}
	return v
}

// see waits for a text, then looks at the page: whatever is wrong with it fails the test.
func (b *browser) see(t *testing.T, text string) view {
	t.Helper()
	b.do(t, step{Do: "see", Text: text})
	return b.look(t)
}

func (b *browser) look(t *testing.T) view {
	t.Helper()
	v := b.do(t, step{Do: "look", Look: true})
	for _, f := range v.Faults {
		t.Errorf("%s (%q, %s): %s", v.URL, v.Title, b.size, f)
	}
	b.house.saw(v.URL)
	b.shot(t, v)
	return v
}

// shot keeps a picture of a page, if somebody wants to look at them.
func (b *browser) shot(t *testing.T, v view) {
	t.Helper()
	dir := os.Getenv("COFFER_TEST_SHOTS")
	if dir == "" {
		return
	}
	b.shots++
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune("/?=&.", r) {
			return '-'
		}
		return r
	}, strings.TrimPrefix(v.URL, b.house.url+"/"))
	b.do(t, step{Do: "shot", File: filepath.Join(dir,
		fmt.Sprintf("%s%s-%02d-%.30s.png", b.house.name, b.size, b.shots, url.PathEscape(name)))})
}

// click and see what comes of it.
func (b *browser) click(t *testing.T, name, text string) view {
	t.Helper()
	b.do(t, step{Do: "click", Name: name})
	return b.see(t, text)
}

func (b *browser) fill(t *testing.T, name, value string) {
	t.Helper()
	b.do(t, step{Do: "fill", Name: name, Value: value})
}
