package guardedstream

// The blocks of texts in lists that other members of a delta do not have.
const (
	reasoningDetails = 2       // of the first entry of reasoning_details
	contentBlocks    = 1 << 10 // of the first entry of content_blocks
)

func readAudio(t *texts, e *event, choice int, s span) {
	d := document(e.data)
	for name, value := range t.members(e, choice, "audio", s) {
		switch {
		case name == "transcript" && d.isString(value):
			t.add(e, Channel{KindTranscript, choice, 0}, value)
		case !d.isIdentity(name, value):
			t.addUnknown(e, choice, "audio."+name, value)
		}
	}
}

// readReasoningDetails reads the list of reasoning texts that OpenRouter defines.
func readReasoningDetails(t *texts, e *event, choice int, list span) {
	d := document(e.data)
	for i, entry := range t.objects(e, choice, "reasoning_details", list) {
		id := Channel{KindReasoning, choice, reasoningDetails + d.number(entry, "index", i)}
		for name, value := range d.members(entry) {
			switch {
			case (name == "text" || name == "summary") && d.isString(value):
				t.add(e, id, value)
			case d.isSignature(name, value):
				t.sign(e, id, value, signature)
			case !d.isIdentity(name, value):
				t.addUnknown(e, choice, "reasoning_details."+name, value)
			}
		}
	}
}

// readContentBlocks reads the list of content blocks that the gateway adds to a delta, for example
// [{"index":0,"delta":{"thinking":"a"}}]. Text in it repeats the content of the delta. An edit of
// reasoning removes its signature, so that the reasoning is not sent back as that of the model.
func readContentBlocks(t *texts, e *event, choice int, list span) {
	d := document(e.data)
	for i, entry := range t.objects(e, choice, "content_blocks", list) {
		id := Channel{KindReasoning, choice, contentBlocks + d.number(entry, "index", i)}
		for name, value := range d.members(entry) {
			switch {
			case name == "delta" && d.isObject(value):
				readContentBlock(t, e, id, value)
			case !d.isIdentity(name, value):
				t.addUnknown(e, choice, "content_blocks."+name, value)
			}
		}
	}
}

// readContentBlock reads the delta of a content block. Id is the channel of its reasoning.
func readContentBlock(t *texts, e *event, id Channel, s span) {
	d := document(e.data)
	for name, value := range d.members(s) {
		switch {
		case name == "text" && d.isString(value):
			if !t.mirror(e, Channel{KindText, id.Choice, 0}, value) {
				t.add(e, Channel{KindText, id.Choice, id.Block}, value)
			}
		case name == "thinking" && d.isString(value):
			t.add(e, id, value)
		case d.isSignature(name, value):
			t.sign(e, id, value, signature)
		case !d.isIdentity(name, value):
			t.addUnknown(e, id.Choice, "content_blocks."+name, value)
		}
	}
}
