package sign

import (
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
)

// rsaMaxBits is the maximum size of a signing key. Oracle and Google issue keys of 2,048 and
// 4,096 bits. A key from a caller could be so large that reading it or signing takes minutes.
const rsaMaxBits = 4096

// rsaMaxBytes is the maximum size of a key as DER. A key of 4,096 bits has 2,375 bytes, and 26
// more as PKCS#8. PKCS#8 may also contain attributes: a name, or the public key again. (ours)
const rsaMaxBytes = 8 << 10

var (
	errKeySize = errors.New("must not exceed 4096 bits")
	errKeyKind = errors.New("must be an RSA key")

	oidRSA = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
)

// rsaNumbers is a key of PKCS#1. Its fields and optional fields equal those of the standard
// library, so both read the same numbers.
// Source: RFC 8017, appendix A.1.2.
type rsaNumbers struct {
	Version int
	N       *big.Int
	E       int
	D, P, Q *big.Int
	Dp      *big.Int    `asn1:"optional"`
	Dq      *big.Int    `asn1:"optional"`
	Qinv    *big.Int    `asn1:"optional"`
	More    []rsaFactor `asn1:"optional,omitempty"`
}

// rsaFactor is a third or later prime.
type rsaFactor struct{ Prime, Exp, Coeff *big.Int }

// fits reports whether the key has at most rsaMaxBits bits. Checking N alone is not enough: the
// library calculates with the factors before it detects that their product differs from N.
func (k *rsaNumbers) fits() bool {
	factors := []*big.Int{k.P, k.Q}
	for _, f := range k.More {
		factors = append(factors, f.Prime)
	}
	bits := 1 // minimum size of the product
	for _, f := range factors {
		bits += max(f.BitLen()-1, 0)
	}
	return max(k.N.BitLen(), k.D.BitLen(), bits) <= rsaMaxBits
}

// parseRSA reads an unencrypted key of PKCS#1 or PKCS#8. It checks the size before the standard
// library reads the key. The library computes the values that a key lacks, which takes minutes
// for a huge key and cannot be cancelled by a context.
//
// Errors are errKeySize, errKeyKind, or those of the library. None contains any part of the
// key.
func parseRSA(der []byte) (*rsa.PrivateKey, error) {
	if len(der) > rsaMaxBytes {
		return nil, errKeySize
	}
	var box struct {
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}
	if _, err := asn1.Unmarshal(der, &box); err == nil { // PKCS#8, with attributes after the key
		if !box.Algorithm.Algorithm.Equal(oidRSA) {
			return nil, errKeyKind
		}
		der = box.Key
	}
	var numbers rsaNumbers
	if err := parseDER(der, &numbers); err != nil {
		return nil, err
	}
	if !numbers.fits() {
		return nil, errKeySize
	}
	return x509.ParsePKCS1PrivateKey(der)
}
