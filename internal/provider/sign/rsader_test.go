package sign

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/json"
	"encoding/pem"
	"errors"
	"math/big"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// bareKey is what looks like a key, factors of so many bits, without the values that
// make signing fast. They are not even those of one key: that is seen after the values
// were worked out.
func bareKey(t *testing.T, factors ...uint) []byte {
	t.Helper()
	key := rsaNumbers{N: big.NewInt(1), E: 65537}
	var all []*big.Int
	for _, bits := range factors {
		all = append(all, oddOf(t, bits))
		key.N.Mul(key.N, all[len(all)-1])
	}
	key.D, key.P, key.Q = oddOf(t, uint(key.N.BitLen())-1), all[0], all[1]
	if len(all) == 2 {
		return asDER(t, struct {
			Version int
			N       *big.Int
			E       int
			D, P, Q *big.Int
		}{0, key.N, key.E, key.D, key.P, key.Q})
	}
	key.Version, key.Dp, key.Dq, key.Qinv = 1, big.NewInt(1), big.NewInt(1), big.NewInt(1)
	for _, f := range all[2:] {
		key.More = append(key.More, rsaFactor{f, big.NewInt(1), big.NewInt(1)})
	}
	return asDER(t, key)
}

func asDER(t *testing.T, v any) []byte {
	t.Helper()
	der, err := asn1.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// boxed is a key of PKCS#1 as PKCS#8, with attributes when there are any.
func boxed(t *testing.T, der []byte, attributes ...asn1.RawValue) []byte {
	t.Helper()
	return asDER(t, struct {
		Version    int
		Algorithm  pkix.AlgorithmIdentifier
		Key        []byte
		Attributes []asn1.RawValue `asn1:"optional,omitempty,tag:0,set"`
	}{0, pkix.AlgorithmIdentifier{Algorithm: oidRSA, Parameters: asn1.NullRawValue}, der, attributes})
}

func asPEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// A key that lacks the values for fast signing keeps the standard library busy, one of
// 65,536 bits for minutes, before it finds that these are none: that the refusal is for
// the size shows that it was never asked.
func TestHugeKeysAreNotParsed(t *testing.T) {
	t.Parallel()
	huge := bareKey(t, 8192, 8192)
	mixed := func(change func(*rsaNumbers)) []byte {
		var key rsaNumbers
		if err := parseDER(bareKey(t, 1024, 1024), &key); err != nil {
			t.Fatal(err)
		}
		change(&key)
		return asDER(t, struct {
			Version int
			N       *big.Int
			E       int
			D, P, Q *big.Int
		}{0, key.N, key.E, key.D, key.P, key.Q})
	}
	//nolint:staticcheck // as in rsakey.go
	old, err := x509.EncryptPEMBlock(rand.Reader, "RSA PRIVATE KEY", huge, []byte("open"), x509.PEMCipherAES128)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, text, passphrase string
		oracleOnly             bool
	}{
		{"PKCS#1", asPEM("RSA PRIVATE KEY", huge), "", false},
		{"PKCS#8", asPEM("PRIVATE KEY", boxed(t, huge)), "", false},
		{"more bytes than any key has", asPEM("RSA PRIVATE KEY", bareKey(t, 32768, 32768)), "", false},
		{"encrypted", string(pem.EncodeToMemory(old)), "open", true},
		{"one bit more", asPEM("RSA PRIVATE KEY", mixed(func(k *rsaNumbers) { k.N = oddOf(t, 4097) })), "", false},
		{"a small modulus, a huge exponent", asPEM("RSA PRIVATE KEY", mixed(func(k *rsaNumbers) { k.D = oddOf(t, 16384) })), "", false},
		{"a small modulus, a huge factor", asPEM("RSA PRIVATE KEY", mixed(func(k *rsaNumbers) { k.P = oddOf(t, 16384) })), "", false},
		{"a small modulus, another huge factor", asPEM("RSA PRIVATE KEY", mixed(func(k *rsaNumbers) { k.Q = oddOf(t, 16384) })), "", false},
		{"three factors", asPEM("RSA PRIVATE KEY", bareKey(t, 1024, 1024, 8192)), "", false},
	} {
		if _, err := rsaKey(c.text, c.passphrase); !errors.Is(err, errKeySize) || !fault.Has(err, fault.InvalidRequest) {
			t.Errorf("%s, Oracle: %v", c.name, err)
		}
		if _, err := readKey(c.text); !c.oracleOnly && !errors.Is(err, errKeySize) {
			t.Errorf("%s, Google: %v", c.name, err)
		}
	}
}

// The same by the way that a caller's key takes.
func TestHugeKeysOfCallersAreRefused(t *testing.T) {
	t.Parallel()
	text := asPEM("RSA PRIVATE KEY", bareKey(t, 8192, 8192))
	doc, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "a@b", "private_key": text})
	if err != nil {
		t.Fatal(err)
	}
	set := New(Options{})
	for scheme, v := range map[string]provider.Values{
		"oci": {"oracle_tenancy": "t", "oracle_user": "u", "oracle_fingerprint": "f", "oracle_private_key": text},
		"gcp": {gcpAccount: string(doc)},
	} {
		h := wire.Header{}
		err := set.Sign(t.Context(), &Request{Method: "GET", Scheme: "https", Host: "h", Target: "/", Header: &h}, &provider.Auth{Scheme: scheme}, v)
		if !fault.Has(err, fault.InvalidRequest) || !errors.Is(err, errKeySize) || len(h) != 0 {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

// Every key of 4,096 bits is read, however it is wrapped.
func TestLargestKeysAreRead(t *testing.T) {
	t.Parallel()
	block, _ := pem.Decode([]byte(hugeKey(t, 4096)))
	name := asn1.RawValue{FullBytes: asDER(t, struct {
		ID     asn1.ObjectIdentifier
		Values []string `asn1:"set"`
	}{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 20}, []string{string(make([]byte, 4096))}})}
	for what, der := range map[string][]byte{"PKCS#1": block.Bytes, "PKCS#8": boxed(t, block.Bytes), "PKCS#8 with attributes": boxed(t, block.Bytes, name)} {
		if key, err := parseRSA(der); err != nil || key.N.BitLen() != 4096 {
			t.Errorf("%s, %d bytes: %v", what, len(der), err)
		}
	}
	// That these are no keys is for the library to say.
	for what, factors := range map[string][]uint{"no fast values": {2048, 2048}, "factors of unlike size": {3072, 1024}, "four factors": {1024, 1024, 1024, 1024}} {
		if _, err := parseRSA(bareKey(t, factors...)); errors.Is(err, errKeySize) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// The rounds that an encrypted key asks for have a limit.
func TestPBES2RoundsAreBounded(t *testing.T) {
	t.Parallel()
	for rounds, want := range map[int]error{1: nil, pbes2Rounds: nil, pbes2Rounds + 1: errPBES2, 0: errPBES2, -1: errPBES2} {
		params := asDER(t, struct {
			Salt   []byte
			Rounds int
		}{make([]byte, 8), rounds})
		derive := pkix.AlgorithmIdentifier{Algorithm: oidPBKDF2, Parameters: asn1.RawValue{FullBytes: params}}
		if key, err := pbes2Key(derive, "open", sha1.Size); !errors.Is(err, want) || (err == nil) != (len(key) == sha1.Size) {
			t.Errorf("%d rounds: %v", rounds, err)
		}
	}
}
