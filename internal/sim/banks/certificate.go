package banks

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"time"
)

// certificates are the PEM data that a client needs.
type certificates struct {
	ca, client, key []byte
}

// newCertificates creates an authority, a certificate for the server and one for its client. A
// client without a certificate can connect, because Teller responds with 400 instead of closing the
// connection.
func newCertificates() (certificates, *tls.Config, error) {
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "banksim"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().AddDate(10, 0, 0),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	root, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return certificates{}, nil, err
	}
	ca, err := x509.CreateCertificate(rand.Reader, authority, authority, &root.PublicKey, root)
	if err != nil {
		return certificates{}, nil, err
	}
	issue := func(serial int64, use x509.ExtKeyUsage) (cert, key []byte, err error) {
		private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			return nil, nil, err
		}
		der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "banksim"}, NotBefore: authority.NotBefore,
			NotAfter: authority.NotAfter,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{use},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}, authority, &private.PublicKey, root)
		if err != nil {
			return nil, nil, err
		}
		raw, err := x509.MarshalPKCS8PrivateKey(private)
		return block("CERTIFICATE", der), block("PRIVATE KEY", raw), err
	}
	serverCert, serverKey, err := issue(2, x509.ExtKeyUsageServerAuth)
	if err != nil {
		return certificates{}, nil, err
	}
	clientCert, clientKey, err := issue(3, x509.ExtKeyUsageClientAuth)
	if err != nil {
		return certificates{}, nil, err
	}
	pair, err := tls.X509KeyPair(serverCert, serverKey)
	if err != nil {
		return certificates{}, nil, err
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(block("CERTIFICATE", ca))
	return certificates{block("CERTIFICATE", ca), clientCert, clientKey}, &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, ClientCAs: pool,
		ClientAuth: tls.VerifyClientCertIfGiven,
	}, nil
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
