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
	"strings"
	"time"

	"coffer/internal/errs"
	"coffer/internal/pg"
)

// A finding is one thing that doctor looked at.
type finding struct {
	What  string `json:"what"`
	State string `json:"state"`
	Mend  string `json:"mend"`
}

// A Diagnosis lists the findings of doctor, and whether coffer can run despite them.
type Diagnosis struct {
	OK       bool      `json:"ok"`
	Findings []finding `json:"findings"`
}

// Doctor checks everything that the service needs and reports what is wrong and how to fix it.
func Doctor(ctx context.Context, c Config) Diagnosis {
	found := []finding{}
	note := func(what, state, mend string) { found = append(found, finding{what, state, mend}) }
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
	}
	well := diagnose(ctx, c, note)
	return Diagnosis{well, found}
}

func (d Diagnosis) String() string {
	var b strings.Builder
	for _, f := range d.Findings {
		fmt.Fprintf(&b, "!  %-15s %s\n   %-15s → %s\n", f.What, f.State, "", f.Mend)
	}
	if d.OK {
		b.WriteString("ok: coffer is ready\n")
	}
	return b.String()
}

func diagnose(ctx context.Context, c Config, note func(what, state, mend string)) bool {
	a, err := Build(ctx, c, slog.New(slog.DiscardHandler))
	if err != nil {
		note("configuration", err.Error(), "set it and run coffer doctor again")
		return false
	}
	defer a.DB.Close()
	patient := ctx // a model may take longer than a database
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
	at, err := a.DB.SchemaVersion(ctx)
	switch {
	case errors.Is(err, pg.ErrDevelopment):
		note("schema", "created by a development version of coffer from before the first release",
			"export it with that version, and import the file into a new database: coffer export > coffer.zip, "+
				"coffer import coffer.zip")
		return false
	case err != nil:
		note("schema", err.Error(), "check that the database user can read the schema")
		return false
	case at < pg.Newest():
		note("schema", fmt.Sprintf("at step %d of %d", at, pg.Newest()), "run coffer migrate; coffer serve does it too")
		return false
	case at > pg.Newest():
		note("schema", "created by a newer coffer", "run that version, or restore a backup from before it")
		return false
	}
	if err := a.checkKey(ctx); err != nil {
		note("encryption key", err.Error(), "see above")
		return false
	}
	if made, err := a.Auth.Any(ctx); err == nil && !made {
		note("access", "no API key yet", "create one: coffer key create --name me --scope full_access")
	}
	switch t, set, err := a.Setting.TryDefault(patient); {
	case err != nil:
		note("model", errs.Public(err, "").Message, "coffer model get shows what is configured")
	case set && !t.OK:
		note("model", t.Model+": "+t.Message, "test it again: coffer model test")
	}
	return true
}

// pingFault returns the reason in a connection error, without the address line that pgx puts before
// it.
func pingFault(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, ": "); i >= 0 {
		text = text[i+2:]
	}
	return text
}

// Probe reports whether the running server is ready, for container health checks without a shell.
func Probe(ctx context.Context, c Config) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	_, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return errs.New(errs.ValidationError, "COFFER_LISTEN must be host:port, such as 127.0.0.1:8080")
	}
	at := c.scheme() + "127.0.0.1:" + port + "/api/v1/health/ready"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{
		// The certificate is for the public name. Nothing is sent, and only this machine is asked.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: c.https()}, //nolint:gosec // see above
	}}
	defer client.CloseIdleConnections()
	res, err := client.Do(req)
	if err != nil {
		return errs.Wrap(err, errs.Unavailable,
			"no server responds at 127.0.0.1:%s; is coffer serve running, with this COFFER_LISTEN?", port)
	}
	defer res.Body.Close() //nolint:errcheck // nothing is read from it
	if res.StatusCode != http.StatusOK {
		return errs.New(errs.Unavailable, "the server is not ready (status %d); its log says why", res.StatusCode)
	}
	return nil
}
