package contract

import (
	"os"
	"strings"
	"testing"
)

// exceptions are what is not as the contract says, each under a reason: a line that
// begins with "# ". What ends in "*" is the beginning of all that it explains.
type exceptions []exception

type exception string

func readExceptions(t *testing.T) exceptions {
	t.Helper()
	raw, err := os.ReadFile("testdata/exceptions.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out exceptions
	reason := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if r, ok := strings.CutPrefix(line, "# "); ok {
			reason = r
			continue
		}
		if line == "" {
			continue
		}
		if reason == "" {
			t.Errorf("%q stands under no reason", line)
		}
		out = append(out, exception(line))
	}
	return out
}

func (e exception) covers(s string) bool {
	if begin, ok := strings.CutSuffix(string(e), "*"); ok {
		return strings.HasPrefix(s, begin)
	}
	return s == string(e)
}

// explain returns what is found without a reason, and the reasons of nothing.
func (l exceptions) explain(found []string) (rest, stale []string) {
	used := make([]bool, len(l))
	for _, f := range found {
		explained := false
		for i, e := range l {
			if e.covers(f) {
				used[i], explained = true, true
			}
		}
		if !explained {
			rest = append(rest, f)
		}
	}
	for i, e := range l {
		if !used[i] {
			stale = append(stale, string(e))
		}
	}
	return rest, stale
}
