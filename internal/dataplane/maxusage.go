package dataplane

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/catalog"
	"sluice/internal/dialect/usage"
	"sluice/internal/llm"
	"sluice/internal/routing"
	"sluice/internal/splice"
	"sluice/internal/tokens"
)

// The maximum usage of calls that do not state one.
const (
	defaultMaxOutputTokens = 131_072 // tokens of a response, unless the catalog has a limit
	maxSearches            = 20      // searches, or calls of another provider tool, that a model makes
	maxDocumentPages       = 1000    // pages of a document
	maxImageTokens         = 16_384  // tokens of an image: see internal/tokens

	maxContainers      = 2                  // containers in which a response runs code
	maxImageToolTokens = 2 * maxImageTokens // tokens of images that a tool reads and makes, and of their prompts

	minAudioBytesPerSecond = 750 // bytes of a second of speech: Opus at 6 kbit/s
)

// maxUsage returns the maximum usage of the attempt: of input by its bytes, of output by the limit
// of the caller or else of the model. Budgets reserve the cost of this usage.
func (g *Gateway) maxUsage(a *attempt) catalog.Limits {
	x, reach := a.x, g.reach(a)
	l := catalog.Limits{Region: a.region(), Requests: 1, Searches: a.searches(), Images: a.images(), Other: a.maxToolCalls()}
	l.Execution, l.Alternative = a.executions()
	switch {
	case x.match.Endpoint == llm.Realtime:
		l.Input, l.Output = cmp.Or(reach.Input, realtimeInput), cmp.Or(reach.Output, realtimeOutput)
	case a.segment != nil:
		maxTranscriptionUsage(&l, a.segment.milli+slackMilli)
	case x.form != nil:
		a.maxFormUsage(&l, reach)
	case x.doc == nil:
		l.Input, l.Output = max(a.body.Len(), 0), defaultMaxOutputTokens
	case x.match.Endpoint == llm.CreateSpeech:
		a.maxSpeechUsage(&l)
	case x.match.Endpoint == llm.OCR:
		l.Input, l.Other = a.maxInputTokens(), a.pages(a.maxPages())
	case silent[x.match.Endpoint]:
		l.Input = a.maxInputTokens()
	default:
		l.Input, l.Output = a.maxInputTokens()+g.maxContextTokens(a, reach), a.maxOutputTokens(reach)
	}
	if reach.Input > 0 {
		l.Input = min(l.Input, reach.Input)
	}
	return l
}

// maxFormUsage sets the limits of a call that is a form with a recording or with images to edit.
// Files that are only stored have no usage.
func (a *attempt) maxFormUsage(l *catalog.Limits, reach catalog.ContextLimits) {
	f, text := a.x.form, int64(0)
	if p := f.Part("prompt"); p != nil {
		text = p.Len
	}
	switch ep := a.x.match.Endpoint; {
	case transcriptionEndpoints[ep]:
		maxTranscriptionUsage(l, f.Payload().Len()*1000/minAudioBytesPerSecond)
		l.Input += text
	case ep == llm.ImageEdit:
		for i := range f.Parts {
			if f.Parts[i].HasFileName {
				l.Input += maxImageTokens
			}
		}
		l.Input += text
		l.Output = a.maxOutputTokens(reach) * l.Images[0].Count
	}
}

// silent are the endpoints whose responses do not contain text of a model.
var silent = map[llm.Endpoint]bool{llm.Embed: true, llm.Rerank: true, llm.Moderate: true, llm.CreateBatch: true, llm.CreateFinetune: true}

// maxInputTokens returns the maximum number of input tokens, including what the target's config
// and a continued stream add.
func (a *attempt) maxInputTokens() int64 {
	body := a.fullRequestBody()
	return cmp.Or(tokens.MaxRequestTokens(a.x.match.Endpoint, body, a.models()...), int64(len(body))) + a.added()
}

// added returns the maximum number of tokens that the target's config and a continued stream add.
func (a *attempt) added() (n int64) {
	for i := range a.target.Default {
		n += int64(len(a.target.Default[i].Raw))
	}
	for i := range a.target.Override {
		n += int64(len(a.target.Override[i].Raw))
	}
	if c := a.x.partial; c != nil {
		n += int64(len(c.text) + len(goOn))
	}
	return n
}

// allow stores the maximum length and the number of responses that the caller, or the target's
// config, permits.
func (s *reservation) allow(l length) {
	s.responses = l.responses
	if s.cap = l.tokens(); s.cap > 0 {
		s.cap = max(s.cap, s.falls.cap)
	}
}

// tokensOf returns a number of tokens; 0 when v is not a positive number below 1<<40.
func tokensOf(v gjson.Result) int64 {
	if v.Type == gjson.Number && v.Float() > 0 && v.Float() < 1<<40 {
		return int64(v.Float())
	}
	return 0
}

// text returns a string parameter; "" when it is absent or not a string.
func (a *attempt) text(name string) string {
	if v := a.param(name); v.Type == gjson.String {
		return v.String()
	}
	return ""
}

// param returns a parameter of the call as the provider gets it: the target's config may
// replace, add or remove it.
func (a *attempt) param(name string) gjson.Result {
	if raw, ok := paramOf(a, name); ok {
		return gjson.ParseBytes(raw)
	}
	return gjson.Result{}
}

func paramOf(a *attempt, name string) ([]byte, bool) {
	t := a.target
	if slices.Contains(t.Drop, name) {
		return nil, false
	}
	if raw, ok := setBy(t.Override, name); ok {
		return raw, true
	}
	if a.x.doc != nil {
		if raw, ok := a.x.doc.Raw(name); ok {
			return raw, true
		}
	}
	return setBy(t.Default, name)
}

// setBy returns the raw value to which parameters of a target set a member.
func setBy(params []routing.Param, name string) ([]byte, bool) {
	for i := range params {
		if params[i].Key == name {
			return params[i].Raw, true
		}
	}
	return nil, false
}

// searches returns the maximum number of searches that the model may make. It is 0 unless the model
// searches or the request mentions searching outside the conversation.
func (a *attempt) searches() int64 {
	model := a.priceName()
	if usage.SearchesAlways(model) {
		return 1
	}
	if strings.Contains(model, "search") || strings.Contains(model, "sonar") || a.mentionsSearch() {
		return maxSearches
	}
	return 0
}

// toolKeywords maps the names of provider tools in requests, in all formats, to their units in
// price lists, with the maximum number of calls that the model may make on its own.
var toolKeywords = [...]struct {
	keyword, unit string
	maxCalls      int64
}{
	{catalog.FileSearch, catalog.FileSearch, maxSearches},
	{"code_interpreter", catalog.CodeExecution, maxSearches},
	{"code_execution", catalog.CodeExecution, maxSearches},
	{"fetch_url", llm.URLFetches.String(), maxSearches},
	{"people_search", llm.PeopleSearches.String(), maxSearches},
	{"finance_search", llm.FinanceSearches.String(), maxSearches},
	{"image_search", llm.ImageSearches.String(), maxSearches},
	{"attachment_search", llm.AttachmentSearches.String(), maxSearches},
	{"sandbox", llm.Sandboxes.String(), 1},
	{"image_generation", llm.DrawingTextInput.String(), maxImageToolTokens},
	{"image_generation", llm.DrawingImageInput.String(), maxImageToolTokens},
	{"image_generation", llm.DrawingOutput.String(), maxImageToolTokens},
	{"container_auto", catalog.CodeExecution, maxContainers}, // of a shell
	{"container_reference", catalog.CodeExecution, maxContainers},
}

// maxToolCalls returns the maximum calls of provider tools that have a price. It is empty unless
// the request has such tools. OpenAI runs code in a container, whose price depends on its memory.
func (a *attempt) maxToolCalls() (list []catalog.Other) {
	raw, ok := paramOf(a, "tools")
	if !ok {
		return nil
	}
	contained := a.hasProviderTool(raw, "container")
	for _, t := range toolKeywords {
		switch {
		case !a.reservation.pays(t.unit) || !a.hasProviderTool(raw, t.keyword):
		case t.unit == catalog.CodeExecution && t.keyword != t.unit && contained:
			list = append(list, catalog.Other{Name: catalog.CodeExecutionIn(memory(raw)), Count: maxContainers})
		default:
			list = append(list, catalog.Other{Name: t.unit, Count: t.maxCalls})
		}
	}
	return list
}

// pays reports whether a unit has a price with one of the models that may respond.
func (s *reservation) pays(unit string) bool {
	return s.tariff.HasPrice(unit) || slices.ContainsFunc(s.falls.list, func(f fallback) bool { return f.tariff.HasPrice(unit) })
}

// memory returns the largest container size that the tools request; "" for none.
func memory(tools []byte) (largest string) {
	for _, size := range usage.ContainerMemories() {
		if splice.ContainsText(tools, `"`+size+`"`) {
			largest = size
		}
	}
	return largest
}

// pages returns a number of pages under their unit in price lists. Annotated pages have a
// separate unit.
func (a *attempt) pages(n int64) []catalog.Other {
	if n == 0 {
		return nil
	}
	for _, format := range [...]string{"document_annotation_format", "bbox_annotation_format"} {
		if v := a.param(format); v.Exists() && v.Type != gjson.Null {
			return []catalog.Other{{Name: "annotated_pages", Count: n}}
		}
	}
	return []catalog.Other{{Name: "pages", Count: n}}
}

// maxPages returns the maximum number of pages that the call reads: the pages that it lists, or
// else the maximum of a document.
func (a *attempt) maxPages() int64 {
	if v := a.param("pages"); v.IsArray() {
		return int64(len(v.Array()))
	}
	return maxDocumentPages
}

// region returns the region in which the provider executes the call, where the price depends on
// it: "us-east-1", "europe-west4".
func (a *attempt) region() string {
	return cmp.Or(a.values["aws_region"], a.values["vertex_region"])
}

// priceName returns the name of the model in price lists. For an inference profile it is the
// underlying model. For a call without a model it is the provider's default.
func (a *attempt) priceName() string {
	named := a.model
	if a.plan != nil && !a.modelInPath {
		named = cmp.Or(a.plan.Underlying, a.plan.Model, a.model)
	}
	if named == "" {
		return a.defaultModel()
	}
	return named
}
