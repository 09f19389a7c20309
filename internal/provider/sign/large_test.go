package sign

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"

	"sluice/internal/kernel/fault"
)

// hugeKey is what looks like an RSA key of so many bits. Its factors are no primes, as
// nobody checks who has to sign with it.
func hugeKey(t *testing.T, bits uint) string {
	t.Helper()
	one, e, d := big.NewInt(1), big.NewInt(65537), new(big.Int)
	var p, q *big.Int
	for d.BitLen() == 0 {
		p, q = oddOf(t, bits/2), oddOf(t, bits/2)
		phi := new(big.Int).Mul(new(big.Int).Sub(p, one), new(big.Int).Sub(q, one))
		if d.ModInverse(e, phi) == nil || new(big.Int).ModInverse(q, p) == nil {
			d = new(big.Int)
		}
	}
	mod := func(n *big.Int) *big.Int { return new(big.Int).Mod(d, new(big.Int).Sub(n, one)) }
	der, err := asn1.Marshal(struct {
		Version                   int
		N, E, D, P, Q, Dp, Dq, Qi *big.Int
	}{0, new(big.Int).Mul(p, q), e, d, p, q, mod(p), mod(q), new(big.Int).ModInverse(q, p)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x509.ParsePKCS1PrivateKey(der); err != nil {
		t.Fatal("the key is refused for another reason:", err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: der}))
}

func oddOf(t *testing.T, bits uint) *big.Int {
	t.Helper()
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), bits))
	if err != nil {
		t.Fatal(err)
	}
	return n.SetBit(n, 0, 1).SetBit(n, int(bits)-1, 1).SetBit(n, int(bits)-2, 1)
}

// A signature with a key of 32,768 bits takes ten seconds.
func TestHugeKeysAreRefused(t *testing.T) {
	t.Parallel()
	text := hugeKey(t, 8192)
	if _, err := rsaKey(text, ""); !fault.Has(err, fault.InvalidRequest) || !strings.Contains(err.Error(), "4096 bits") {
		t.Errorf("Oracle: %v", err)
	}
	if _, err := readKey(text); err == nil {
		t.Error("Google: it was taken")
	}
}

// Who brings a key that takes long to open keeps nobody else waiting.
func TestStoreWaitsForNoOther(t *testing.T) {
	t.Parallel()
	var s store[string, int]
	begun, release, done := make(chan struct{}), make(chan struct{}), make(chan int)
	go func() {
		v, _ := s.get("slow", func() (int, error) { close(begun); <-release; return 1, nil })
		done <- v
	}()
	<-begun
	for key, want := range map[string]int{"other": 2, "slow": 3} {
		if v, err := s.get(key, func() (int, error) { return want, nil }); v != want || err != nil {
			t.Errorf("%s: %d %v", key, v, err)
		}
	}
	close(release)
	if v := <-done; v != 3 {
		t.Errorf("two items of one key: %d", v)
	}
}
