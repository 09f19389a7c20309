package bound

import (
	"cmp"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/tokens"
)

// Maximum usage of a call that does not state one.
const (
	DefaultMaxOutputTokens = catalog.DefaultMaxOutputTokens // tokens of a response, unless the catalog has a limit
	MaxSearches            = catalog.MaxSearches            // searches, or calls of another provider tool, that a model makes
	maxDocumentPages       = 1000                           // pages of a document
	maxImageTokens         = 16_384                         // tokens of an image: see internal/limits/tokens

	maxContainers      = 2                  // containers in which a response runs code
	maxImageToolTokens = 2 * maxImageTokens // tokens of images that a tool reads and makes, and of their prompts

	realtimeInput  = 32_000 // tokens that a response of a conversation reads, unless the catalog has a limit
	realtimeOutput = 4_096  // tokens of such a response, likewise

	minAudioBytesPerSecond = 750 // bytes of a second of speech: Opus at 6 kbit/s
)

// Max returns the maximum usage of the call: of input by its bytes, of output by the length l or
// else by the limit of the model. Budgets reserve the cost of this usage. m must be complete.
// sizes may shorten the input of a call that continues a stored response.
func (c *Call) Max(m *Models, l Length, sizes *ResponseSizes) catalog.Limits {
	u := catalog.Limits{Region: c.Region(), Requests: 1, Searches: c.searches(), Images: images(c), Other: c.maxToolCalls(m)}
	u.Execution, u.Alternative = executions(c)
	switch {
	case c.Endpoint == llm.Realtime:
		u.Input, u.Output = cmp.Or(m.Limits.Input, realtimeInput), cmp.Or(m.Limits.Output, realtimeOutput)
	case c.Segment:
		maxTranscriptionUsage(&u, c.SegmentMilli+slackMilli)
	case c.Form != nil:
		c.maxFormUsage(&u, m, l)
	case c.Doc == nil:
		u.Input, u.Output = max(c.BodyBytes, 0), DefaultMaxOutputTokens
	case c.Endpoint == llm.CreateSpeech:
		c.maxSpeechUsage(&u)
	case c.Endpoint == llm.OCR:
		u.Input, u.Other = c.maxInputTokens(m), c.Pages(c.maxPages())
	case silent[c.Endpoint]:
		u.Input = c.maxInputTokens(m)
	default:
		u.Input, u.Output = c.maxInputTokens(m)+c.maxContextTokens(m.Limits.Input, sizes), c.maxOutputTokens(m, l)
	}
	if m.Limits.Input > 0 {
		u.Input = min(u.Input, m.Limits.Input)
	}
	return u
}

// maxFormUsage sets the limits of a call that is a form with a recording or with images to edit.
// Files that are only stored have no usage.
func (c *Call) maxFormUsage(u *catalog.Limits, m *Models, l Length) {
	f, text := c.Form, int64(0)
	if p := f.Part("prompt"); p != nil {
		text = p.Len
	}
	switch {
	case IsTranscription(c.Endpoint):
		maxTranscriptionUsage(u, f.Payload().Len()*1000/minAudioBytesPerSecond)
		u.Input += text
	case c.Endpoint == llm.ImageEdit:
		for i := range f.Parts {
			if f.Parts[i].HasFileName {
				u.Input += maxImageTokens
			}
		}
		u.Input += text
		u.Output = c.maxOutputTokens(m, l) * u.Images[0].Count
	}
}

// silent are the endpoints whose responses do not contain text of a model.
var silent = map[llm.Endpoint]bool{llm.Embed: true, llm.Rerank: true, llm.Moderate: true, llm.CreateBatch: true, llm.CreateFinetune: true}

// maxInputTokens returns the maximum number of input tokens, including what the target's config
// and a continued stream add.
func (c *Call) maxInputTokens(m *Models) int64 {
	body := c.FullBody()
	return cmp.Or(tokens.MaxRequestTokens(c.Endpoint, body, m.list()...), int64(len(body))) + c.Added()
}

// Added returns the maximum number of tokens that the target's config and a continued stream add
// to the body.
func (c *Call) Added() (n int64) {
	for i := range c.Target.Default {
		n += int64(len(c.Target.Default[i].Raw))
	}
	for i := range c.Target.Override {
		n += int64(len(c.Target.Override[i].Raw))
	}
	return n + c.Continued
}

// tokensOf returns a number of tokens; 0 when v is not a positive number below 1<<40.
func tokensOf(v gjson.Result) int64 {
	if v.Type == gjson.Number && v.Float() > 0 && v.Float() < 1<<40 {
		return int64(v.Float())
	}
	return 0
}

// searches returns the maximum number of searches that the model may make. It is 0 unless the model
// searches or the request mentions searching outside the conversation.
func (c *Call) searches() int64 {
	model := c.PriceName()
	if usage.SearchesAlways(model) {
		return 1
	}
	if strings.Contains(model, "search") || strings.Contains(model, "sonar") || mentionsSearch(c) {
		return MaxSearches
	}
	return 0
}

// toolKeywords maps the names of provider tools in requests, in all formats, to their units in
// price lists, with the maximum number of calls that the model may make on its own.
var toolKeywords = [...]struct {
	keyword, unit string
	maxCalls      int64
}{
	{catalog.FileSearch, catalog.FileSearch, MaxSearches},
	{"code_interpreter", catalog.CodeExecution, MaxSearches},
	{"code_execution", catalog.CodeExecution, MaxSearches},
	{"fetch_url", llm.URLFetches.String(), MaxSearches},
	{"people_search", llm.PeopleSearches.String(), MaxSearches},
	{"finance_search", llm.FinanceSearches.String(), MaxSearches},
	{"image_search", llm.ImageSearches.String(), MaxSearches},
	{"attachment_search", llm.AttachmentSearches.String(), MaxSearches},
	{"sandbox", llm.Sandboxes.String(), 1},
	{"image_generation", llm.DrawingTextInput.String(), maxImageToolTokens},
	{"image_generation", llm.DrawingImageInput.String(), maxImageToolTokens},
	{"image_generation", llm.DrawingOutput.String(), maxImageToolTokens},
	{"container_auto", catalog.CodeExecution, maxContainers}, // of a shell
	{"container_reference", catalog.CodeExecution, maxContainers},
}

// maxToolCalls returns the maximum calls of provider tools that have a price. It is empty unless
// the request has such tools. OpenAI runs code in a container, whose price depends on its memory.
func (c *Call) maxToolCalls(m *Models) (list []catalog.Other) {
	raw, ok := c.Raw("tools")
	if !ok {
		return nil
	}
	contained := hasProviderTool(c, raw, "container")
	for _, t := range toolKeywords {
		switch {
		case !m.HasPrice(t.unit) || !hasProviderTool(c, raw, t.keyword):
		case t.unit == catalog.CodeExecution && t.keyword != t.unit && contained:
			list = append(list, catalog.Other{Name: catalog.CodeExecutionIn(memory(raw)), Count: maxContainers})
		default:
			list = append(list, catalog.Other{Name: t.unit, Count: t.maxCalls})
		}
	}
	return list
}

// memory returns the largest container size that the tools request; "" for none.
func memory(tools []byte) (largest string) {
	for _, size := range usage.ContainerMemories() {
		if jsonedit.ContainsText(tools, `"`+size+`"`) {
			largest = size
		}
	}
	return largest
}

// Pages returns a number of pages under their unit in price lists. Annotated pages have a
// separate unit. It returns nil for no pages.
func (c *Call) Pages(n int64) []catalog.Other {
	if n == 0 {
		return nil
	}
	for _, format := range [...]string{"document_annotation_format", "bbox_annotation_format"} {
		if v := c.Value(format); v.Exists() && v.Type != gjson.Null {
			return []catalog.Other{{Name: "annotated_pages", Count: n}}
		}
	}
	return []catalog.Other{{Name: "pages", Count: n}}
}

// maxPages returns the maximum number of pages that the call reads: the pages that it lists, or
// else the maximum of a document.
func (c *Call) maxPages() int64 {
	if v := c.Value("pages"); v.IsArray() {
		return int64(len(v.Array()))
	}
	return maxDocumentPages
}
