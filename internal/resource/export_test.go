package resource

// What the tests of this package look at from outside.
var (
	WellFormed = wellFormed
	MaskOf     = mask
	NewSlug    = newSlug
	NewRecall  = newRecall
)
