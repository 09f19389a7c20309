package gateway_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// A journal that takes nothing is told of once in a while, not once for each attempt; the
// figures have them all.
func TestLostRecordsDoNotFloodTheLog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.journal.appendErr = errors.New("the disk is full")
	for range 5 {
		if a := r.call("POST", "/v1/chat/completions", hello, r.custom()...); a.StatusCode != 200 {
			t.Fatalf("%d %s", a.StatusCode, a.Text)
		}
	}
	if n := strings.Count(r.log.String(), "cannot record attempts"); n != 1 {
		t.Errorf("%d lines: %s", n, r.log.String())
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(r.metrics.Collectors()...)
	want := "# HELP sluice_records_lost_total Attempts that the journal rejected. If it is above 0, check the disk.\n" +
		"# TYPE sluice_records_lost_total counter\nsluice_records_lost_total 5\n"
	if err := testutil.GatherAndCompare(registry, strings.NewReader(want), "sluice_records_lost_total"); err != nil {
		t.Error(err)
	}
}
