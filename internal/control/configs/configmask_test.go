package configs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/control/configs"
	"sluice/internal/kernel/fault"
)

// marker is in every secret of a generated config.
const marker = "s3cr3t"

func TestMaskConfig(t *testing.T) {
	t.Parallel()
	for name, c := range map[string][2]string{
		"spacing stays":       {`{ "api_key" : "sk-0123456789" , "a":[ 1 ] }`, `{ "api_key" : "sk*****789" , "a":[ 1 ] }`},
		"escaped name":        {`{"api\u005fkey":"sk-0123456789"}`, `{"api\u005fkey":"sk*****789"}`},
		"escaped value":       {`{"api_key":"\u0073k-\"123456\"\\\n"}`, `{"api_key":"sk*****\"\\\n"}`},
		"half a character":    {`{"api_key":"ü日-01234日"}`, `{"api_key":"ü*****日"}`},
		"cut character":       {`{"api_key":"a日0123456789"}`, `{"api_key":"a�*****789"}`},
		"number of a secret":  {`{"oracle_key_passphrase":1234}`, `{"oracle_key_passphrase":"*****"}`},
		"number of a limit":   {`{"override_params":{"max_tokens":123456789012}}`, `{"override_params":{"max_tokens":123456789012}}`},
		"references":          {`{"provider":"@main-provider","virtual_key":"vk-of-the-team"}`, `{"provider":"@main-provider","virtual_key":"vk-of-the-team"}`},
		"headers in a list":   {`{"parameters":{"headers":[{"name":"x-long-header-name","value":"0123456789ab"}]}}`, `{"parameters":{"headers":[{"name":"x-*****ame","value":"01*****9ab"}]}}`},
		"nothing, not a text": {`{"api_key":null,"token":"","aws_session_token":true}`, `{"api_key":null,"token":"","aws_session_token":true}`},
	} {
		if got := configs.MaskConfig([]byte(c[0])); got != c[1] {
			t.Errorf("%s: %s, want %s", name, got, c[1])
		}
	}
}

func TestUnmaskConfig(t *testing.T) {
	t.Parallel()
	const stored = `{"targets":[{"provider":"openai","api_key":"sk-first-0123"},{"provider":"openai","api_key":"sk-other-0456"},{"provider":"groq","api_key":"short"}]}`
	for name, c := range map[string]struct{ sent, want, refused string }{
		"other spelling of the text": {`{"targets":[{"api_key":"sk\u002a****123","provider":"openai"}]}`, `{"targets":[{"api_key":"sk-first-0123","provider":"openai"}]}`, ""},
		"a new secret":               {`{"targets":[{"provider":"groq","api_key":"sk-fresh-0789"}]}`, `{"targets":[{"provider":"groq","api_key":"sk-fresh-0789"}]}`, ""},
		"no secret":                  {`{"targets":[{"provider":"*****"}]}`, `{"targets":[{"provider":"*****"}]}`, ""},
		"targets changed places":     {`{"targets":[{"provider":"openai","api_key":"sk*****456"},{"provider":"openai","api_key":"sk*****123"}]}`, "", "targets[0].api_key"},
		"alike but elsewhere":        {`{"targets":[{},{},{"provider":"openai","api_key":"*****"}]}`, "", "targets[2].api_key"},
		"at the root":                {`{"provider":"openai","api_key":"sk*****123"}`, "", "api_key"},
		"an address of its own":      {`{"targets":[{"provider":"openai","api_key":"sk*****123","azure_foundry_url":"https://x.example.com"}]}`, "", "targets[0].api_key"},
		"in a field of any name":     {`{"input_guardrails":[{"a.b":{"headers":{"` + strings.Repeat("n", 400) + `":"*****"}}}]}`, "", `input_guardrails[0]."a.b".headers.nnn`},
	} {
		got, err := configs.UnmaskConfig([]byte(c.sent), []byte(stored))
		if f := fault.From(err); c.refused != "" && (!fault.Has(err, fault.InvalidConfig) || !strings.HasPrefix(f.Param, c.refused) || len(f.Param) > 300) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if c.refused == "" && (err != nil || string(got) != c.want) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// Whatever a config says: no secret of it is shown, what is shown is JSON, and sent
// back as it is it means the config that is stored.
func TestMasksCanBeSentBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc, err := json.Marshal(anyConfig(t, 4, false))
		if err != nil {
			t.Fatal(err)
		}
		shown := configs.MaskConfig(doc)
		if strings.Contains(shown, marker) || !json.Valid([]byte(shown)) {
			t.Fatalf("shown as %s", shown)
		}
		if restored, err := configs.UnmaskConfig([]byte(shown), doc); err != nil || string(restored) != string(doc) {
			t.Fatalf("%s came back as %s, %v", doc, restored, err)
		}
	})
}

// anyConfig is an object of that many levels at most. Each string of a secret holds
// the marker, no other one does.
func anyConfig(t *rapid.T, depth int, secret bool) map[string]any {
	object := make(map[string]any)
	for name := range rapid.MapOfN(rapid.SampledFrom([]string{
		"provider", "custom_host", "targets", "forward_headers", "virtualKey", "", "a.b", `q"[0]`, "日本",
		"api_key", "apiKey", "Authorization", "headers", "vertex_service_account_json", "db.password",
	}), rapid.Bool(), 0, 5).Draw(t, "names") {
		hidden := secret
		switch name {
		case "api_key", "apiKey", "Authorization", "headers", "vertex_service_account_json", "db.password":
			hidden = true
		}
		object[name] = anyValue(t, depth-1, hidden)
	}
	return object
}

func anyValue(t *rapid.T, depth int, secret bool) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	switch {
	case kind == 0:
		return rapid.IntRange(-1, 1000).Draw(t, "number")
	case kind == 1:
		return rapid.SampledFrom([]any{nil, true, "", "*****"}).Draw(t, "literal")
	case kind == 2 && depth > 0:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = anyValue(t, depth-1, secret)
		}
		return list
	case kind < 5 && depth > 0:
		return anyConfig(t, depth, secret)
	case secret:
		return rapid.StringN(0, 6, 40).Draw(t, "before") + marker + rapid.StringN(0, 6, 40).Draw(t, "after")
	}
	return rapid.SampledFrom([]string{"openai", "https://a.example.com", "text", "sk*****123"}).Draw(t, "text")
}

// The credentials of a webhook's URL are not shown, and the URL can be sent back as shown.
func TestWebhookCredentialsAreMasked(t *testing.T) {
	t.Parallel()
	doc := []byte(`{"input_guardrails":[{"default.webhook":{"webhookURL":"https://u:s3cr3t@hook.example/x?any=s3cr3t"},"deny":true}]}`)
	shown := configs.MaskConfig(doc)
	if strings.Contains(shown, "s3cr3t") || !strings.Contains(shown, "https://***@hook.example/x?any=***") {
		t.Fatal(shown)
	}
	if restored, err := configs.UnmaskConfig([]byte(shown), doc); err != nil || string(restored) != string(doc) {
		t.Errorf("came back as %s, %v", restored, err)
	}
	if _, err := configs.UnmaskConfig([]byte(strings.Replace(shown, "hook.example", "other.example", 1)), doc); err == nil {
		t.Error("a stored credential follows the webhook to another host")
	}
}
