package app

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"

	"coffer/internal/platform/errs"
	"coffer/internal/platform/qr"
	"coffer/internal/surface/lan"
	"github.com/spf13/cobra"
)

// A LAN is what serve --lan adds: HTTPS on the home network, with the household's own certificate
// authority.
type LAN struct {
	Authority *lan.Authority
	Hosts     []string // addresses and names on the certificates
}

// lanPort is the port of serve --lan unless a flag chooses another.
const lanPort = 8443

// authorityPath is the path at which phones download the authority's certificate.
const authorityPath = "/authority.crt"

// handler serves the authority's certificate in addition to next. The certificate is not secret,
// and a phone needs it before it can trust the server.
func (l *LAN) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != authorityPath || r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/x-x509-ca-cert")
		w.Header().Set("Content-Disposition", `attachment; filename="coffer.crt"`)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(l.Authority.PEM())
	})
}

// secure returns the TLS configuration of the server, or nil if it does not use TLS.
func (c Config) secure() (*tls.Config, error) {
	switch {
	case c.LAN != nil:
		return c.LAN.Authority.Serve(c.LAN.Hosts...).Config(), nil
	case c.TLSCert != "":
		source, err := lan.Files(c.TLSCert, c.TLSKey)
		if err != nil {
			return nil, errs.Wrap(err, errs.ValidationError,
				"the certificate in COFFER_TLS_CERT and COFFER_TLS_KEY cannot be used: %s", err.Error())
		}
		return source.Config(), nil
	}
	return nil, nil
}

// serveCommand runs the server, with --lan on the home network.
func serveCommand(config Config) *cobra.Command {
	var home bool
	var address, name, directory string
	var port int
	serve := &cobra.Command{
		Use: "serve", Short: "Migrate the database and start the server", Args: cobra.NoArgs,
		Long: `Migrates the database and runs the server on the address in COFFER_LISTEN until you stop it.
With --lan it serves HTTPS on this machine's home network address instead, with its own certificate, and
prints the address as a QR code for a phone.`,
		Example: "  COFFER_DATABASE_URL=postgres://coffer@127.0.0.1:5432/coffer coffer serve\n  coffer serve --lan",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if home {
				if err := config.atHome(address, name, port, directory); err != nil {
					return err
				}
			}
			a, err := Build(cmd.Context(), config, config.logger())
			if err != nil {
				return err
			}
			return a.Serve(cmd.Context(), func(string) {
				if home {
					invite(cmd.OutOrStdout(), config)
				}
			})
		},
	}
	serve.Flags().BoolVar(&home, "lan", false, "serve HTTPS on your home network, for phones")
	serve.Flags().StringVar(&address, "lan-address", "", "with --lan: this machine's address on the home "+
		"network (default: COFFER_LAN_ADDRESS, or detected)")
	serve.Flags().StringVar(&name, "lan-name", "", "with --lan: this machine's host name, such as "+
		"desk.local; required for passkeys")
	serve.Flags().IntVar(&port, "lan-port", lanPort, "with --lan: the port")
	serve.Flags().StringVar(&directory, "lan-dir", "", "with --lan: directory of the certificate authority "+
		"(default: coffer in your configuration directory)")
	return serve
}

// atHome changes the configuration so that the server serves the home network.
func (c *Config) atHome(address, name string, port int, directory string) error {
	if c.PublicURL != "" || c.TLSCert != "" {
		return errs.New(errs.ValidationError, "--lan can't be combined with COFFER_PUBLIC_URL or "+
			"COFFER_TLS_CERT")
	}
	if name != "" && !lan.MaySign(name) {
		return errs.New(errs.ValidationError,
			"--lan-name must end in .local or .home.arpa, such as desk.local, because phones reject other "+
				"names with this certificate; for your own domain, use COFFER_PUBLIC_URL and a certificate")
	}
	at, listen, err := c.homeAddress(address)
	if err != nil {
		return err
	}
	if directory == "" {
		base, err := os.UserConfigDir()
		if err != nil {
			return errs.Wrap(err, errs.ValidationError, "pass the directory of the certificate authority "+
				"with --lan-dir")
		}
		directory = filepath.Join(base, "coffer")
	}
	c.LAN = &LAN{Hosts: []string{at.String()}}
	if c.LAN.Authority, err = lan.Open(directory); err != nil {
		return errs.Wrap(err, errs.ValidationError, "the certificate authority in %s cannot be used: %s", directory,
			err.Error())
	}
	host := at.String()
	if name != "" {
		host, c.LAN.Hosts = name, append(c.LAN.Hosts, name)
	}
	c.Listen = net.JoinHostPort(listen, strconv.Itoa(port))
	c.PublicURL = "https://" + net.JoinHostPort(host, strconv.Itoa(port))
	return c.check()
}

// homeAddress returns this machine's address on the home network, and the address to listen on. A
// container's own addresses are not those that phones reach, so the server in it listens on all of
// them.
func (c *Config) homeAddress(flag string) (at net.IP, listen string, err error) {
	given, name := flag, "--lan-address"
	if given == "" {
		given, name = c.LANAddress, prefix+"LAN_ADDRESS"
	}
	if given == "" {
		if at, err = lan.Address(); err != nil {
			return nil, "", errs.Wrap(err, errs.Unavailable, "%s; pass it with --lan-address", err.Error())
		}
		return at, at.String(), nil
	}
	if at = net.ParseIP(given); !lan.IsPrivate(at) {
		return nil, "", errs.New(errs.ValidationError, "%s must be a private address, such as 192.168.1.20", name)
	}
	if flag == "" && !lan.IsHere(at) {
		return at, "", nil
	}
	return at, at.String(), nil
}

// invite prints how to open coffer on a phone.
func invite(out io.Writer, c Config) {
	address := c.address()
	fmt.Fprintf(out, "\nOn a phone on the same network, scan this or open %s\n\n", address)
	if code, err := qr.Encode(address); err == nil {
		fmt.Fprintln(out, code)
	}
	fmt.Fprintf(out, `The phone shows a warning, because it doesn't know this server's certificate authority yet. Either
continue past the warning each time, or let the phone trust it once:

  1. Open %s%s on the phone and save the file.
  2. iPhone: Settings > Profile Downloaded > Install; then General > About > Certificate Trust Settings: turn it on.
     Android: Settings > Security > Encryption & credentials > Install a certificate > CA certificate.
  3. Before you confirm, compare the SHA-256 fingerprint:

     %s

The authority can only sign certificates for private addresses and .local names.

`, address, authorityPath, c.LAN.Authority.Fingerprint())
}
