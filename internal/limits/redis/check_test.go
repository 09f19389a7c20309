package redis

import (
	"regexp"
	"strings"
	"testing"
)

// A check tries every command that scripts run, so that no user passes it who may not run one.
func TestCheckTriesAllCommands(t *testing.T) {
	t.Parallel()
	all, err := sources.ReadDir("scripts")
	if err != nil || len(all) == 0 {
		t.Fatal(all, err)
	}
	for _, f := range all {
		text, err := sources.ReadFile("scripts/" + f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`redis\.call\('([A-Z]+)'`).FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(checkScript, "{'"+m[1]+"'") {
				t.Errorf("%s of %s is not tried", m[1], f.Name())
			}
		}
	}
}
