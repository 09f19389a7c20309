package e2e

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// A saved config may hold the credentials of providers. They are used, and masked
// wherever the config is shown; no file, no metric and nothing printed has them. After
// the sealing key was changed the config, its old texts included, still opens.
func TestSecretsInSavedConfigs(t *testing.T) {
	t.Parallel()
	const marker = "marked-secret"
	up := upstream.Start(t)
	g := start(t, with("LOG_LEVEL=debug"))
	host := `"custom_host":"` + up.URL() + `/v1"`
	slug := g.saveConfig("With secrets", `{"provider":"openai","api_key":"sk-upstream-`+marker+`-inline",`+host+`}`)
	path, via := "/v1/configs/"+slug, "x-gateway-config: "+slug
	wantKey := func() {
		t.Helper()
		a := g.chat(via)
		seen := up.Seen()
		if got := seen[len(seen)-1].Get("authorization"); got != "Bearer sk-upstream-"+marker+"-inline" {
			t.Errorf("the provider got %q", got)
		}
		g.awaitLog(a.Header.Get("x-gateway-request-id"))
	}
	wantText := func(version, want string) {
		t.Helper()
		if got := g.do(g.key, "GET", path+"?version="+version, nil).get("config").String(); got != want {
			t.Errorf("version %s is shown as %s", version, got)
		}
	}
	first := `{"provider":"openai","api_key":"sk*****ine",` + host + `}`
	second := `{"provider":"openai","api_key":"sk*****ine",` + host + `,"retry":{"attempts":2}}`

	wantKey()
	wantText("1", first)
	g.call("PUT", path, `{"config":`+second+`}`).want(t, 200)
	g.call("PUT", path, `{"config":{"provider":"openai","api_key":"sk*****xyz"}}`).want(t, 400)
	wantText("2", second)
	wantKey()
	if metrics := g.call("GET", "/metrics", "").want(t, 200).Body; strings.Contains(metrics, marker) {
		t.Error("a metric has the secret")
	}
	wantNowhere(t, g, marker, slug)
	g.stop()
	wantNowhere(t, g, marker, slug)

	if got := cli(t, nil, "keys", "rotate-encryption", "--data-dir", g.dir); got.code != 0 {
		t.Fatalf("%+v", got)
	}
	g = g.again()
	wantKey()
	wantText("1", first)
	wantText("2", second)
	g.stop()
	wantNowhere(t, g, marker, slug)
}

// wantNowhere looks for a secret in every file of a gateway and in what it printed.
// That it would be found there is shown by a text that is stored in the clear.
func wantNowhere(t *testing.T, g *gateway, secret, clear string) {
	t.Helper()
	seen := false
	for _, path := range files(t, g.dir) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		seen = seen || bytes.Contains(b, []byte(clear))
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s holds a secret", path)
		}
	}
	if !seen {
		t.Errorf("no file has %q: this is not where configs are stored", clear)
	}
	if printed := g.child.out.String() + g.child.err.String(); strings.Contains(printed, secret) {
		t.Errorf("a secret was printed:\n%s", printed)
	}
}
