package bound

import (
	"cmp"

	"github.com/tidwall/gjson"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/provider"
)

// maxChoices limits the choices per prompt that the maximum usage of a call assumes.
const maxChoices = 128

// maxTotalTokens is more than the responses to any call can contain.
const maxTotalTokens = 1 << 50

// maxOutputTokens returns the maximum tokens of all choices of a call.
func (c *Call) maxOutputTokens(m *Models, l Length) int64 {
	n := l.MaxTokens
	if n <= 0 {
		n = cmp.Or(c.maxTokensPerImage(m), m.Limits.Output, DefaultMaxOutputTokens)
	}
	n *= min(max(l.Responses, 1), maxChoices)
	if ep := c.Endpoint; ep != llm.Complete && ep != llm.Proxy {
		return n
	}
	prompts := c.prompts()
	return min(n, maxTotalTokens/prompts) * prompts
}

// prompts returns the number of prompts of a call, each with its own choices:
// {"prompt":["a","b"]} has two, and so does a prompt of tokens, {"prompt":[[1,2],[3]]}. Vertex AI
// calls them instances.
func (c *Call) prompts() (n int64) {
	raw, _ := c.Raw("prompt")
	for p := range jsonedit.Elements(raw) {
		if p[0] == '"' || p[0] == '[' {
			n++
		}
	}
	if c.Endpoint == llm.Proxy {
		instances, _ := c.Raw("instances")
		n = max(n, int64(len(gjson.ParseBytes(instances).Array())))
	}
	return max(n, 1)
}

// count returns a parameter that is a count, or 1 when it is missing. Some providers accept a
// number written as a string.
func count(c *Call, name string) int64 { return countOf(c.Value(name)) }

func countOf(v gjson.Result) int64 {
	if v.Type != gjson.Number && v.Type != gjson.String || !(v.Float() >= 1) {
		return 1
	}
	return int64(min(v.Float(), 1<<20))
}

// imageCounts are the names of the parameter with the number of images, for providers that
// forward them. The first one in the request counts. All other providers use n.
var imageCounts = map[provider.Dialect][]string{
	"fireworks": {"n", "samples"}, "segmind": {"n", "samples"}, "stability-v1": {"n", "samples"}, "siliconflow": {"batch_size", "n"},
}

// images returns the images that the call requests.
func images(c *Call) []catalog.Images {
	if ep := c.Endpoint; ep != llm.ImageGenerate && ep != llm.ImageEdit {
		return nil
	}
	if f := c.Form; f != nil {
		field := func(name string) string { v, _ := f.Value(name); return v }
		n := countOf(gjson.Result{Type: gjson.String, Str: field("n")})
		return []catalog.Images{{Quality: field("quality"), Size: field("size"), Count: min(n, maxChoices)}}
	}
	return []catalog.Images{{Quality: c.Text("quality"), Size: c.Text("size"), Count: imageCount(c) * c.prompts()}}
}

// imageCount returns the number of images per prompt that the call requests.
func imageCount(c *Call) int64 {
	if c.Plan != nil && c.Plan.Endpoint != nil {
		for _, name := range imageCounts[c.Plan.Endpoint.Dialect] {
			if v := c.Value(name); v.Exists() && v.Type != gjson.Null {
				return min(count(c, name), maxChoices)
			}
		}
	}
	return min(count(c, "n"), maxChoices)
}
