package tenant_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sluice/internal/domain/tenant"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
)

func ptr[T any](v T) *T { return &v }

func TestSettingsInForce(t *testing.T) {
	t.Parallel()
	org := &tenant.Organisation{Settings: tenant.Settings{KeyTTL: ptr(60), DebugLog: ptr(0)}}
	ws := &tenant.Workspace{Settings: tenant.Settings{KeyTTL: ptr(30), DebugLog: ptr(1), KeyMetadata: ptr(0)}}
	if s := org.SettingsOf(ws); *s.KeyTTL != 60 || *s.DebugLog != 0 || *s.KeyCount != -1 || *s.KeyMetadata != 0 {
		t.Errorf("closed: ttl %d, log %d, count %d, metadata %d", *s.KeyTTL, *s.DebugLog, *s.KeyCount, *s.KeyMetadata)
	}
	org.Open = access.Overrides{tenant.SectionUserKeys: true}
	if s := org.SettingsOf(ws); *s.KeyTTL != 30 || *s.DebugLog != 0 {
		t.Errorf("one section open: ttl %d, log %d", *s.KeyTTL, *s.DebugLog)
	}
	org.Settings.DefaultKeyAutoCreate = ptr(true)
	if s := org.SettingsOf(&tenant.Workspace{IsDefault: true}); !*s.KeyAutoCreate {
		t.Error("the default workspace makes no keys")
	}
	if s := org.SettingsOf(&tenant.Workspace{}); *s.KeyAutoCreate {
		t.Error("another one does")
	}
}

func TestEverySettingHasAValueInForce(t *testing.T) {
	t.Parallel()
	raw, err := json.Marshal((&tenant.Organisation{}).InForce())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"debug_log", "user_api_key_count", "user_api_key_ttl", "user_api_key_max_ttl", "user_api_key_rotation_period", "user_api_key_auto_create", "user_key_metadata", "user_key_metadata_override", "default_cache_ttl"} {
		if !strings.Contains(string(raw), `"`+name+`"`) {
			t.Errorf("%s is not set: %s", name, raw)
		}
	}
}

func TestCacheTTL_IsZeroOrInRange(t *testing.T) {
	t.Parallel()
	for ttl, valid := range map[int]bool{0: true, 60: true, 604_800: true, 25_923_000: true, -1: false, 1: false, 59: false, 25_923_001: false} {
		err := tenant.CheckCacheTTL(ttl)
		if f := fault.From(err); (err == nil) != valid || err != nil && (f.Code != fault.InvalidParameter || f.Param != "settings.default_cache_ttl") {
			t.Errorf("%d: %v", ttl, err)
		}
	}
}

const team = `{"type":"object","required":["team"],"properties":{"team":{"type":"string","enum":["a","b"]},"stage":{"type":"string","default":"test"}}}`

func TestFill(t *testing.T) {
	t.Parallel()
	got, err := tenant.Fill(json.RawMessage(team), map[string]string{"team": "a", "more": "x"}, "defaults.metadata")
	if err != nil || got["stage"] != "test" || got["more"] != "x" {
		t.Errorf("%v %v", got, err)
	}
	if metadata := map[string]string{"team": "a"}; true {
		if _, err := tenant.Fill(json.RawMessage(team), metadata, ""); err != nil || len(metadata) != 1 {
			t.Errorf("the map of the caller was changed: %v %v", metadata, err)
		}
	}
	for _, bad := range []map[string]string{nil, {"team": "c"}, {"stage": "x"}} {
		if _, err := tenant.Fill(json.RawMessage(team), bad, "defaults.metadata"); !fault.Has(err, fault.InvalidParameter) || fault.From(err).Param != "defaults.metadata" {
			t.Errorf("%v: %v", bad, err)
		}
	}
	if got, err := tenant.Fill(nil, map[string]string{"x": "y"}, ""); err != nil || len(got) != 1 {
		t.Errorf("without a schema: %v %v", got, err)
	}
}

func TestSchemas(t *testing.T) {
	t.Parallel()
	for raw, ok := range map[string]bool{
		``: true, team: true, `{"type":"object"}`: true, `{"type":"object","additionalProperties":true}`: true,
		`{`: false, `[]`: false, `{"type":"array"}`: false, `{"type":"object","additionalProperties":false}`: false,
		`{"type":"object","properties":{"n":{"type":"number"}}}`: false, `{"type":"object","required":5}`: false,
		`{"type":"object","properties":{"a":{"type":"string","$ref":"http://127.0.0.1/x"}}}`: false, `{"type":"object","allOf":[{"$ref":"file:///etc/passwd"}]}`: false,
		`{"type":"object","description":"` + strings.Repeat("x", 70_000) + `"}`: false,
	} {
		err := tenant.Schemas{APIKey: json.RawMessage(raw)}.Validate()
		if (err == nil) != ok || err != nil && fault.From(err).Param != "properties.api_key_metadata_schema" {
			t.Errorf("%.80s: %v", raw, err)
		}
	}
}

func TestAuth(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a  tenant.Auth
		ok bool
	}{
		"nothing set":            {tenant.Auth{}, true},
		"a short session":        {tenant.Auth{Session: tenant.Session{MaxTTL: 899}}, false},
		"the shortest session":   {tenant.Auth{Session: tenant.Session{MaxTTL: 900}}, true},
		"both key sets":          {tenant.Auth{JWT: &tenant.JWT{JWKSURL: "https://x", JWKS: []byte("{}")}}, false},
		"no key set":             {tenant.Auth{JWT: &tenant.JWT{}}, false},
		"oidc without settings":  {tenant.Auth{SSOType: "oidc"}, false},
		"saml by two metadata":   {tenant.Auth{SAML: &tenant.SAML{MetadataURL: "https://x", MetadataXML: "<x/>"}}, false},
		"sso alone, without any": {tenant.Auth{SSOOnly: true}, false},
		"a domain twice":         {tenant.Auth{Domains: []tenant.Domain{{Name: "a.example"}, {Name: "a.example"}}}, false},
		"subdomains of one":      {tenant.Auth{Domains: []tenant.Domain{{Name: "x.a.example", Subdomains: true}}}, false},
	} {
		if err := c.a.Validate(); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is wrong with a schema is told without a word of the machine.
func TestARefusedSchemaNamesNoPath(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, schema := range []string{`{"type":"object","additionalProperties":true,"properties":{"a":{"type":"string","pattern":"("}}}`, `{"type":"object","additionalProperties":true,"properties":{"a":{"type":"string","$ref":"other.json"}}}`} {
		if err := (tenant.Schemas{APIKey: []byte(schema)}).Validate(); err == nil || strings.Contains(err.Error(), here) {
			t.Errorf("%s: %v", schema, err)
		}
	}
}
