// Package lan lets phones in the home network reach a server over HTTPS. It reads certificates from
// files and notices new ones, and it can be the household's own certificate authority. It must not
// know what the server serves.
package lan

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Source returns the certificate for a connection, as tls.Config.GetCertificate does.
type Source func(*tls.ClientHelloInfo) (*tls.Certificate, error)

// Config returns a server's TLS configuration with certificates from s.
func (s Source) Config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s}
}

// lookEvery is the minimum time between two checks for changed files.
const lookEvery = 10 * time.Second

// Files returns a Source that reads two PEM files. When the files change, new connections get the
// new certificate. While the files do not match, for example during a renewal, the last good
// certificate stays in use.
func Files(certificate, key string) (Source, error) {
	f := &files{certificate: certificate, key: key}
	if err := f.load(); err != nil {
		return nil, err
	}
	return f.get, nil
}

type files struct {
	certificate, key string

	mu     sync.Mutex
	now    *tls.Certificate
	stamp  string // identifies the state of the files that now was read from
	looked time.Time
}

func (f *files) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Since(f.looked) >= lookEvery {
		_ = f.load() // if the new files can't be read, the old certificate stays in use
	}
	return f.now, nil
}

func (f *files) load() error {
	f.looked = time.Now()
	stamp, err := stamp(f.certificate, f.key)
	if err != nil || stamp == f.stamp {
		return err
	}
	c, err := tls.LoadX509KeyPair(f.certificate, f.key)
	if err != nil {
		return err
	}
	f.now, f.stamp = &c, stamp
	return nil
}

// stamp returns a text that changes when one of the files is written again.
func stamp(paths ...string) (string, error) {
	var b strings.Builder
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%d %d ", info.Size(), info.ModTime().UnixNano())
	}
	return b.String(), nil
}

// An Authority is the household's own certificate authority. Its certificates are only valid for
// private addresses and local names, so it cannot impersonate public sites to a phone that trusts
// it.
type Authority struct {
	Certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	serverLife    = 90 * 24 * time.Hour
	renewBefore   = 30 * 24 * time.Hour
)

// Open returns the authority that is stored in a directory, and creates it if there is none. Only
// the owner can read the directory, and the key never leaves it.
func Open(directory string) (*Authority, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, err
	}
	path := filepath.Join(directory, "authority.pem")
	for range 2 {
		raw, err := os.ReadFile(path) //nolint:gosec // the operator's own directory
		if err == nil {
			return parse(raw)
		}
		if !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if err := create(path); err != nil && !errors.Is(err, os.ErrExist) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: cannot be made", path)
}

// create writes a new authority in one step. If two processes do this at once, the first one wins.
func create(path string) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "coffer at home"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(authorityLife), IsCA: true, BasicConstraintsValid: true,
		MaxPathLenZero: true, KeyUsage: x509.KeyUsageCertSign,
		PermittedDNSDomainsCritical: true, PermittedDNSDomains: domains,
		PermittedIPRanges: private(),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(path), "new-") // readable by its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) //nolint:errcheck // it has its own name by then
	err = errors.Join(pem.Encode(file, &pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.Encode(file, &pem.Block{Type: "PRIVATE KEY", Bytes: secret}), file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return os.Link(file.Name(), path) // fails if the authority already exists
}

func parse(raw []byte) (*Authority, error) {
	pair, err := tls.X509KeyPair(raw, raw)
	if err != nil {
		return nil, fmt.Errorf("the authority's file: %w", err)
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the authority's file contains a different kind of key")
	}
	return &Authority{pair.Leaf, key}, nil
}

func serial() *big.Int {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err) // without randomness there can be no key either
	}
	return n
}

// private returns the networks that contain no stranger's servers.
func private() []*net.IPNet {
	var out []*net.IPNet
	for _, s := range []string{
		"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "127.0.0.0/8", "fc00::/7", "fe80::/10",
		"::1/128",
	} {
		_, n, err := net.ParseCIDR(s)
		if err != nil {
			panic(err)
		}
		out = append(out, n)
	}
	return out
}

// domains are the domains in which a household's authority may sign names. They exist only in local
// networks, so a thief of the key cannot impersonate a site on the internet.
var domains = []string{"local", "localhost", "home.arpa"}

// hostName matches the name of a machine.
var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)

// MaySign reports whether an authority may sign a name. If a certificate contains any other name, a
// phone that trusts the authority rejects the whole certificate.
func MaySign(name string) bool {
	name = strings.ToLower(name)
	return len(name) <= 253 && hostName.MatchString(name) && slices.ContainsFunc(domains, func(d string) bool {
		return name == d && d == "localhost" || strings.HasSuffix(name, "."+d)
	})
}

// IsPrivate reports whether an address belongs to a private network.
func IsPrivate(ip net.IP) bool {
	for _, n := range private() {
		if n.Contains(ip) {
			return true
		}
	}
	return false
}

// PEM returns the authority's certificate, which phones must trust. It contains no secret.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.Certificate.Raw})
}

// Fingerprint returns the SHA-256 of the certificate in the form that phones show.
func (a *Authority) Fingerprint() string {
	sum := sha256.Sum256(a.Certificate.Raw)
	parts := make([]string, len(sum))
	for i, b := range sum {
		parts[i] = fmt.Sprintf("%02X", b)
	}
	return strings.Join(parts, ":")
}

// Serve returns certificates for those addresses and names. It creates a new certificate before the
// last one expires, so a server that runs for years needs no restart.
func (a *Authority) Serve(hosts ...string) Source {
	var mu sync.Mutex
	var now *tls.Certificate
	return func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		mu.Lock()
		defer mu.Unlock()
		if now == nil || time.Until(now.Leaf.NotAfter) < renewBefore {
			made, err := a.issue(hosts, time.Now())
			if err != nil {
				return nil, err
			}
			now = made
		}
		return now, nil
	}
}

func (a *Authority) issue(hosts []string, at time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "coffer"}, NotBefore: at.Add(-time.Hour),
		NotAfter: at.Add(serverLife), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.Certificate, &key.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	leaf, err := x509.ParseCertificate(der)
	return &tls.Certificate{Certificate: [][]byte{der, a.Certificate.Raw}, PrivateKey: key, Leaf: leaf}, err
}

// IsHere reports whether this machine has that address. A container has other addresses than its
// host.
func IsHere(at net.IP) bool {
	all, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(all, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(at)
	})
}

// Address returns this machine's address in the home network: the private IPv4 address from which
// it would reach other machines. It sends no packet to find the address.
func Address() (net.IP, error) {
	c, err := net.Dial("udp4", "192.0.2.1:9") //nolint:noctx // UDP: it only asks for the route
	if err == nil {
		defer c.Close() //nolint:errcheck // nothing was sent
		if at, ok := c.LocalAddr().(*net.UDPAddr); ok && IsPrivate(at.IP) && !at.IP.IsLoopback() {
			return at.IP, nil
		}
	}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && IsPrivate(n.IP) && !n.IP.IsLoopback() &&
			!n.IP.IsLinkLocalUnicast() {
			return n.IP, nil
		}
	}
	return nil, errors.New("this machine has no home network address")
}
