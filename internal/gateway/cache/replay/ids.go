package replay

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"sluice/internal/dialect/responses"
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
	var top change
	if id, ok := d.String("id"); ok {
		top = change{id, cmp.Or(o.ID, newID(id))}
		edits = append(edits, jsonedit.Set("id", jsonedit.Quote(top.to)))
	}
	edits = f.setTimes(edits, d, o.Now)
	if swap := f.newIDs(d, top); len(swap) > 0 {
		for _, path := range f.paths {
			edits = append(edits, jsonedit.Replace(path, swap))
		}
	}
	edits = addUsage(edits, ep, d, &o.Usage)
	return d.Apply(edits)
}

// setTimes sets the times that the response has.
func (f *format) setTimes(edits []jsonedit.Edit, d *jsonedit.Doc, now time.Time) []jsonedit.Edit {
	for _, name := range f.times {
		if raw, ok := d.Raw(name); ok && !jsonedit.IsNull(raw) {
			edits = append(edits, jsonedit.Set(name, strconv.AppendInt(nil, now.Unix(), 10)))
		}
	}
	return edits
}

// newIDs returns the new ids of the objects by the old ones, both as raw JSON. top is the change of
// the id of the response.
func (f *format) newIDs(d *jsonedit.Doc, top change) map[string]string {
	swap := map[string]string{}
	if f.objects == "" {
		return swap
	}
	d.EachValue(f.objects, func(_ string, object []byte) {
		renewable := f.kinds == nil || f.kinds[jsonedit.Text(object, "type")]
		for _, name := range f.members {
			raw, _ := jsonedit.Find(object, name)
			id, ok := jsonedit.Unquote(raw)
			if !ok || id == "" || swap[string(raw)] != "" {
				continue
			}
			if next, follows := top.follow(id); follows {
				swap[string(raw)] = string(jsonedit.Quote(next))
			} else if renewable {
				swap[string(raw)] = string(jsonedit.Quote(newID(id)))
			}
		}
	})
	return swap
}

// change is the change of the id of a response.
type change struct{ from, to string }

// follow returns the new id of an item whose id names its response. The gateway creates such ids,
// and finds the response of an item by them: see responses.Whose.
func (c change) follow(item string) (next string, ok bool) {
	if !responses.IsID(c.from) || !responses.IsID(c.to) {
		return "", false
	}
	prefix := responses.ID("")
	kind, unique, _ := strings.Cut(item, "_")
	number, ok := strings.CutPrefix(unique, strings.TrimPrefix(c.from, prefix))
	return kind + "_" + strings.TrimPrefix(c.to, prefix) + number, ok
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
	if responses.IsID(old) {
		return responses.ID(strings.ReplaceAll(ident.NewID(), "-", ""))
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
