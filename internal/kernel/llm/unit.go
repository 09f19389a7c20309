package llm

// Unit is a quantity that providers count in addition to tokens and searches, and bill
// separately. It counts the work of tools that the provider runs, or of models that these tools
// call.
type Unit uint8

// The units.
const (
	AdvisorInput      Unit = iota // input tokens of another model that the provider consulted
	AdvisorOutput                 // output tokens of that model
	DrawingTextInput              // text tokens that an image model read for a tool
	DrawingImageInput             // image tokens that it read
	DrawingOutput                 // image tokens that it produced
	URLFetches                    // calls of a tool that fetches a page
	PeopleSearches                // calls of a tool that searches sources other than the web
	FinanceSearches
	ImageSearches
	AttachmentSearches // of files attached to a message
	Sandboxes          // sessions in which code ran, as Perplexity counts them
	UnitCount          // number of units, not a unit
)

var unitNames = [UnitCount]string{
	AdvisorInput: "advisor_input_tokens", AdvisorOutput: "advisor_output_tokens",
	DrawingTextInput: "image_generation_text_input_tokens", DrawingImageInput: "image_generation_image_input_tokens", DrawingOutput: "image_generation_output_tokens",
	URLFetches: "fetch_url", PeopleSearches: "people_search", FinanceSearches: "finance_search", ImageSearches: "image_search", AttachmentSearches: "attachment_search", Sandboxes: "sandbox",
}

// String returns the name of the unit in price lists: "fetch_url".
func (u Unit) String() string { return unitNames[u] }

// addUnits adds counts by unit.
func addUnits(a, b [UnitCount]int64) [UnitCount]int64 {
	for i, n := range b {
		a[i] += n
	}
	return a
}
