package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

var block = regexp.MustCompile("(?s)```(\\w+)\n(.*?)```")

// What the README shows works as it stands: its calls are answered, its config is
// one, its program runs. Only the address is another, and the provider is ours.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	provider := upstream.StartTLS(t, upstream.CertNames("api.openai.com"))
	ca := filepath.Join(t.TempDir(), "ca.pem")
	write(t, ca, string(provider.CAPEM()))
	g := start(t, command("demo"), with("HTTPS_PROXY="+tunnel(t, provider.Addr()), "SSL_CERT_FILE="+ca))
	env := []string{"PATH=" + os.Getenv("PATH"), "SLUICE_KEY=" + workspaceKey, "SLUICE_ADMIN_KEY=" + adminKey, "OPENAI_API_KEY=sk-upstream-secret"}
	calls := 0
	for _, m := range block.FindAllStringSubmatch(string(readme), -1) {
		language, code := m[1], strings.ReplaceAll(m[2], "http://127.0.0.1:8787", g.base)
		switch {
		case language == "sh" && strings.Contains(code, "curl "):
			cmd := exec.Command("sh", "-ec", `curl() { command curl -sS --fail-with-body "$@"; echo; }`+"\n"+code)
			cmd.Env = env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s\n%v: %s", code, err, out)
			}
			calls++
		case language == "json":
			a := g.call("POST", "/v1/configs", `{"name":"Readme","config":`+code+`}`)
			if a.Status != 200 {
				t.Errorf("%s\n%d %s", code, a.Status, a.Body)
			}
		case language == "js":
			t.Run("node", func(t *testing.T) { runProgram(t, code, env) })
		}
	}
	if calls < 4 {
		t.Errorf("only %d calls were found", calls)
	}
	saved := g.call("POST", "/v1/chat/completions", strings.Replace(hello, "gpt-4o-mini", "@openai-main/gpt-4o-mini", 1))
	if saved.Status != 200 {
		t.Errorf("the provider that it saves cannot be called: %d %s", saved.Status, saved.Body)
	}
}

func runProgram(t *testing.T, code string, env []string) {
	node := needNode(t)
	modules, err := filepath.Abs("node/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "first.mjs"), code)
	cmd := exec.Command(node, "first.mjs")
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), `You said: "Hello"`) {
		t.Errorf("%v: %s", err, out)
	}
}
