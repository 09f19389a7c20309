package sluice

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// forTestsOnly lists the modules that go.mod requires for tests beside the code, and why. What
// only tests of the complete program need belongs into test/go.mod.
var forTestsOnly = map[string]string{
	"github.com/Shopify/toxiproxy/v2":   "cuts and slows connections to Redis (internal/limits/redistest)",
	"github.com/anishathalye/porcupine": "checks histories of limits for linearizability (internal/limits/quota/quotatest)",
	"github.com/getkin/kin-openapi":     "validates recorded API calls against the description (internal/control)",
	"github.com/google/go-cmp":          "compares structures",
	"github.com/johannesboyne/gofakes3": "object store in the process (internal/storage/requestlog)",
	"github.com/rs/zerolog":             "silences toxiproxy",
	"github.com/stretchr/testify":       "assertions",
	"go.uber.org/goleak":                "finds leaked goroutines",
	"golang.org/x/tools":                "reads txtar transcripts",
	"pgregory.net/rapid":                "property tests",
}

// TestDependencies_TestOnlyModulesAreListed fails if the program stops importing a module, or
// starts to import one that is on the list.
func TestDependencies_TestOnlyModulesAreListed(t *testing.T) {
	t.Parallel()
	direct, _ := readRequirements(t, "go.mod")
	used := modulesOfProgram(t, direct)
	for name := range direct {
		why, listed := forTestsOnly[name]
		switch {
		case !used[name] && !listed:
			t.Errorf("go.mod requires %s, which the program does not import: move the tests that need it to the module in test/, or add it to forTestsOnly with a reason", name)
		case used[name] && listed:
			t.Errorf("forTestsOnly lists %s (%s), which the program imports: remove it from the list", name, why)
		}
	}
	for name := range forTestsOnly {
		if direct[name] == "" {
			t.Errorf("forTestsOnly lists %s, which go.mod does not require directly: remove it from the list", name)
		}
	}
	t.Logf("direct dependencies: %d of the program, %d of go.mod", len(used), len(direct))
}

// TestDependencies_ModulesPinTheSameVersions: the tests of the complete program run with the code
// that is shipped.
func TestDependencies_ModulesPinTheSameVersions(t *testing.T) {
	t.Parallel()
	_, program := readRequirements(t, "go.mod")
	_, tests := readRequirements(t, filepath.Join(testModule, "go.mod"))
	for _, name := range slices.Sorted(maps.Keys(program)) {
		if v := tests[name]; v != "" && v != program[name] {
			t.Errorf("test/go.mod requires %s %s, and go.mod requires %s: use one version", name, v, program[name])
		}
	}
}

// requirement is a line of a require block: "	github.com/google/uuid v1.6.0 // indirect".
var requirement = regexp.MustCompile(`(?m)^\t(\S+) (v\S+)( // indirect)?$`)

// readRequirements returns the versions of the modules in a go.mod file, by path.
func readRequirements(t *testing.T, file string) (direct, all map[string]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	direct, all = map[string]string{}, map[string]string{}
	for _, m := range requirement.FindAllStringSubmatch(string(text), -1) {
		all[m[1]] = m[2]
		if m[3] == "" {
			direct[m[1]] = m[2]
		}
	}
	if len(direct) == 0 {
		t.Fatalf("%s has no require block", file)
	}
	return direct, all
}

// modulesOfProgram returns the modules that provide the packages which the commands import, by
// way of packages of this module. Files for other systems count too.
func modulesOfProgram(t *testing.T, modules map[string]string) map[string]bool {
	t.Helper()
	packages := map[string]*folder{}
	var queue []string
	for _, f := range readTree(t) {
		packages[f.path] = f
		if strings.HasPrefix(f.path, "cmd/") {
			queue = append(queue, f.path)
		}
	}
	used, seen := map[string]bool{}, map[string]bool{}
	for len(queue) > 0 {
		name := queue[0]
		queue = queue[1:]
		if seen[name] || packages[name] == nil {
			continue
		}
		seen[name] = true
		for _, imported := range imports(packages[name].code) {
			if local, ok := modulePath(imported); ok {
				queue = append(queue, local)
			} else if m := moduleOf(imported, modules); m != "" {
				used[m] = true
			}
		}
	}
	return used
}

// moduleOf returns the module with the longest path that contains a package, or "".
func moduleOf(pkg string, modules map[string]string) (longest string) {
	for m := range modules {
		if (pkg == m || strings.HasPrefix(pkg, m+"/")) && len(m) > len(longest) {
			longest = m
		}
	}
	return longest
}
