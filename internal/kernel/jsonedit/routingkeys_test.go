package jsonedit

import (
	"fmt"
	"strings"
	"testing"

	"sluice/internal/kernel/fault"
)

// Each name is refused where it stands twice, in the spellings that a reader may take for
// it, and lets another name pass.
func TestGuarded(t *testing.T) {
	t.Parallel()
	if len(routingKeys) > 64 {
		t.Fatalf("%d names, and a mask of 64 bits", len(routingKeys))
	}
	for k, name := range routingKeys {
		if name != strings.ToLower(name) || len(name) > maxRoutingKeyLen {
			t.Errorf("%s: must be in lower case and have at most %d letters", name, maxRoutingKeyLen)
		}
		for _, twin := range []string{name, strings.ToUpper(name), fmt.Sprintf(`\u%04x%s`, name[0], name[1:]), strings.ReplaceAll(name, "s", "ſ")} {
			if got := RoutingKeyIndex([]byte(twin)); got != k {
				t.Errorf("%s is number %d, want %d", twin, got, k)
			}
			var d Doc
			err := Scan([]byte(`{"`+name+`":1,"other":2,"`+twin+`":3}`), &d)
			if f := fault.From(err); err == nil || f.Code != fault.InvalidRequest || !strings.EqualFold(f.Param, name) {
				t.Errorf("%s and %s: %v", name, twin, err)
			}
		}
		for _, other := range []string{name + "x", "x" + name, name[1:] + "_", ""} {
			if got := RoutingKeyIndex([]byte(other)); got >= 0 && routingKeys[got] != other {
				t.Errorf("%q is taken for %s", other, routingKeys[got])
			}
		}
	}
}
