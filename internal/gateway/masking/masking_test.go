package masking_test

import (
	"testing"

	"sluice/internal/domain/record"
	"sluice/internal/gateway/masking"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

func load(t *testing.T) *provider.Table {
	t.Helper()
	specs, err := provider.Load()
	if err != nil {
		t.Fatal(err)
	}
	return specs
}

func TestHeaders_MasksSecretValues(t *testing.T) {
	t.Parallel()
	m := masking.NewHeaders(load(t), []string{"x-portal-"})
	for name, c := range map[string]struct {
		header          wire.Field
		sensitive, want string
	}{
		"plain header":              {wire.Field{Name: "accept", Value: "*/*"}, "", "accept: */*\n"},
		"credential":                {wire.Field{Name: "authorization", Value: "Bearer sk-1"}, "", "authorization: ***\n"},
		"cookie of the provider":    {wire.Field{Name: "set-cookie", Value: "a=b"}, "", "set-cookie: ***\n"},
		"inline config":             {wire.Field{Name: "x-gateway-config", Value: `{"api_key":"sk-1"}`}, "", "x-gateway-config: ***\n"},
		"saved config":              {wire.Field{Name: "x-gateway-config", Value: "main"}, "", "x-gateway-config: main\n"},
		"signed URL":                {wire.Field{Name: "location", Value: "https://a.example/?sig=1"}, "", "location: ***\n"},
		"listed header":             {wire.Field{Name: "x-tenant", Value: "t"}, "X-User, X-Tenant", "x-tenant: ***\n"},
		"listed header by an alias": {wire.Field{Name: "x-gateway-metadata", Value: "t"}, "x-portal-metadata", "x-gateway-metadata: ***\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := string(m.Append(nil, wire.Header{c.header}, c.sensitive)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCredentials_AreMaskedInEveryQuotedForm(t *testing.T) {
	t.Parallel()
	c := masking.CollectCredentials(nil, nil, wire.Header{{Name: "authorization", Value: "Bearer sk-stored/0123+abc"}})
	for quoted, want := range map[string]string{
		"key sk-stored/0123+abc":       "key ***",
		`key sk-stored\/0123+abc`:      "key ***",
		"key sk-stored%2F0123%2Babc":   "key ***",
		"key sk-s...abc":               "key sk-s...abc",
		"sk-stored/0123+abc and again": "*** and again",
	} {
		if got := string(c.Mask([]byte(quoted))); got != want {
			t.Errorf("%q: got %q, want %q", quoted, got, want)
		}
	}
}

func TestCredentials_MaskTheEndOfATruncatedBody(t *testing.T) {
	t.Parallel()
	c := masking.CollectCredentials(nil, nil, wire.Header{{Name: "x-api-key", Value: "sk-stored-0123"}})
	r := record.Attempt{Error: "refused sk-stored-0123", Response: record.Body{Bytes: []byte("unknown key sk-stored"), Truncated: true}}
	c.MaskRecord(&r)
	if r.Error != "refused ***" || string(r.Response.Bytes) != "unknown key ***" {
		t.Errorf("got %q and %q", r.Error, r.Response.Bytes)
	}
}
