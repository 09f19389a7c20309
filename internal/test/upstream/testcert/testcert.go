// Package testcert makes throw-away certificates: an authority and one server
// certificate that it signed, both new each time and good for a day.
package testcert

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

// Authority is a CA with the server certificate it signed. It is not changed
// after New and safe for concurrent use.
type Authority struct {
	ca   *x509.Certificate
	leaf tls.Certificate
}

// Options of New.
type Options struct {
	Names   []string // host names and addresses the server certificate is good for; nil: 127.0.0.1, ::1, localhost
	Expired bool     // the server certificate ended yesterday
}

// New makes an authority and its server certificate.
func New(o Options) (*Authority, error) {
	ca, caKey, err := newCA()
	if err != nil {
		return nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(rand.Reader, o.server(), ca, key.Public(), caKey)
	if err != nil {
		return nil, err
	}
	return &Authority{ca: ca, leaf: tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}}, nil
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

// server is the template of the server certificate.
func (o Options) server() *x509.Certificate {
	tmpl := template(2, "upstream of the tests")
	tmpl.KeyUsage, tmpl.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	if o.Expired {
		tmpl.NotBefore, tmpl.NotAfter = time.Now().AddDate(0, 0, -2), time.Now().AddDate(0, 0, -1)
	}
	if o.Names == nil {
		o.Names = []string{"127.0.0.1", "::1", "localhost"}
	}
	for _, n := range o.Names {
		if ip := net.ParseIP(n); ip != nil {
			tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
			continue
		}
		tmpl.DNSNames = append(tmpl.DNSNames, n)
	}
	return tmpl
}

func template(serial int64, name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
}

// Config is a server's TLS settings that offer these protocols, for example "h2"
// and "http/1.1", the first one preferred.
func (a *Authority) Config(protocols ...string) *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{a.leaf}, MinVersion: tls.VersionTLS12, NextProtos: protocols}
}

// PEM is the authority's certificate, which clients must trust.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.ca.Raw})
}

// Pool is the same as a pool of roots.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.ca)
	return pool
}
