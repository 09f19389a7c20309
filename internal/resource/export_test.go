package resource

// What the tests of this package look at from outside.
var (
	WellFormed = wellFormed
	MaskOf     = mask
	NewSlug    = newSlug
	NewRecall  = newRecall
)

// MostAfterwards is how many rows of the trail are written at once after the answer.
const MostAfterwards = mostAfterwards

// MaxCallers is how many callers a window counts.
const MaxCallers = maxCallers
