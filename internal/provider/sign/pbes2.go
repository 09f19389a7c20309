package sign

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"hash"
)

// pbes2Rounds is the maximum number of key derivation rounds. OpenSSL uses 2,048. The limit
// prevents a caller from occupying a processor with a large number. (ours)
const pbes2Rounds = 100_000

var (
	oidPBES2  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 13}
	oidPBKDF2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 5, 12}

	errPBES2   = errors.New("unknown key encryption; only PBES2 with PBKDF2 is supported")
	errPadding = errors.New("the passphrase is wrong")
)

// pbes2Hashes and pbes2Ciphers are the algorithms with which OpenSSL encrypts keys.
var (
	pbes2Hashes = map[string]func() hash.Hash{
		"1.2.840.113549.2.7": sha1.New, // the default when none is named
		"1.2.840.113549.2.9": sha256.New,
	}
	pbes2Ciphers = map[string]struct {
		size  int // of the key in bytes
		block func([]byte) (cipher.Block, error)
	}{
		"2.16.840.1.101.3.4.1.2":  {16, aes.NewCipher},
		"2.16.840.1.101.3.4.1.22": {24, aes.NewCipher},
		"2.16.840.1.101.3.4.1.42": {32, aes.NewCipher},
		"1.2.840.113549.3.7":      {24, des.NewTripleDESCipher},
	}
)

// pbes2Open decrypts an EncryptedPrivateKeyInfo of PKCS#8 and returns the key in it.
// Source: RFC 8018, appendix A.
func pbes2Open(der []byte, passphrase string) ([]byte, error) {
	var box struct {
		Algorithm pkix.AlgorithmIdentifier
		Data      []byte
	}
	if err := parseDER(der, &box); err != nil {
		return nil, err
	}
	var scheme struct{ Derive, Encrypt pkix.AlgorithmIdentifier }
	if !box.Algorithm.Algorithm.Equal(oidPBES2) {
		return nil, errPBES2
	}
	if err := parseDER(box.Algorithm.Parameters.FullBytes, &scheme); err != nil {
		return nil, err
	}
	c, known := pbes2Ciphers[scheme.Encrypt.Algorithm.String()]
	if !known {
		return nil, errPBES2
	}
	key, err := pbes2Key(scheme.Derive, passphrase, c.size)
	if err != nil {
		return nil, err
	}
	block, err := c.block(key)
	if err != nil {
		return nil, err
	}
	var iv []byte
	if err := parseDER(scheme.Encrypt.Parameters.FullBytes, &iv); err != nil {
		return nil, err
	}
	return unchain(block, iv, box.Data)
}

// pbes2Key derives the key from a passphrase.
func pbes2Key(derive pkix.AlgorithmIdentifier, passphrase string, size int) ([]byte, error) {
	var p struct {
		Salt   []byte
		Rounds int
		Size   int                      `asn1:"optional"`
		Hash   pkix.AlgorithmIdentifier `asn1:"optional"`
	}
	if !derive.Algorithm.Equal(oidPBKDF2) {
		return nil, errPBES2
	}
	if err := parseDER(derive.Parameters.FullBytes, &p); err != nil {
		return nil, err
	}
	h := sha1.New
	if len(p.Hash.Algorithm) > 0 {
		h = pbes2Hashes[p.Hash.Algorithm.String()]
	}
	if h == nil || p.Rounds < 1 || p.Rounds > pbes2Rounds {
		return nil, errPBES2
	}
	return pbkdf2.Key(h, passphrase, p.Salt, p.Rounds, size)
}

// unchain decrypts in CBC mode and removes the padding.
func unchain(block cipher.Block, iv, data []byte) ([]byte, error) {
	n := block.BlockSize()
	if len(iv) != n || len(data) == 0 || len(data)%n != 0 {
		return nil, errPBES2
	}
	out := make([]byte, len(data))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, data)
	pad := int(out[len(out)-1])
	if pad == 0 || pad > n {
		return nil, errPadding
	}
	for _, b := range out[len(out)-pad:] {
		if int(b) != pad {
			return nil, errPadding
		}
	}
	return out[:len(out)-pad], nil
}

// parseDER reads one value and refuses trailing bytes.
func parseDER(der []byte, into any) error {
	rest, err := asn1.Unmarshal(der, into)
	if err == nil && len(rest) > 0 {
		err = errors.New("unexpected data after the key")
	}
	return err
}
