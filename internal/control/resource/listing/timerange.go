package listing

import (
	"time"

	"sluice/internal/kernel/fault"
)

// CheckTimeRange rejects a time range of a body that is longer than longest.
func CheckTimeRange(from, to time.Time, longest time.Duration) error {
	switch {
	case !from.Before(to):
		return fault.New(fault.InvalidParameter, "the time range must end after its start").WithParam("time_of_generation_max")
	case to.Sub(from) > longest:
		return fault.Newf(fault.InvalidParameter, "the time range must not exceed %d days", longest/(24*time.Hour)).WithParam("time_of_generation_min")
	}
	return nil
}
