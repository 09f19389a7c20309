// Package openapi checks the published API description with the tools that people use on
// it: clients are generated in two ways for Go and one for TypeScript and must compile, and
// the linter must have nothing to report.
package openapi

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// timeout bounds one tool: the generated Go clients compile for minutes on a small machine.
const timeout = 15 * time.Minute

func TestDescription_LintsCleanly(t *testing.T) {
	t.Parallel()
	run(t, nodeFolder(t), "npx", "redocly", "lint", "--config", "redocly.yaml", "--max-problems", "50", copyDescription(t))
}

func TestDescription_GivesTypesThatStrictTypeScriptCompiles(t *testing.T) {
	t.Parallel()
	node := nodeFolder(t)
	types := filepath.Join(t.TempDir(), "sluice.d.ts")
	run(t, node, "npx", "openapi-typescript", copyDescription(t), "--output", types)
	run(t, node, "npx", "tsc", "--strict", "--noEmit", "--skipLibCheck", "false", types)
}

func TestDescription_GivesGoClientsThatCompile(t *testing.T) {
	t.Parallel()
	description := copyDescription(t)
	for _, c := range []struct {
		name, output string
		generate     []string
	}{
		{"oapi-codegen", "oapi", []string{"tool", "oapi-codegen", "-generate", "types,client", "-package", "oapi", "-o", "oapi/client.go", description}},
		{"ogen", "ogen", []string{"tool", "ogen", "--config", "ogen.yml", "--target", "ogen", "--package", "ogen", "--clean", description}},
	} {
		t.Run(c.name, func(t *testing.T) {
			module := copyModule(t)
			if err := os.Mkdir(filepath.Join(module, c.output), 0o755); err != nil {
				t.Fatal(err)
			}
			run(t, module, "go", c.generate...)
			run(t, module, "go", "build", "./"+c.output)
		})
	}
}

// copyDescription copies the description to a folder of the test. Opening it here makes
// "go test" run again when it changes.
func copyDescription(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "openapi.json")
	copyFile(t, "../../api/openapi.json", path)
	return path
}

// copyModule copies the module that pins the generators, so that generated code stays out
// of the repository.
func copyModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum", "ogen.yml"} {
		copyFile(t, filepath.Join("clients", name), filepath.Join(dir, name))
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, raw, 0o644); err != nil {
		t.Fatal(err)
	}
}

// nodeFolder is where the Node tools are installed. Without them the test is skipped,
// unless REQUIRE_SERVICES=1.
func nodeFolder(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat("node/node_modules/.bin/redocly"); err != nil {
		if os.Getenv("REQUIRE_SERVICES") == "1" {
			t.Fatal("REQUIRE_SERVICES=1: run npm ci in test/openapi/node")
		}
		t.Skip("the Node tools are not installed: run npm ci in test/openapi/node")
	}
	return "node"
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
