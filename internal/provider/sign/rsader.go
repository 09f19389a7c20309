package sign

import (
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
)

// rsaMaxBits is the largest key that is signed with. Oracle and Google give out keys of
// 2,048 and 4,096 bits; what a caller brings could be so large that a signature, or
// reading the key, takes minutes.
const rsaMaxBits = 4096

// rsaMaxBytes bounds a key as DER. One of 4,096 bits has 2,375 bytes, 26 more as PKCS#8,
// which may hold attributes besides: a name, the public key once more. (ours)
const rsaMaxBytes = 8 << 10

var (
	errKeySize = errors.New("must not exceed 4096 bits")
	errKeyKind = errors.New("must be an RSA key")

	oidRSA = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
)

// rsaNumbers is a key of PKCS#1. The fields and what is optional are those that the
// standard library reads, so that both see the same numbers.
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

// fits says whether the key has at most rsaMaxBits bits. N alone does not tell: the
// library works with the factors before it sees that their product is another number.
func (k *rsaNumbers) fits() bool {
	factors := []*big.Int{k.P, k.Q}
	for _, f := range k.More {
		factors = append(factors, f.Prime)
	}
	bits := 1 // at least, of the product
	for _, f := range factors {
		bits += max(f.BitLen()-1, 0)
	}
	return max(k.N.BitLen(), k.D.BitLen(), bits) <= rsaMaxBits
}

// parseRSA reads a key of PKCS#1 or PKCS#8 that is not encrypted. Its size is judged
// before the standard library sees it: that works out the values which a key lacks, for
// minutes where the key is huge, and no context ends it.
//
// Errors are errKeySize, errKeyKind, or the library's. None holds anything of the key.
func parseRSA(der []byte) (*rsa.PrivateKey, error) {
	if len(der) > rsaMaxBytes {
		return nil, errKeySize
	}
	var box struct {
		Version   int
		Algorithm pkix.AlgorithmIdentifier
		Key       []byte
	}
	if _, err := asn1.Unmarshal(der, &box); err == nil { // PKCS#8, attributes behind it
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
