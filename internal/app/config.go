package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"time"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/seal"
	"github.com/caarlos0/env/v11"
)

// A Config holds all settings, which come from environment variables only. Zero values are usable
// defaults.
type Config struct {
	DatabaseURL       seal.Secret   `env:"DATABASE_URL" doc:"PostgreSQL database: postgres://user:password@host:5432/name"`
	DatabaseMaxConns  int           `env:"DATABASE_MAX_CONNS" envDefault:"10" doc:"maximum database connections for calls and jobs; with two or more, some are reserved for sign-in, health checks and job leases. One more connection listens for jobs, and each running export uses its own"`
	Listen            string        `env:"LISTEN" envDefault:"127.0.0.1:8080" doc:"listen address (loopback by default)"`
	PublicURL         string        `env:"PUBLIC_URL" doc:"public URL of the server, if it is not loopback"`
	TLSCert           string        `env:"TLS_CERT" doc:"PEM file with the HTTPS certificate chain; reloaded when it changes"`
	TLSKey            string        `env:"TLS_KEY" doc:"PEM file with the private key of the certificate"`
	AllowHTTP         bool          `env:"ALLOW_HTTP" envDefault:"false" doc:"true lets people sign in over plain HTTP, with a warning on every page; for a home network behind an app store's proxy. Passkeys, connecting apps and what only admins may do still need HTTPS or this machine"`
	EncryptionKey     seal.Secret   `env:"ENCRYPTION_KEY" doc:"32-byte key in base64 that encrypts bank credentials; create one: openssl rand -base64 32"`
	EncryptionKeysOld []string      `env:"ENCRYPTION_KEYS_OLD" doc:"previous keys, comma-separated, until you have run coffer key rotate"`
	BackupPassphrase  seal.Secret   `env:"BACKUP_PASSPHRASE" doc:"passphrase for coffer backup and coffer restore"`
	BackupRecipients  []string      `env:"BACKUP_RECIPIENTS" doc:"public keys from age-keygen for backups, comma-separated, instead of the passphrase"`
	BackupDir         string        `env:"BACKUP_DIR" doc:"folder for backups: coffer serve writes one every COFFER_BACKUP_EVERY and, like coffer migrate, one before it migrates; off if empty"`
	BackupEvery       time.Duration `env:"BACKUP_EVERY" envDefault:"24h" doc:"how often a backup is made, by coffer serve or by your own schedule; after twice that time it is overdue"`
	BackupKeep        int           `env:"BACKUP_KEEP" envDefault:"30" doc:"number of scheduled backups to keep in COFFER_BACKUP_DIR"`
	Migrations        fs.FS         `env:"-"` // nil means this program's migrations
	Providers         Providers     `env:"-"`
	AnthropicKey      seal.Secret   `env:"ANTHROPIC_API_KEY" doc:"API key for Anthropic models"`
	AnthropicURL      string        `env:"ANTHROPIC_URL" doc:"base URL of an Anthropic-compatible server"`
	OpenAIKey         seal.Secret   `env:"OPENAI_API_KEY" doc:"API key for OpenAI or an OpenAI-compatible server"`
	OpenAIURL         string        `env:"OPENAI_URL" doc:"base URL of that server, such as http://127.0.0.1:11434/v1"`
	LANAddress        string        `env:"LAN_ADDRESS" doc:"with serve --lan: this machine's address on the home network, such as 192.168.1.20; for a container, whose own address nobody can reach"`
	LAN               *LAN          `env:"-"`
	MetricsListen     string        `env:"METRICS_LISTEN" doc:"listen address for Prometheus metrics at /metrics; off if empty"`
	LogLevel          slog.Level    `env:"LOG_LEVEL" envDefault:"INFO" doc:"DEBUG, INFO, WARN or ERROR"`
	LogFormat         string        `env:"LOG_FORMAT" envDefault:"text" doc:"text or json"`
	RatePerMinute     int           `env:"RATE_PER_MINUTE" envDefault:"3000" doc:"requests per minute and key"`
	RateBurst         int           `env:"RATE_BURST" envDefault:"300" doc:"requests that a key may send in a burst"`
	AuthFailures      int           `env:"AUTH_FAILURES_PER_MINUTE" envDefault:"20" doc:"failed authentications per minute from one address"`
	LoginsPerMinute   int           `env:"LOGINS_PER_MINUTE" envDefault:"10" doc:"sign-ins per minute from one address"`
	OAuthClientHosts  []string      `env:"OAUTH_CLIENT_HOSTS" envDefault:"claude.ai,claude.com,chatgpt.com,openai.com,cursor.com,vscode.dev" doc:"hosts allowed for OAuth client metadata documents; * allows any, none disables"`
	TrustedProxies    []string      `env:"TRUSTED_PROXIES" doc:"networks of trusted reverse proxies (X-Forwarded-For), comma-separated: 10.0.0.0/8"`
	OIDCIssuer        string        `env:"OIDC_ISSUER" doc:"OpenID Connect issuer for sign-in: https://id.example.com"`
	OIDCClientID      string        `env:"OIDC_CLIENT_ID" doc:"client id at the identity provider; the redirect URL is <public URL>/login/oidc/callback"`
	OIDCClientSecret  seal.Secret   `env:"OIDC_CLIENT_SECRET" doc:"client secret, if the provider issues one"`
	OIDCName          string        `env:"OIDC_NAME" envDefault:"your identity provider" doc:"name of the identity provider on the sign-in page"`
	Server            string        `env:"SERVER" doc:"for commands: server to use instead of the database"`
	APIKey            seal.Secret   `env:"API_KEY" doc:"for commands and coffer mcp: API key of that server"`
}

const prefix = "COFFER_"

// Load reads the configuration from the environment.
func Load() (Config, error) {
	var c Config
	given, err := environ()
	if err != nil {
		return Config{}, err
	}
	err = env.ParseWithOptions(&c, env.Options{Prefix: prefix, Environment: given})
	// The error names the field of Config. People know only the variable.
	if fault, ok := errors.AsType[env.ParseError](err); ok {
		f, _ := reflect.TypeFor[Config]().FieldByName(fault.Name)
		wanted := "a whole number"
		if f.Type.Kind() == reflect.Bool {
			wanted = "true or false"
		}
		if f.Type == reflect.TypeFor[time.Duration]() {
			wanted = "a duration above 0, such as 24h"
		}
		if f.Type == reflect.TypeFor[slog.Level]() {
			wanted = f.Tag.Get("doc")
		}
		return Config{}, errs.New(errs.ValidationError, "%s%s must be %s", prefix, f.Tag.Get("env"), wanted)
	}
	if err != nil {
		return Config{}, fmt.Errorf("read the environment: %w", err)
	}
	c.Providers = providerValues(func(name string) string { return given[name] })
	return c, c.numbers(1)
}

const largestNumber = 1_000_000_000

// numbers rejects numeric settings below least. A limit of 0 would block everything, and a negative
// one would limit nothing. Load has already filled in defaults, so a 0 was set on purpose; in a
// Config that a program makes, 0 means the default.
func (c Config) numbers(least int64) error {
	v := reflect.ValueOf(c)
	for f := range v.Type().Fields() {
		field := v.FieldByIndex(f.Index)
		if !field.CanInt() || f.Type == reflect.TypeFor[slog.Level]() {
			continue
		}
		if n := field.Int(); n < least || f.Type.Kind() == reflect.Int && n > largestNumber {
			wanted := "a whole number from 1 to 1,000,000,000"
			if f.Type == reflect.TypeFor[time.Duration]() {
				wanted = "a duration above 0, such as 24h"
			}
			return errs.New(errs.ValidationError, "%s%s must be %s", prefix, f.Tag.Get("env"), wanted)
		}
	}
	return nil
}

// check refuses settings that would otherwise cause an error much later, far from where they were
// set.
func (c Config) check() error {
	if err := c.numbers(0); err != nil {
		return err
	}
	for name, address := range map[string]string{"LISTEN": c.Listen, "METRICS_LISTEN": c.MetricsListen} {
		if _, _, err := net.SplitHostPort(address); address != "" && err != nil {
			return errs.New(errs.ValidationError, "%s%s must be host:port, such as 127.0.0.1:8080", prefix, name)
		}
	}
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return errs.New(errs.ValidationError, "%[1]sTLS_CERT and %[1]sTLS_KEY must be set together", prefix)
	}
	if c.https() && strings.HasPrefix(c.PublicURL, "http://") {
		return errs.New(errs.ValidationError,
			"%sPUBLIC_URL must begin with https://, because this server speaks HTTPS", prefix)
	}
	if c.AllowHTTP && (c.https() || strings.HasPrefix(c.PublicURL, "https://")) {
		return errs.New(errs.ValidationError,
			"%sALLOW_HTTP is for a server that people reach over plain HTTP; remove it, because this one has HTTPS",
			prefix)
	}
	if c.BackupDir != "" && c.BackupPassphrase.IsZero() && len(c.BackupRecipients) == 0 {
		return errs.New(errs.ValidationError, "%[1]sBACKUP_DIR needs %[1]sBACKUP_PASSPHRASE or %[1]sBACKUP_RECIPIENTS",
			prefix)
	}
	if u, err := url.Parse(c.PublicURL); c.PublicURL != "" &&
		(err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return errs.New(errs.ValidationError,
			"%sPUBLIC_URL must be a complete address, such as https://coffer.example.com", prefix)
	}
	return nil
}

// ring returns the key ring, or nil if no key is set. Then nothing can be sealed, and operations
// that need it return an error.
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

// address returns the base address of links to this server: the configured public address, or
// loopback, or "" if only the caller knows the server's name.
func (c Config) address() string {
	if c.PublicURL != "" {
		return strings.TrimSuffix(c.PublicURL, "/")
	}
	if host, port, err := net.SplitHostPort(c.Listen); err == nil && port != "0" &&
		(host == "localhost" || net.ParseIP(host).IsLoopback()) {
		return c.scheme() + c.Listen
	}
	return ""
}

// https reports whether this server itself speaks HTTPS, without a proxy.
func (c Config) https() bool { return c.TLSCert != "" || c.LAN != nil }

func (c Config) scheme() string {
	if c.https() {
		return "https://"
	}
	return "http://"
}

// origin is the scheme and host of the public address, as a browser names where a page came from.
func (c Config) origin() string {
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// base returns the address that coffer shows to people. It always comes from the configuration,
// never from a request.
func (c Config) base() string {
	if a := c.address(); a != "" {
		return a
	}
	return c.scheme() + c.Listen
}

func (c Config) logger() *slog.Logger {
	o := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(os.Stderr, o))
	}
	return slog.New(slog.NewTextHandler(os.Stderr, o))
}

// A Setting is one variable, as listed by doctor and the manual.
type Setting struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Doc     string `json:"doc"`
}

// Settings returns all variables.
func Settings() []Setting {
	var list []Setting
	for f := range reflect.TypeFor[Config]().Fields() {
		switch f.Name {
		case "Providers":
			list = append(list, providerSettings()...)
			continue
		case "LAN": // a flag of serve
			continue
		}
		list = append(list, Setting{prefix + f.Tag.Get("env"), f.Tag.Get("envDefault"), f.Tag.Get("doc")})
	}
	return fileSettings(list)
}

// strangers returns variables that begin with coffer's prefix but are not settings, most likely
// because of a typo.
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
