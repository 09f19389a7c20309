package splice_test

import (
	"strings"
	"testing"

	"sluice/internal/fault"
	"sluice/internal/splice"
)

// The number of members is bounded at the top level alone: below it nothing is
// indexed before somebody asks.
func TestMaxMembers(t *testing.T) {
	t.Parallel()
	body := func(n int) string { return `{"a":1` + strings.Repeat(`,"a":1`, n-1) + "}" }
	var d splice.Doc
	if err := splice.Scan([]byte(body(splice.MaxMembers)), &d); err != nil {
		t.Error(err)
	}
	if err := splice.Scan([]byte(body(splice.MaxMembers+1)), &d); !fault.Has(err, fault.InvalidRequest) {
		t.Errorf("one too many: %v", err)
	}
	if err := splice.Scan([]byte(`{"metadata":`+body(2*splice.MaxMembers)+"}"), &d); err != nil {
		t.Error(err)
	}
}
