package sign

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// ociSigner signs with the API key of an Oracle user: an HTTP signature with RSA-SHA256,
// version 1. It does not call a token server.
// Source: https://docs.oracle.com/iaas/Content/API/Concepts/signingrequests.htm, read
// 2026-11; contract/providers.yaml, shared.auth.oci.
type ociSigner struct {
	clock ident.Clock
	keys  store[[sha256.Size]byte, *rsa.PrivateKey] // by the hash of key and passphrase
}

var _ Signer = (*ociSigner)(nil)

func newOCI(o Options) *ociSigner { return &ociSigner{clock: o.Clock} }

// The names of the signed lines, in this order. Requests with a body also sign the lines about
// the body.
const (
	ociBare = "date (request-target) host"
	ociFull = ociBare + " content-length content-type x-content-sha256"
)

// Sign adds authorization, date and, for requests with a body, x-content-sha256 and a missing
// content-type.
func (s *ociSigner) Sign(_ context.Context, r *Request, _ *provider.Auth, v provider.Values) error {
	id, err := ociKeyID(v)
	if err != nil {
		return err
	}
	key, err := s.key(v["oracle_private_key"], v["oracle_key_passphrase"])
	if err != nil {
		return err
	}
	names := ociBare
	if r.Method == http.MethodPost || r.Method == http.MethodPut || r.Method == http.MethodPatch {
		names = ociFull
		if err := ociBody(r); err != nil {
			return err
		}
	}
	r.Header.Set("date", s.clock.Now().UTC().Format(http.TimeFormat))
	signature, err := ociSignature(key, ociText(r, names))
	if err != nil {
		return err
	}
	r.Header.Set("authorization", `Signature version="1",headers="`+names+`",keyId="`+id+`",algorithm="rsa-sha256",signature="`+signature+`"`)
	return nil
}

// ociKeyID returns the id of the key: "ocid1.tenancy…/ocid1.user…/20:3b:97:…".
func ociKeyID(v provider.Values) (string, error) {
	id := ""
	for i, name := range [...]string{"oracle_tenancy", "oracle_user", "oracle_fingerprint"} {
		switch val := v[name]; {
		case val == "":
			return "", fault.Newf(fault.InvalidRequest, "Oracle requires %s", name).WithParam(name)
		case !wire.ValidValue(val) || strings.ContainsAny(val, `"/`):
			return "", fault.Newf(fault.InvalidRequest, "%s must not contain control characters, quotes or slashes", name).WithParam(name)
		case i > 0:
			id += "/" + val
		default:
			id = val
		}
	}
	return id, nil
}

// ociBody sets the header lines about the body.
func ociBody(r *Request) error {
	sum, err := payloadHash(r, "")
	if err != nil {
		return err
	}
	raw, err := hex.DecodeString(sum)
	if err != nil {
		return err
	}
	r.Header.Set("x-content-sha256", base64.StdEncoding.EncodeToString(raw))
	if !r.Header.Has("content-type") {
		r.Header.Set("content-type", "application/json") // Oracle returns 401 without one
	}
	return nil
}

// ociText returns the signed text: one line for each name.
func ociText(r *Request, names string) string {
	var b strings.Builder
	for name := range strings.SplitSeq(names, " ") {
		var val string
		switch name {
		case "(request-target)":
			val = strings.ToLower(r.Method) + " " + r.Target
		case "host":
			val = r.Host
		case "content-length":
			val = strconv.FormatInt(r.Body.Len(), 10)
		default:
			val = r.Header.Get(name)
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(name + ": " + val)
	}
	return b.String()
}

func ociSignature(key *rsa.PrivateKey, text string) (string, error) {
	sum := sha256.Sum256([]byte(text))
	raw, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil { // for example a key of 512 bits
		return "", fault.New(fault.InvalidRequest, "cannot sign with oracle_private_key").WithParam("oracle_private_key").WithCause(err)
	}
	return base64.StdEncoding.EncodeToString(raw), nil
}

// key reads a key and caches it, because opening an encrypted key is slow.
func (s *ociSigner) key(text, passphrase string) (*rsa.PrivateKey, error) {
	if text == "" {
		return nil, fault.New(fault.InvalidRequest, "signing for Oracle requires oracle_private_key").WithParam("oracle_private_key")
	}
	name := sha256.Sum256([]byte(strconv.Itoa(len(text)) + ":" + text + passphrase))
	return s.keys.get(name, func() (*rsa.PrivateKey, error) { return rsaKey(text, passphrase) })
}
