package app

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
)

// showCertificate shows when the certificate of the listener ends, which is read at the start
// alone: one that was renewed and not taken shows, too.
func (a *App) showCertificate(pair tls.Certificate) error {
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return fmt.Errorf("read the certificate of the listener: %w", err)
	}
	ends := float64(leaf.NotAfter.Unix())
	a.metrics.Gauge("sluice_tls_certificate_expires_timestamp_seconds", "When the certificate that the listener shows ends.", func() float64 { return ends })
	return nil
}
