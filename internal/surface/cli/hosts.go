package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"coffer/internal/platform/errs"
)

// hosts lists the servers that this person has keys for. It is stored in a file that only its owner
// can read.
type hosts struct {
	Current string          `json:"current"` // where commands run by default
	Keys    map[string]host `json:"hosts"`
	path    string
}

// A host is a server that someone logged in to.
type host struct {
	Key   string `json:"key"`
	Scope string `json:"scope"`
}

// loadHosts reads the file. A missing file is not an error.
func loadHosts() (*hosts, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, errs.Wrap(err, errs.Unavailable,
			"cannot find the settings directory: neither HOME nor XDG_CONFIG_HOME is set")
	}
	h := &hosts{Keys: map[string]host{}, path: filepath.Join(dir, "coffer", "hosts.json")}
	raw, err := os.ReadFile(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, errs.Wrap(err, errs.Unavailable, "can't read %s", h.path)
	}
	if err := json.Unmarshal(raw, h); err != nil {
		return nil, errs.Wrap(err, errs.Unavailable, "%s is not a valid coffer settings file; fix or delete it", h.path)
	}
	if h.Keys == nil {
		h.Keys = map[string]host{}
	}
	return h, nil
}

// save replaces the file as a whole, readable only by its owner.
func (h *hosts) save() error {
	raw, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return fmt.Errorf("print hosts: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return errs.Wrap(err, errs.Unavailable, "%s cannot be created", filepath.Dir(h.path))
	}
	f, err := os.CreateTemp(filepath.Dir(h.path), "hosts-*") // with mode 0600
	if err != nil {
		return errs.Wrap(err, errs.Unavailable, "%s cannot be written", h.path)
	}
	_, err = f.Write(append(raw, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // nothing more can be done about it
		return errs.Wrap(err, errs.Unavailable, "%s cannot be written", h.path)
	}
	return nil
}

// names returns the servers, sorted.
func (h *hosts) names() []string { return slices.Sorted(maps.Keys(h.Keys)) }

// find returns the server with this address, or the only server whose address contains it.
func (h *hosts) find(name string) (string, error) {
	if at, err := serverURL(name); err == nil {
		if _, ok := h.Keys[at]; ok {
			return at, nil
		}
	}
	var found []string
	for _, at := range h.names() {
		if strings.Contains(at, name) {
			found = append(found, at)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return "", errs.New(errs.NotFound, "you are not logged in to %q; coffer login status lists your servers", name)
	}
	return "", errs.New(errs.ValidationError, "%q matches %s; type more of the name", name,
		strings.Join(found, ", "))
}

// serverURL normalizes a server's address to the form under which keys are stored.
func serverURL(s string) (string, error) {
	if !strings.Contains(s, "://") {
		scheme := "https://"
		if u, err := url.Parse(scheme + s); err == nil &&
			(u.Hostname() == "localhost" || u.Hostname() == "127.0.0.1" || u.Hostname() == "::1") {
			scheme = "http://"
		}
		s = scheme + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil {
		return "", errs.New(errs.ValidationError,
			"the server's address must be a URL, such as https://coffer.example.com")
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimSuffix(u.Path, "/"), nil
}

// Where returns the server on which commands run, "" for the database, and the key. Explicit
// settings win: --server or COFFER_SERVER, and COFFER_API_KEY. Otherwise it returns the server and
// key that coffer login stored; each key is used for its own server only. If a database is given
// and no server, commands run on the database, for people who work on the server's machine.
func (c *CLI) Where() (server, key string, err error) {
	if c.Server != "" && c.Key != "" || c.Server == "" && (c.Database || c.Key != "") {
		return c.Server, c.Key, nil
	}
	h, err := loadHosts()
	if err != nil {
		return "", "", err
	}
	server = c.Server
	if server == "" {
		server = h.Current
	}
	if at, err := serverURL(server); err == nil {
		key = h.Keys[at].Key
	}
	return server, key, nil
}
