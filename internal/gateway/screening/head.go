package screening

import (
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// head is what decides about an event of the provider.
// Source: https://platform.openai.com/docs/api-reference/realtime-server-events, read 2026-11.
type head struct {
	event          []byte
	kind           string // "response.output_text.delta"
	response, item string // ids; empty for none
	ofClient       bool   // it repeats an item of the client
}

func readHead(event []byte) head {
	e := head{event: event, kind: jsonedit.Text(event, "type"), response: jsonedit.Text(event, "response_id"), item: jsonedit.Text(event, "item_id")}
	if e.response == "" {
		e.response = jsonedit.Text(event, "response", "id")
	}
	if e.item == "" {
		e.item = jsonedit.Text(event, "item", "id")
	}
	role := jsonedit.Text(event, "item", "role")
	e.ofClient = role == "user" || role == "system" || jsonedit.Text(event, "item", "type") == "function_call_output"
	return e
}

// isDelta reports whether the event is a part of a text or of audio.
func (e *head) isDelta() bool { return strings.HasSuffix(e.kind, ".delta") }

// isAudio reports whether the event is a part of audio.
func (e *head) isAudio() bool { return strings.HasSuffix(e.kind, "audio.delta") }

// endsItem reports whether the text of the item is complete.
func (e *head) endsItem() bool {
	return e.kind == "response.output_item.done" || strings.HasPrefix(e.kind, "conversation.item.input_audio_transcription.") && !e.isDelta() && !strings.HasSuffix(e.kind, ".segment")
}

// output returns the items of a response.
func (e *head) output() []byte {
	list, _ := jsonedit.Find(e.event, "response", "output")
	return list
}

// filtered returns the end of a denied response: incomplete, without items, with its usage.
func (e *head) filtered() []byte {
	response, _ := jsonedit.Find(e.event, "response")
	inner := applied(response,
		jsonedit.Set("status", []byte(`"incomplete"`)), jsonedit.Set("status_details", []byte(`{"type":"incomplete","reason":"content_filter"}`)),
		jsonedit.Set("output", []byte("[]")))
	if inner == nil {
		return nil
	}
	return applied(e.event, jsonedit.Set("response", inner))
}

// applied returns an object with edits; nil if it is not an object.
func applied(object []byte, edits ...jsonedit.Edit) []byte {
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(object, d) != nil {
		return nil
	}
	return d.Apply(edits)
}

// maxAudioDepth is the depth up to which events are searched for audio: a part of an item of the input
// of a response is at depth 6.
const maxAudioDepth = 10

// hasAudio reports whether an event contains audio: a string in a member "audio".
func hasAudio(event []byte) bool { return audioIn(event, maxAudioDepth) }

func audioIn(raw []byte, depth int) bool {
	if depth == 0 || len(raw) == 0 {
		return false
	}
	switch raw[0] {
	case '{':
		for name, value := range jsonedit.Members(raw) {
			if len(value) > len(`""`) && value[0] == '"' && isAudioName(name) || audioIn(value, depth-1) {
				return true
			}
		}
	case '[':
		for value := range jsonedit.Elements(raw) {
			if audioIn(value, depth-1) {
				return true
			}
		}
	}
	return false
}

func isAudioName(raw []byte) bool {
	name, ok := jsonedit.Unquote(raw)
	if !ok {
		name = string(raw)
	}
	return strings.EqualFold(name, "audio")
}
