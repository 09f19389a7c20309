package openai

import (
	"bytes"
	"slices"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/media"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// developer is the replaced value by which older models differ from newer ones.
var developer = map[string]string{`"developer"`: `"system"`}

const includeUsage = "stream_options.include_usage"

// Shape turns the settings of a target into edits of a JSON request, in the order of
// contract/dataplane.md 3.1: defaults, overrides, drops, the model, the provider's rules. If
// a stream of a chat or completion would not report its usage, Shape requests it, unless the
// provider does not support that or a drop forbids it.
func Shape(ep llm.Endpoint, d *jsonedit.Doc, s dialect.Shaping) dialect.Shaped {
	b := shaper{doc: d, s: s, rules: s.Rules}
	if b.rules == nil {
		b.rules = &noRules
	}
	b.turns(ep)
	b.config()
	b.model()
	b.provider(ep)
	b.switchOff()
	stream := string(b.value("stream")) == "true"
	usageAdded := stream && b.rules.StreamUsage && !s.NoUsage && b.askUsage(ep)
	return dialect.Shaped{Edits: b.edits, Stream: stream, AddedUsageRequest: usageAdded, Unsupported: b.unsupported}
}

// noRules is for a provider that follows the shape exactly. It is never changed.
var noRules dialect.RequestRules

type shaper struct {
	doc         *jsonedit.Doc
	s           dialect.Shaping
	rules       *dialect.RequestRules
	edits       []jsonedit.Edit
	unsupported []string
}

func (b *shaper) add(e jsonedit.Edit) { b.edits = append(b.edits, e) }

// conversations are the members that contain a conversation.
var conversations = map[llm.Endpoint]string{
	llm.ChatComplete: "messages", llm.Messages: "messages", llm.MessagesCountTokens: "messages",
	llm.CreateModelResponse: "input", llm.CountResponseInputTokens: "input",
}

// turns changes what the caller gives back of earlier answers: what another provider
// signed is taken out, because ids with signatures in them are too long for most, thoughts
// go where the provider takes them, and ids get the length that it wants. It comes first, so that what the target
// changes of the messages is changed after.
func (b *shaper) turns(ep llm.Endpoint) {
	name := conversations[ep]
	if name == "" {
		return
	}
	raw, _ := b.doc.Raw(name)
	turns := signatures.Unsigned(raw)
	if ep == llm.ChatComplete {
		b.unsupported = append(b.unsupported, droppedReasoning(raw, b.rules.ReasoningField)...)
		if turns != nil {
			raw = turns
		}
		if list := moveReasoning(raw, b.rules.ReasoningField); list != nil {
			turns, raw = list, list
		}
		if b.rules.DocumentURLs {
			if list := media.DocumentURLs(raw); list != nil {
				turns, raw = list, list
			}
		}
		if b.rules.CallIDs > 0 {
			if list := toolcalls.ShortIDs(raw, b.rules.CallIDs); list != nil {
				turns = list
			}
		}
	}
	if turns != nil {
		b.add(jsonedit.Set(name, turns))
	}
}

func (b *shaper) config() {
	for _, p := range b.s.Default {
		b.add(jsonedit.SetDefault(p.Key, p.Raw))
	}
	for _, p := range b.s.Override {
		b.add(jsonedit.Set(p.Key, p.Raw))
	}
	if len(b.s.Drop) > 0 {
		b.add(jsonedit.DropAll(b.s.Drop))
	}
}

// model sets the provider's name of the model, without the prefix that it does not accept.
func (b *shaper) model() {
	name := b.s.Model
	if name == "" && b.rules.ModelPrefix != "" {
		name, _ = jsonedit.Unquote(b.value("model"))
	}
	short := strings.TrimPrefix(name, b.rules.ModelPrefix)
	if b.s.Model != "" || short != name {
		b.add(jsonedit.Set("model", jsonedit.Quote(short)))
	}
}

func (b *shaper) provider(ep llm.Endpoint) {
	for _, p := range b.rules.Default {
		b.add(jsonedit.SetDefault(p.Key, p.Raw))
	}
	for _, r := range b.rules.Rename {
		b.add(jsonedit.Rename(r.Path, r.To))
	}
	if len(b.rules.Drop) > 0 {
		b.add(jsonedit.DropAll(b.rules.Drop))
		b.reportUnsupported()
	}
	for _, sw := range b.rules.Swap {
		b.add(jsonedit.Replace(sw.Path, sw.Values))
	}
	if b.rules.SystemRole && ep == llm.ChatComplete {
		b.add(jsonedit.Replace("messages[*].role", developer))
	}
}

// reportUnsupported notes where the caller says what the provider's rules drop. The model is not lost: it
// stands in the address of the call. Below the top level, where nothing is indexed, only what is
// named anywhere is looked for.
func (b *shaper) reportUnsupported() {
	src := b.doc.Source()
	escapes := bytes.Contains(src, []byte(`\u`)) // which a name may be written with
	for _, path := range b.rules.Drop {
		name := path[strings.LastIndexByte(path, '.')+1:]
		nested := name != path
		if path == "model" || slices.Contains(b.s.Drop, path) || nested && !escapes && !bytes.Contains(src, []byte(`"`+name+`"`)) {
			continue
		}
		b.doc.EachValue(path, func(location string, raw []byte) {
			if !llm.Neutral(name, raw) {
				b.unsupported = append(b.unsupported, location)
			}
		})
	}
}

// value returns the raw value that the body has for key after the target's parameters are
// applied, or nil if it has none.
func (b *shaper) value(key string) []byte {
	for _, path := range b.s.Drop {
		if path == key {
			return nil
		}
	}
	for k := len(b.s.Override) - 1; k >= 0; k-- {
		if b.s.Override[k].Key == key {
			return b.s.Override[k].Raw
		}
	}
	if raw, ok := b.doc.Raw(key); ok {
		return raw
	}
	for _, p := range b.s.Default {
		if p.Key == key {
			return p.Raw
		}
	}
	return nil
}

// askUsage requests a usage event if the caller does not, and reports whether it did.
func (b *shaper) askUsage(ep llm.Endpoint) bool {
	if ep != llm.ChatComplete && ep != llm.Complete {
		return false
	}
	for _, path := range b.s.Drop {
		if path == includeUsage || path == "stream_options" {
			return false
		}
	}
	wishes, granted := 0, false
	for name, val := range jsonedit.Members(b.value("stream_options")) {
		if jsonedit.IsName(name, "include_usage") {
			wishes, granted = wishes+1, string(val) == "true"
		}
	}
	if granted && wishes == 1 { // readers may take either of two duplicates
		return false
	}
	b.add(jsonedit.SetPath(includeUsage, []byte("true")))
	return true
}
