package audit_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/domain/audit"
)

// The script of docs/audit.md takes what our verifier takes, and refuses what was
// changed.
func TestPythonOfTheManual(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import cryptography").Run()
	}
	if err != nil {
		t.Skipf("python3 with the package cryptography is not there: %v", err)
	}
	manual, err := os.ReadFile("../../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, found := strings.Cut(string(manual), "```python\n")
	script, _, ended := strings.Cut(script, "```")
	if !found || !ended {
		t.Fatal("docs/audit.md has no script")
	}
	dir := t.TempDir()
	verify := filepath.Join(dir, "verify.py")
	write(t, verify, []byte(script))
	r := sample(t)
	key := r.signer.Public().Base64()
	runScript := func(name string, file []byte) (string, error) {
		path := filepath.Join(dir, name)
		write(t, path, file)
		out, err := exec.Command(python, verify, path, key).CombinedOutput()
		return string(out), err
	}
	full := r.export(t, org, audit.Range{})
	for name, file := range map[string][]byte{
		"whole": full, "part": r.export(t, org, audit.Range{From: began.Add(12 * time.Minute), To: began.Add(14 * time.Minute)}),
	} {
		if out, err := runScript(name, file); err != nil || !strings.HasPrefix(out, "rows ") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
	lines := splitLines(full)
	for name, file := range map[string][]byte{
		"edited":    bytes.Replace(full, []byte(`"action":"update"`), []byte(`"action":"delete"`), 1),
		"deleted":   bytes.Join(append(append([][]byte{}, lines[:5]...), lines[6:]...), nil),
		"truncated": bytes.Join(lines[:20], nil),
		"signature": bytes.Replace(full, []byte(`"count":10`), []byte(`"count":11`), 1),
	} {
		var ended *exec.ExitError
		if out, err := runScript(name, file); !errors.As(err, &ended) {
			t.Errorf("%s was not found: %v: %s", name, err, out)
		}
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
