package demo_test

import (
	"reflect"
	"testing"
	"time"

	"sluice/internal/ops/demo"
)

// The same seed makes the same traffic: of two teams, several providers and models, with
// failures, fallbacks, misses of the cache and feedback, all of it before the end.
func TestTraffic_IsDeterministicAndVaried(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	week := demo.Traffic(1, end, 7)
	if !reflect.DeepEqual(week, demo.Traffic(1, end, 7)) {
		t.Error("the same seed makes other traffic")
	}
	if reflect.DeepEqual(week, demo.Traffic(2, end, 7)) {
		t.Error("another seed makes the same traffic")
	}
	teams, users, providers, models, days := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	fallbacks, failures, misses, good, bad := 0, 0, 0, 0, 0
	for _, r := range week {
		teams[r.Team]++
		users[r.User]++
		days[r.Started.Format(time.DateOnly)]++
		fallbacks += len(r.Attempts) - 1
		if r.ResponseText == "" {
			failures++
		}
		if r.Feedback > 0 {
			good++
		} else if r.Feedback < 0 {
			bad++
		}
		if !r.Started.Before(end) || r.Started.Before(end.AddDate(0, 0, -7)) {
			t.Fatalf("a request at %s", r.Started)
		}
		for _, a := range r.Attempts {
			providers[a.Provider]++
			models[a.Model]++
			if a.CacheMiss {
				misses++
			}
		}
	}
	if len(teams) != 2 || len(users) < 6 || len(providers) < 3 || len(models) < 4 || len(days) != 8 {
		t.Errorf("%v, %v, %v, %v, %v", teams, users, providers, models, days)
	}
	if fallbacks == 0 || failures == 0 || misses == 0 || good == 0 || bad == 0 {
		t.Errorf("%d fallbacks, %d failures, %d misses, %d good and %d bad feedback", fallbacks, failures, misses, good, bad)
	}
	if n := len(week); n < 1000 || n > 5000 {
		t.Errorf("%d requests in a week", n)
	}
}

// Nothing is made for no days, and days have a maximum.
func TestTraffic_Limits(t *testing.T) {
	t.Parallel()
	end := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	if n := len(demo.Traffic(1, end, 0)); n != 0 {
		t.Errorf("%d requests in no days", n)
	}
	if a, b := len(demo.Traffic(1, end, demo.MaxTrafficDays)), len(demo.Traffic(1, end, 1<<20)); a != b {
		t.Errorf("%d and %d requests", a, b)
	}
}
