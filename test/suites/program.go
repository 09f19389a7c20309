package suites

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// Program is the compiled tests of one package.
type Program struct {
	Dir   string   // of the package's source, where its tests run
	File  string   // the executable
	Tests []string // the generated ones: "TestMessageNewWithOptionalParams"
}

// Results are what tests came to and what they printed, by their names.
type Results map[string]Result

// Result is what a test came to.
type Result struct {
	Passed bool
	Output string
}

// Run runs the generated tests against a server. Settings, each "NAME=value", are
// their environment besides PATH; the home folder is an empty one, because clients
// look there for credentials. Failing tests are no error, one that did not end is.
func (p Program) Run(ctx context.Context, base, home string, settings ...string) (Results, error) {
	cmd := exec.CommandContext(ctx, p.File, "-test.v", "-test.run", "^("+strings.Join(p.Tests, "|")+")$")
	cmd.Dir = p.Dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, baseVariable + "=" + base}, settings...)
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return nil, fmt.Errorf("run %s: %w", p.File, err)
	}
	results := read(string(out))
	for _, name := range p.Tests {
		if _, ok := results[name]; !ok {
			return nil, fmt.Errorf("%s has not ended: %s\n%s", name, cmd.ProcessState, out)
		}
	}
	return results, nil
}

// verdict is how a test ends that is not part of another.
var verdict = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\S+) .*\n`)

// read takes what "go test -v" prints apart. A test that was skipped has not passed.
func read(out string) Results {
	all, from := Results{}, 0
	for _, m := range verdict.FindAllStringSubmatchIndex(out, -1) {
		all[out[m[4]:m[5]]] = Result{Passed: out[m[2]:m[3]] == "PASS", Output: out[from:m[1]]}
		from = m[1]
	}
	return all
}
