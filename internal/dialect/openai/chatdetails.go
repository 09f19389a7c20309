package openai

import (
	"cmp"
	"encoding/base64"
	"strings"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/surrogates"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// OpenRouter returns the reasoning of a message in a list next to its text. The caller must
// send the list back unchanged, or models that call tools refuse to continue:
//
//	[{"type":"reasoning.text","text":"hm","signature":"EqQB…","format":"anthropic-claude-v1","index":0},
//	 {"type":"reasoning.encrypted","data":"gAAAA…","id":"rs_1","format":"openai-responses-v1","index":1}]
//
// Claude's signatures are valid wherever Claude runs, so the hub uses them directly. For other
// signers the entry itself is the signature, because no surface has fields for its members.
// Source: https://openrouter.ai/docs/use-cases/reasoning-tokens, read 2026-11.
const (
	detailText    = "reasoning.text"
	detailSummary = "reasoning.summary"
	detailSealed  = "reasoning.encrypted"

	claudeFormat  = "anthropic-claude-v1"
	unknownFormat = "unknown"

	// detailsShape is the name of the shape of such an entry's signature.
	detailsShape = "openrouter"
)

// detail is an entry of the list, or a fragment of one in a stream.
type detail struct {
	kind, text      string
	signature, data string
	format, id      string
	index           string // its number, as in the source
	raw             []byte
}

func readDetail(raw []byte) detail {
	d := detail{raw: raw}
	for name, val := range jsonedit.Members(raw) {
		switch string(name) {
		case `"type"`:
			d.kind, _ = jsonedit.Unquote(val)
		case `"text"`, `"summary"`:
			d.text = cmp.Or(surrogates.DecodeFragment(val), d.text)
		case `"signature"`:
			d.signature, _ = jsonedit.Unquote(val)
		case `"data"`:
			d.data, _ = jsonedit.Unquote(val)
		case `"format"`:
			d.format, _ = jsonedit.Unquote(val)
		case `"id"`:
			d.id, _ = jsonedit.Unquote(val)
		case `"index"`:
			d.index = string(val)
		}
	}
	return d
}

func (d *detail) ofClaude() bool { return d.format == claudeFormat }

// proves reports whether the entry contains more than its text.
func (d *detail) proves() bool {
	return d.signature != "" || !d.ofClaude() && (d.id != "" || d.format != "" && d.format != unknownFormat)
}

// proof returns the signature of the reasoning, or the encrypted data, and its shape.
func (d *detail) proof() (signature, shape string) {
	switch {
	case d.ofClaude():
		return cmp.Or(d.data, d.signature), signatures.ClaudeSigner
	case d.kind == detailSealed || d.proves():
		return d.entry(), detailsShape
	}
	return "", ""
}

// entry returns the entry without its text and number, in characters that every surface
// returns unchanged.
func (d *detail) entry() string {
	var w jsonwriter.Writer
	w.Open('{')
	for name, val := range jsonedit.Members(d.raw) {
		switch string(name) {
		case `"text"`, `"summary"`, `"index"`:
		default:
			w.Key(string(name[1 : len(name)-1])).Value(val)
		}
	}
	w.Close('}')
	return base64.StdEncoding.EncodeToString(w.B)
}

// part returns the entry as a part of a message, or false for an empty entry.
func (d *detail) part() (p llm.Part, ok bool) {
	proof, shape := d.proof()
	if d.kind == detailSealed {
		return llm.Part{Kind: llm.SealedPart, Index: -1, Text: proof, Shape: shape}, proof != ""
	}
	return llm.Part{Kind: llm.ReasoningPart, Index: -1, Text: d.text, Signature: proof, Shape: shape}, d.text != "" || proof != ""
}

// readDetails returns the list as parts, and whether any of them contains text.
func readDetails(list []byte) (parts []llm.Part, worded bool) {
	for raw := range jsonedit.Elements(list) {
		d := readDetail(raw)
		d.text = surrogates.ReplaceLone(d.text)
		if p, ok := d.part(); ok {
			parts = append(parts, p)
			worded = worded || d.text != ""
		}
	}
	return parts, worded
}

// details writes reasoning as such a list. Reasoning that a different provider signed is
// dropped.
func (w *callWriter) details(m *llm.Message) {
	open, n := false, int64(0)
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Kind != llm.ReasoningPart && p.Kind != llm.SealedPart {
			continue
		}
		entry := detailOf(p)
		if entry == nil || !w.detailed(p) {
			w.t.Drop(w.c.Path(m, p.Index))
			continue
		}
		if !open {
			w.Key("reasoning_details").Open('[')
			open = true
		}
		writeDetail(&w.Writer, p, entry, n)
		n++
	}
	if open {
		w.Close(']')
	}
}

// detailed reports whether the model may get a reasoning part. Claude accepts only its own
// reasoning, and other models do not accept Claude's. For names without a vendor the
// decision is left to OpenRouter.
func (w *callWriter) detailed(p *llm.Part) bool {
	vendor, _, found := strings.Cut(w.model, "/")
	if !found || vendor == detailsShape || strings.HasPrefix(vendor, "@") {
		return true
	}
	return (p.Shape == signatures.ClaudeSigner) == (vendor == "anthropic")
}

// detailOf returns the entry of a reasoning part without its text and number, or nil if the
// part has no entry.
func detailOf(p *llm.Part) []byte {
	proof := p.Signature
	if p.Kind == llm.SealedPart {
		proof = p.Text
	}
	var w jsonwriter.Writer
	switch {
	case p.Shape == detailsShape:
		entry, err := base64.StdEncoding.DecodeString(proof)
		if err != nil || !jsonedit.Valid(entry) {
			return nil
		}
		return entry
	case p.Shape == signatures.ClaudeSigner && p.Kind == llm.SealedPart:
		w.Open('{')
		w.Str("type", detailSealed)
		w.Str("data", proof)
		w.Str("format", claudeFormat)
		w.Close('}')
	case p.Shape == signatures.ClaudeSigner:
		w.Open('{')
		w.Str("type", detailText)
		w.Str("signature", proof)
		w.Str("format", claudeFormat)
		w.Close('}')
	case p.Shape == "" && p.Kind == llm.ReasoningPart && p.Text != "":
		w.Open('{')
		w.Str("type", detailText)
		w.Close('}')
	default:
		return nil
	}
	return w.B
}

// writeDetail writes an entry with its text and number.
func writeDetail(w *jsonwriter.Writer, p *llm.Part, entry []byte, n int64) {
	w.Open('{')
	for name, val := range jsonedit.Members(entry) {
		w.Key(string(name[1 : len(name)-1])).Value(val)
	}
	if p.Kind == llm.ReasoningPart {
		text := "text"
		if jsonedit.Text(entry, "type") == detailSummary {
			text = "summary"
		}
		w.Str(text, p.Text)
	}
	w.Int("index", n)
	w.Close('}')
}
