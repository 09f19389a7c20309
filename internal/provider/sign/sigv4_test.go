package sign_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

// Whatever is signed, the signature is the one that the SDK's signer makes.
func TestSigV4IsTheSDKs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		c := randomCall(r)
		header := wire.Header{{Name: "content-type", Value: pick(r, "application/json", " application/json ", "a  b   c", "")}}
		for range r.IntN(3) {
			header = append(header, wire.Field{Name: "x-amz-" + pick(r, "a", "meta-b", "z-9"), Value: pick(r, "1", "two  words", " edge ", "x")})
		}
		header = append(header, wire.Field{Name: "user-agent", Value: "not signed"})
		values := provider.Values{"aws_access_key_id": "AKID" + pick(r, "1", "2"), "aws_secret_access_key": pick(r, "secret/one", "secret+two"), "aws_region": pick(r, "us-east-1", "eu-west-3"), "aws_service": c.service}
		if r.IntN(2) == 0 {
			values["aws_session_token"] = "a/token+of=some"
		}
		want := sdk(t, c, header, values)
		got := header
		req := &sign.Request{Method: c.method, Scheme: "https", Host: c.host, Target: c.target, Header: &got, Body: wire.Bytes([]byte(c.body))}
		if err := sign.New(sign.Options{Clock: fixed(c.now)}).Sign(t.Context(), req, &provider.Auth{Scheme: "aws"}, values); err != nil {
			t.Fatal(err)
		}
		if v := got.Get("authorization"); v != want {
			t.Fatalf("%s %s %q %v\n got %s\nwant %s", c.method, c.target, c.body, header, v, want)
		}
	}
}

type awsCall struct {
	method, host, target, service, body string
	now                                 time.Time
}

func randomCall(r *rand.Rand) awsCall {
	c := awsCall{
		method: pick(r, "GET", "POST", "PUT"), host: pick(r, "bedrock-runtime.us-east-1.amazonaws.com", "x.example:8443"), service: pick(r, "bedrock", "s3", "sagemaker"),
		body: pick(r, "", "{}", strings.Repeat("x", 3000)), now: time.Date(2026, 11, 1+r.IntN(3), r.IntN(24), 5, 7, 0, time.UTC),
	}
	for range r.IntN(4) {
		c.target += "/" + pick(r, "model", "anthropic.claude-v2%3A1", "a%20b", "arn%3Aaws%2Fx", "~-._", "ü", "a+b", "")
	}
	if c.target == "" || !strings.HasPrefix(c.target, "/") {
		c.target = "/" + c.target
	}
	if n := r.IntN(4); n > 0 {
		sep := "?"
		for range n {
			c.target += sep + pick(r, "b=2", "a=1", "a=0", "key=with%20blank", "plus=a+b", "empty=", "bare", "x%2Fy=z%3D", "A=9")
			sep = "&"
		}
	}
	return c
}

func pick(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// sdk is the authorization that the SDK makes for a call.
func sdk(t *testing.T, c awsCall, header wire.Header, v provider.Values) string {
	t.Helper()
	sum := sha256.Sum256([]byte(c.body))
	hash := hex.EncodeToString(sum[:])
	path, query, _ := strings.Cut(c.target, "?")
	stand := &http.Request{Method: c.method, Host: c.host, URL: &url.URL{Scheme: "https", Host: c.host, Opaque: "//" + c.host + path, RawQuery: query}, Header: http.Header{}}
	for _, f := range header {
		if f.Name != "user-agent" {
			stand.Header.Add(f.Name, f.Value)
		}
	}
	signer := v4.NewSigner()
	if c.service == "s3" {
		signer = v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
		stand.Header.Set("x-amz-content-sha256", hash)
	}
	creds := aws.Credentials{AccessKeyID: v["aws_access_key_id"], SecretAccessKey: v["aws_secret_access_key"], SessionToken: v["aws_session_token"]}
	if err := signer.SignHTTP(t.Context(), creds, stand, hash, c.service, v["aws_region"], c.now); err != nil {
		t.Fatal(err)
	}
	return stand.Header.Get("Authorization")
}

func BenchmarkSigV4(b *testing.B) {
	set := sign.New(sign.Options{Clock: fixedClock("20261120T100000Z")})
	values := provider.Values{"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "aws_region": "us-east-1"}
	body := wire.Bytes(make([]byte, 1024))
	b.ReportAllocs()
	for b.Loop() {
		h := wire.Header{{Name: "content-type", Value: "application/json"}}
		r := &sign.Request{Method: "POST", Scheme: "https", Host: "bedrock-runtime.us-east-1.amazonaws.com", Target: "/model/anthropic.claude-v2%3A1/converse", Header: &h, Body: body}
		if err := set.Sign(b.Context(), r, &provider.Auth{Scheme: "aws", Service: "bedrock"}, values); err != nil {
			b.Fatal(err)
		}
	}
}
