package app

import "crypto/tls"

// showCertificate registers a metric with the expiry of the listener's certificate. The
// certificate is read only at the start, so the metric also reveals a renewed certificate that is
// not loaded.
func (a *base) showCertificate(pair tls.Certificate) {
	ends := float64(pair.Leaf.NotAfter.Unix())
	a.metrics.Gauge("sluice_tls_certificate_expires_timestamp_seconds", "Expiry time of the listener's certificate.", func() float64 { return ends })
}
