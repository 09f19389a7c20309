package sign_test

import (
	"context"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

// fixed is a clock that stands still.
type fixed time.Time

func (f fixed) Now() time.Time { return time.Time(f) }

func fixedClock(s string) fixed {
	t, err := time.Parse("20060102T150405Z", s)
	if err != nil {
		panic(err)
	}
	return fixed(t)
}

// The vectors are those that AWS publishes.
// Source: AWS Signature Version 4 test suite (aws-sig-v4-test-suite) and Amazon S3
// API reference, "Examples: Signature Calculations in AWS Signature Version 4".
func TestSigV4Vectors(t *testing.T) {
	t.Parallel()
	suite := provider.Values{"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "aws_region": "us-east-1"}
	s3 := provider.Values{"aws_access_key_id": "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_region": "us-east-1", "aws_service": "s3"}
	form := wire.Header{{Name: "content-type", Value: "application/x-www-form-urlencoded"}}
	iam := wire.Header{{Name: "content-type", Value: "application/x-www-form-urlencoded; charset=utf-8"}}
	cases := []struct {
		name, when, method, host, target, service string
		header                                    wire.Header
		body                                      string
		values                                    provider.Values
		signed, want                              string
	}{
		{"get-vanilla", "20150830T123600Z", "GET", "example.amazonaws.com", "/", "service", nil, "", suite,
			"host;x-amz-date", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"get-vanilla-query-order-key-case", "20150830T123600Z", "GET", "example.amazonaws.com", "/?Param2=value2&Param1=value1", "service", nil, "", suite,
			"host;x-amz-date", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"post-vanilla", "20150830T123600Z", "POST", "example.amazonaws.com", "/", "service", nil, "", suite,
			"host;x-amz-date", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
		{"post-x-www-form-urlencoded", "20150830T123600Z", "POST", "example.amazonaws.com", "/", "service", form, "Param1=value1", suite,
			"content-type;host;x-amz-date", "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
		{"iam list users", "20150830T123600Z", "GET", "iam.amazonaws.com", "/?Action=ListUsers&Version=2010-05-08", "iam", iam, "", suite,
			"content-type;host;x-amz-date", "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"},
		{"s3 lifecycle", "20130524T000000Z", "GET", "examplebucket.s3.amazonaws.com", "/?lifecycle", "bedrock", nil, "", s3,
			"host;x-amz-content-sha256;x-amz-date", "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"},
		{"s3 list", "20130524T000000Z", "GET", "examplebucket.s3.amazonaws.com", "/?max-keys=2&prefix=J", "bedrock", nil, "", s3,
			"host;x-amz-content-sha256;x-amz-date", "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := c.header.Clone(4)
			h.Add("user-agent", "is not signed")
			r := &sign.Request{Method: c.method, Scheme: "https", Host: c.host, Target: c.target, Header: &h, Body: wire.Bytes([]byte(c.body))}
			if err := sign.New(sign.Options{Clock: fixedClock(c.when)}).Sign(t.Context(), r, &provider.Auth{Scheme: "aws", Service: c.service}, c.values); err != nil {
				t.Fatal(err)
			}
			got := h.Get("authorization")
			if !strings.HasSuffix(got, "SignedHeaders="+c.signed+", Signature="+c.want) {
				t.Errorf("authorization: %s\nwant signature %s over %s", got, c.want, c.signed)
			}
			if r.Target != c.target || h.Get("x-amz-date") != c.when {
				t.Errorf("target %s, date %s", r.Target, h.Get("x-amz-date"))
			}
		})
	}
}

// A body that is held in pieces signs like the same bytes in one.
func TestSigV4HashesWhatIsSent(t *testing.T) {
	t.Parallel()
	v := provider.Values{"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": "secret", "aws_session_token": "token"}
	auth := &provider.Auth{Scheme: "aws", Service: "sagemaker"}
	set := sign.New(sign.Options{Clock: fixedClock("20150830T123600Z")})
	one := func(body wire.Payload, target string) wire.Header {
		h := wire.Header{}
		r := &sign.Request{Method: "POST", Scheme: "https", Host: "runtime.sagemaker.us-east-1.amazonaws.com", Target: target, Header: &h, Body: body}
		if err := set.Sign(t.Context(), r, auth, v); err != nil {
			t.Fatal(err)
		}
		return h
	}
	single := one(wire.Bytes([]byte("abcdef")), "/x")
	joined := one(wire.Join(wire.Bytes([]byte("abc")), wire.Bytes([]byte("def"))), "/x")
	other := one(wire.Bytes([]byte("abcdeg")), "/x")
	if single.Get("authorization") != joined.Get("authorization") {
		t.Error("the same bytes sign differently")
	}
	if single.Get("authorization") == other.Get("authorization") {
		t.Error("another body has the same signature")
	}
	if one(wire.Payload{}, "/a%3Ab").Get("authorization") == one(wire.Payload{}, "/a:b").Get("authorization") {
		t.Error("the escaped path is not what is signed")
	}
	if single.Get("x-amz-security-token") != "token" || !strings.Contains(single.Get("authorization"), "x-amz-security-token") {
		t.Error("the session token is not sent and signed")
	}
}

// Only S3 takes a body that cannot be hashed, and only over TLS.
func TestUnsignedPayload(t *testing.T) {
	t.Parallel()
	v := provider.Values{"aws_access_key_id": "A", "aws_secret_access_key": "S", "aws_service": "s3"}
	for scheme, want := range map[string]string{"https": "UNSIGNED-PAYLOAD", "http": ""} {
		h := wire.Header{}
		r := &sign.Request{Method: "PUT", Scheme: scheme, Host: "b.s3.amazonaws.com", Target: "/k", Header: &h, Body: wire.Stream(endless{}, -1)}
		err := sign.New(sign.Options{}).Sign(t.Context(), r, &provider.Auth{Scheme: "aws", Service: "bedrock"}, v)
		if got := h.Get("x-amz-content-sha256"); got != want || (want == "") != fault.Has(err, fault.TooLarge) {
			t.Errorf("%s: %q, %v", scheme, got, err)
		}
	}
}

// sts is a token service: it counts the roles assumed and by whom.
type sts struct {
	mu    sync.Mutex
	calls []string // "role by access key id, external id"
	life  time.Duration
	fail  bool
}

func (s *sts) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.ParseForm(); err != nil || s.fail {
		http.Error(w, `<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error></ErrorResponse>`, http.StatusForbidden)
		return
	}
	by, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential="), "/")
	arn := r.Form.Get("RoleArn")
	s.calls = append(s.calls, strings.TrimSpace(arn+" by "+by+" "+r.Form.Get("ExternalId")))
	fmt.Fprintf(w, `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>KEY%d</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t-%s</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
		len(s.calls), arn, time.Now().Add(s.life).UTC().Format(time.RFC3339))
}

// redirect sends every request to one local server, whatever host it names.
func redirect(t *testing.T, h http.Handler) *http.Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	to, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		r = r.Clone(r.Context())
		r.Header.Set("X-Asked-For", r.URL.Host)
		r.URL.Scheme, r.URL.Host, r.Host = to.Scheme, to.Host, to.Host
		return srv.Client().Transport.RoundTrip(r)
	})}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestAssumedRole(t *testing.T) {
	t.Parallel()
	const role = "arn:aws:iam::1:role/target"
	values := provider.Values{"aws_auth_type": "assumedRole", "aws_role_arn": role, "aws_external_id": "ext", "aws_region": "eu-west-1"}
	hop := "arn:aws:iam::2:role/source by HOST src"
	cases := []struct {
		name  string
		life  time.Duration
		signs int
		want  []string
	}{
		{"kept", time.Hour, 3, []string{hop, role + " by KEY1 ext"}},
		// A minute of life is inside the margin: nothing about to end is used twice.
		{"renewed ahead of its end", time.Minute, 2, []string{hop, role + " by KEY1 ext", hop, role + " by KEY3 ext"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			service := &sts{life: c.life}
			set := sign.New(sign.Options{HTTP: redirect(t, service), AWS: sign.AWS{
				AccessKeyID: "HOST", SecretAccessKey: sealed.New("host-secret"), SourceARN: "arn:aws:iam::2:role/source", SourceExternalID: "src"}})
			for range c.signs {
				h := wire.Header{}
				r := &sign.Request{Method: "POST", Scheme: "https", Host: "h", Target: "/", Header: &h}
				if err := set.Sign(t.Context(), r, &provider.Auth{Scheme: "aws", Service: "sagemaker"}, values); err != nil {
					t.Fatal(err)
				}
				if got := h.Get("x-amz-security-token"); got != "t-"+role || !strings.Contains(h.Get("authorization"), "/eu-west-1/sagemaker/") {
					t.Errorf("token %q, authorization %q", got, h.Get("authorization"))
				}
			}
			if got := strings.Join(service.calls, "\n"); got != strings.Join(c.want, "\n") {
				t.Errorf("roles assumed:\n%s\nwant:\n%s", got, strings.Join(c.want, "\n"))
			}
		})
	}
}

// Machines behind a proxy that inspects TLS have its authorities in AWS_CA_BUNDLE.
func TestMachineWithACABundle(t *testing.T) {
	srv := httptest.NewUnstartedServer(nil)
	srv.StartTLS()
	defer srv.Close()
	bundle := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(bundle, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"AWS_CA_BUNDLE": bundle, "AWS_ACCESS_KEY_ID": "MACHINE", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "", "AWS_PROFILE": "", "AWS_CONFIG_FILE": os.DevNull} {
		t.Setenv(name, value)
	}
	h := wire.Header{}
	r := &sign.Request{Method: "POST", Scheme: "https", Host: "h", Target: "/", Header: &h}
	v := provider.Values{"aws_auth_type": "serviceRole", "aws_region": "eu-west-1"}
	if err := sign.New(sign.Options{}).Sign(t.Context(), r, &provider.Auth{Scheme: "aws", Service: "bedrock"}, v); err != nil {
		t.Fatal(err)
	}
	if got := h.Get("authorization"); !strings.Contains(got, "Credential=MACHINE/") {
		t.Errorf("signed by %s", got)
	}
}

func TestRoleRefused(t *testing.T) {
	t.Parallel()
	set := sign.New(sign.Options{HTTP: redirect(t, &sts{fail: true}), AWS: sign.AWS{AccessKeyID: "HOST", SecretAccessKey: sealed.New("s")}})
	v := provider.Values{"aws_auth_type": "assumedRole", "aws_role_arn": "arn:aws:iam::1:role/r"}
	h := wire.Header{}
	r := &sign.Request{Method: "POST", Scheme: "https", Host: "h", Target: "/", Header: &h}
	auth := &provider.Auth{Scheme: "aws", Service: "bedrock"}
	if err := set.Sign(t.Context(), r, auth, v); !fault.Has(err, fault.Unauthenticated) || len(h) != 0 {
		t.Errorf("got %v, header %v", err, h)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := set.Sign(gone, r, auth, v); err == nil || fault.Has(err, fault.Unauthenticated) {
		t.Errorf("a caller that left is told of a refused role: %v", err)
	}
}
