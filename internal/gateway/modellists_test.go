package gateway_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/credential"
	"sluice/internal/gateway"
	"sluice/internal/test/upstream"
)

// listRig is a rig that reads the lists of providers.
func listRig(t *testing.T, change ...func(*gateway.Settings)) *rig {
	t.Helper()
	r := newRig(t, append([]func(*gateway.Settings){func(s *gateway.Settings) { s.ModelLists.Wait = 30 * time.Second }}, change...)...)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.gateway.ReadModelLists(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return r
}

// local saves a provider at the rig's upstream.
func (r *rig) local(slug, spec string, models ...credential.Model) *credential.Account {
	a := &credential.Account{
		Slug: slug, RecordID: "id of " + slug, Spec: spec, Status: "active", AllModels: true, Models: models,
		Values: map[string]string{"custom_host": r.up.URL() + "/" + slug, "key": "sk-of-" + slug},
	}
	r.dir.accounts[slug] = a
	return a
}

// lists has the upstream list models for providers of the rig.
func (r *rig) lists(path, body string) {
	r.up.Handle(path, upstream.Always(upstream.JSON(200, []byte(body))))
}

// eachRefresh has each request read the lists again in the background.
func eachRefresh(s *gateway.Settings) { s.ModelLists.Period = time.Nanosecond }

func TestModelList_OfAProviderTheCatalogDoesNotKnow(t *testing.T) {
	t.Parallel()
	r := listRig(t)
	r.local("own", "custom", credential.Model{Slug: "off"}, credential.Model{Slug: "named", Enabled: true})
	r.lists("/own/models", `{"object":"list","data":[{"id":"llama3.2:latest"},{"id":"off"},{"id":"named"},{"id":"org/m"}]}`)
	for range 2 {
		a := r.call("GET", "/v1/models", "")
		for id, want := range map[string]int{"@own/llama3.2:latest": 1, "@own/org/m": 1, "@own/named": 1, "@own/off": 0} {
			if n := strings.Count(a.Text, `{"id":"`+id+`","object":"model","created":0,"owned_by":"custom","provider":"@own"}`); n != want {
				t.Errorf("%s is listed %d times: %d %s", id, n, a.StatusCode, a.Text)
			}
		}
	}
	seen := r.up.Seen()
	if len(seen) != 1 || seen[0].Get("authorization") != "Bearer sk-of-own" || seen[0].Method != "GET" {
		t.Errorf("the provider saw %+v", seen)
	}
	if rows := r.journal.all(); len(rows) != 0 {
		t.Errorf("%d records", len(rows))
	}
	if a := r.call("GET", "/v1/models/@own/llama3.2:latest", ""); a.StatusCode != 200 || !strings.HasPrefix(a.Text, `{"id":"@own/llama3.2:latest"`) {
		t.Errorf("one model: %d %s", a.StatusCode, a.Text)
	}
	if a := r.call("GET", "/v1/models/%40own%2Forg%2Fm", ""); a.StatusCode != 200 || !strings.HasPrefix(a.Text, `{"id":"@own/org/m"`) {
		t.Errorf("one model, escaped: %d %s", a.StatusCode, a.Text)
	}
	for _, id := range []string{"@own/off", "@none/org/m", "org/m"} {
		if a := r.call("GET", "/v1/models/"+id, ""); a.StatusCode != 404 {
			t.Errorf("%s: %d %s", id, a.StatusCode, a.Text)
		}
	}
	if a := r.call("GET", "/v1/models", "", "anthropic-version: 2023-06-01"); !strings.Contains(a.Text, `{"type":"model","id":"@own/org/m"`) {
		t.Errorf("for Anthropic's clients: %s", a.Text)
	}
}

func TestModelList_IsReadInTheProvidersFormat(t *testing.T) {
	t.Parallel()
	r := listRig(t)
	r.local("claude", "anthropic")
	r.local("gem", "google")
	r.local("together", "together-ai")
	r.local("ollama", "ollama")
	r.lists("/claude/models", `{"data":[{"type":"model","id":"claude-local","display_name":"C","created_at":"2026-01-01T00:00:00Z"}],"has_more":false}`)
	r.lists("/gem/v1beta/models", `{"models":[{"name":"models/gemini-local","displayName":"G"}]}`)
	r.lists("/together/v1/models", `[{"id":"org/together"}]`)
	r.lists("/ollama/v1/models", `{"object":"list","data":[{"id":"qwen3:0.6b"}]}`)
	a := r.call("GET", "/v1/models", "")
	for _, id := range []string{"@claude/claude-local", "@gem/gemini-local", "@together/org/together", "@ollama/qwen3:0.6b"} {
		if !strings.Contains(a.Text, `"id":"`+id+`"`) {
			t.Errorf("%s is not listed: %s %s", id, a.Text, r.log.String())
		}
	}
}

func TestModelList_ProvidersThatAreNotAsked(t *testing.T) {
	t.Parallel()
	r := listRig(t)
	r.local("some", "custom", credential.Model{Slug: "m", Enabled: true}).AllModels = false
	r.local("gone", "custom").Status = "archived"
	r.local("speech", "elevenlabs") // serves no list
	azure := r.local("azure", "azure-openai")
	for name, v := range map[string]string{"azure_deployment_id": "gpt", "azure_api_version": "v1", "azure_resource_name": "ours"} {
		azure.Values[name] = v
	}
	r.dir.accounts["public"] = &credential.Account{Slug: "public", Spec: "openai", Status: "active", AllModels: true}
	a := r.call("GET", "/v1/models", "")
	if n := len(r.up.Seen()); n != 0 || !strings.Contains(a.Text, `"@some/m"`) || !strings.Contains(a.Text, `"@azure/gpt"`) || !strings.Contains(a.Text, `"@public/gpt-4o"`) {
		t.Errorf("%d calls, %d %s", n, a.StatusCode, a.Text)
	}
	off := listRig(t, func(s *gateway.Settings) { s.ModelLists.Period = 0 })
	off.local("own", "custom")
	if a := off.call("GET", "/v1/models", ""); a.StatusCode != 200 || len(off.up.Seen()) != 0 {
		t.Errorf("with a period of 0: %d %s, %d calls", a.StatusCode, a.Text, len(off.up.Seen()))
	}
}

func TestModelList_OnlyProvidersThatTheRequestNamesAreAsked(t *testing.T) {
	t.Parallel()
	r := listRig(t)
	for _, slug := range []string{"a", "b"} {
		r.local(slug, "custom")
		r.lists("/"+slug+"/models", `{"data":[{"id":"m"}]}`)
	}
	if a := r.call("GET", "/v1/models/@b/m", ""); a.StatusCode != 200 || len(r.up.Seen()) != 0 {
		t.Errorf("one model: %d %s, %d calls", a.StatusCode, a.Text, len(r.up.Seen()))
	}
	a := r.call("GET", "/v1/models", "", `x-gateway-config: {"provider":"@b","fetch_integrated_models":true}`)
	if a.StatusCode != 200 || !strings.Contains(a.Text, "@b/m") || strings.Contains(a.Text, "@a/") || len(r.up.Seen()) != 1 {
		t.Errorf("by a config: %d %s, %d calls", a.StatusCode, a.Text, len(r.up.Seen()))
	}
}

func TestModelList_StoredKeyGoesToItsOwnHostAlone(t *testing.T) {
	t.Parallel()
	r := listRig(t)
	other := upstream.Start(t)
	r.local("own", "custom")
	r.lists("/own/models", `{"data":[{"id":"m"}]}`)
	a := r.call("GET", "/v1/models", "", "x-gateway-custom-host: "+other.URL()+"/v1", "x-other: secret", "x-gateway-forward-headers: x-other")
	if a.StatusCode != 200 || !strings.Contains(a.Text, "@own/m") || other.Total() != 0 {
		t.Errorf("%d %s, %d calls elsewhere", a.StatusCode, a.Text, other.Total())
	}
	if seen := r.up.Seen(); len(seen) != 1 || seen[0].Get("x-other") != "" || strings.Contains(fmt.Sprint(seen[0].Header), key) {
		t.Errorf("the provider saw %+v", seen)
	}
}

func TestModelList_FaultsOfOneProviderLeaveTheOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host     string // empty: the rig's upstream
		response upstream.Response
		log      string
	}{
		"a refusal":             {"", upstream.JSON(401, []byte(`{"error":{"message":"who are you"}}`)), "status 401"},
		"a web page":            {"", upstream.JSON(200, []byte(`<html>welcome</html>`)), "not a list of models"},
		"a list that is cut":    {"", upstream.Response{Chunks: []upstream.Chunk{{Bytes: []byte(`{"data":[{"id":"m"}`)}}, Claim: 100, End: upstream.Close}, "cannot read"},
		"a list without an end": {"", upstream.Response{Framing: upstream.Chunked, Chunks: []upstream.Chunk{{Bytes: []byte(strings.Repeat(" ", 64<<10)), Times: 100}}}, "cannot read"},
		"a host that is closed": {"http://169.254.169.254/latest", upstream.Response{}, "not allowed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := listRig(t)
			r.local("good", "custom")
			r.lists("/good/models", `{"data":[{"id":"m"}]}`)
			bad := r.local("bad", "custom")
			if c.host != "" {
				bad.Values["custom_host"] = c.host
			}
			r.up.Handle("/bad/models", upstream.Always(c.response))
			a := r.call("GET", "/v1/models", "")
			if a.StatusCode != 200 || !strings.Contains(a.Text, "@good/m") || strings.Contains(a.Text, "@bad/") {
				t.Errorf("%d %s", a.StatusCode, a.Text)
			}
			until(t, "the fault to be logged", func() bool { return strings.Contains(r.log.String(), "provider=@bad") })
			if text := r.log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "provider=@bad") || !strings.Contains(text, c.log) {
				t.Errorf("log: %s", text)
			}
		})
	}
}

func TestModelList_SilentProviderDelaysNobody(t *testing.T) {
	t.Parallel()
	r := listRig(t, func(s *gateway.Settings) { s.ModelLists.Wait = time.Millisecond })
	r.local("silent", "custom")
	r.up.Handle("/silent/models", upstream.Always(upstream.Response{Framing: upstream.Chunked, Chunks: []upstream.Chunk{{Bytes: []byte("{")}}, End: upstream.Hang}))
	for range 3 { // each would hang for ever
		if a := r.call("GET", "/v1/models", ""); a.StatusCode != 200 || strings.Contains(a.Text, "@silent") {
			t.Errorf("%d %s", a.StatusCode, a.Text)
		}
	}
	if n := r.up.Total(); n > 1 {
		t.Errorf("%d calls", n)
	}
}

func TestModelList_LastListStaysWhileTheProviderIsDown(t *testing.T) {
	t.Parallel()
	r := listRig(t, eachRefresh)
	r.local("own", "custom")
	r.lists("/own/models", `{"data":[{"id":"m"}]}`)
	if a := r.call("GET", "/v1/models", ""); !strings.Contains(a.Text, "@own/m") {
		t.Fatal(a.Text)
	}
	r.up.Handle("/own/models", upstream.Always(upstream.JSON(503, []byte(`{}`))))
	for limit := time.Now().Add(30 * time.Second); !strings.Contains(r.log.String(), "using the previous list") && time.Now().Before(limit); {
		if a := r.call("GET", "/v1/models", ""); !strings.Contains(a.Text, "@own/m") {
			t.Fatal(a.Text)
		}
	}
	if a := r.call("GET", "/v1/models", ""); !strings.Contains(a.Text, "@own/m") || !strings.Contains(r.log.String(), "status 503") {
		t.Errorf("%s %s", a.Text, r.log.String())
	}
}

func TestModelList_ProvidersOfOneIntegrationShareIt(t *testing.T) {
	t.Parallel()
	r := listRig(t)
	first, second, third := r.local("a", "custom"), r.local("b", "custom"), r.local("c", "custom")
	first.IntegrationID, second.IntegrationID, third.IntegrationID = "i", "i", "other"
	second.Values, third.Values = first.Values, first.Values
	r.lists("/a/models", `{"data":[{"id":"m"}]}`)
	a := r.call("GET", "/v1/models", "")
	for _, id := range []string{`"@a/m"`, `"@b/m"`, `"@c/m"`} {
		if !strings.Contains(a.Text, id) {
			t.Errorf("%s is not listed: %s", id, a.Text)
		}
	}
	if n := len(r.up.Seen()); n != 2 {
		t.Errorf("%d calls", n)
	}
}
