package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"sluice/internal/app"
	"sluice/internal/ops/config"
)

const chosen = "chosen-key-0123456789"

// The first call works as printed wherever the operator gave the key, and the key that
// he chose is not printed.
func TestFirstCallWorksAsPrinted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for _, c := range []struct {
		name  string
		src   config.Sources
		env   []string // of the shell
		input string
	}{
		{name: "made up"},
		{name: "environment", src: config.Sources{Environ: []string{"BOOTSTRAP_WORKSPACE_KEY=" + chosen}}, env: []string{"BOOTSTRAP_WORKSPACE_KEY=" + chosen}},
		{name: "file", src: config.Sources{Environ: []string{"BOOTSTRAP_WORKSPACE_KEY=" + write("key", chosen+"\n")}}},
		{name: "file with an odd name and end", src: config.Sources{Environ: []string{"BOOTSTRAP_WORKSPACE_KEY=" + write("it's $HOME", chosen+"\r\n")}}},
		{name: "file named by the settings file", src: config.Sources{File: write("a.yaml", "bootstrap_workspace_key: "+write("key2", chosen)+"\n")}},
		{name: "settings file", src: config.Sources{File: write("b.yaml", "port: 80\nbootstrap_workspace_key: "+chosen+"\n")}},
		{name: "settings file with quotes", src: config.Sources{File: write("c.yaml", "bootstrap_workspace_key:   \""+chosen+"\"  # mine\n")}},
		{name: "settings file in braces", src: config.Sources{File: write("d.yaml", "{port: 80, bootstrap_workspace_key: "+chosen+", listen: '::'}\n")}},
		{name: "settings file over lines", src: config.Sources{File: write("e.yaml", "bootstrap_workspace_key:\n  "+chosen+"\n")}, input: chosen + "\n"},
		{name: "command line", src: config.Sources{Flags: map[string]string{"BOOTSTRAP_WORKSPACE_KEY": chosen}}, input: chosen + "\n"},
	} {
		for _, demo := range []bool{false, true} {
			t.Run(c.name, func(t *testing.T) {
				t.Parallel()
				l, err := config.Load(c.src)
				require.NoError(t, err)
				key := l.Settings.Bootstrap.WorkspaceKey.Reveal()
				if key == "" {
					key = "sk-made-up"
				}
				var out strings.Builder
				greeting{intro: "This is the first start.", base: "http://127.0.0.1:8787/v1", demo: demo}.show(&out, app.FirstKeys{Admin: "sk-admin", Workspace: key}, l)
				assert.NotContains(t, out.String(), chosen)
				assert.Contains(t, out.String(), "Admin key      sk-admin\n")
				assert.Equal(t, demo, !strings.Contains(out.String(), "OPENAI_API_KEY"))

				cmd := exec.Command("sh", "-e", "-c", "curl() { for a; do printf '<%s>\\n' \"$a\"; done; }\n"+pasted(out.String()))
				cmd.Env, cmd.Stdin = append(c.env, "PATH="+os.Getenv("PATH")), strings.NewReader(c.input)
				output, err := cmd.CombinedOutput()
				require.NoError(t, err, "%s\n%s", output, out.String())
				assert.Contains(t, string(output), "<x-gateway-api-key: "+key+">", out.String())
			})
		}
	}
}

// pasted are the lines that are there to be run: indented, behind the keys.
func pasted(text string) string {
	_, text, _ = strings.Cut(text, "A first call")
	var run []string
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "  ") {
			run = append(run, line)
		}
	}
	return strings.Join(run, "\n")
}

func TestFirstCallOfTLS(t *testing.T) {
	t.Parallel()
	l, err := config.Load(config.Sources{})
	require.NoError(t, err)
	var out strings.Builder
	greeting{base: "https://127.0.0.1:8787/v1"}.show(&out, app.FirstKeys{Admin: "a", Workspace: "w"}, l)
	assert.Contains(t, out.String(), "  curl -k https://127.0.0.1:8787/v1/models")
}

// What is said of signing in leads to the database whose first start it was.
func TestSigningInLeadsToTheSameDatabase(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "my settings.yaml")
	require.NoError(t, os.WriteFile(file, []byte("data_dir: /var/lib/sluice\n"), 0o600))
	program := quoted(os.Args[0])
	for _, c := range []struct {
		name string
		s    settings
		env  []string
		demo bool
		want string
	}{
		{"defaults", settings{}, nil, false, ""},
		{"demo", settings{}, nil, true, " --data-dir data/demo"},
		{"demo elsewhere", settings{DataDir: "here"}, nil, true, " --data-dir here"},
		{"demo where the environment says", settings{}, []string{"DATA_DIR=/srv"}, true, ""},
		{"command line", settings{DataDir: "/srv/it's"}, nil, false, ` --data-dir '/srv/it'\''s'`},
		{"settings file", settings{File: file}, nil, false, " --config " + quoted(file)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := config.Load(config.Sources{File: c.s.File, Environ: c.env, Flags: map[string]string{"data-dir": c.s.DataDir}})
			require.NoError(t, err)
			apart(l, c.demo)
			var out strings.Builder
			greeting{signIn: c.s.again(l, c.demo)}.show(&out, app.FirstKeys{Admin: "a", Workspace: "w"}, l)
			assert.Contains(t, out.String(), "To sign in as a user: "+program+c.want+" users set-password owner@localhost\n")
		})
	}
}
