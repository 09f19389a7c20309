package doctor

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/internal/kernel/sealed"
	"sluice/internal/ops/config"
)

func marked(f Finding) string {
	switch {
	case f.Err != nil && f.Warning:
		return "warn " + f.Message()
	case f.Err != nil:
		return "FAIL " + f.Message()
	}
	return f.Message()
}

func wants(t *testing.T, message, start string, parts ...string) {
	t.Helper()
	if !strings.HasPrefix(message, start) {
		t.Errorf("%q does not begin with %q", message, start)
	}
	for _, p := range parts {
		if !strings.Contains(message, p) {
			t.Errorf("%q does not say %q", message, p)
		}
	}
}

// What holds the address of the listener is named.
func TestDoctorOfTheListener(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`{"status":"ok","version":"1","database":"ok","journal":"ok"}`: {"a gateway already responds"},
		"<html>hello</html>": {"listen tcp", "address already in use; stop the program that listens there, or choose another address with --listen and --port"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }))
		c := Listener{Address: strings.TrimPrefix(srv.URL, "http://"), HealthURL: srv.URL + "/v1/health"}
		wants(t, c.check(t.Context()).Message(), want[0], want[1:]...)
		srv.Close()
	}
}

// A certificate is looked at as clients look at it: for whom it is, and when.
func TestDoctorOfCertificates(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for _, c := range []struct {
		from, until time.Duration // from now
		names       []string
		message     string
		parts       []string
	}{
		{-day, 90 * day, []string{"gw.example", "gw"}, "the certificate of gw.example, gw, 10.0.0.1 is valid until ", nil},
		{-day, 90 * day, nil, "the certificate of 10.0.0.1 is valid until ", nil},
		{-day, 3 * day, []string{"gw"}, "warn the certificate of gw, 10.0.0.1 expires on ", []string{"renew the certificate"}},
		{-9 * day, -day, []string{"gw"}, "FAIL the certificate of gw, 10.0.0.1 expired on ", []string{"TLS_CERT and TLS_KEY"}},
		{day, 90 * day, []string{"gw"}, "FAIL the certificate of gw, 10.0.0.1 is not valid until ", []string{"set the clock"}},
	} {
		var s config.TLS
		s.Cert, s.Key = certificate(t, time.Now().Add(c.from), time.Now().Add(c.until), c.names)
		f := Certificate{s}.check()
		wants(t, marked(f), c.message, c.parts...)
	}
}

// certificate is one for names and 10.0.0.1, with its key.
func certificate(t *testing.T, from, until time.Time, names []string) (string, sealed.String) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until, DNSNames: names, IPAddresses: []net.IP{net.IPv4(10, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	return text("CERTIFICATE", der), sealed.New(text("PRIVATE KEY", secret))
}
