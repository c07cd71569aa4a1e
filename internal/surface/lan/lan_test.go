package lan

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// trusts reports whether a phone that trusts the authority accepts the certificate for a host.
func trusts(t *testing.T, a *Authority, c *tls.Certificate, host string) error {
	t.Helper()
	roots := x509.NewCertPool()
	roots.AddCert(a.Certificate)
	_, err := c.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: host})
	return err
}

func TestAuthorityIsStable(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "lan")
	prints := make([]string, 8)
	var all sync.WaitGroup
	for i := range prints { // also if several servers start at once
		all.Go(func() {
			if a, err := Open(dir); err != nil {
				t.Error(err)
			} else {
				prints[i] = a.Fingerprint()
			}
		})
	}
	all.Wait()
	for _, p := range prints {
		if p != prints[0] {
			t.Errorf("two authorities: %s, %s", p, prints[0])
		}
	}
	info, err := os.Stat(filepath.Join(dir, "authority.pem"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info.Mode(), err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}

func TestCertificates(t *testing.T) {
	t.Parallel()
	a, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	source := a.Serve("192.168.1.20", "house.local")
	c, err := source(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, host := range []string{"192.168.1.20", "house.local"} {
		if err := trusts(t, a, c, host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if again, err := source(nil); err != nil || again != c {
		t.Error("each connection gets another certificate")
	}
	if raw, _ := pem.Decode(a.PEM()); raw == nil || raw.Type != "CERTIFICATE" || len(pem.EncodeToMemory(raw)) != len(a.PEM()) {
		t.Error("what phones get is more than the certificate")
	}
	for _, host := range []string{"bank.example.com", "8.8.8.8"} { // a stolen key must be useless outside the home
		stolen, err := a.issue([]string{host}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if trusts(t, a, stolen, host) == nil {
			t.Errorf("the authority vouches for %s", host)
		}
	}
	if IsPrivate(net.ParseIP("8.8.8.8")) || !IsPrivate(net.ParseIP("192.168.1.1")) {
		t.Error("private networks are wrong")
	}
}

// TestRenewal checks that a certificate that is about to expire is replaced while the server runs.
func TestRenewal(t *testing.T) {
	t.Parallel()
	a, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	old, err := a.issue([]string{"127.0.0.1"}, time.Now().Add(-serverLife+renewBefore-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if time.Until(old.Leaf.NotAfter) >= renewBefore {
		t.Fatal("control: it need not be renewed")
	}
	made, err := a.Serve("127.0.0.1")(nil)
	if err != nil || time.Until(made.Leaf.NotAfter) < renewBefore {
		t.Errorf("%v %v", made, err)
	}
}

func write(t *testing.T, c *tls.Certificate, cert, key string) {
	t.Helper()
	secret, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: c.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFiles checks that new files are used without a restart, and that files that do not match are
// not used.
func TestFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := Files(cert, key); err == nil {
		t.Error("files that are not there were read")
	}
	issue := func() *tls.Certificate {
		c, err := a.issue([]string{"127.0.0.1"}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	first, second := issue(), issue()
	write(t, first, cert, key)
	f := &files{certificate: cert, key: key}
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	serves := func() *x509.Certificate {
		f.looked = time.Time{} // as if some seconds had passed
		c, err := f.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return c.Leaf
	}
	write(t, second, cert, filepath.Join(dir, "other.pem")) // half of a renewal
	if !serves().Equal(first.Leaf) {
		t.Error("a certificate is served without its key")
	}
	write(t, second, cert, key)
	if !serves().Equal(second.Leaf) {
		t.Error("the new certificate is not served")
	}
}

// An authority signs only host names that exist in the local network. A certificate with another
// name violates the authority's own constraints.
func TestNamesThatMayBeSigned(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"desk.local": true, "Desk.LOCAL": true, "a.b.local": true, "localhost": true, "desk.localhost": true,
		"desk.home.arpa": true, "desk.fritz.box": false, "desk.lan": false, "*.local": false, "a.local/../x": false,
		"local": false, "home.arpa": false, "desk": false, "": false, ".local": false, "-a.local": false,
		"desk.local.": false, "desk.local:80": false, "desk.local.example.com": false, "desklocal": false,
	} {
		if MaySign(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}
