package jsonedit_test

import (
	"strings"
	"testing"

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
)

// The number of members is bounded at the top level alone: below it nothing is
// indexed before somebody asks.
func TestMaxMembers(t *testing.T) {
	t.Parallel()
	body := func(n int) string { return `{"a":1` + strings.Repeat(`,"a":1`, n-1) + "}" }
	var d jsonedit.Doc
	if err := jsonedit.Scan([]byte(body(jsonedit.MaxMembers)), &d); err != nil {
		t.Error(err)
	}
	if err := jsonedit.Scan([]byte(body(jsonedit.MaxMembers+1)), &d); !fault.Has(err, fault.InvalidRequest) {
		t.Errorf("one too many: %v", err)
	}
	if err := jsonedit.Scan([]byte(`{"metadata":`+body(2*jsonedit.MaxMembers)+"}"), &d); err != nil {
		t.Error(err)
	}
}
