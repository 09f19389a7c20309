package sign_test

import (
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

func TestKeys(t *testing.T) {
	t.Parallel()
	bearer := provider.Auth{Scheme: "header", Header: "authorization", Format: "Bearer {key}"}
	cases := []struct {
		name   string
		auth   provider.Auth
		values provider.Values
		target string
		header wire.Header // before
		want   wire.Header
		wantTo string
	}{
		{"bearer", bearer, provider.Values{"key": "sk-1"}, "/v1/x", nil, wire.Header{{Name: "authorization", Value: "Bearer sk-1"}}, "/v1/x"},
		{"over the client's", bearer, provider.Values{"key": "sk-1"}, "/v1/x", wire.Header{{Name: "authorization", Value: "Bearer client"}}, wire.Header{{Name: "authorization", Value: "Bearer sk-1"}}, "/v1/x"},
		{"no key", bearer, provider.Values{}, "/v1/x", nil, nil, "/v1/x"},
		{"bare", provider.Auth{Scheme: "header", Header: "x-api-key", Format: "{key}"}, provider.Values{"key": "k"}, "/", nil, wire.Header{{Name: "x-api-key", Value: "k"}}, "/"},
		{"token", provider.Auth{Scheme: "header", Header: "authorization", Format: "Token {key}"}, provider.Values{"key": "k"}, "/", nil, wire.Header{{Name: "authorization", Value: "Token k"}}, "/"},
		{"none", provider.Auth{Scheme: "none"}, provider.Values{"key": "k"}, "/", nil, nil, "/"},
		{"query", provider.Auth{Scheme: "query", Query: "key"}, provider.Values{"key": "a+b"}, "/x", nil, nil, "/x?key=a%2Bb"},
		{"query of the caller", provider.Auth{Scheme: "query", Query: "key"}, provider.Values{"key": "k"}, "/x?a=%2F&key=theirs&b", nil, nil, "/x?a=%2F&b&key=k"},
		{"query of the caller, escaped", provider.Auth{Scheme: "query", Query: "key"}, provider.Values{"key": "k"}, "/x?%6bey=theirs&a=1&k%65%79&%6Bey=&keys=%6b&k%zz", nil, nil, "/x?a=1&keys=%6b&k%zz&key=k"},
		{"query of the caller, no key", provider.Auth{Scheme: "query", Query: "key"}, provider.Values{}, "/x?%6bey=theirs", nil, nil, "/x"},
		{"bedrock key", provider.Auth{Scheme: "aws", Service: "bedrock"}, provider.Values{"key": "k", "aws_auth_type": "apiKey"}, "/x", nil, wire.Header{{Name: "authorization", Value: "Bearer k"}}, "/x"},
		{"azure key", provider.Auth{Scheme: "azure", Header: "api-key", Format: "{key}"}, provider.Values{"key": "k"}, "/x", nil, wire.Header{{Name: "api-key", Value: "k"}}, "/x"},
		{"azure token", provider.Auth{Scheme: "azure", Header: "api-key", Format: "{key}"}, provider.Values{"key": "k", "azure_ad_token": "Bearer t"}, "/x", nil, wire.Header{{Name: "authorization", Value: "Bearer t"}}, "/x"},
	}
	set := sign.New(sign.Options{})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := c.header.Clone(0)
			r := &sign.Request{Method: "POST", Scheme: "https", Host: "api.example.com", Target: c.target, Header: &h}
			if err := set.Sign(t.Context(), r, &c.auth, c.values); err != nil {
				t.Fatal(err)
			}
			if r.Target != c.wantTo || len(h) != len(c.want) || len(h) > 0 && h[0] != c.want[0] {
				t.Errorf("target %s header %v, want %s %v", r.Target, h, c.wantTo, c.want)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	azure := provider.Auth{Scheme: "azure", Header: "api-key", Format: "{key}"}
	aws := provider.Auth{Scheme: "aws", Service: "sagemaker"}
	cases := []struct {
		name   string
		auth   provider.Auth
		values provider.Values
		body   wire.Payload
		want   fault.Code
		param  string
	}{
		{"line break in the key", provider.Auth{Scheme: "header", Header: "authorization", Format: "Bearer {key}"}, provider.Values{"key": "k\r\nhost: evil"}, wire.Payload{}, fault.InvalidRequest, "authorization"},
		{"no signer", provider.Auth{Scheme: "abacus"}, nil, wire.Payload{}, fault.NotSupported, ""},
		{"aws without keys", aws, provider.Values{}, wire.Payload{}, fault.InvalidRequest, "aws_access_key_id"},
		{"aws role without name", aws, provider.Values{"aws_auth_type": "assumedRole"}, wire.Payload{}, fault.InvalidRequest, "aws_role_arn"},
		{"aws unknown type", aws, provider.Values{"aws_auth_type": "magic"}, wire.Payload{}, fault.InvalidRequest, "aws_auth_type"},
		{"aws body that cannot be read twice", aws, provider.Values{"aws_access_key_id": "A", "aws_secret_access_key": "S"}, wire.Stream(endless{}, -1), fault.TooLarge, ""},
		{"azure unknown mode", azure, provider.Values{"azure_auth_mode": "entraFederated"}, wire.Payload{}, fault.InvalidRequest, "azure_auth_mode"},
		{"azure entra without fields", azure, provider.Values{"azure_auth_mode": "entra"}, wire.Payload{}, fault.InvalidRequest, "azure_auth_mode"},
	}
	set := sign.New(sign.Options{})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var h wire.Header
			r := &sign.Request{Method: "POST", Scheme: "https", Host: "h", Target: "/", Header: &h, Body: c.body}
			f := fault.From(set.Sign(t.Context(), r, &c.auth, c.values))
			if f == nil || f.Code != c.want || f.Param != c.param {
				t.Errorf("got %v at %q, want %s at %q", f, f.Param, c.want, c.param)
			}
			if len(h) != 0 {
				t.Errorf("a refused call has headers: %v", h)
			}
		})
	}
}

// endless is a body that nobody may read.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }
