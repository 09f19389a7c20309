package storetest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"testing"
	"time"
)

// CA is a certificate authority that lives as long as a test.
type CA struct {
	PEM  string // its own certificate
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewCA makes an authority.
func NewCA(t testing.TB) *CA {
	t.Helper()
	ca := &CA{key: newKey(t)}
	ca.cert = template("Test authority")
	ca.cert.IsCA, ca.cert.BasicConstraintsValid, ca.cert.KeyUsage = true, true, x509.KeyUsageCertSign
	ca.PEM = ca.sign(t, ca.cert, &ca.key.PublicKey)
	return ca
}

// Issue makes a certificate and key, both PEM, for a server of the names and
// addresses, or for a client of the first name.
func (ca *CA) Issue(t testing.TB, names ...string) (cert, key string) {
	t.Helper()
	tpl := template(names[0])
	tpl.KeyUsage = x509.KeyUsageDigitalSignature
	tpl.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			tpl.IPAddresses = append(tpl.IPAddresses, ip)
		} else {
			tpl.DNSNames = append(tpl.DNSNames, n)
		}
	}
	k := newKey(t)
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatalf("marshal the key: %v", err)
	}
	return ca.sign(t, tpl, &k.PublicKey), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func (ca *CA) sign(t testing.TB, tpl *x509.Certificate, pub *ecdsa.PublicKey) string {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, tpl, ca.cert, pub, ca.key)
	if err != nil {
		t.Fatalf("sign %s: %v", tpl.Subject.CommonName, err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

func template(name string) *x509.Certificate {
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62)) // fails only with a reader that fails
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("make a key: %v", err)
	}
	return k
}
