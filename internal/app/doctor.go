package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/pg"
)

// A finding is one problem that doctor found.
type finding struct {
	What  string `json:"what"`
	State string `json:"state"`
	Mend  string `json:"mend"`
}

// A check is one thing that doctor checked and found in order.
type check struct {
	What  string `json:"what"`
	State string `json:"state"`
}

// A Diagnosis lists what doctor found wrong and what it found in order, and whether coffer can run.
type Diagnosis struct {
	OK       bool      `json:"ok"`
	Findings []finding `json:"findings"`
	Checked  []check   `json:"checked"`
}

// well records a check that is in order.
func (d *Diagnosis) well(what, state string, args ...any) {
	d.Checked = append(d.Checked, check{what, fmt.Sprintf(state, args...)})
}

// Doctor checks everything that the service needs and reports what is wrong and how to fix it.
func Doctor(ctx context.Context, c Config) Diagnosis {
	d := &Diagnosis{Findings: []finding{}, Checked: []check{}}
	note := func(what, state, mend string) { d.Findings = append(d.Findings, finding{what, state, mend}) }
	for _, name := range strangers(os.Environ()) {
		note("environment", name+" is not a coffer setting",
			"check its spelling; coffer doctor --settings lists them all")
	}
	if c.EncryptionKey.IsZero() {
		note("encryption key", "not set",
			"optional, but required to connect a bank: export COFFER_ENCRYPTION_KEY=$(openssl rand -base64 "+
				"32), and keep it as safe as the database")
	}
	if host, _, err := net.SplitHostPort(c.Listen); err != nil {
		note("listen address", err.Error(), "set COFFER_LISTEN to host:port, such as 127.0.0.1:8080")
	} else if ip := net.ParseIP(host); (ip == nil || !ip.IsLoopback()) && host != "localhost" &&
		!strings.HasPrefix(c.PublicURL, "https://") {
		note("listen address", "reachable from other machines without HTTPS",
			"put a reverse proxy with TLS in front of it and set COFFER_PUBLIC_URL to its https address, or listen "+
				"on 127.0.0.1")
	} else {
		d.well("listen address", "%s", c.Listen)
		if ip != nil && ip.IsUnspecified() && len(c.TrustedProxies) == 0 && !c.https() {
			note("trusted proxies", "not set, so rate limits count everyone behind the proxy as one",
				"set COFFER_TRUSTED_PROXIES to the network of the proxy, such as 127.0.0.1/32")
		}
	}
	if c.PublicURL != "" {
		if ip := net.ParseIP(c.host()); strings.HasPrefix(c.PublicURL, "http://") && c.host() != "localhost" &&
			!ip.IsLoopback() {
			what := " is not encrypted, and browsers keep no session without HTTPS"
			if c.AllowHTTP {
				what = " is not encrypted: others on the network can read along (COFFER_ALLOW_HTTP)"
			}
			note("public address", c.PublicURL+what,
				"serve coffer over HTTPS and set COFFER_PUBLIC_URL to its https:// address")
		} else {
			d.well("public address", "%s", c.PublicURL)
		}
	}
	d.OK = d.diagnose(ctx, c, note)
	return *d
}

func (d Diagnosis) String() string {
	var b strings.Builder
	for _, c := range d.Checked {
		fmt.Fprintf(&b, "✓  %-15s %s\n", c.What, c.State)
	}
	for _, f := range d.Findings {
		fmt.Fprintf(&b, "!  %-15s %s\n   %-15s → %s\n", f.What, f.State, "", f.Mend)
	}
	if d.OK {
		b.WriteString("ok: coffer is ready\n")
	}
	return b.String()
}

func (d *Diagnosis) diagnose(ctx context.Context, c Config, note func(what, state, mend string)) bool {
	a, err := Build(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		note("configuration", err.Error(), "set it and run coffer doctor again")
		return false
	}
	defer a.DB.Close()
	patient := ctx // without the database's time limit, because a model may take longer
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := a.DB.Ping(ctx); err != nil {
		note("database", "does not respond: "+pingFault(err),
			"check that PostgreSQL is running and that COFFER_DATABASE_URL has the right host, name, user "+
				"and password; to create a database: createdb coffer")
		return false
	}
	version, err := pg.Value[int](ctx, a.DB, `select current_setting('server_version_num')::int`)
	if err != nil || version < 150000 {
		note("database", "older than PostgreSQL 15", "upgrade PostgreSQL to 15 or newer")
		return false
	}
	d.well("database", "PostgreSQL %d.%d", version/10000, version%10000)
	at, err := a.DB.SchemaVersion(ctx)
	switch {
	case errors.Is(err, pg.ErrDevelopment):
		note("schema", "migrated by a development version of coffer",
			"export it with that version, and import the file into a new database: coffer export > coffer.zip, "+
				"coffer import coffer.zip")
		return false
	case err != nil:
		note("schema", err.Error(), "check that the database user can read the schema")
		return false
	case at < a.DB.Newest():
		note("schema", fmt.Sprintf("at step %d of %d", at, a.DB.Newest()),
			"run coffer migrate; coffer serve does it too")
		return false
	case at > a.DB.Newest():
		note("schema", "created by a newer coffer", "run that version, or restore a backup from before it")
		return false
	}
	d.well("schema", "step %d, the newest", at)
	if err := a.checkKey(ctx); err != nil {
		note("encryption key", err.Error(), "see above")
		return false
	}
	if a.Ring != nil {
		d.well("encryption key", "%s", a.Ring.Current())
	}
	a.surroundings(ctx, d, note)
	if made, err := a.Auth.Any(ctx); err == nil && !made {
		note("access", "no API key yet", "create one: coffer key create --name me --scope full_access")
	}
	switch t, set, err := a.Setting.TryDefault(patient); {
	case err != nil:
		note("model", errs.Public(err, "").Message, "coffer model get shows what is configured")
	case set && !t.OK:
		note("model", t.Model+": "+t.Message, "test it again: coffer model test")
	case set:
		d.well("model", "%s", t.Model)
	}
	return true
}

// pingFault returns the reason of a connection error, without the address line that pgx puts before
// it.
func pingFault(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return text
}

// probed returns where the health check can ask the running server.
// COFFER_LAN_ADDRESS is for serve --lan, which listens on its own port and not on COFFER_LISTEN.
func (c Config) probed(lanPort int) ([]string, error) {
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return nil, errs.New(errs.ValidationError, "COFFER_LISTEN must be host:port, such as 127.0.0.1:8080")
	}
	reached := func(host string) string {
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			return "127.0.0.1"
		}
		return host
	}
	at := []string{c.scheme() + net.JoinHostPort(reached(host), port)}
	// A server without --lan does not read the address, so an invalid one is not an error here.
	if _, listen, err := c.homeAddress(""); c.LANAddress != "" && err == nil {
		at = append([]string{"https://" + net.JoinHostPort(reached(listen), strconv.Itoa(lanPort))}, at...)
	}
	return at, nil
}

// Probe reports whether the running server is ready, for container health checks without a shell.
func Probe(ctx context.Context, c Config, lanPort int) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	all, err := c.probed(lanPort)
	if err != nil {
		return err
	}
	for _, at := range all {
		var status int
		if status, err = ask(ctx, at+"/api/v1/health/ready"); err != nil {
			continue
		}
		if status != http.StatusOK {
			return errs.New(errs.Unavailable, "the server is not ready (status %d); its log says why", status)
		}
		return nil
	}
	return errs.Wrap(err, errs.Unavailable, "no server responds at %s; is coffer serve running, with these settings?",
		strings.Join(all, " or "))
}

// ask returns the HTTP status with which a server on this machine responds.
func ask(ctx context.Context, at string) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return 0, err
	}
	client := &http.Client{Transport: &http.Transport{
		// The certificate is for the public name, not for this machine's address. The probe sends
		// no secret and asks only this machine.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above
	}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}
