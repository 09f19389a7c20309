package attack

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The sealing key cannot be changed under a running gateway; a change that was broken
// off is finished by the next; and at no moment is a key lost that is in use.
func TestSealingKeyRotation(t *testing.T) {
	t.Parallel()
	g := start(t, "ENCRYPTION_KEY=")
	file := filepath.Join(g.dir, "encryption.key")
	rotate := func() (string, error) {
		out, err := program(g.dir, []string{"ENCRYPTION_KEY="}, "keys", "rotate-encryption", "--data-dir", g.dir).CombinedOutput()
		return string(out), err
	}
	before := keysOf(t, file)
	if out, err := rotate(); err == nil || !strings.Contains(out, "uses the data directory") {
		t.Errorf("under a running gateway: %v %s", err, out)
	}
	if now := keysOf(t, file); strings.Join(now, " ") != strings.Join(before, " ") {
		t.Error("the key file was changed under a running gateway")
	}
	g.kill()

	// What an interruption right after the first step leaves: a new key in front, in
	// use by nothing yet.
	partial := append([]string{strings.Repeat("n", 43)}, before...)
	if err := os.WriteFile(file, []byte(strings.Join(partial, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := rotate(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	after := keysOf(t, file)
	if len(after) != 1 || after[0] == before[0] {
		t.Errorf("%d keys after the rotation", len(after))
	}
	if st, err := os.Stat(file); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
	again := startIn(t, g.dir, g.up, "ENCRYPTION_KEY=")
	if status, text := again.call("POST", "/v1/chat/completions", hello); status != 200 {
		t.Errorf("%d %s", status, text)
	}
	again.kill()
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := program(g.dir, []string{"ENCRYPTION_KEY="}, "serve", "--listen", "127.0.0.1:0", "--data-dir", g.dir).CombinedOutput(); err == nil || !strings.Contains(string(out), "chmod 600") {
		t.Errorf("with a key file for all to read: %v %s", err, out)
	}
}

func keysOf(t *testing.T, file string) []string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Fields(string(b))
}
