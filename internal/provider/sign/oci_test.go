package sign_test

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

func keyFile(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/oci-" + name + ".pem")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func oracle(key, passphrase string) provider.Values {
	return provider.Values{
		"oracle_tenancy": "ocid1.tenancy.oc1..t", "oracle_user": "ocid1.user.oc1..u", "oracle_fingerprint": "20:3b:97:13",
		"oracle_private_key": key, "oracle_key_passphrase": passphrase,
	}
}

var (
	oci      = provider.Auth{Scheme: "oci"}
	ociValue = regexp.MustCompile(`^Signature version="1",headers="([^"]+)",keyId="ocid1\.tenancy\.oc1\.\.t/ocid1\.user\.oc1\.\.u/20:3b:97:13",algorithm="rsa-sha256",signature="([^"]+)"$`)
)

func public(t *testing.T) *rsa.PublicKey {
	t.Helper()
	b, _ := pem.Decode([]byte(keyFile(t, "pkcs1")))
	key, err := x509.ParsePKCS1PrivateKey(b.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return &key.PublicKey
}

// What Oracle rebuilds from the request it got is what was signed.
func TestOCISignsWhatIsSent(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, method, body, contentType string
		want                            string
	}{
		{"get", "GET", "", "", "date: Fri, 20 Nov 2026 12:00:00 GMT\n(request-target): get /20231130/models?limit=2\nhost: inference.generativeai.eu-frankfurt-1.oci.oraclecloud.com"},
		{"post", "POST", `{"a":1}`, "application/json; charset=utf-8", "date: Fri, 20 Nov 2026 12:00:00 GMT\n(request-target): post /20231130/models?limit=2\nhost: inference.generativeai.eu-frankfurt-1.oci.oraclecloud.com\n" +
			"content-length: 7\ncontent-type: application/json; charset=utf-8\nx-content-sha256: AVq9f1zFei3ZS3WQ8ErYCEJzkF7jPsXOvq5iJ2qX+GI="},
		{"empty post", "POST", "", "", "date: Fri, 20 Nov 2026 12:00:00 GMT\n(request-target): post /20231130/models?limit=2\nhost: inference.generativeai.eu-frankfurt-1.oci.oraclecloud.com\n" +
			"content-length: 0\ncontent-type: application/json\nx-content-sha256: 47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
	}
	set := sign.New(sign.Options{Clock: fixedClock("20261120T120000Z")})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := wire.Header{{Name: "date", Value: "of the client"}}
			if c.contentType != "" {
				h.Add("content-type", c.contentType)
			}
			r := &sign.Request{Method: c.method, Scheme: "https", Host: "inference.generativeai.eu-frankfurt-1.oci.oraclecloud.com", Target: "/20231130/models?limit=2", Header: &h, Body: wire.Bytes([]byte(c.body))}
			if err := set.Sign(t.Context(), r, &oci, oracle(keyFile(t, "pkcs1"), "")); err != nil {
				t.Fatal(err)
			}
			m := ociValue.FindStringSubmatch(h.Get("authorization"))
			if m == nil {
				t.Fatalf("authorization: %s", h.Get("authorization"))
			}
			var lines []string
			for _, line := range strings.Split(c.want, "\n") {
				name, val, _ := strings.Cut(line, ": ")
				lines = append(lines, name)
				if sent := h.Get(name); sent != "" && sent != val {
					t.Errorf("%s is sent as %q, want %q", name, sent, val)
				}
			}
			if m[1] != strings.Join(lines, " ") {
				t.Errorf("signed are %s", m[1])
			}
			raw, err := base64.StdEncoding.DecodeString(m[2])
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256([]byte(c.want))
			if err := rsa.VerifyPKCS1v15(public(t), crypto.SHA256, sum[:], raw); err != nil {
				t.Errorf("the signature is not of\n%s", c.want)
			}
		})
	}
}

// All forms of one key sign alike.
func TestOCIKeyForms(t *testing.T) {
	t.Parallel()
	set := sign.New(sign.Options{Clock: fixedClock("20261120T120000Z")})
	one := func(key, passphrase string) string {
		h := wire.Header{}
		r := &sign.Request{Method: "GET", Scheme: "https", Host: "h", Target: "/", Header: &h}
		if err := set.Sign(t.Context(), r, &oci, oracle(key, passphrase)); err != nil {
			t.Fatal(err)
		}
		return h.Get("authorization")
	}
	pkcs1 := keyFile(t, "pkcs1")
	want := one(pkcs1, "")
	for name, got := range map[string]string{
		"again":                one(pkcs1, ""),
		"pkcs8":                one(keyFile(t, "pkcs8"), ""),
		"openssl 1":            one(keyFile(t, "pkcs1-aes128"), "open"),
		"openssl 3":            one(keyFile(t, "pkcs8-aes256"), "open"),
		"triple DES with SHA1": one(keyFile(t, "pkcs8-des3"), "open"),
		"escaped breaks":       one(strings.ReplaceAll(pkcs1, "\n", `\n`), ""),
		"escaped, encrypted":   one(strings.ReplaceAll(keyFile(t, "pkcs1-aes128"), "\n", `\n`), "open"),
		"spaces for breaks":    one(strings.ReplaceAll(pkcs1, "\n", " "), ""),
		"label behind it":      one(pkcs1+"OCI_API_KEY", ""),
		"passphrase unneeded":  one(pkcs1, "open"),
	} {
		if got != want {
			t.Errorf("%s signs differently: %s", name, got)
		}
	}
}

func TestOCIRefusals(t *testing.T) {
	t.Parallel()
	good := keyFile(t, "pkcs1")
	without := func(name string) provider.Values {
		v := oracle(good, "")
		delete(v, name)
		return v
	}
	with := func(name, val string) provider.Values {
		v := oracle(good, "")
		v[name] = val
		return v
	}
	cases := []struct {
		name   string
		values provider.Values
		body   wire.Payload
		want   fault.Code
		param  string
	}{
		{"no tenancy", without("oracle_tenancy"), wire.Payload{}, fault.InvalidRequest, "oracle_tenancy"},
		{"no user", without("oracle_user"), wire.Payload{}, fault.InvalidRequest, "oracle_user"},
		{"no fingerprint", without("oracle_fingerprint"), wire.Payload{}, fault.InvalidRequest, "oracle_fingerprint"},
		{"quote in the user", with("oracle_user", `u",x="`), wire.Payload{}, fault.InvalidRequest, "oracle_user"},
		{"line break in the fingerprint", with("oracle_fingerprint", "20\r\nhost: evil"), wire.Payload{}, fault.InvalidRequest, "oracle_fingerprint"},
		{"no key", without("oracle_private_key"), wire.Payload{}, fault.InvalidRequest, "oracle_private_key"},
		{"no PEM", oracle("MIICXgIBAAKBgQ", ""), wire.Payload{}, fault.InvalidRequest, "oracle_private_key"},
		{"text before", oracle("key: "+strings.ReplaceAll(good, "\n", " "), ""), wire.Payload{}, fault.InvalidRequest, "oracle_private_key"},
		{"cut", oracle(good[:200], ""), wire.Payload{}, fault.InvalidRequest, "oracle_private_key"},
		{"broken inside", oracle("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", ""), wire.Payload{}, fault.InvalidRequest, "oracle_private_key"},
		{"another kind", oracle(keyFile(t, "ed25519"), ""), wire.Payload{}, fault.InvalidRequest, "oracle_private_key"},
		{"encrypted, no passphrase", oracle(keyFile(t, "pkcs8-aes256"), ""), wire.Payload{}, fault.InvalidRequest, "oracle_key_passphrase"},
		{"encrypted the old way, no passphrase", oracle(keyFile(t, "pkcs1-aes128"), ""), wire.Payload{}, fault.InvalidRequest, "oracle_key_passphrase"},
		{"wrong passphrase", oracle(keyFile(t, "pkcs8-aes256"), "shut"), wire.Payload{}, fault.InvalidRequest, "oracle_key_passphrase"},
		{"wrong passphrase, the old way", oracle(keyFile(t, "pkcs1-aes128"), "shut"), wire.Payload{}, fault.InvalidRequest, "oracle_key_passphrase"},
		{"costly derivation", oracle(keyFile(t, "pkcs8-scrypt"), "open"), wire.Payload{}, fault.InvalidRequest, "oracle_key_passphrase"},
		{"body that cannot be read twice", oracle(good, ""), wire.Stream(endless{}, -1), fault.TooLarge, ""},
	}
	set := sign.New(sign.Options{})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var h wire.Header
			r := &sign.Request{Method: "POST", Scheme: "https", Host: "h", Target: "/", Header: &h, Body: c.body}
			f := fault.From(set.Sign(t.Context(), r, &oci, c.values))
			if f == nil || f.Code != c.want || f.Param != c.param {
				t.Errorf("got %v, want %s at %q", f, c.want, c.param)
			}
			if h.Has("authorization") {
				t.Error("a refused call has a signature")
			}
		})
	}
}

// FuzzOCIKey: whatever is sent as a key is refused or signs, and never panics.
func FuzzOCIKey(f *testing.F) {
	for _, name := range []string{"pkcs1", "pkcs8", "pkcs1-aes128", "pkcs8-aes256", "pkcs8-des3", "pkcs8-scrypt", "ed25519"} {
		b, err := os.ReadFile("testdata/oci-" + name + ".pem")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b), "open")
	}
	set := sign.New(sign.Options{})
	f.Fuzz(func(t *testing.T, key, passphrase string) {
		h := wire.Header{}
		r := &sign.Request{Method: "GET", Scheme: "https", Host: "h", Target: "/", Header: &h}
		if err := set.Sign(t.Context(), r, &oci, oracle(key, passphrase)); (err == nil) != h.Has("authorization") {
			t.Errorf("%v with %v", err, h)
		}
	})
}
