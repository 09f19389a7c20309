package app

import "crypto/tls"

// showCertificate shows when the certificate of the listener ends, which is read at the start
// alone: one that was renewed and not taken shows, too.
func (a *App) showCertificate(pair tls.Certificate) {
	ends := float64(pair.Leaf.NotAfter.Unix())
	a.metrics.Gauge("sluice_tls_certificate_expires_timestamp_seconds", "Expiry time of the listener's certificate.", func() float64 { return ends })
}
