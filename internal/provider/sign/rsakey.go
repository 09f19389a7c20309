package sign

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"strings"

	"sluice/internal/kernel/fault"
)

// rsaKey reads a private key in PEM form as OpenSSL and Oracle's console write it: PKCS#1 or
// PKCS#8, encrypted or not. Errors are fault.InvalidRequest and name the invalid field.
func rsaKey(text, passphrase string) (*rsa.PrivateKey, error) {
	b := pemBlock(text)
	if b == nil {
		return nil, badKey("oracle_private_key must be an RSA private key in PEM form, beginning with -----BEGIN PRIVATE KEY-----", nil)
	}
	der, err := opened(b, passphrase)
	if err != nil {
		return nil, err
	}
	key, err := parseRSA(der)
	switch {
	case errors.Is(err, errKeySize), errors.Is(err, errKeyKind):
		return nil, badKey("oracle_private_key "+err.Error(), err)
	case err != nil:
		return nil, badKey("oracle_private_key is not a readable private key", err)
	}
	return key, nil
}

// opened returns the content of a block, decrypted where it is encrypted.
func opened(b *pem.Block, passphrase string) ([]byte, error) {
	pkcs8, legacy := b.Type == "ENCRYPTED PRIVATE KEY", b.Headers["DEK-Info"] != ""
	if (pkcs8 || legacy) && passphrase == "" {
		return nil, badPassphrase("oracle_private_key is encrypted; set oracle_key_passphrase", nil)
	}
	der, err := b.Bytes, error(nil)
	switch {
	case pkcs8:
		der, err = pbes2Open(b.Bytes, passphrase)
	case legacy:
		//nolint:staticcheck // a weak way of encrypting, but keys that OpenSSL wrote before version 3 have it
		der, err = x509.DecryptPEMBlock(b, []byte(passphrase))
	}
	if err != nil {
		return nil, badPassphrase("cannot decrypt oracle_private_key with oracle_key_passphrase", err)
	}
	return der, nil
}

// pemBlock finds the key in a string. Header lines and many secret stores do not permit line
// breaks. There a key has \n or a space instead of each.
func pemBlock(text string) *pem.Block {
	text = strings.ReplaceAll(text, `\n`, "\n")
	if b, _ := pem.Decode([]byte(text)); b != nil {
		return b
	}
	before, rest, _ := strings.Cut(text, "-----BEGIN ")
	kind, rest, _ := strings.Cut(rest, "-----")
	body, _, found := strings.Cut(rest, "-----END "+kind+"-----")
	if !found || strings.TrimSpace(before) != "" {
		return nil
	}
	body = strings.Join(strings.Fields(body), "\n")
	b, _ := pem.Decode([]byte("-----BEGIN " + kind + "-----\n" + body + "\n-----END " + kind + "-----\n"))
	return b
}

func badKey(text string, cause error) error {
	return fault.New(fault.InvalidRequest, text).WithParam("oracle_private_key").WithCause(cause)
}

func badPassphrase(text string, cause error) error {
	return fault.New(fault.InvalidRequest, text).WithParam("oracle_key_passphrase").WithCause(cause)
}
