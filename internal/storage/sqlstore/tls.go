package sqlstore

import (
	"crypto/tls"
	"crypto/x509"
	_ "embed"
	"errors"
	"fmt"
	"strings"
)

// amazonRDS contains the certificate authorities of Amazon's managed databases.
//
//go:embed amazon_rds.pem
var amazonRDS []byte

// protection is the TLS configuration of a driver. A nil config means plain text.
type protection struct {
	config   *tls.Config
	fallback bool // plain text when the server offers no TLS
}

// protect translates DB_SSL* for a host. The modes have the meaning of the MySQL client, on
// PostgreSQL too. REQUIRED encrypts and verifies nothing, not even with a CA. VERIFY_CA checks
// the chain. VERIFY_IDENTITY checks the host name as well. AMAZON_RDS is VERIFY_IDENTITY against
// the authorities of that service, and against DB_SSL_CA if set.
func (t TLS) protect(host string) (protection, error) {
	mode := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToUpper(strings.TrimSpace(t.Mode)))
	if mode == "" || mode == "DISABLED" {
		return protection{}, nil
	}
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12}
	var err error
	if c.Certificates, err = t.clientCertificates(); err != nil {
		return protection{}, err
	}
	var bundle []byte
	switch mode {
	case "PREFERRED", "REQUIRED":
		c.InsecureSkipVerify = true
		return protection{c, mode == "PREFERRED"}, nil
	case "VERIFY_CA", "VERIFY_IDENTITY":
	case "AMAZON_RDS":
		bundle = amazonRDS
	default:
		return protection{}, fmt.Errorf("DB_SSL is %q, but must be DISABLED, PREFERRED, REQUIRED, VERIFY_CA, VERIFY_IDENTITY or AMAZON_RDS", t.Mode)
	}
	if c.RootCAs, err = roots(bundle, []byte(t.CA)); err != nil {
		return protection{}, err
	}
	if mode == "VERIFY_CA" {
		c.InsecureSkipVerify = true // only the name is not checked: verifyChain does the rest
		c.VerifyConnection = verifyChain(c.RootCAs)
	}
	return protection{c, false}, nil
}

func (t TLS) clientCertificates() ([]tls.Certificate, error) {
	if t.Cert == "" && t.Key.Empty() {
		return nil, nil
	}
	pair, err := tls.X509KeyPair([]byte(t.Cert), []byte(t.Key.Reveal()))
	if err != nil {
		return nil, fmt.Errorf("DB_SSL_CERT and DB_SSL_KEY: %w", err)
	}
	return []tls.Certificate{pair}, nil
}

// roots makes a pool of PEM texts. It returns nil, the system's authorities, if all are empty.
func roots(pems ...[]byte) (*x509.CertPool, error) {
	var pool *x509.CertPool
	for _, p := range pems {
		if len(p) == 0 {
			continue
		}
		if pool == nil {
			pool = x509.NewCertPool()
		}
		if !pool.AppendCertsFromPEM(p) {
			return nil, errors.New("DB_SSL_CA must be a certificate in PEM form")
		}
	}
	return pool, nil
}

// verifyChain checks everything except the host name.
func verifyChain(pool *x509.CertPool) func(tls.ConnectionState) error {
	return func(s tls.ConnectionState) error {
		opts := x509.VerifyOptions{Roots: pool, Intermediates: x509.NewCertPool()}
		for _, c := range s.PeerCertificates[1:] {
			opts.Intermediates.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(opts)
		return err
	}
}
