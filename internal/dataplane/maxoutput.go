package dataplane

import (
	"cmp"

	"github.com/tidwall/gjson"

	"sluice/internal/catalog"
	"sluice/internal/llm"
	"sluice/internal/provider"
	"sluice/internal/splice"
)

// maxChoices is how many answers to one prompt a call is taken to ask for at most.
const maxChoices = 128

// maxTotalTokens is more than the answers to any call can have.
const maxTotalTokens = 1 << 50

// maxOutputTokens bounds the tokens of all answers to a call.
func (a *attempt) maxOutputTokens(reach catalog.ContextLimits) int64 {
	n := a.reservation.cap
	if n <= 0 {
		n = cmp.Or(a.drawn(), reach.Output, defaultMaxOutputTokens)
	}
	n *= min(max(a.reservation.responses, 1), maxChoices)
	if ep := a.x.match.Endpoint; ep != llm.Complete && ep != llm.Proxy {
		return n
	}
	prompts := a.prompts()
	return min(n, maxTotalTokens/prompts) * prompts
}

// prompts are those of a call that may have several, each with answers of its own:
// {"prompt":["a","b"]} has two, and so has one of tokens, {"prompt":[[1,2],[3]]}. Vertex AI
// calls them instances.
func (a *attempt) prompts() (n int64) {
	raw, _ := paramOf(a, "prompt")
	for p := range splice.Elements(raw) {
		if p[0] == '"' || p[0] == '[' {
			n++
		}
	}
	if a.x.match.Endpoint == llm.Proxy {
		instances, _ := paramOf(a, "instances")
		n = max(n, int64(len(gjson.ParseBytes(instances).Array())))
	}
	return max(n, 1)
}

// count is a parameter that says how many; 1 where nobody does. Some providers take a
// number that is written as a text.
func (a *attempt) count(name string) int64 { return countOf(a.param(name)) }

func countOf(v gjson.Result) int64 {
	if v.Type != gjson.Number && v.Type != gjson.String || !(v.Float() >= 1) {
		return 1
	}
	return int64(min(v.Float(), 1<<20))
}

// imageCounts are the names by which providers that forward them are told how many images
// to make, the first that is there; n for all others.
var imageCounts = map[provider.Dialect][]string{
	"fireworks": {"n", "samples"}, "segmind": {"n", "samples"}, "stability-v1": {"n", "samples"}, "siliconflow": {"batch_size", "n"},
}

// images are those that the call asks for.
func (a *attempt) images() []catalog.Images {
	if ep := a.x.match.Endpoint; ep != llm.ImageGenerate && ep != llm.ImageEdit {
		return nil
	}
	if f := a.x.form; f != nil {
		field := func(name string) string { v, _ := f.Value(name); return v }
		n := countOf(gjson.Result{Type: gjson.String, Str: field("n")})
		return []catalog.Images{{Quality: field("quality"), Size: field("size"), Count: min(n, maxChoices)}}
	}
	return []catalog.Images{{Quality: a.text("quality"), Size: a.text("size"), Count: a.imageCount() * a.prompts()}}
}

// imageCount is how many images of one prompt the call asks for.
func (a *attempt) imageCount() int64 {
	if a.plan != nil && a.plan.Endpoint != nil {
		for _, name := range imageCounts[a.plan.Endpoint.Dialect] {
			if v := a.param(name); v.Exists() && v.Type != gjson.Null {
				return min(a.count(name), maxChoices)
			}
		}
	}
	return min(a.count("n"), maxChoices)
}
