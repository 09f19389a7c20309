// Package contract holds the published description of the administration against the
// contract that clients were promised: every operation, parameter and field of the
// contract is there, or stands in testdata/exceptions.txt under the reason why not.
// The contract lies in a folder named shared/contract beside the repository, or
// further up; without it nothing is compared.
package contract

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

const published = "../../api/openapi.json"

// parts are the files of the contract that speak of the administration.
var parts = []string{"identity-and-governance.yaml", "content-and-observability.yaml"}

func TestDescriptionKeepsTheContract(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	doc, err := openapi3.NewLoader().LoadFromFile(published)
	if err != nil {
		t.Fatal(err)
	}
	d := newDescription(doc)
	var found []string
	seen := 0
	for _, name := range parts {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		ops := parse(t, raw).operations(t)
		seen += len(ops)
		for _, op := range ops {
			found = append(found, d.compare(op)...)
		}
	}
	if seen < 200 {
		t.Errorf("only %d operations were understood", seen)
	}
	slices.Sort(found)
	rest, stale := readExceptions(t).explain(slices.Compact(found))
	for _, f := range rest {
		t.Error(f)
	}
	for _, s := range stale {
		t.Errorf("nothing is missing any more that %q explains: take it out", s)
	}
}

// folder finds the contract on the way up from here.
func folder(t *testing.T) string {
	t.Helper()
	cwd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		dir := filepath.Join(cwd, "shared", "contract")
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
		up := filepath.Dir(cwd)
		if up == cwd {
			t.Skip("no contract to compare with: there is no folder shared/contract beside the repository")
		}
		cwd = up
	}
}
