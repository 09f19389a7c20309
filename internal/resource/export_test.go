package resource

import (
	"time"

	"sluice/internal/access"
)

// What the tests of this package look at from outside.
var (
	WellFormed = wellFormed
	MaskOf     = mask
	NewSlug    = newSlug
	NewRecall  = newRecall
)

// NewRate and MaxCallers are for the test of the rate limit.
func NewRate(limit int) func(*access.Principal, time.Time) error { return newRate(limit).take }

// MostAfterwards is how many rows of the trail are written at once after the answer.
const MostAfterwards = mostAfterwards

// MaxCallers is how many callers a window counts.
const MaxCallers = maxCallers
