package dataplane

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/catalog"
	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/routing"
	"sluice/internal/splice"
	"sluice/internal/tokens"
)

// What calls use at most, where they do not say it themselves.
const (
	defaultMaxOutputTokens = 131_072 // tokens of an answer, unless the catalog knows better
	maxSearches            = 20      // searches, or calls of another tool of the provider, that a model makes by itself
	maxDocumentPages       = 1000    // pages of a document
	maxImageTokens         = 16_384  // tokens of a picture: see internal/tokens

	maxContainers      = 2                  // containers in which a response runs code
	maxImageToolTokens = 2 * maxImageTokens // tokens of pictures that a tool shows and makes, and of what asks for them

	minAudioBytesPerSecond = 750 // bytes of a second of speech: Opus at 6 kbit/s
)

// maxUsage is the most that the attempt may use: of input by the bytes of it, of output by
// what the caller or else the model allows. What it costs is what budgets reserve.
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

// maxFormUsage are the limits of a call that is a form: of a recording, or of pictures to be
// edited. Files that are merely kept use nothing.
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

// silent are the endpoints whose answers are no words of a model.
var silent = map[llm.Endpoint]bool{llm.Embed: true, llm.Rerank: true, llm.Moderate: true, llm.CreateBatch: true, llm.CreateFinetune: true}

// maxInputTokens bounds the tokens of the input, with what the target's config and the turns
// before this one add.
func (a *attempt) maxInputTokens() int64 {
	body := a.fullRequestBody()
	return cmp.Or(tokens.MaxRequestTokens(a.x.match.Endpoint, body, a.models()...), int64(len(body))) + a.added()
}

// added bounds the tokens that the target's config and the turns before this one add.
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

// allow notes how long the caller, or the target's config, lets an answer become, and how many
// there may be.
func (s *reservation) allow(l length) {
	s.responses = l.responses
	if s.cap = l.tokens(); s.cap > 0 {
		s.cap = max(s.cap, s.falls.cap)
	}
}

// tokensOf is a number of tokens; 0 for what is none.
func tokensOf(v gjson.Result) int64 {
	if v.Type == gjson.Number && v.Float() > 0 && v.Float() < 1<<40 {
		return int64(v.Float())
	}
	return 0
}

// text is a parameter that is a text, empty where nobody says.
func (a *attempt) text(name string) string {
	if v := a.param(name); v.Type == gjson.String {
		return v.String()
	}
	return ""
}

// param is a parameter of the call as the provider gets it: the target's config may
// replace that of the caller, add it, or take it out.
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

// setBy is what parameters of a target set a member to.
func setBy(params []routing.Param, name string) ([]byte, bool) {
	for i := range params {
		if params[i].Key == name {
			return params[i].Raw, true
		}
	}
	return nil, false
}

// searches are those that the model may make: none unless what stands beside the
// conversation speaks of searching, or the model does nothing else.
func (a *attempt) searches() int64 {
	model := a.priceName()
	if dialect.SearchesAlways(model) {
		return 1
	}
	if strings.Contains(model, "search") || strings.Contains(model, "sonar") || a.mentionsSearch() {
		return maxSearches
	}
	return 0
}

// toolKeywords are how requests name the provider's tools that price lists know by another
// name, in the words of all surfaces, and how often the model may call them by itself.
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

// maxToolCalls are the calls of such tools that the model may make, as far as they cost anything:
// none unless the request has them. Code of OpenAI's runs in a container, by whose memory it
// costs.
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

// pays reports whether a unit has a price with one of the models that may answer.
func (s *reservation) pays(unit string) bool {
	return s.tariff.HasPrice(unit) || slices.ContainsFunc(s.falls.list, func(f fallback) bool { return f.tariff.HasPrice(unit) })
}

// memory is the largest that tools ask for of a container.
func memory(tools []byte) (largest string) {
	for _, size := range dialect.ContainerMemories() {
		if splice.ContainsText(tools, `"`+size+`"`) {
			largest = size
		}
	}
	return largest
}

// pages are pages of a document by the name that price lists have for them; those that are
// annotated have another price.
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

// maxPages are the pages that the call may have read: those that it lists, else as many
// as a document may have.
func (a *attempt) maxPages() int64 {
	if v := a.param("pages"); v.IsArray() {
		return int64(len(v.Array()))
	}
	return maxDocumentPages
}

// region is where the provider is asked to execute the call, where its price depends on
// that: "us-east-1", "europe-west4".
func (a *attempt) region() string {
	return cmp.Or(a.values["aws_region"], a.values["vertex_region"])
}

// priceName is the model as price lists name it: of a profile the model that it stands for, and
// the provider's own choice where the call names none.
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
