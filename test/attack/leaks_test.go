package attack

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// Whatever is sent and whatever goes wrong, no key is in what the gateway prints,
// keeps, measures, answers or sends to a provider whose key it is not.
func TestNoKeyLeaks(t *testing.T) {
	t.Parallel()
	g := start(t)
	config := `{"strategy":{"mode":"fallback"},"targets":[{"provider":"openai","api_key":"` + upstreamKey + `","custom_host":"` + g.up.URL() + `/v1"},{"provider":"nonsense","api_key":"` + upstreamKey + `"}]}`
	calls := []struct {
		method, path, body string
		headers            []string
	}{
		{"POST", "/v1/chat/completions", hello, nil},
		{"POST", "/v1/chat/completions", strings.Replace(hello, "{", `{"stream":true,`, 1), nil},
		{"POST", "/v1/chat/completions", hello, []string{"x-gateway-config: " + config}},
		{"POST", "/v1/chat/completions", hello, []string{"x-gateway-config: " + config[:len(config)-1]}},
		{"POST", "/v1/chat/completions", hello, []string{"x-gateway-config: " + strings.Replace(config, "api_key", "apikey", 1)}},
		{"POST", "/v1/chat/completions", hello, []string{"x-gateway-custom-host: http://user:" + upstreamKey + "@127.0.0.1/v1"}},
		{"POST", "/v1/chat/completions", hello, []string{"x-gateway-custom-host: http://127.0.0.1:1/v1"}},
		{"POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: google"}},
		{"POST", "/v1/chat/completions", hello, []string{"x-gateway-provider: bedrock"}},
		{"POST", "/v1/chat/completions", hello, []string{"x-fault: garbage"}},
		{"POST", "/v1/chat/completions", "{broken", nil},
		{"GET", "/v1/things?key=" + upstreamKey + "&api-key=" + upstreamKey + "&api%2Dkey=" + upstreamKey + "&x=1", "", nil},
		{"GET", "/v1/things?Access_Token=" + upstreamKey, "", []string{"x-gateway-custom-host: http://127.0.0.1:1/v1"}},
		{"POST", "/v1/configs", `{"name":"C","config":"{\"api_key\":\"` + upstreamKey + `\"}"}`, []string{"x-gateway-provider", "x-gateway-custom-host", "authorization"}},
		{"GET", "/v1/logs/none", "", []string{"x-gateway-provider", "x-gateway-custom-host", "x-gateway-api-key: " + adminKey}},
	}
	answers := ""
	for _, c := range calls {
		_, text := g.call(c.method, c.path, c.body, c.headers...)
		answers += text
	}
	for _, to := range []string{g.to(), strings.Replace(g.to(), g.up.URL(), "http://127.0.0.1:1", 1)} {
		answers += g.raw("GET /v1/realtime?model=m&key=" + upstreamKey + " HTTP/1.1\r\nHost: gw\r\n" + to +
			"connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: MDEyMzQ1Njc4OTAxMjM0NQ==\r\n\r\n")
	}
	if !g.logged("gpt-4o-mini") {
		t.Error("nothing was logged")
	}
	_, metrics := g.call("GET", "/metrics", "")
	_, list := g.call("GET", "/v1/logs?page_size=100", "", "x-gateway-provider", "x-gateway-custom-host")
	_, printed, _ := strings.Cut(g.output.String(), "A first call:") // the first start shows its keys
	_, printed, _ = strings.Cut(printed, `"Hello"}]}'`)
	g.stop()
	for where, text := range map[string]string{"answers": answers, "metrics": metrics, "log list": list, "output": printed} {
		found(t, where, []byte(text), adminKey, workspaceKey, upstreamKey)
	}
	err := filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found(t, path, unpacked(b), adminKey, workspaceKey, upstreamKey, sealingKey)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, s := range g.up.Seen() {
		found(t, "upstream "+s.Target, append(append([]byte(s.Target), s.Head...), s.Body...), adminKey, workspaceKey)
	}
}

// The token of an invitation is in nothing that the gateway prints or keeps, however its link
// or path is misspelt, and neither is the password that comes with it nor the session.
func TestNoInvitationLeaks(t *testing.T) {
	t.Parallel()
	g := start(t)
	admin := []string{"x-gateway-provider", "x-gateway-custom-host", "authorization", "x-gateway-api-key: " + adminKey}
	anonymous := []string{"x-gateway-provider", "x-gateway-custom-host", "authorization", "x-gateway-api-key"}
	_, invited := g.call("POST", "/v1/admin/users/invites", `{"email":"ada@acme.example","role":"member"}`, admin...)
	_, rest, _ := strings.Cut(invited, "#token=")
	token, _, ok := strings.Cut(rest, `"`)
	if !ok || len(token) < 40 {
		t.Fatal(invited)
	}
	const password = "attack-passw0rd-of-ada"
	form := `{"password":"` + password + `"}`
	for _, path := range []string{
		"/v1/admin/users/invites/" + token, "/v1/admin/users/invites/" + token + "/acept", "/v1/admin/user/invites/" + token + "/accept",
		"/v2/invites/" + token + "/accept", "/admin/users/invites/" + token + "/accept", "/v1/admin/users/invites//" + token + "/accept", "/console/" + token,
		"/v1/admin/users/invites/" + token + "/accept",
	} {
		for _, callers := range [][]string{anonymous, admin} {
			for _, method := range []string{"GET", "POST"} {
				g.call(method, path, form, callers...)
			}
		}
	}
	_, opened := g.call("POST", "/v1/auth/login", `{"email":"ada@acme.example","password":"`+password+`"}`, anonymous...)
	_, rest, _ = strings.Cut(opened, `"token":"`)
	session, _, ok := strings.Cut(rest, `"`)
	if !ok {
		t.Fatal(opened)
	}
	g.call("GET", "/v1/"+session, "", anonymous...)
	g.call("GET", "/v1/auth/self/"+session, "", admin...)
	g.stop()
	found(t, "output", []byte(g.output.String()), token, password, session)
	err := filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		found(t, path, unpacked(b), token, password, session)
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// found reports the secrets that stand in b, with what stands around them.
func found(t *testing.T, where string, b []byte, secrets ...string) {
	t.Helper()
	for _, s := range secrets {
		if i := bytes.Index(b, []byte(s)); i >= 0 {
			t.Errorf("%s holds %s: %q", where, s, b[max(0, i-100):min(len(b), i+len(s)+20)])
		}
	}
}

// unpacked is a file and what decompresses in it.
func unpacked(b []byte) []byte {
	if r, err := zstd.NewReader(bytes.NewReader(b)); err == nil {
		defer r.Close()
		more, _ := io.ReadAll(r) // most files are no such thing
		b = append(b, more...)
	}
	if r, err := gzip.NewReader(bytes.NewReader(b)); err == nil {
		more, _ := io.ReadAll(r)
		b = append(b, more...)
	}
	return b
}

// Nothing in the data directory can be read or entered by others, and only one
// process works in it.
func TestDataDirectory(t *testing.T) {
	t.Parallel()
	g := start(t, "ENCRYPTION_KEY=")
	big := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("a", 2<<20) + `"}]}`
	if status, text := g.call("POST", "/v1/chat/completions", big); status != 200 {
		t.Fatalf("%d %s", status, text)
	}
	g.logged("gpt")
	second := program(g.dir, []string{"ENCRYPTION_KEY="}, "serve", "--listen", "127.0.0.1:0", "--data-dir", g.dir)
	if out, err := second.CombinedOutput(); err == nil || !strings.Contains(string(out), "uses the data directory") {
		t.Errorf("a second process: %v %s", err, out)
	}
	g.kill()
	err := filepath.WalkDir(g.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err == nil && st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", path, st.Mode().Perm())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(g.dir, "spool", "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
