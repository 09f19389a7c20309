package openai

import (
	"cmp"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// inDetails reports whether a delta has its reasoning text in OpenRouter's list, too.
func inDetails(delta []byte) bool {
	list, _ := jsonedit.Find(delta, "reasoning_details")
	for entry := range jsonedit.Elements(list) {
		if cmp.Or(jsonedit.Text(entry, "text"), jsonedit.Text(entry, "summary")) != "" {
			return true
		}
	}
	return false
}

// reasoningDetail reads a fragment of an entry of OpenRouter's list. Fragments of one entry
// have its kind and its number. The last one may be only the signature.
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
	case t.text == "" && (proof == "" || c.detail == entry): // of reasoning that has ended
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

// prove emits the signature of the open reasoning block, or a fragment of it.
func (d *chunkReader) prove(choice int, shape, proof string, emit func(*llm.Event)) {
	if proof != "" {
		d.send(emit, llm.Event{Kind: llm.EventSignature, Choice: choice, Block: d.choices[choice].open - 1, Part: llm.ReasoningPart, Name: shape, Text: proof})
	}
}

// sealed emits reasoning that only the provider can read. It arrives complete.
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
