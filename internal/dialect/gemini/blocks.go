package gemini

import (
	"sluice/internal/dialect/surrogates"
	"sluice/internal/kernel/llm"
)

// part emits the events of one part of a fragment. Text of the same kind extends the open block, even
// across fragments. Every other part is a separate block, except consecutive audio of one format.
func (d *decoder) part(i int, raw []byte) {
	s := &d.current
	s.read(raw)
	c := &d.choices[i]
	switch {
	case s.empty:
		return
	case !c.open || !s.continuesBlock(c):
		d.open(i, raw)
	}
	d.content(i)
	if sig := plainText(s.signature); sig != "" {
		c.signed = true
		d.sendInBlock(i, llm.Event{Kind: llm.EventSignature, Name: signerOf(c.kind), Text: sig})
	}
	switch s.kind {
	case llm.TextPart, llm.ReasoningPart, llm.AudioPart:
	default:
		d.shut(i)
	}
}

// signerOf returns the signer of a part of kind k. It is "" for all kinds except reasoning. Signatures
// of the other kinds are in fields that no other dialect reads.
func signerOf(k llm.PartKind) string {
	if k == llm.ReasoningPart {
		return shapeName
	}
	return ""
}

// content emits the content of the part.
func (d *decoder) content(i int) {
	switch s := &d.current; s.kind {
	case llm.TextPart, llm.ReasoningPart:
		if text := surrogates.DecodeFragment(s.text); text != "" {
			d.sendInBlock(i, llm.Event{Kind: llm.EventText, Text: text})
		}
	case llm.CallPart:
		d.sendInBlock(i, llm.Event{Kind: llm.EventArguments, Text: s.arguments()})
	case llm.ImagePart, llm.AudioPart, llm.FilePart:
		d.sendInBlock(i, llm.Event{Kind: llm.EventMedia, Media: s.media()})
	default: // opaque: the first event of the block contains it
	}
}

// continuesBlock reports whether the part belongs to the open block: text after text, or audio after
// audio of the same format.
func (s *candidateContent) continuesBlock(c *choice) bool {
	return s.continues(c.kind, c.signed) || s.kind == llm.AudioPart && c.kind == s.kind && c.mime == string(s.mime)
}

func (d *decoder) open(i int, raw []byte) {
	d.shut(i)
	s, c := &d.current, &d.choices[i]
	c.open, c.kind, c.signed = true, s.kind, false
	e := llm.Event{Kind: llm.EventBlock}
	switch s.kind {
	case llm.CallPart:
		c.called = true
		e.ID, e.Name = s.callID(), plainText(s.name)
	case llm.AudioPart:
		c.mime = string(s.mime)
	case llm.OpaquePart:
		e.Name, e.Raw = shapeName, raw
	default: // the start of the block has no content
	}
	d.sendInBlock(i, e)
}

// shut ends the open block of a choice, if there is one.
func (d *decoder) shut(i int) {
	if c := &d.choices[i]; c.open {
		d.sendInBlock(i, llm.Event{Kind: llm.EventBlockEnd})
		c.open = false
		c.block++
	}
}

// sendInBlock sends an event of the open block.
func (d *decoder) sendInBlock(i int, e llm.Event) {
	c := &d.choices[i]
	e.Choice, e.Block, e.Part = i, c.block, c.kind
	d.send(e)
}
