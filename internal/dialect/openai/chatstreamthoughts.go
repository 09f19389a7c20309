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

// reasoningDetail reads a piece of an entry of OpenRouter's list. Pieces of one entry have its kind and
// its number; the last may be the signature alone.
func (d *chunkReader) reasoningDetail(choice int, raw []byte, emit func(*llm.Event)) {
	t, c := readDetail(raw), &d.choices[choice]
	proof, shape := t.proof()
	if t.kind == detailSealed {
		d.sealed(choice, proof, shape, emit)
		return
	}
	entry := t.kind + t.index
	switch goesOn := c.open > 0 && c.part == llm.ReasoningPart && (c.detail == entry || c.detail == ""); {
	case goesOn:
	case t.text == "" && (proof == "" || c.detail == entry): // of a thought that has ended
		return
	default:
		d.shut(choice, emit)
		d.open(choice, llm.ReasoningPart, emit)
	}
	c.detail = entry
	d.emitText(choice, llm.ReasoningPart, t.text, emit)
	switch {
	case t.ofClaude():
		d.prove(choice, shape, proof, emit)
	case c.proof == "" || t.signature != "":
		c.proof = cmp.Or(proof, c.proof)
	}
}

// prove tells the signature of the thought that is open, or a piece of it.
func (d *chunkReader) prove(choice int, shape, proof string, emit func(*llm.Event)) {
	if proof != "" {
		d.send(emit, llm.Event{Kind: llm.EventSignature, Choice: choice, Block: d.choices[choice].open - 1, Part: llm.ReasoningPart, Name: shape, Text: proof})
	}
}

// sealed tells thoughts that only the provider can read, which come whole.
func (d *chunkReader) sealed(choice int, data, shape string, emit func(*llm.Event)) {
	if data == "" {
		return
	}
	d.shut(choice, emit)
	c := &d.choices[choice]
	d.send(emit, llm.Event{Kind: llm.EventBlock, Choice: choice, Block: c.blocks, Part: llm.SealedPart, Name: shape, Text: data})
	d.send(emit, llm.Event{Kind: llm.EventBlockEnd, Choice: choice, Block: c.blocks, Part: llm.SealedPart})
	c.blocks++
}
