package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sluice/internal/limits/redistest"
)

// The nodes that share limits are listed from the command line by the names of their
// journals, and one that runs is not forgotten.
func TestNodesAreListed(t *testing.T) {
	t.Parallel()
	s := redistest.Start(t)
	g := start(t, sharing(s))
	name, err := os.ReadFile(filepath.Join(g.dir, "journal", "node"))
	if err != nil {
		t.Fatal(err)
	}
	node, settings := strings.TrimSpace(string(name)), []string{"REDIS_URL=redis://" + s.Address, "CACHE_STORE=redis"}
	eventually(t, 30*time.Second, "the node is listed", func() bool { // it joins the others beside its calls
		list := cli(t, settings, "limits", "nodes")
		return list.code == 0 && strings.Contains(list.out, node+"  runs")
	})
	if r := cli(t, settings, "limits", "forget", node); r.code == 0 || !strings.Contains(r.err, "is still running") {
		t.Errorf("a node that runs is forgotten: %+v", r)
	}
	if r := cli(t, settings, "limits", "forget", "nobody"); r.code == 0 || !strings.Contains(r.err, "nobody") {
		t.Errorf("a node that never was is forgotten: %+v", r)
	}
	if r := cli(t, nil, "limits", "nodes"); r.code == 0 || !strings.Contains(r.err, "CACHE_STORE") {
		t.Errorf("nodes without Redis: %+v", r)
	}
}
