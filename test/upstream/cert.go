package upstream

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

// authority is a throw-away CA and the server certificate it signed.
type authority struct {
	ca   *x509.Certificate
	leaf tls.Certificate
}

func newAuthority(names []string, expired bool) (*authority, error) {
	ca, caKey, err := newCA()
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	tmpl := template(2, "upstream of the tests")
	tmpl.KeyUsage, tmpl.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if expired {
		tmpl.NotBefore, tmpl.NotAfter = time.Now().AddDate(0, 0, -2), time.Now().AddDate(0, 0, -1)
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
			continue
		}
		tmpl.DNSNames = append(tmpl.DNSNames, n)
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, ca, key.Public(), caKey)
	if err != nil {
		return nil, err
	}
	return &authority{ca: ca, leaf: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}, nil
}

func newCA() (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	tmpl := template(1, "CA of the tests")
	tmpl.IsCA, tmpl.BasicConstraintsValid, tmpl.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	ca, err := x509.ParseCertificate(der)
	return ca, key, err
}

func template(serial int64, name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

func (a *authority) config(http2 bool) *tls.Config {
	c := &tls.Config{Certificates: []tls.Certificate{a.leaf}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	if http2 {
		c.NextProtos = []string{"h2", "http/1.1"}
	}
	return c
}

// CAPEM is the certificate of the authority that a TLS server's callers must
// trust, in PEM; nil without TLS.
func (s *Server) CAPEM() []byte {
	if s.cert == nil {
		return nil
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.cert.ca.Raw})
}

// Roots is the same as a pool; nil without TLS.
func (s *Server) Roots() *x509.CertPool {
	if s.cert == nil {
		return nil
	}
	pool := x509.NewCertPool()
	pool.AddCert(s.cert.ca)
	return pool
}
