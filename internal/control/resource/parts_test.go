package resource_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
)

// What is well formed every decoder reads, and reads alike.
func FuzzWellFormed(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":[{"a":null}]}`, `{"a":1,"a":2}`, `{} {}`, `{"a":`, `[[[[`, `"\u0061"`, `{"\u0061":1,"a":2}`, ``, `nul`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		err := resource.WellFormed(raw)
		if valid := json.Valid(raw); err == nil && !valid {
			t.Errorf("taken for JSON: %q", raw)
		}
	})
}

func TestWellFormed(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"a": [1, 2, {"b": "c"}]}`: "",
		`{"a": 1, "\u0061": 2}`:     "duplicate field",
		`{"a": {"b": 1, "b": 1}}`:   "duplicate field",
		`[{"a": 1}, {"a": 2}]`:      "",
		`{"a": 1}]`:                 "data after its JSON value",
		`{"a": 1`:                   "not valid JSON",
		strings.Repeat(`{"a":`, 70): "deeper than",
		`{"a": 1e999}`:              "",
		strings.Repeat("[", 60) + strings.Repeat("]", 60): "",
	} {
		err := resource.WellFormed([]byte(body))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40s: %v, want %q", body, err, want)
		}
	}
}

func TestMask(t *testing.T) {
	t.Parallel()
	sent := map[string]string{
		`{"key": "s", "name": "n"}`:                                              `{"key":"***","name":"n"}`,
		`{"key": "", "expires_at": null}`:                                        `{"expires_at":null,"key":""}`,
		`{"configurations": {"aws_secret_access_key": "s", "region": "r"}}`:      `{"configurations":{"aws_secret_access_key":"***","region":"r"}}`,
		`{"configurations": {"key": "s", "custom_headers": {"a": "s"}}}`:         `{"configurations":{"custom_headers":"***","key":"***"}}`,
		`{"vertexServiceAccountJson": {"private_key": "s"}}`:                     `{"vertexServiceAccountJson":"***"}`,
		`{"conditions": [{"key": "api_key", "value": "*"}]}`:                     `{"conditions":[{"key":"api_key","value":"*"}]}`,
		`{"group_by": [{"key": "model"}]}`:                                       `{"group_by":[{"key":"model"}]}`,
		`{"config": {"targets": [{"api_key": "s", "virtual_key": "vk"}]}}`:       `{"config":{"targets":[{"api_key":"***","virtual_key":"vk"}]}}`,
		`{"config": {"targets": [{"key": "s", "accessToken": ["s", "t"]}]}}`:     `{"config":{"targets":[{"accessToken":["***","***"],"key":"***"}]}}`,
		`{"config": {"hooks": [{"headers": [{"name": "n", "value": "s"}]}]}}`:    `{"config":{"hooks":[{"headers":["***"]}]}}`,
		`{"config": {"forward_headers": ["x-a"], "aws_s3_object_key": "o"}}`:     `{"config":{"aws_s3_object_key":"o","forward_headers":["x-a"]}}`,
		`{"config": {"oracleKeyPassphrase": 123456, "token": 5}}`:                `{"config":{"oracleKeyPassphrase":"***","token":5}}`,
		`{"key_transition_period_ms": 1800000, "max_tokens": 5}`:                 `{"key_transition_period_ms":1800000,"max_tokens":5}`,
		`{"key_transition_period_ms": "x", "api_key_id": "i", "apiKeyId": 1}`:    `{"apiKeyId":1,"api_key_id":"i","key_transition_period_ms":"x"}`,
		`{"tokens": {"unit": "day"}, "token_type": "t", "tokenUrl": "u"}`:        `{"tokenUrl":"u","token_type":"t","tokens":{"unit":"day"}}`,
		`{"secret_mappings": [{"target_field": "key", "secret_key": "m"}]}`:      `{"secret_mappings":[{"secret_key":"m","target_field":"key"}]}`,
		`{"secret_key": "s", "secretKey": "s", "client-secret": "s"}`:            `{"client-secret":"***","secretKey":"***","secret_key":"***"}`,
		`{"accessTokens": ["s"], "api_keys": ["s"], "password2": "s"}`:           `{"accessTokens":["***"],"api_keys":["***"],"password2":"***"}`,
		`{"config": "{\"provider\": \"openai\", \"api_key\": \"s\"}"}`:           `{"config":"{\"api_key\":\"***\",\"provider\":\"openai\"}"}`,
		`{"config": " {\"a\": [1.0, \"{\\\"key\\\": \\\"s\\\"}\"]}"}`:            `{"config":"{\"a\":[1.0,\"{\\\"key\\\":\\\"***\\\"}\"]}"}`,
		`{"config": "{\"api_key\": \"s\", \"api_key\": \"\"}"}`:                  `{"config":"***"}`,
		`{"config": "{'api_key': 's'}", "b": "[{\"x-api-key\": \"s\""}`:          `{"b":"***","config":"***"}`,
		`{"string": "[{\"role\":  \"user\", \"content\": \"{{x}}\"}]"}`:          `{"string":"[{\"role\":  \"user\", \"content\": \"{{x}}\"}]"}`,
		`{"string": "{{#each a}}", "b": "[the key is] \"gold\": never"}`:         `{"b":"[the key is] \"gold\": never","string":"{{#each a}}"}`,
		`{"url": "https://u:s@h/mcp?token=s&a=b", "list": ["http://h/?key=s"]}`:  `{"list":["http://h/?key=***"],"url":"https://***@h/mcp?token=***\u0026a=b"}`,
		`{"deployment_config": {"DB_PASS": "s", "bypass": true, "Cookie": "s"}}`: `{"deployment_config":{"Cookie":"***","DB_PASS":"***","bypass":true}}`,
	}
	for body, want := range sent {
		var s resource.Sent
		if err := json.Unmarshal([]byte(body), &s); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(resource.MaskOpen(s, true))
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s (%v)", body, got, want, err)
		}
	}
}

// Of an object that takes any field the values of fields that nothing knows are masked,
// whatever they are.
func TestMask_HidesValuesOfUnknownFields(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{"vault_tokn": "s", "pasword": 1, "kee": {"a": ["s"]}, "on": true, "none": null}`: `{"kee":"***","none":null,"on":"***","pasword":"***","vault_tokn":"***"}`,
		`{"ses_0123456789abcdef0123456789abcdef": 1}`:                                      `{"***":"***"}`,
	} {
		var s resource.Sent
		if err := json.Unmarshal([]byte(body), &s); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(resource.MaskOpen(s, false)); err != nil || string(got) != want {
			t.Errorf("%s:\n got %s\nwant %s (%v)", body, got, want, err)
		}
	}
}

type overlaid struct {
	Name  string            `json:"name,omitempty"`
	Limit *int              `json:"limit,omitempty"`
	Tags  map[string]string `json:"tags,omitempty"`
	List  []string          `json:"list,omitempty"`
}

// A field that was sent replaces the old one as a whole, null clears it, and what
// was not sent stays.
func TestOverlay(t *testing.T) {
	t.Parallel()
	value := rapid.Custom(func(t *rapid.T) overlaid {
		o := overlaid{Name: rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "name")}
		if rapid.Bool().Draw(t, "limited") {
			n := rapid.IntRange(0, 9).Draw(t, "limit")
			o.Limit = &n
		}
		if rapid.Bool().Draw(t, "tagged") {
			o.Tags = rapid.MapOfN(rapid.StringMatching(`[a-z]`), rapid.StringMatching(`[a-z]`), 1, 3).Draw(t, "tags")
		}
		if rapid.Bool().Draw(t, "listed") {
			o.List = rapid.SliceOfN(rapid.StringMatching(`[a-z]`), 1, 3).Draw(t, "list")
		}
		return o
	})
	rapid.Check(t, func(t *rapid.T) {
		old, next := value.Draw(t, "old"), value.Draw(t, "next")
		sent, want := resource.Sent{}, old
		fields := map[string]func(){
			"name": func() { want.Name = next.Name }, "limit": func() { want.Limit = next.Limit },
			"tags": func() { want.Tags = next.Tags }, "list": func() { want.List = next.List },
		}
		var all resource.Sent
		raw, _ := json.Marshal(next)
		if err := json.Unmarshal(raw, &all); err != nil {
			t.Fatal(err)
		}
		for name, set := range fields {
			if !rapid.Bool().Draw(t, name+" sent") {
				continue
			}
			if sent[name] = all[name]; sent[name] == nil {
				sent[name] = json.RawMessage("null")
			}
			set()
		}
		got, err := resource.Overlay(old, sent)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
	})
}

// The first of the settings that are a map has no map to be laid over.
func TestOverlayOnNothing(t *testing.T) {
	t.Parallel()
	got, err := resource.Overlay(map[string]bool(nil), resource.Sent{"a": json.RawMessage("true")})
	if diff := cmp.Diff(map[string]bool{"a": true}, got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestOverlayRefusesAnotherType(t *testing.T) {
	t.Parallel()
	if _, err := resource.Overlay(overlaid{Name: "a"}, resource.Sent{"limit": json.RawMessage(`"many"`)}); err == nil {
		t.Error("a text became a number")
	}
}

func TestGeneratedSlugs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		for _, prefix := range []string{"", "pc"} {
			if s := resource.NewSlug(prefix, name, 6); !ident.ValidSlug(s) || !strings.HasPrefix(s, prefix) || len(s) > 20 {
				t.Fatalf("%q made %q", name, s)
			}
		}
	})
	if s := resource.NewSlug("pc", "Main routing", 6); !strings.HasPrefix(s, "pc-main-r-") {
		t.Error(s)
	}
	if s := resource.NewSlug("ws", "  Ünder & Over", 6); !strings.HasPrefix(s, "ws-nder-o-") {
		t.Error(s)
	}
}

func TestShownSlug(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]resource.Record{
		"own":     {Slug: "own", Index: []resource.IndexEntry{{Name: "slug", Value: "other"}}},
		"indexed": {Index: []resource.IndexEntry{{Name: "tag", Value: "x"}, {Name: "slug", Value: "indexed"}}},
		"":        {},
	} {
		if got := r.ShownSlug(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
