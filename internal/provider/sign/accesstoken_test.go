package sign_test

import (
	"slices"
	"testing"

	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
	"sluice/internal/provider/sign"
)

func TestAccessTokensOfAnthropicAreBearerTokens(t *testing.T) {
	t.Parallel()
	specs, err := provider.Load()
	if err != nil {
		t.Fatal(err)
	}
	spec, _ := specs.Find("anthropic")
	auth := spec.Auth
	bearer := wire.Field{Name: "authorization", Value: "Bearer sk-ant-oat01-a"}
	cases := []struct {
		name, key string
		header    wire.Header // before
		want      wire.Header
	}{
		{"a key", "sk-ant-api03-a", nil, wire.Header{{Name: "x-api-key", Value: "sk-ant-api03-a"}}},
		{"a token", "sk-ant-oat01-a", nil, wire.Header{bearer, {Name: "anthropic-beta", Value: "oauth-2025-04-20"}}},
		{
			"a token with flags", "sk-ant-oat01-a", wire.Header{{Name: "anthropic-beta", Value: "a-1, b-2"}, {Name: "anthropic-beta", Value: "c-3"}},
			wire.Header{{Name: "anthropic-beta", Value: "a-1,b-2,c-3,oauth-2025-04-20"}, bearer},
		},
		{
			"a token with its flag", "sk-ant-oat01-a", wire.Header{{Name: "anthropic-beta", Value: "oauth-2025-04-20,b-2"}},
			wire.Header{{Name: "anthropic-beta", Value: "b-2,oauth-2025-04-20"}, bearer},
		},
		{
			"a token beside a forwarded key", "sk-ant-oat01-a", wire.Header{{Name: "x-api-key", Value: "other"}},
			wire.Header{bearer, {Name: "anthropic-beta", Value: "oauth-2025-04-20"}},
		},
		{"no key", "", wire.Header{{Name: "anthropic-beta", Value: "a-1"}}, wire.Header{{Name: "anthropic-beta", Value: "a-1"}}},
	}
	set := sign.New(sign.Options{})
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := c.header.Clone(0)
			r := &sign.Request{Method: "POST", Scheme: "https", Host: "api.anthropic.com", Target: "/v1/messages", Header: &h}
			if err := set.Sign(t.Context(), r, &auth, provider.Values{"key": c.key}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(h, c.want) {
				t.Errorf("got %v, want %v", h, c.want)
			}
		})
	}
}
