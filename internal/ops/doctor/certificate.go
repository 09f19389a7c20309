package doctor

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/ops/config"
)

// Certificate checks the certificate of the listener: for which names and how long it is valid.
type Certificate struct{ TLS config.TLS }

// Run implements Check.
func (c Certificate) Run(context.Context) []Finding { return []Finding{c.check()} }

func (c Certificate) check() Finding {
	f := Finding{Subject: "tls", Hint: "renew the certificate and set TLS_CERT and TLS_KEY, or TLS_CERT_PATH and TLS_KEY_PATH"}
	if c.TLS.Cert == "" {
		f.Detail = "the listener uses plain HTTP; use it only on this machine or behind a proxy with TLS"
		return f
	}
	pair, err := c.TLS.Certificate()
	if err != nil {
		f.Err = err
		return f
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		f.Err = err
		return f
	}
	name, from, until := certified(leaf), leaf.NotBefore.Format(time.DateOnly), leaf.NotAfter.Format(time.DateOnly)
	switch now := time.Now(); {
	case now.After(leaf.NotAfter):
		f.Err = fmt.Errorf("the certificate of %s expired on %s", name, until)
	case now.Before(leaf.NotBefore):
		f.Err = fmt.Errorf("the certificate of %s is not valid until %s", name, from)
		f.Hint = "set the clock if it is wrong, wait until the certificate is valid, or " + f.Hint
	case now.Add(renewalTime).After(leaf.NotAfter):
		f.Err, f.Warning = fmt.Errorf("the certificate of %s expires on %s", name, until), true
	}
	f.Detail = fmt.Sprintf("the certificate of %s is valid until %s", name, until)
	return f
}

// renewalTime is the time before its expiry at which a certificate should be renewed.
const renewalTime = 7 * 24 * time.Hour

// certified returns the names that a certificate is for. The name of its subject seldom contains
// them today.
func certified(leaf *x509.Certificate) string {
	names := slices.Clone(leaf.DNSNames)
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	if len(names) == 0 {
		return cmp.Or(leaf.Subject.CommonName, "an unnamed subject")
	}
	return strings.Join(names, ", ")
}
