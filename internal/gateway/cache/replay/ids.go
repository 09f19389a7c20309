package replay

import (
	"cmp"
	"strconv"
	"strings"

	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// format is where a surface has ids and times.
type format struct {
	objects string          // list of objects with ids: "content[*]"; empty: none
	kinds   map[string]bool // types of these objects whose ids are renewed; nil: all
	members []string        // members of these objects that are new ids
	paths   []string        // where these ids occur
	times   []string
}

// Ids that the provider checks or looks up are not renewed: those of reasoning, images and searches
// in responses. OpenAI refuses reasoning whose encrypted content belongs to another id.
var formats = map[llm.Endpoint]format{
	llm.ChatComplete: {
		objects: "choices[*].message.tool_calls[*]", members: []string{"id"},
		paths: []string{"choices[*].message.tool_calls[*].id"}, times: []string{"created"},
	},
	llm.Messages: {
		objects: "content[*]", members: []string{"id"},
		kinds: map[string]bool{"tool_use": true, "server_tool_use": true, "mcp_tool_use": true},
		paths: []string{"content[*].id", "content[*].tool_use_id"},
	},
	llm.CreateModelResponse: {
		objects: "output[*]", members: []string{"id", "call_id"},
		kinds: map[string]bool{"message": true, "function_call": true, "custom_tool_call": true},
		paths: []string{"output[*].id", "output[*].call_id"}, times: []string{"created_at", "completed_at"},
	},
}

// otherFormat is that of every other surface.
var otherFormat = format{times: []string{"created"}}

// renew replaces the ids and times of a response. Each id has the form of the old one.
func renew(ep llm.Endpoint, body []byte, o *Options) []byte {
	f, ok := formats[ep]
	if !ok {
		f = otherFormat
	}
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(body, d) != nil {
		return body
	}
	var edits []jsonedit.Edit
	if id, ok := d.String("id"); ok {
		edits = append(edits, jsonedit.Set("id", jsonedit.Quote(cmp.Or(o.ID, newID(id)))))
	}
	for _, name := range f.times {
		if raw, ok := d.Raw(name); ok && !jsonedit.IsNull(raw) {
			edits = append(edits, jsonedit.Set(name, strconv.AppendInt(nil, o.Now.Unix(), 10)))
		}
	}
	if swap := f.newIDs(d); len(swap) > 0 {
		for _, path := range f.paths {
			edits = append(edits, jsonedit.Replace(path, swap))
		}
	}
	return d.Apply(edits)
}

// newIDs returns the new ids of the objects by the old ones, both as raw JSON.
func (f *format) newIDs(d *jsonedit.Doc) map[string]string {
	swap := map[string]string{}
	if f.objects == "" {
		return swap
	}
	d.EachValue(f.objects, func(_ string, object []byte) {
		if f.kinds != nil && !f.kinds[jsonedit.Text(object, "type")] {
			return
		}
		for _, name := range f.members {
			raw, _ := jsonedit.Find(object, name)
			if id, ok := jsonedit.Unquote(raw); ok && id != "" && swap[string(raw)] == "" {
				swap[string(raw)] = string(jsonedit.Quote(newID(id)))
			}
		}
	})
	return swap
}

// signatureMark begins the signature that the gateway embeds in ids of tool calls, see package
// signatures of the dialects. The signature belongs to the model's reasoning and is retained.
const signatureMark = "__thought__"

// Sizes of the random part of an id. Mistral's ids have 9 letters and digits.
const (
	minRandom   = 9
	usualRandom = 24
	maxRandom   = 32
	maxPrefix   = 16
)

// newID returns a new id of the same form: "call_abc…" for "call_xyz…".
func newID(old string) string {
	old, signature, signed := strings.Cut(old, signatureMark)
	if signed {
		signature = signatureMark + signature
	}
	if ident.ValidID(old) {
		return ident.NewID() + signature
	}
	prefix := old[:1+strings.LastIndexAny(old[:min(len(old), maxPrefix)], "_-")]
	size := min(len(old)-len(prefix), maxRandom)
	if size < minRandom {
		size = usualRandom
	}
	return prefix + ident.NewKey("")[:size] + signature
}
