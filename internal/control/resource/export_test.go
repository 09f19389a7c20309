package resource

// What the tests of this package look at from outside.
var (
	WellFormed = wellFormed
	NewSlug    = newSlug
	NewRecall  = newRecall
	CheckName  = checkName
)

// MaskOpen masks a body that takes any field; known says whether each of them is known.
func MaskOpen(sent Sent, known bool) any {
	c := &Call{incomingRequest: incomingRequest{op: &Operation{}}, engine: &Engine{Parts: Parts{KnownField: func(string) bool { return known }}}, schema: &schema{root: anything}}
	return c.mask(sent)
}

// MaxLateAudits is how many rows of the trail are written at once after the answer.
const MaxLateAudits = maxLateAudits

// MaxCallers is how many callers a window counts.
const MaxCallers = maxCallers
