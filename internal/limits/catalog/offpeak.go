package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// OffPeak contains the prices of a model outside the peak hours of its provider:
//
//	{"peak_hours": ["Mon-Fri 01:00-04:00"], "holidays": ["2026-10-01"], "pricing_config": {...}}
//
// Pricing lists the off-peak prices and inherits what it does not list from the model. The
// other prices of the model hold in the peak hours, and where the time of a call is unknown.
// A region with its own prices does not have off-peak prices.
// Source: https://api-docs.deepseek.com/quick_start/pricing, read 2026-11.
type OffPeak struct {
	PeakHours []string `json:"peak_hours"`         // in UTC, the end excluded; without days: every day
	Holidays  []string `json:"holidays,omitempty"` // dates in UTC without peak hours
	Pricing   *Pricing `json:"pricing_config"`
}

// maxPeakHours limits the entries of each list of an OffPeak.
const maxPeakHours = 1000

// offPeak is a compiled OffPeak. A nil offPeak never applies.
type offPeak struct {
	peaks    []peakHours
	holidays map[string]bool
	modes    modes
}

// peakHours is a range of minutes on some days of the week.
type peakHours struct {
	days     [7]bool // by time.Weekday
	from, to int     // minutes of the day
}

// applies reports whether off-peak prices hold at t.
func (o *offPeak) applies(t time.Time) bool {
	if o == nil || t.IsZero() {
		return false
	}
	t = t.UTC()
	minute := t.Hour()*60 + t.Minute()
	for i := range o.peaks {
		p := &o.peaks[i]
		if p.days[t.Weekday()] && minute >= p.from && minute < p.to {
			return len(o.holidays) > 0 && o.holidays[t.Format(time.DateOnly)]
		}
	}
	return true
}

// offPeak compiles the off-peak prices of an entry that was checked.
func (c *compiler) offPeak(o *OffPeak) *offPeak {
	if o == nil {
		return nil
	}
	out := &offPeak{holidays: make(map[string]bool, len(o.Holidays))}
	for _, text := range o.PeakHours {
		p, _ := parsePeakHours(text) // checked when it was read
		out.peaks = append(out.peaks, p)
	}
	for _, day := range o.Holidays {
		out.holidays[day] = true
	}
	for i, mode := range executions {
		out.modes[i] = tiers{{-1, c.custom("off-peak", o.Pricing, mode == Batch)}}
	}
	return out
}

// check reports what is wrong with off-peak prices.
func (o *OffPeak) check() error {
	switch {
	case o == nil:
		return nil
	case o.Pricing == nil:
		return errors.New("off_peak: pricing_config is required")
	case len(o.PeakHours) == 0 || len(o.PeakHours) > maxPeakHours || len(o.Holidays) > maxPeakHours:
		return fmt.Errorf("off_peak: peak_hours must have between 1 and %d entries, and holidays at most that many", maxPeakHours)
	}
	for _, text := range o.PeakHours {
		if _, err := parsePeakHours(text); err != nil {
			return err
		}
	}
	for _, day := range o.Holidays {
		if _, err := time.Parse(time.DateOnly, day); err != nil {
			return fmt.Errorf("off_peak: holidays: %.40q must be a date such as 2026-10-01", day)
		}
	}
	if err := o.Pricing.check(); err != nil {
		return fmt.Errorf("off_peak: %w", err)
	}
	return nil
}

// weekdays are the names of days in the order of time.Weekday.
var weekdays = []string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// parsePeakHours reads "Mon-Fri 01:00-04:00", "Sat 01:00-24:00" or "01:00-04:00".
func parsePeakHours(text string) (p peakHours, err error) {
	days, hours, some := strings.Cut(text, " ")
	if !some {
		days, hours = "Sun-Sat", text
	}
	first, last, several := strings.Cut(days, "-")
	if !several {
		last = first
	}
	a, b := slices.Index(weekdays, first), slices.Index(weekdays, last)
	from, to, _ := strings.Cut(hours, "-")
	p.from, p.to = minuteOfDay(from), minuteOfDay(to)
	if a < 0 || b < a || p.from < 0 || p.to <= p.from {
		return p, fmt.Errorf(`off_peak: peak_hours: %.40q must be like "Mon-Fri 01:00-04:00", with the days from Sun to Sat and the hours within one day`, text)
	}
	for d := a; d <= b; d++ {
		p.days[d] = true
	}
	return p, nil
}

// minuteOfDay reads "01:30"; -1 for anything else. 24:00 is the end of the day.
func minuteOfDay(text string) int {
	if text == "24:00" {
		return 24 * 60
	}
	t, err := time.Parse("15:04", text)
	if err != nil || len(text) != len("15:04") {
		return -1
	}
	return t.Hour()*60 + t.Minute()
}
