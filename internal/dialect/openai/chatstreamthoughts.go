package openai

import (
	"cmp"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// inDetails reports whether a delta has its thoughts in words in OpenRouter's list, too.
func inDetails(delta []byte) bool {
	list, _ := splice.Find(delta, "reasoning_details")
	for entry := range splice.Elements(list) {
		if cmp.Or(splice.Text(entry, "text"), splice.Text(entry, "summary")) != "" {
			return true
		}
	}
	return false
}

// thought reads a piece of an entry of OpenRouter's list. Pieces of one entry have its kind and
// its number; the last may be the signature alone.
func (d *chunkReader) thought(at int, raw []byte, emit func(*llm.Event)) {
	t, c := readDetail(raw), &d.choices[at]
	proof, shape := t.proof()
	if t.kind == detailSealed {
		d.sealed(at, proof, shape, emit)
		return
	}
	entry := t.kind + t.place
	switch goesOn := c.open > 0 && c.part == llm.ThoughtPart && (c.detail == entry || c.detail == ""); {
	case goesOn:
	case t.text == "" && (proof == "" || c.detail == entry): // of a thought that has ended
		return
	default:
		d.shut(at, emit)
		d.open(at, llm.ThoughtPart, emit)
	}
	c.detail = entry
	d.piece(at, llm.ThoughtPart, t.text, emit)
	switch {
	case t.ofClaude():
		d.prove(at, shape, proof, emit)
	case c.proof == "" || t.signature != "":
		c.proof = cmp.Or(proof, c.proof)
	}
}

// prove tells the signature of the thought that is open, or a piece of it.
func (d *chunkReader) prove(at int, shape, proof string, emit func(*llm.Event)) {
	if proof != "" {
		d.send(emit, llm.Event{Kind: llm.EventSignature, Choice: at, Block: d.choices[at].open - 1, Part: llm.ThoughtPart, Name: shape, Text: proof})
	}
}

// sealed tells thoughts that only the provider can read, which come whole.
func (d *chunkReader) sealed(at int, data, shape string, emit func(*llm.Event)) {
	if data == "" {
		return
	}
	d.shut(at, emit)
	c := &d.choices[at]
	d.send(emit, llm.Event{Kind: llm.EventBlock, Choice: at, Block: c.blocks, Part: llm.SealedPart, Name: shape, Text: data})
	d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: at, Block: c.blocks, Part: llm.SealedPart})
	c.blocks++
}
