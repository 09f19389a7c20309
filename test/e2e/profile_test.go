package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sluice/internal/test/upstream"
)

// What --cpu-profile writes is read by the tool that it is for, and is whole when the
// gateway has ended.
func TestCPUProfile(t *testing.T) {
	t.Parallel()
	up := upstream.Start(t)
	file := filepath.Join(t.TempDir(), "cpu.pprof")
	g := start(t, func(l *launch) { l.args = append(l.args, "--cpu-profile", file) })
	g.chat(custom(up)...)
	g.stop()
	out, err := exec.Command("go", "tool", "pprof", "-raw", file).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PeriodType: cpu nanoseconds") {
		t.Errorf("%v: %.300s", err, out)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v: %v", info, err)
	}
}
