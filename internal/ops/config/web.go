package config

import (
	"crypto/tls"
	"fmt"

	"sluice/internal/kernel/sealed"
)

// TLS sets the certificate of the gateway. Without a certificate the gateway uses plain
// HTTP.
type TLS struct {
	// Cert is the certificate for clients in PEM form, followed by any intermediate
	// certificates. It requires `TLS_KEY`.
	Cert string `env:"TLS_CERT" check:"certificates"`

	// Key is the private key of `TLS_CERT` in PEM form, not encrypted.
	Key sealed.String `env:"TLS_KEY" check:"private-key"`

	// CA contains additional certificates in PEM form that complete the chain sent to
	// clients. The gateway does not request client certificates.
	CA string `env:"TLS_CA" check:"certificates"`

	// CertPath is the path of a file that contains `TLS_CERT`.
	CertPath string `env:"TLS_CERT_PATH" loads:"TLS_CERT"`

	// KeyPath is the path of a file that contains `TLS_KEY`.
	KeyPath string `env:"TLS_KEY_PATH" loads:"TLS_KEY"`

	// CAPath is the path of a file that contains `TLS_CA`.
	CAPath string `env:"TLS_CA_PATH" loads:"TLS_CA"`
}

// Enabled reports whether the gateway is to listen with TLS.
func (t TLS) Enabled() bool { return t.Cert != "" }

// Certificate is the key pair with its whole chain. It fails when the key does not
// belong to the certificate, which Load has ruled out.
func (t TLS) Certificate() (tls.Certificate, error) {
	pair, err := tls.X509KeyPair([]byte(t.Cert+"\n"+t.CA), []byte(t.Key.Reveal()))
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("load TLS key pair: %w", err)
	}
	return pair, nil
}

func (t TLS) validate(report reporter) {
	checkPair(report, "TLS", t.Cert, t.Key)
	if t.CA != "" && t.Cert == "" {
		report("TLS_CA", "is set without TLS_CERT", "the CA chain together with its certificate")
	}
}

// checkPair requires that prefix_CERT and prefix_KEY come together and match.
func checkPair(report reporter, prefix, cert string, key sealed.String) {
	switch {
	case cert == "" && key.Empty():
	case key.Empty():
		report(prefix+"_KEY", "is required with "+prefix+"_CERT", "the private key of that certificate")
	case cert == "":
		report(prefix+"_CERT", "is required with "+prefix+"_KEY", "the certificate of that private key")
	default:
		if _, err := tls.X509KeyPair([]byte(cert), []byte(key.Reveal())); err != nil {
			report(prefix+"_KEY", "does not belong to "+prefix+"_CERT", "the private key of that certificate")
		}
	}
}

// CORS sets which web pages can call the gateway from a browser.
type CORS struct {
	// Enabled allows calls from browsers: the gateway responds to preflight requests and
	// adds CORS headers. Credentials such as cookies are never allowed.
	Enabled bool `env:"ENABLE_CORS" envDefault:"OFF"`

	// AllowedOrigins are the origins of pages that can call the gateway. `*` allows all.
	AllowedOrigins []string `env:"CORS_ALLOWED_ORIGINS" envDefault:"*" check:"origin"`

	// AllowedMethods are the HTTP methods that a page can use.
	AllowedMethods []string `env:"CORS_ALLOWED_METHODS" envDefault:"GET,POST,PUT,PATCH,DELETE,OPTIONS" check:"method"`

	// AllowedHeaders are the request headers that a page can send. `*` allows every header
	// that the browser requests.
	AllowedHeaders []string `env:"CORS_ALLOWED_HEADERS" envDefault:"*" check:"header-or-star"`

	// ExposeHeaders are the response headers that a page can read. `*` exposes all. Clients
	// in a page need some headers of the gateway and some of the provider, such as
	// `retry-after`.
	ExposeHeaders []string `env:"CORS_ALLOWED_EXPOSE_HEADERS" envDefault:"*" check:"header-or-star"`
}
