// Package suites runs the tests that vendors generate for their own clients. The
// modules of the clients ship them: each calls a method with every parameter that it
// knows, against the server that TEST_API_BASE_URL names. Accept is such a server: it
// takes anything. With a gateway before it the same tests must pass, and the same
// requests must arrive.
package suites

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Suite is the tests of one client.
type Suite struct {
	Name     string // "openai-go"
	Module   string // "github.com/openai/openai-go/v3"
	Provider string // whose API it is, as the gateway calls it: "openai"
	Base     string // how base URLs end: "/v1", or "" where the paths of requests begin with it
	Headers  string // variable that names headers to send besides: "OPENAI_CUSTOM_HEADERS"
}

// All returns the suites. They read the variables of their headers since the versions
// that test/e2e/sdk requires.
func All() []Suite {
	return []Suite{
		{"openai-go", "github.com/openai/openai-go/v3", "openai", "/v1", "OPENAI_CUSTOM_HEADERS"},
		{"anthropic-sdk-go", "github.com/anthropics/anthropic-sdk-go", "anthropic", "", "ANTHROPIC_CUSTOM_HEADERS"},
	}
}

// Find returns the folder of the suite's source, in the version that the module in
// folder user requires. It is downloaded when it must be; an error means that it
// cannot be had.
func (s Suite) Find(ctx context.Context, user string) (string, error) {
	if _, err := tool(ctx, user, "mod", "download"); err != nil {
		return "", err
	}
	out, err := tool(ctx, user, "list", "-m", "-f", "{{.Dir}}", s.Module)
	return strings.TrimSpace(out), err
}

// Build compiles the packages below source that have generated tests into folder
// out. Where nothing is in Go's cache that takes minutes.
func Build(ctx context.Context, source, out string) ([]Program, error) {
	var all []Program
	err := filepath.WalkDir(source, func(dir string, entry os.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		tests, err := generated(dir)
		if err != nil || len(tests) == 0 {
			return err
		}
		file := filepath.Join(out, fmt.Sprintf("%s-%d.test", filepath.Base(dir), len(all)))
		all = append(all, Program{dir, file, tests})
		_, err = tool(ctx, dir, "test", "-c", "-o", file, ".")
		return err
	})
	if err == nil && len(all) == 0 {
		err = errors.New("no generated tests in " + source)
	}
	return all, err
}

// tool runs the go command in a folder and returns what it prints.
func tool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var failure strings.Builder
	cmd.Stderr = &failure
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s in %s: %w\n%s", strings.Join(args, " "), dir, err, failure.String())
	}
	return string(out), nil
}
