package app

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"
)

// The figures say when the certificate ends that is shown.
func TestCertificateInFigures(t *testing.T) {
	t.Parallel()
	s := freshSettings(t)
	until := time.Now().Add(40 * 24 * time.Hour).Truncate(time.Second)
	s.TLS.Cert, s.TLS.Key = certificate(t, time.Now().Add(-time.Hour), until, []string{"gw"})
	a, _ := opened(t, s)
	w := httptest.NewRecorder()
	a.metrics.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	_, shown, _ := strings.Cut(w.Body.String(), "\nsluice_tls_certificate_expires_timestamp_seconds ")
	shown, _, _ = strings.Cut(shown, "\n")
	if ends, err := strconv.ParseFloat(shown, 64); err != nil || int64(ends) != until.Unix() {
		t.Errorf("%q, %v, and it ends at %d", shown, err, until.Unix())
	}
}
