package app

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"

	"coffer/internal/errs"
	"coffer/internal/seal"
	"github.com/caarlos0/env/v11"
)

// A Config is everything that can be set, by environment variables only. Zero values are good ones.
type Config struct {
	DatabaseURL       seal.Secret `env:"DATABASE_URL" doc:"where PostgreSQL is: postgres://user:password@host:5432/name"`
	DatabaseMaxConns  int         `env:"DATABASE_MAX_CONNS" envDefault:"10" doc:"connections this server may hold"`
	Listen            string      `env:"LISTEN" envDefault:"127.0.0.1:8080" doc:"where to serve; loopback unless told otherwise"`
	PublicURL         string      `env:"PUBLIC_URL" doc:"the address under which others reach the server, if not loopback"`
	EncryptionKey     seal.Secret `env:"ENCRYPTION_KEY" doc:"base64 of 32 bytes that seal bank credentials; make one with: openssl rand -base64 32"`
	EncryptionKeysOld []string    `env:"ENCRYPTION_KEYS_OLD" doc:"earlier keys, comma-separated, until coffer key rotate has run"`
	BackupPassphrase  seal.Secret `env:"BACKUP_PASSPHRASE" doc:"encrypts the files of coffer backup and opens them for coffer restore"`
	PlaidClientID     string      `env:"PLAID_CLIENT_ID" doc:"from Plaid's dashboard; with it and the secret banks are linked through Plaid"`
	PlaidSecret       seal.Secret `env:"PLAID_SECRET" doc:"from Plaid's dashboard, of that environment"`
	PlaidEnvironment  string      `env:"PLAID_ENVIRONMENT" envDefault:"sandbox" doc:"sandbox or production"`
	PlaidURL          string      `env:"PLAID_URL" doc:"another address than Plaid's own, for a simulator"`
	TellerApplication string      `env:"TELLER_APPLICATION_ID" doc:"from Teller's dashboard; with it banks are linked through Teller"`
	TellerEnvironment string      `env:"TELLER_ENVIRONMENT" envDefault:"sandbox" doc:"sandbox, development or production"`
	TellerCertificate string      `env:"TELLER_CERTIFICATE" doc:"file with the client certificate, PEM; needed outside the sandbox"`
	TellerKey         string      `env:"TELLER_PRIVATE_KEY" doc:"file with its key, PEM"`
	TellerSigningKey  seal.Secret `env:"TELLER_SIGNING_KEY" doc:"the token signing key of Teller's dashboard; without it what Teller Connect gives is not checked"`
	TellerWebhooks    seal.Secret `env:"TELLER_WEBHOOK_SECRETS" doc:"the secrets that sign Teller's webhooks, comma-separated"`
	TellerURL         string      `env:"TELLER_URL" doc:"another address than Teller's own, for a simulator"`
	TellerCA          string      `env:"TELLER_CA" doc:"file with the authority that a simulator's certificate is of, PEM"`
	MetricsListen     string      `env:"METRICS_LISTEN" doc:"where to serve Prometheus metrics at /metrics; nowhere if empty"`
	LogLevel          slog.Level  `env:"LOG_LEVEL" envDefault:"INFO" doc:"DEBUG, INFO, WARN or ERROR"`
	LogFormat         string      `env:"LOG_FORMAT" envDefault:"text" doc:"text or json"`
	RatePerMinute     int         `env:"RATE_PER_MINUTE" envDefault:"3000" doc:"requests a minute that one key may make"`
	RateBurst         int         `env:"RATE_BURST" envDefault:"300" doc:"of these at once"`
	AuthFailures      int         `env:"AUTH_FAILURES_PER_MINUTE" envDefault:"20" doc:"failed authentications a minute from one address"`
	LoginsPerMinute   int         `env:"LOGINS_PER_MINUTE" envDefault:"10" doc:"sign-ins a minute from one address"`
	OAuthClientHosts  []string    `env:"OAUTH_CLIENT_HOSTS" envDefault:"claude.ai,claude.com,chatgpt.com,openai.com,cursor.com,vscode.dev" doc:"hosts that are asked who an assistant is that goes by an address there; * for any, none for none"`
	TrustedProxies    []string    `env:"TRUSTED_PROXIES" doc:"networks of reverse proxies, comma-separated, whose X-Forwarded-For is believed: 10.0.0.0/8"`
	OIDCIssuer        string      `env:"OIDC_ISSUER" doc:"an identity provider that members may sign in through: https://id.example.com"`
	OIDCClientID      string      `env:"OIDC_CLIENT_ID" doc:"what this server is called there; its redirect address is <public URL>/login/oidc/callback"`
	OIDCClientSecret  seal.Secret `env:"OIDC_CLIENT_SECRET" doc:"from there, if it gives one"`
	OIDCName          string      `env:"OIDC_NAME" envDefault:"your identity provider" doc:"how the sign-in page calls it"`
	Server            string      `env:"SERVER" doc:"for commands: the server to run on instead of the database"`
	APIKey            seal.Secret `env:"API_KEY" doc:"for commands: the key for that server, and for coffer mcp"`
}

const prefix = "COFFER_"

// Load reads the configuration from the environment.
func Load() (Config, error) {
	var c Config
	err := env.ParseWithOptions(&c, env.Options{Prefix: prefix})
	if fault, ok := errors.AsType[env.ParseError](err); ok { // it names the field of Config, which nobody set
		f, _ := reflect.TypeFor[Config]().FieldByName(fault.Name)
		wanted := "a whole number"
		if f.Type == reflect.TypeFor[slog.Level]() {
			wanted = f.Tag.Get("doc")
		}
		return Config{}, errs.New(errs.ValidationError, "%s%s must be %s", prefix, f.Tag.Get("env"), wanted)
	}
	if err != nil {
		return Config{}, fmt.Errorf("the environment: %w", err)
	}
	return c, nil
}

// check refuses addresses that something would stumble over later, far from where they were set.
func (c Config) check() error {
	for name, address := range map[string]string{"LISTEN": c.Listen, "METRICS_LISTEN": c.MetricsListen} {
		if _, _, err := net.SplitHostPort(address); address != "" && err != nil {
			return errs.New(errs.ValidationError, "%s%s must be host:port, such as 127.0.0.1:8080", prefix, name)
		}
	}
	if u, err := url.Parse(c.PublicURL); c.PublicURL != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return errs.New(errs.ValidationError, "%sPUBLIC_URL must be a whole address, such as https://coffer.example.com", prefix)
	}
	return nil
}

// ring is the key ring, or nil when no key is set: then nothing can be sealed, and what needs it says so.
func (c Config) ring() (*seal.Ring, error) {
	if c.EncryptionKey.IsZero() {
		return nil, nil
	}
	return seal.NewRing(c.EncryptionKey.Reveal(), c.EncryptionKeysOld...)
}

func (c Config) host() string {
	u, err := url.Parse(c.PublicURL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// address is where links to this server begin: what is configured, or loopback, or "" where only the caller knows under which name he came.
func (c Config) address() string {
	if c.PublicURL != "" {
		return strings.TrimSuffix(c.PublicURL, "/")
	}
	if host, port, err := net.SplitHostPort(c.Listen); err == nil && port != "0" && (host == "localhost" || net.ParseIP(host).IsLoopback()) {
		return "http://" + c.Listen
	}
	return ""
}

// origin is the scheme and host of the public address, as a browser names where a page came from.
func (c Config) origin() string {
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// base is the address that we give people: what is configured, never what a request claims.
func (c Config) base() string {
	if a := c.address(); a != "" {
		return a
	}
	return "http://" + c.Listen
}

func (c Config) logger() *slog.Logger {
	o := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}

// A Setting is one variable as doctor and the manual list it.
type Setting struct{ Name, Default, Doc string }

// Settings are all variables there are.
func Settings() []Setting {
	var list []Setting
	for f := range reflect.TypeFor[Config]().Fields() {
		list = append(list, Setting{prefix + f.Tag.Get("env"), f.Tag.Get("envDefault"), f.Tag.Get("doc")})
	}
	return list
}

// strangers are variables that look like ours and are none: most likely typos.
func strangers(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, prefix) && !strings.HasPrefix(name, prefix+"TEST_") &&
			!slices.ContainsFunc(Settings(), func(s Setting) bool { return s.Name == name }) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}
