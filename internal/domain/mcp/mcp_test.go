package mcp_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/internal/domain/mcp"
	"sluice/internal/kernel/fault"
)

func TestCheckConfigurations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, param string }{
		"nothing":                         {`{}`, ""},
		"fields that nobody knows":        {`{"note":"x","deep":{"a":[1]}}`, ""},
		"null clears":                     {`{"custom_headers":null}`, ""},
		"headers":                         {`{"custom_headers":{"Authorization":"Bearer x"}}`, ""},
		"headers are texts":               {`{"custom_headers":{"X-A":1}}`, "configurations.custom_headers.X-A"},
		"headers are an object":           {`{"custom_headers":["X-A"]}`, "configurations.custom_headers"},
		"a header with a line break":      {`{"custom_headers":{"X-A":"a\r\nb"}}`, "configurations.custom_headers.X-A"},
		"a name with a blank":             {`{"custom_headers":{"X A":"a"}}`, "configurations.custom_headers.X A"},
		"a header of the connection":      {`{"custom_headers":{"Host":"a"}}`, "configurations.custom_headers.Host"},
		"passed on, described":            {`{"passthrough_header":{"X-A":{"type":"string","example":"e"}}}`, ""},
		"passed on, fixed":                {`{"passthrough_header":{"X-A":"v"}}`, ""},
		"passed on, wrong":                {`{"passthrough_header":{"X-A":4}}`, "configurations.passthrough_header.X-A"},
		"forwarded by name":               {`{"forward_headers":["X-Team",{"from":"X-A","to":"X-B"}]}`, ""},
		"forwarded with a mode":           {`{"forward_headers":{"mode":"allowlist","headers":["X-Team"]}}`, ""},
		"all but a cookie":                {`{"forward_headers":{"mode":"all-except","headers":["Cookie"]}}`, ""},
		"a cookie":                        {`{"forward_headers":["Cookie"]}`, "configurations.forward_headers[0]"},
		"a key under another name":        {`{"forward_headers":[{"from":"X-API-Key","to":"X-A"}]}`, "configurations.forward_headers[0].from"},
		"half a renaming":                 {`{"forward_headers":[{"from":"X-A"}]}`, "configurations.forward_headers[0].to"},
		"objects in a renaming":           {`{"forward_headers":[{"from":{"from":"X-A"},"to":"X-B"}]}`, "configurations.forward_headers[0].from"},
		"no mode":                         {`{"forward_headers":{"headers":["X-A"]}}`, "configurations.forward_headers.mode"},
		"forwarded is a text":             {`{"forward_headers":"X-A"}`, "configurations.forward_headers"},
		"headers of a mode are a list":    {`{"forward_headers":{"mode":"allowlist","headers":"X-A"}}`, "configurations.forward_headers.headers"},
		"oauth":                           {`{"oauth_metadata":{"client_id":"c","scopes_supported":["a"],"authorization_params":{"audience":"x"}}}`, ""},
		"a parameter of the gateway":      {`{"oauth_metadata":{"authorization_params":{"state":"x"}}}`, "configurations.oauth_metadata.authorization_params.state"},
		"an unknown way to sign in":       {`{"oauth_metadata":{"token_endpoint_auth_method":"magic"}}`, "configurations.oauth_metadata.token_endpoint_auth_method"},
		"identity":                        {`{"user_identity_forwarding":{"method":"jwt_header","jwt_expiry_seconds":300}}`, ""},
		"identity without a method":       {`{"user_identity_forwarding":{"include_claims":["sub"]}}`, "configurations.user_identity_forwarding.method"},
		"a life of half a second":         {`{"user_identity_forwarding":{"method":"bearer","jwt_expiry_seconds":0.5}}`, "configurations.user_identity_forwarding.jwt_expiry_seconds"},
		"tokens are checked":              {`{"jwt_validation":{"jwksUri":"https://idp.example.com/keys","algorithms":["RS256"]}}`, ""},
		"tokens are checked nowhere":      {`{"jwt_validation":{"algorithms":["RS256"]}}`, "configurations.jwt_validation"},
		"tokens are checked twice":        {`{"jwt_validation":{"jwksUri":"https://a.example","jwks":{"keys":[]}}}`, "configurations.jwt_validation"},
		"algorithms are texts":            {`{"jwt_validation":{"jwks":{},"algorithms":[1]}}`, "configurations.jwt_validation.algorithms[0]"},
		"endpoints are texts":             {`{"external_auth_config":{"token_endpoint":1}}`, "configurations.external_auth_config.token_endpoint"},
		"a section that is not an object": {`{"oauth_metadata":"x"}`, "configurations.oauth_metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var config map[string]any
			if err := json.Unmarshal([]byte(c.config), &config); err != nil {
				t.Fatal(err)
			}
			err := mcp.CheckConfigurations(config)
			if (err == nil) != (c.param == "") || err != nil && fault.From(err).Param != c.param {
				t.Errorf("got %v, want a refusal at %q", err, c.param)
			}
		})
	}
}

func FuzzCheckConfigurations(f *testing.F) {
	f.Add([]byte(`{"forward_headers":[{"from":"a","to":{}}],"jwt_validation":{"jwks":[]}}`))
	f.Add([]byte(`{"passthrough_header":{"X-A":{"type":"string"}},"custom_headers":{"":""}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var config map[string]any
		if json.Unmarshal(raw, &config) != nil {
			return
		}
		if err := mcp.CheckConfigurations(config); err != nil && !fault.Has(err, fault.InvalidParameter) {
			t.Errorf("a refusal without a field: %v", err)
		}
		for at := range mcp.Addresses(config) {
			if at == "" {
				t.Error("an address without a place")
			}
		}
	})
}

func TestHides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path []string
		want bool
	}{
		{nil, false},
		{[]string{"custom_headers", "X-Team"}, true},
		{[]string{"passthrough_header", "X-A", "type"}, false},
		{[]string{"passthrough_header", "X-A", "example"}, true},
		{[]string{"passthrough_header", "X-A"}, true},
		{[]string{"forward_headers", "headers"}, false},
		{[]string{"oauth_metadata", "token_endpoint"}, false},
		{[]string{"oauth_metadata", "client_secret"}, true},
		{[]string{"jwt_validation", "introspectClientSecret"}, true},
		{[]string{"unheard", "of"}, true},
	} {
		if got := mcp.Hides(c.path); got != c.want {
			t.Errorf("%v: got %v", c.path, got)
		}
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	got := mcp.Addresses(map[string]any{
		"oauth_metadata": map[string]any{"issuer": "https://a", "scope": "https://b"}, "jwt_validation": map[string]any{"jwksUri": 4}, "external_auth_config": "x",
	})
	if diff := cmp.Diff(map[string]string{"configurations.oauth_metadata.issuer": "https://a"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestMappable(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]bool{
		"custom_headers": true, "custom_headers.Authorization": true, "custom_headers.Host": false, "custom_headers.a b": false, "oauth_metadata.client_secret": true,
		"oauth_metadata": false, "oauth_metadata.issuer": false, "jwt_validation.introspectClientSecret": true, "url": false, "": false,
	} {
		if got := mcp.Mappable(field); got != want {
			t.Errorf("%s: got %v", field, got)
		}
	}
}

// A capability can be used when it is on at both places, and what a server offers anew
// can be used at once.
func TestSwitches(t *testing.T) {
	t.Parallel()
	var integration mcp.Integration
	var s mcp.Server
	if !mcp.Enabled(&integration, &s, mcp.Tool, "new") {
		t.Error("a capability that nobody spoke of is off")
	}
	before := integration.Off.Set(mcp.Tool, "a", false)
	integration.Off = before.Set(mcp.Tool, "a", false).Set(mcp.Prompt, "a", false)
	s.Off = s.Off.Set(mcp.Tool, "b", false)
	for name, want := range map[mcp.Switch]bool{{mcp.Tool, "a"}: false, {mcp.Prompt, "a"}: false, {mcp.Tool, "b"}: false, {mcp.Prompt, "b"}: true} {
		if got := mcp.Enabled(&integration, &s, name.Type, name.Name); got != want {
			t.Errorf("%v: got %v", name, got)
		}
	}
	if len(before) != 1 || len(integration.Off) != 2 {
		t.Errorf("switched off: %v, before %v", integration.Off, before)
	}
	if switches := integration.Off.Set(mcp.Tool, "a", true); switches.Has(mcp.Tool, "a") || !switches.Has(mcp.Prompt, "a") {
		t.Errorf("switched on: %v", switches)
	}
	if err := make(mcp.Switches, 2001).Check(); !fault.Has(err, fault.InvalidParameter) {
		t.Errorf("too many: %v", err)
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	found := []mcp.Capability{{Type: mcp.Prompt, Name: "p"}, {Type: mcp.Tool, Name: "z"}, {Type: mcp.Tool, Name: "a"}}
	got := mcp.Listed(found, mcp.Switches{{mcp.Tool, "a"}, {mcp.Resource, "ahead"}}, mcp.Switches{{mcp.Resource, "ahead"}})
	want := []mcp.Capability{{Type: mcp.Tool, Name: "a"}, {Type: mcp.Tool, Name: "z"}, {Type: mcp.Prompt, Name: "p"}, {Type: mcp.Resource, Name: "ahead"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAllowsUser(t *testing.T) {
	t.Parallel()
	s := mcp.Server{Users: map[string]bool{"in": true, "out": false}}
	for _, deny := range []bool{false, true} {
		s.Deny = deny
		if !s.AllowsUser("in") || s.AllowsUser("out") || s.AllowsUser("other") == deny {
			t.Errorf("deny %v: %v %v %v", deny, s.AllowsUser("in"), s.AllowsUser("out"), s.AllowsUser("other"))
		}
	}
}
