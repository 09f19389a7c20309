package gateway

import (
	"strconv"
	"testing"
	"time"

	"sluice/internal/dialect"
)

func TestRefusedParametersAreForgotten(t *testing.T) {
	t.Parallel()
	var r refusedParams
	now := time.Unix(1_700_000_000, 0)
	if got := r.find("a", "m", now); got != 0 {
		t.Errorf("nothing is known, and %b is refused", got)
	}
	r.put("a", "m", dialect.AddedUsage, now)
	if got := r.find("a", "m", now.Add(refusedTime-1)); got != dialect.AddedUsage {
		t.Errorf("within the hour %b", got)
	}
	if r.find("a", "m", now.Add(refusedTime)) != 0 || r.find("a", "other", now) != 0 || r.find("b", "m", now) != 0 {
		t.Error("it holds too long, or for others")
	}
	for n := range 3 * refusedHosts {
		r.put("host-"+strconv.Itoa(n), "m", dialect.AddedStore, now.Add(time.Minute))
	}
	if len(r.known) > refusedHosts || r.find("host-"+strconv.Itoa(3*refusedHosts-1), "m", now.Add(time.Minute)) != dialect.AddedStore {
		t.Errorf("%d hosts are known", len(r.known))
	}
	for n := range refusedHosts {
		r.put("late-"+strconv.Itoa(n), "m", dialect.AddedStore, now.Add(2*refusedTime))
	}
	if len(r.known) > refusedHosts || r.find("late-0", "m", now.Add(2*refusedTime)) == 0 {
		t.Error("what is over does not make space")
	}
}
