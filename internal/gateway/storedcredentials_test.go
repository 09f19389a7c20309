package gateway_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/keys"
	"sluice/internal/kernel/access"
	"sluice/internal/test/upstream"
)

const (
	elsewhere = "https://collector.example/v1"
	stolen    = "sk-stored-and-nobodys-business"
)

// storing is a rig with a stored credential in a provider and in a config.
func storing(t *testing.T) *rig {
	r := newRig(t)
	for slug, a := range map[string]credential.Account{
		"good":   {Spec: "openai", Values: map[string]string{"key": stolen, "custom_host": r.up.URL() + "/v1"}},
		"hugs":   {Spec: "huggingface", Values: map[string]string{"key": stolen}},
		"aws":    {Spec: "sagemaker", Values: map[string]string{"aws_access_key_id": "AKIA", "aws_secret_access_key": stolen, "aws_region": "eu-west-1"}},
		"honest": {Spec: "openai", Values: map[string]string{"key": stolen, "custom_host": "https://models.example/v1"}},
	} {
		a.Slug, a.Status, a.AllModels = slug, "active", true
		r.dir.accounts[slug] = &a
	}
	r.dir.config(t, "pc-key", `{"provider":"openai","api_key":"`+stolen+`","custom_host":"`+r.up.URL()+`/v1"}`)
	r.dir.config(t, "pc-open", `{"retry":{"attempts":1}}`)
	for slug, doc := range map[string]string{ // of somebody who may save configs, and not see the keys of providers
		"pc-lure":        `{"retry":{"attempts":0},"custom_host":"` + elsewhere + `"}`,
		"pc-lure-slug":   `{"provider":"@good","custom_host":"` + elsewhere + `"}`,
		"pc-lure-above":  `{"strategy":{"mode":"fallback"},"custom_host":"` + elsewhere + `","targets":[{"virtual_key":"good"}]}`,
		"pc-lure-field":  `{"provider":"@hugs","huggingface_base_url":"` + elsewhere + `"}`,
		"pc-lure-beside": `{"provider":"@honest","custom_host":"http://models.example/v1","api_key":"mine"}`,
		"pc-same":        `{"provider":"@good","custom_host":"` + r.up.URL() + `/v1"}`,
	} {
		r.dir.config(t, slug, doc)
	}
	return r
}

// A request that may use a stored credential cannot have it sent elsewhere, nor
// have the gateway's machine sign for it, by any of the ways to name a host or mode.
func TestStoredCredentialStays(t *testing.T) {
	t.Parallel()
	r := storing(t)
	inline := func(doc string) string { return "x-gateway-config: " + doc }
	cases := []struct {
		name    string
		model   string
		headers []string
		field   string
	}{
		{"custom host beside a provider", "m", []string{"x-gateway-provider: @good", "x-gateway-custom-host: " + elsewhere}, "stored credential"},
		{"custom host beside a model", "@good/m", []string{"x-gateway-custom-host: " + elsewhere}, "stored credential"},
		{"custom host beside a virtual key", "m", []string{"x-gateway-virtual-key: good", "x-gateway-custom-host: " + elsewhere}, "stored credential"},
		{"custom host in an inline config", "m", []string{inline(`{"provider":"@good","custom_host":"` + elsewhere + `"}`)}, "stored credential"},
		{"custom host in a nested target", "m", []string{inline(`{"strategy":{"mode":"fallback"},"targets":[{"provider":"@good","customHost":"` + elsewhere + `"}]}`)}, "stored credential"},
		{"custom host for an override", "m", []string{inline(`{"provider":"openai","custom_host":"` + elsewhere + `","override_params":{"model":"@good/m"}}`)}, "stored credential"},
		{"custom host for a saved config's key", "m", []string{"x-gateway-config: pc-key", "x-gateway-custom-host: " + elsewhere}, "stored credential"},
		{"another port", "m", []string{"x-gateway-provider: @honest", "x-gateway-custom-host: https://models.example:8443/v1"}, "stored credential"},
		{"another scheme", "m", []string{"x-gateway-provider: @honest", "x-gateway-custom-host: http://models.example/v1"}, "stored credential"},
		{"a name below the stored one", "m", []string{"x-gateway-provider: @honest", "x-gateway-custom-host: https://x.models.example/v1"}, "stored credential"},
		{"base URL in a header", "m", []string{"x-gateway-provider: @hugs", "x-gateway-huggingface-base-url: " + elsewhere}, "stored credential"},
		{"base URL in an inline config", "m", []string{inline(`{"provider":"@hugs","huggingface_base_url":"` + elsewhere + `"}`)}, "stored credential"},
		{"custom host in a saved config, beside a model", "@good/m", []string{"x-gateway-config: pc-lure"}, "stored credential"},
		{"custom host in a saved config, beside a provider", "m", []string{"x-gateway-config: pc-lure", "x-gateway-provider: @good"}, "stored credential"},
		{"custom host in a saved config with a provider", "m", []string{"x-gateway-config: pc-lure-slug"}, "stored credential"},
		{"custom host above a target of a saved config", "m", []string{"x-gateway-config: pc-lure-above"}, "stored credential"},
		{"base URL in a saved config", "m", []string{"x-gateway-config: pc-lure-field"}, "stored credential"},
		{"another scheme in a saved config", "m", []string{"x-gateway-config: pc-lure-beside"}, "stored credential"},
		{"the machine's role beside a provider", "m", []string{"x-gateway-provider: @aws", "x-gateway-aws-auth-type: serviceRole"}, "identity"},
		{"the machine's role in an inline config", "m", []string{inline(`{"provider":"@aws","aws_auth_type":"serviceRole"}`)}, "identity"},
		{"the gateway's name at Google", "m", []string{"x-gateway-provider: vertex-ai", "x-gateway-vertex-region: us-east1", "x-gateway-vertex-project-id: p", "x-gateway-vertex-auth-type: workload identity federation"}, "identity"},
		{"the machine's role beside a saved config", "m", []string{"x-gateway-config: pc-open", "x-gateway-provider: sagemaker", "x-gateway-aws-auth-type: serviceRole"}, "identity"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := r.call("POST", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", c.model, 1), c.headers...)
			if a.StatusCode != 400 || !strings.Contains(a.Text, c.field) {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		})
	}
	if n := r.up.Total(); n != 0 {
		t.Errorf("%d calls went out", n)
	}
	for _, row := range r.journal.all() {
		if strings.Contains(row.Error, stolen) {
			t.Errorf("on record: %s", row.Error)
		}
	}
}

// Who saves a provider or a config may name its host, and cannot have a token of the
// gateway's machine, or its signature, sent there.
func TestOwnIdentityStays(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	saved := map[string]map[string]string{
		"sagemaker":    {"aws_auth_type": "serviceRole", "aws_service": "secretsmanager", "custom_host": elsewhere},
		"vertex-ai":    {"vertex_auth_type": "workload", "vertex_region": "us-east1", "vertex_project_id": "p", "custom_host": elsewhere},
		"azure-openai": {"azure_auth_mode": "managed", "azure_entra_scope": "https://management.azure.com/.default", "azure_resource_name": "r", "azure_deployment_id": "d", "azure_api_version": "v1", "custom_host": elsewhere},
		"azure-ai":     {"azure_auth_mode": "managed", "azure_foundry_url": elsewhere},
	}
	for spec, values := range saved {
		r.dir.accounts["vk-"+spec] = &credential.Account{Slug: "vk-" + spec, Spec: spec, Status: "active", AllModels: true, Values: values}
		fields := map[string]string{"provider": spec}
		maps.Copy(fields, values)
		doc, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		r.dir.config(t, "pc-"+spec, string(doc))
	}
	for spec := range saved {
		for _, way := range []string{"x-gateway-provider: @vk-" + spec, "x-gateway-config: pc-" + spec} {
			for _, path := range []string{"/v1/chat/completions", "/v1/any/thing"} {
				a := r.call("POST", path, hello, way)
				if a.StatusCode != 400 || !strings.Contains(a.Text, "identity of the gateway") {
					t.Errorf("%s, %s: %d %s", path, way, a.StatusCode, a.Text)
				}
			}
		}
	}
}

// Callers name files in S3 by bucket and key. What is signed with a stored credential lies in the
// bucket that was saved with it, if there is one, and what the gateway's machine signs in no other
// in any case, for its rights may reach further.
func TestFilesKeepToTheSavedBucket(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDOFTHEMACHINE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret of the machine")
	t.Setenv("AWS_CA_BUNDLE", "")
	r := newRig(t)
	r.gateway.Guard = r.gateway.Guard.WithKeyHosts([]string{strings.TrimPrefix(r.up.URL(), "http://")}) // the machine's identity may go there
	r.gateway.Reassemble()
	r.up.Handle("/mine/rows.jsonl", upstream.Always(upstream.JSON(200, []byte(`{}`))))
	for slug, bucket := range map[string]string{"machine": "mine", "bare": ""} {
		r.dir.accounts[slug] = &credential.Account{Slug: slug, Spec: "bedrock", Status: "active", AllModels: true, Values: map[string]string{
			"aws_auth_type": "serviceRole", "aws_region": "us-east-1", "aws_s3_bucket": bucket, "custom_host": r.up.URL(),
		}}
	}
	for slug, bucket := range map[string]string{"keyed": "mine", "open": ""} {
		r.dir.accounts[slug] = &credential.Account{Slug: slug, Spec: "bedrock", Status: "active", AllModels: true, Values: map[string]string{
			"aws_access_key_id": "AKID", "aws_secret_access_key": "secret", "aws_region": "us-east-1", "aws_s3_bucket": bucket, "custom_host": r.up.URL(),
		}}
	}
	for _, c := range []struct {
		slug, objectPath, header string
		status                   int
	}{
		{"machine", "mine/rows.jsonl", "x-none: 1", 200},
		{"machine", "logs/30/of-another.json", "x-none: 1", 400},
		{"machine", "logs/30/of-another.json", "x-gateway-aws-s3-bucket: logs", 400},
		{"machine", "mine2/rows.jsonl", "x-none: 1", 400},
		{"bare", "mine/rows.jsonl", "x-gateway-aws-s3-bucket: mine", 400},
		{"keyed", "mine/rows.jsonl", "x-none: 1", 200},
		{"keyed", "logs/30/of-another.json", "x-gateway-aws-s3-bucket: logs", 400},
		{"open", "mine/rows.jsonl", "x-none: 1", 200},
	} {
		a := r.call("GET", "/v1/files/"+url.QueryEscape("s3://"+c.objectPath)+"/content", "", "x-gateway-provider: @"+c.slug, c.header)
		if a.StatusCode != c.status || c.status == 400 && !strings.Contains(a.Text, "only in its saved bucket") {
			t.Errorf("%+v: %d %s", c, a.StatusCode, a.Text)
		}
	}
	r.dir.accounts["google"] = &credential.Account{Slug: "google", Spec: "vertex-ai", Status: "active", AllModels: true, Values: map[string]string{
		"vertex_auth_type": "workload", "vertex_region": "us-east1", "vertex_project_id": "p", "vertex_storage_bucket_name": "mine",
	}}
	for _, objectPath := range []string{"gs://logs/30/of-another.json", "gs://mine.logs/x"} {
		if a := r.call("GET", "/v1/files/"+url.QueryEscape(objectPath)+"/content", "", "x-gateway-provider: @google"); a.StatusCode != 400 || !strings.Contains(a.Text, "only in its saved bucket") {
			t.Errorf("%s: %d %s", objectPath, a.StatusCode, a.Text)
		}
	}
	if n := r.up.Total(); n != 3 {
		t.Errorf("%d calls went out", n)
	}
}

// The stored host, repeated, and hosts that the operator lists for stored credentials are
// usable.
func TestStoredCredentialTravels(t *testing.T) {
	t.Parallel()
	r := storing(t)
	listed := upstream.Start(t)
	r.gateway.Guard = r.gateway.Guard.WithKeyHosts([]string{strings.TrimPrefix(listed.URL(), "http://")})
	r.gateway.Reassemble()
	r.dir.accounts["bare"] = &credential.Account{Slug: "bare", Spec: "openai", Status: "active", AllModels: true, Values: map[string]string{"key": stolen}}
	for name, headers := range map[string][]string{
		"the stored host":            {"x-gateway-provider: @good", "x-gateway-custom-host: " + r.up.URL() + "/v1"},
		"a listed host":              {"x-gateway-provider: @bare", "x-gateway-custom-host: " + listed.URL() + "/v1"},
		"a saved config's own":       {"x-gateway-config: pc-key"},
		"a saved config's, the same": {"x-gateway-config: pc-same"},
		"a saved config's, repeated": {"x-gateway-config: pc-key", "x-gateway-custom-host: " + r.up.URL() + "/v1"},
	} {
		if a := r.call("POST", "/v1/chat/completions", hello, headers...); a.StatusCode != 200 {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.Text)
		}
	}
}

// A key whose config may not be overridden is served by that config alone.
func TestLockedConfig(t *testing.T) {
	t.Parallel()
	r := storing(t)
	const locked = "sk-locked-to-its-own-config-00"
	no := false
	e := r.dir.add(keys.NewHasher([]byte("pepper of the tests")), locked, access.WorkspaceService, workspace, "completions.write")
	e.Key.Defaults = keys.Defaults{ConfigID: "pc-key", AllowConfigOverride: &no}
	cases := []struct {
		name, model string
		headers     []string
		status      int
	}{
		{"as it is", "m", nil, 200},
		{"another provider is not looked at", "m", []string{"x-gateway-provider: @honest"}, 200},
		{"another virtual key is not looked at", "m", []string{"x-gateway-virtual-key: honest"}, 200},
		{"another config", "m", []string{"x-gateway-config: pc-open"}, 400},
		{"an inline config", "m", []string{`x-gateway-config: {"provider":"@honest"}`}, 400},
		{"a model of another provider", "@honest/m", nil, 400},
		{"another host, though trusted", "m", []string{"x-gateway-custom-host: " + r.up.URL() + "/v1"}, 400},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := r.call("POST", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", c.model, 1), append(c.headers, "x-gateway-api-key: "+locked)...)
			if a.StatusCode != c.status {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		})
	}
}

// A list of allowed models holds whichever way the model is said.
func TestModelListHolds(t *testing.T) {
	t.Parallel()
	r := storing(t)
	r.dir.accounts["picky"] = &credential.Account{
		Slug: "picky", Spec: "openai", Status: "active", Models: []credential.Model{{Slug: "gpt-4o", Enabled: true}},
		Values: map[string]string{"key": stolen, "custom_host": r.up.URL() + "/v1"},
	}
	unnamed := `{"messages":[{"role":"user","content":"hi"}]}`
	cases := []struct {
		name, path, body string
		headers          []string
	}{
		{"in the body", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", "o3", 1), nil},
		{"as an override", "/v1/chat/completions", hello, []string{`x-gateway-config: {"provider":"@picky","override_params":{"model":"o3"}}`}},
		{"as a default", "/v1/chat/completions", unnamed, []string{`x-gateway-config: {"provider":"@picky","default_params":{"model":"o3"}}`}},
		{"in a body that is not read", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", "o3", 1), []string{"x-gateway-nitro-mode: true"}},
		{"in an opaque body", "/v1/chat/completions/x", strings.Replace(hello, "gpt-4o-mini", "o3", 1), []string{"content-type: text/plain"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a := r.call("POST", c.path, c.body, append([]string{"x-gateway-provider: @picky"}, c.headers...)...)
			if a.StatusCode != 412 || !strings.Contains(a.Text, "model_not_allowed_error") {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
		})
	}
}

// A key of this gateway never goes upstream, whichever header it stands in, in
// whatever spelling, and whoever's it is.
func TestGatewayKeyStaysHere(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for name, headers := range map[string][]string{
		"bare in Authorization":      {"authorization: " + key},
		"lower case, two blanks":     {"authorization: bearer  " + key},
		"twice in Authorization":     {"authorization: Bearer " + key + ", Bearer " + key},
		"another key in it":          {"authorization: Bearer " + adminKey},
		"another key, bare":          {"authorization: " + narrowKey},
		"as a cookie":                {"cookie: session=" + key},
		"in a header to be relayed":  {"x-copy: " + key, "x-gateway-forward-headers: x-copy"},
		"in the forwarded key's own": {"x-gateway-forward-headers: authorization"},
	} {
		headers = append([]string{"x-gateway-provider: openai", "x-gateway-custom-host: " + r.up.URL() + "/v1"}, headers...)
		for _, path := range []string{"/v1/chat/completions", "/v1/anything/else"} {
			r.call("POST", path, hello, headers...)
		}
		for _, s := range r.up.Seen() {
			for _, f := range s.Header {
				for _, k := range []string{key, adminKey, narrowKey} {
					if strings.Contains(f.Value, k) {
						t.Errorf("%s: sent %s: %s", name, f.Name, f.Value)
					}
				}
			}
		}
	}
}
