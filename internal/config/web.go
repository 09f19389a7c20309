package config

import (
	"crypto/tls"
	"fmt"

	"sluice/internal/sealed"
)

// TLS holds the gateway's own certificate. Without one it speaks plain HTTP.
type TLS struct {
	// Cert is the certificate shown to clients, PEM, followed by intermediates if
	// there are any. It needs `TLS_KEY`.
	Cert string `env:"TLS_CERT" check:"certificates"`

	// Key is the private key of `TLS_CERT`, PEM, not encrypted.
	Key sealed.String `env:"TLS_KEY" check:"private-key"`

	// CA holds further certificates, PEM, that complete the chain shown to clients.
	// It does not ask clients for certificates of their own.
	CA string `env:"TLS_CA" check:"certificates"`

	// CertPath is a file to read `TLS_CERT` from.
	CertPath string `env:"TLS_CERT_PATH" loads:"TLS_CERT"`

	// KeyPath is a file to read `TLS_KEY` from.
	KeyPath string `env:"TLS_KEY_PATH" loads:"TLS_KEY"`

	// CAPath is a file to read `TLS_CA` from.
	CAPath string `env:"TLS_CA_PATH" loads:"TLS_CA"`
}

// Enabled reports whether the gateway is to listen with TLS.
func (t TLS) Enabled() bool { return t.Cert != "" }

// Certificate is the key pair with its whole chain. It fails when the key does not
// belong to the certificate, which Load has ruled out.
func (t TLS) Certificate() (tls.Certificate, error) {
	pair, err := tls.X509KeyPair([]byte(t.Cert+"\n"+t.CA), []byte(t.Key.Reveal()))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("tls key pair: %w", err)
	}
	return pair, nil
}

func (t TLS) validate(report reporter) {
	checkPair(report, "TLS", t.Cert, t.Key)
	if t.CA != "" && t.Cert == "" {
		report("TLS_CA", "is set without TLS_CERT", "a chain together with its certificate")
	}
}

// checkPair requires that prefix_CERT and prefix_KEY come together and match.
func checkPair(report reporter, prefix, cert string, key sealed.String) {
	switch {
	case cert == "" && key.Empty():
	case key.Empty():
		report(prefix+"_KEY", "is missing beside "+prefix+"_CERT", "the private key of that certificate")
	case cert == "":
		report(prefix+"_CERT", "is missing beside "+prefix+"_KEY", "the certificate of that private key")
	default:
		if _, err := tls.X509KeyPair([]byte(cert), []byte(key.Reveal())); err != nil {
			report(prefix+"_KEY", "does not belong to "+prefix+"_CERT", "the private key of that certificate")
		}
	}
}

// CORS says which web pages may call the gateway from a browser.
type CORS struct {
	// Enabled answers preflight requests and adds the CORS headers. Credentials such
	// as cookies are never allowed.
	Enabled bool `env:"ENABLE_CORS" envDefault:"OFF"`

	// AllowedOrigins are the origins of the pages that may call; `*` stands for all.
	AllowedOrigins []string `env:"CORS_ALLOWED_ORIGINS" envDefault:"*" check:"origin"`

	// AllowedMethods are the methods that a page may use.
	AllowedMethods []string `env:"CORS_ALLOWED_METHODS" envDefault:"GET,POST,PUT,PATCH,DELETE,OPTIONS" check:"method"`

	// AllowedHeaders are the request headers that a page may send; `*` allows
	// whatever the browser asks for.
	AllowedHeaders []string `env:"CORS_ALLOWED_HEADERS" envDefault:"*" check:"header-or-star"`

	// ExposeHeaders are the response headers that a page may read; `*` stands for all.
	// Clients in a page go by some of the provider's (retry-after) as by some of ours.
	ExposeHeaders []string `env:"CORS_ALLOWED_EXPOSE_HEADERS" envDefault:"*" check:"header-or-star"`
}
