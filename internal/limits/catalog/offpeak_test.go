package catalog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"sluice/internal/limits/catalog"
)

func utc(text string) time.Time {
	t, err := time.Parse("2006-01-02 15:04:05", text)
	if err != nil {
		panic(err)
	}
	return t
}

// The built-in prices of DeepSeek are halved outside the peak hours of weekdays.
func TestDeepSeekIsBilledByTheHour(t *testing.T) {
	t.Parallel()
	b := catalog.NewPriceList(newCatalog(&clock{}, catalog.Builtin()))
	const peak, off = 1_506_000, 753_000
	for _, x := range []struct {
		name     string
		calledAt time.Time
		nano     int64
	}{
		{"an unknown time", time.Time{}, peak},
		{"before the first peak", utc("2026-11-26 00:59:59"), off}, // a Thursday
		{"the first peak begins", utc("2026-11-26 01:00:00"), peak},
		{"the first peak ends", utc("2026-11-26 04:00:00"), off},
		{"the second peak begins", utc("2026-11-26 06:00:00"), peak},
		{"the last second of a peak", utc("2026-11-26 09:59:59"), peak},
		{"the second peak ends", utc("2026-11-26 10:00:00"), off},
		{"another time zone", utc("2026-11-26 10:30:00").In(time.FixedZone("CST", 8*3600)), off},
		{"Saturday", utc("2026-11-28 02:00:00"), off},
		{"Sunday", utc("2026-11-29 07:00:00"), off},
		{"a holiday on a Thursday", utc("2026-10-01 02:00:00"), off},
		{"the day after the holidays", utc("2026-10-08 02:00:00"), peak},
	} {
		u := catalog.Units{StartedAt: x.calledAt, Input: 1000, Output: 1000, CacheRead: 1000}
		bill := b.Find("deepseek", "deepseek-flash", nil).Cost(&u, nil)
		if bill.Cost != x.nano || (bill.Plan == "off-peak") != (x.nano == off) {
			t.Errorf("%s: %d nano-dollars by plan %q, want %d", x.name, bill.Cost, bill.Plan, x.nano)
		}
	}
	maxCost := b.Find("deepseek", "deepseek-flash", nil).MaxCost(&catalog.Limits{Input: 2000, Output: 1000})
	if maxCost < peak {
		t.Errorf("%d nano-dollars are reserved, and a call at peak hours costs %d", maxCost, peak)
	}
}

// Off-peak prices that are dearer than the others are reserved, too, batches are halved,
// and regions with prices of their own do not have them.
func TestOffPeakPrices(t *testing.T) {
	t.Parallel()
	src := &files{texts: map[string]string{"pricing/p": `{"m": {"pricing_config": {"pay_as_you_go": {"request_token": {"price": 0.0001}, "response_token": {"price": 0.0002}}},
		"custom_pricing": {"off_peak": {"peak_hours": ["01:00-24:00"], "pricing_config": {"pay_as_you_go": {"request_token": {"price": 0.0003}, "response_token": {"price": 0.0006}}}},
		"regions": {"eu": {"execution_modes": {"standard": {"pricing_config": {"pay_as_you_go": {"request_token": {"price": 0.0005}}}}}}}}}}`}}
	tariff := newCatalog(&clock{}, src).Tariff(t.Context(), "p", "m")
	night := utc("2026-11-28 00:30:00")
	for _, x := range []struct {
		used catalog.Units
		nano int64
	}{
		{catalog.Units{Input: 1000}, 1_000_000},
		{catalog.Units{StartedAt: night, Input: 1000}, 3_000_000},
		{catalog.Units{StartedAt: night, Input: 1000, Execution: catalog.Batch}, 1_500_000},
		{catalog.Units{StartedAt: night, Input: 1000, Region: "eu"}, 5_000_000},
		{catalog.Units{StartedAt: night.Add(time.Hour), Input: 1000}, 1_000_000},
	} {
		if got := tariff.Cost(&x.used, nil); got.Cost != x.nano {
			t.Errorf("%+v: %d nano-dollars, want %d", x.used, got.Cost, x.nano)
		}
	}
	if maxCost := tariff.MaxCost(&catalog.Limits{Region: "default", Input: 1000, Execution: catalog.Standard}); maxCost < 3_000_000 {
		t.Errorf("%d nano-dollars are reserved for a call that may cost 3,000,000", maxCost)
	}
}

func TestOffPeakRefusesWhatIsNotASchedule(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ off, want string }{
		{`{"peak_hours": ["Mon-Fri 01:00-04:00"]}`, "pricing_config is required"},
		{`{"peak_hours": [], "pricing_config": {}}`, "peak_hours must have"},
		{`{"peak_hours": ["Fri-Mon 01:00-04:00"], "pricing_config": {}}`, "must be like"},
		{`{"peak_hours": ["22:00-04:00"], "pricing_config": {}}`, "must be like"},
		{`{"peak_hours": ["1:00-04:00"], "pricing_config": {}}`, "must be like"},
		{`{"peak_hours": ["Mon 01:00-04:00"], "holidays": ["1 October"], "pricing_config": {}}`, "must be a date"},
		{`{"peak_hours": ["Mon 01:00-04:00"], "pricing_config": {"pay_as_you_go": {"request_token": {"price": -1}}}}`, "price"},
	} {
		src := &files{texts: map[string]string{"pricing/p": `{"m": {"pricing_config": {}, "custom_pricing": {"off_peak": ` + x.off + `}}}`}}
		c := newCatalog(&clock{}, src)
		_, err := c.Pricing(t.Context(), "p", "m")
		if faults := fmt.Sprint(c.Faults()); err == nil || !strings.Contains(faults, x.want) {
			t.Errorf("%s: %v, %s, want %q", x.off, err, faults, x.want)
		}
	}
}
