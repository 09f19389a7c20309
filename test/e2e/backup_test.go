package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sluice/internal/test/upstream"
)

// A backup of the data directory that is put back, as docs/operations.md has it, bills as it
// did: what it had counts once, what came behind it is gone from the log and the budget
// alike, and what comes now is added. So does the database alone put back beside the rest.
func TestBackupBillsRight(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	g := start(t)
	g.saveProvider("main", up)
	workspace := g.do(adminKey, "GET", "/v1/workspaces", nil).get("data.0.id").String()
	made := g.do(adminKey, "POST", "/v1/api-keys/workspace/service", object{
		"name": "spender", "workspace_id": workspace, "scopes": []string{"completions.write", "logs.view", "logs.list"},
		"usage_limits": object{"type": "cost", "credit_limit": 100},
	})
	id, key := made.get("id").String(), made.get("key").String()
	calls := func(n int) {
		t.Helper()
		for range n {
			g.call("POST", "/v1/chat/completions", `{"model":"@main/gpt-4o","messages":[{"role":"user","content":"Hello"}]}`, "x-gateway-api-key: "+key).want(t, 200)
		}
	}
	used := func() string {
		return fmt.Sprintf("%.9f", g.do(adminKey, "GET", "/v1/api-keys/"+id, nil).get("usage_limits.current_usage").Float())
	}
	// billed waits until the budget says what some calls cost, and the log has so many.
	var each float64
	billed := func(when string, counted, listed int) {
		t.Helper()
		eventually(t, logLimit, fmt.Sprintf("%s %d calls count and %d are listed", when, counted, listed), func() bool {
			rows := g.call("GET", "/v1/logs?page_size=1", "", "x-gateway-api-key: "+key).want(t, 200).get("total").Int()
			return used() == fmt.Sprintf("%.9f", float64(counted)*each) && rows == int64(listed)
		})
	}
	calls(1)
	eventually(t, logLimit, "the first call is billed", func() bool { each = g.spentBy(key) / 100; return each > 0 })
	calls(4)
	billed("at first", 5, 5)
	g.stop()
	backup := filepath.Join(t.TempDir(), "backup")
	copied(t, g.dir, backup)

	g = g.again()
	calls(3)
	billed("behind the backup", 8, 8)
	g.stop()
	if err := os.RemoveAll(g.dir); err != nil {
		t.Fatal(err)
	}
	copied(t, backup, g.dir)
	g = g.again()
	billed("with the backup", 5, 5)
	calls(2)
	billed("on top of the backup", 7, 7)
	g.stop()

	for _, name := range []string{"sluice.db", "sluice.db-wal", "sluice.db-shm"} { // the database alone
		if err := os.RemoveAll(filepath.Join(g.dir, name)); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(backup, name)); err == nil {
			copied(t, filepath.Join(backup, name), filepath.Join(g.dir, name))
		}
	}
	g = g.again()
	calls(1)
	eventually(t, logLimit, "the log has all", func() bool {
		return g.call("GET", "/v1/logs?page_size=1", "", "x-gateway-api-key: "+key).want(t, 200).get("total").Int() == 8
	})
	eventually(t, logLimit, "what is known counts once", func() bool {
		return used() == fmt.Sprintf("%.9f", 6*each) || used() == fmt.Sprintf("%.9f", 8*each)
	})
	g.stop()
}

// copied copies files with their rights, as a backup has to.
func copied(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
