package sign_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"

	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

// sigV4 works a signature out as Amazon's description has it, step by step and without
// the library that the program signs with. Path is what stands in the canonical request.
// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, read 2026-11.
func sigV4(method, path, query, signed, headers, body, secret, when, region, service string) string {
	sum := func(s string) string {
		h := sha256.Sum256([]byte(s))
		return hex.EncodeToString(h[:])
	}
	mac := func(key []byte, s string) []byte {
		h := hmac.New(sha256.New, key)
		h.Write([]byte(s))
		return h.Sum(nil)
	}
	request := strings.Join([]string{method, path, query, headers, signed, sum(body)}, "\n")
	scope := when[:8] + "/" + region + "/" + service + "/aws4_request"
	key := []byte("AWS4" + secret)
	for _, step := range strings.Split(scope, "/") {
		key = mac(key, step)
	}
	return hex.EncodeToString(mac(key, "AWS4-HMAC-SHA256\n"+when+"\n"+scope+"\n"+sum(request)))
}

// A path is escaped once more for its signature, for every service but S3: a colon of
// a model's name goes as %3A and is signed as %253A.
// Source: contract/provider-transforms.md 3.2.
func TestSigV4Paths(t *testing.T) {
	t.Parallel()
	const when, secret, body = "20261120T120000Z", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", `{"messages":[]}`
	arn := "/model/" + strings.ReplaceAll(url.QueryEscape("arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-opus-4-6-v1"), "+", "%20") + "/converse"
	for _, c := range []struct{ name, service, method, path, signedPath, query, body, token string }{
		{"a colon", "bedrock", "POST", "/model/anthropic.claude-3-haiku-20240307-v1%3A0/converse", "/model/anthropic.claude-3-haiku-20240307-v1%253A0/converse", "", body, ""},
		{"an ARN", "bedrock", "POST", arn, strings.ReplaceAll(arn, "%", "%25"), "", body, ""},
		{"a session", "bedrock", "POST", arn, strings.ReplaceAll(arn, "%", "%25"), "", body, "session-token"},
		{"a job to stop has no body", "bedrock", "POST", "/model-invocation-job/arn%3Aaws%2Fx/stop", "/model-invocation-job/arn%253Aaws%252Fx/stop", "", "", ""},
		{"a list", "bedrock", "GET", "/model-invocation-jobs", "/model-invocation-jobs", "maxResults=2&nextToken=a%2Fb%20c", "", ""},
		{"an object of S3 is escaped once", "s3", "PUT", "/bucket/in/lines%201%3A.jsonl", "/bucket/in/lines%201%3A.jsonl", "", body, ""},
		{"what is known of an object", "s3", "GET", "/bucket/in/lines.jsonl", "/bucket/in/lines.jsonl", "attributes=", "", ""},
	} {
		h := wire.Header{}
		host := c.service + ".eu-west-1.amazonaws.com"
		target := strings.TrimSuffix(c.path+"?"+c.query, "?")
		r := &sign.Request{Method: c.method, Scheme: "https", Host: host, Target: target, Header: &h, Body: wire.Bytes([]byte(c.body))}
		v := provider.Values{"aws_access_key_id": "AKIDEXAMPLE", "aws_secret_access_key": secret, "aws_session_token": c.token, "aws_region": "eu-west-1"}
		if err := sign.New(sign.Options{Clock: fixedClock(when)}).Sign(t.Context(), r, &provider.Auth{Scheme: "aws", Service: c.service}, v); err != nil {
			t.Fatal(err)
		}
		headers, signed := "host:"+host+"\n", "host"
		for _, name := range []string{"x-amz-content-sha256", "x-amz-date", "x-amz-security-token"} {
			if val := h.Get(name); val != "" {
				headers, signed = headers+name+":"+val+"\n", signed+";"+name
			}
		}
		want := sigV4(c.method, c.signedPath, c.query, signed, headers, c.body, secret, when, "eu-west-1", c.service)
		if got := h.Get("authorization"); !strings.HasSuffix(got, "SignedHeaders="+signed+", Signature="+want) {
			t.Errorf("%s: %s, want %s over %s", c.name, got, want, signed)
		}
		if h.Has("x-amz-content-sha256") != (c.service == "s3") || h.Get("x-amz-security-token") != c.token {
			t.Errorf("%s: %v", c.name, h)
		}
	}
}

// A key of Bedrock's goes as it is: nothing is signed.
func TestBearerKey(t *testing.T) {
	t.Parallel()
	auth := &provider.Auth{Scheme: "aws", Service: "bedrock"}
	h := wire.Header{}
	r := &sign.Request{Method: "POST", Scheme: "https", Host: "h", Target: "/", Header: &h}
	v := provider.Values{"aws_auth_type": "apiKey", "key": "bedrock-api-key-1", "aws_access_key_id": "ignored", "aws_secret_access_key": "ignored"}
	if err := sign.New(sign.Options{}).Sign(t.Context(), r, auth, v); err != nil || len(h) != 1 || h.Get("authorization") != "Bearer bedrock-api-key-1" {
		t.Errorf("%v, %v", h, err)
	}
}
