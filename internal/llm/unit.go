package llm

// Unit is something that providers count beside tokens and searches, and bill apart: what
// tools that they run did, or models that these asked.
type Unit uint8

// The units.
const (
	AdvisorInput      Unit = iota // tokens that another model read, which the provider asked for advice
	AdvisorOutput                 // and wrote
	DrawingTextInput              // tokens of text that a model of pictures read, which was asked by a tool
	DrawingImageInput             // of pictures that it was shown
	DrawingOutput                 // and made
	URLFetches                    // calls of a tool that reads a page
	PeopleSearches                // and of those that look in other places than the web
	FinanceSearches
	ImageSearches
	AttachmentSearches // of files beside a message
	Sandboxes          // sessions in which code ran, as Perplexity counts them
	UnitCount          // how many units there are; none itself
)

var unitNames = [UnitCount]string{
	AdvisorInput: "advisor_input_tokens", AdvisorOutput: "advisor_output_tokens",
	DrawingTextInput: "image_generation_text_input_tokens", DrawingImageInput: "image_generation_image_input_tokens", DrawingOutput: "image_generation_output_tokens",
	URLFetches: "fetch_url", PeopleSearches: "people_search", FinanceSearches: "finance_search", ImageSearches: "image_search", AttachmentSearches: "attachment_search", Sandboxes: "sandbox",
}

// String is the name that price lists have for a unit: "fetch_url".
func (u Unit) String() string { return unitNames[u] }

// addUnits sums counts by unit.
func addUnits(a, b [UnitCount]int64) [UnitCount]int64 {
	for i, n := range b {
		a[i] += n
	}
	return a
}
