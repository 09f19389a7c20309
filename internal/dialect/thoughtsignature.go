package dialect

import (
	"bytes"
	"encoding/base64"
	"strings"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// signedMark stands between the id of a tool call and the signature that its provider
// wants back with it. The id is the one thing that every client returns as it came, so
// the signature travels in it; other gateways use the same mark.
const signedMark = "__thought__"

// maxSignatureBytes is how long a signature may be that travels in an id; Gemini's are of a
// few KB.
const maxSignatureBytes = 64 << 10

// SignedID is the id of a tool call with its signature in it, in letters that the ids of
// all surfaces may have: "call_1__thought__CpQB". One that is no base64, or none, stays
// out.
func SignedID(id, signature string) string {
	sig := strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(signature), "=")
	if sig == "" || len(sig) > maxSignatureBytes || standard(sig) != signature {
		return id
	}
	return id + signedMark + sig
}

// splitID is the inverse of SignedID; the signature is empty where there is none.
func splitID(id string) (plain, signature string) {
	plain, sig, found := strings.Cut(id, signedMark)
	if !found || plain == "" {
		return id, ""
	}
	return plain, standard(sig)
}

// standard puts the letters of an id back into those of base64.
func standard(sig string) string {
	sig = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(sig, "="))
	if n := len(sig) % 4; n > 0 {
		sig += "===="[n:]
	}
	if _, err := base64.StdEncoding.DecodeString(sig); err != nil {
		return ""
	}
	return sig
}

// MarkTextSignature is the signature of a text as that of a thought without words, for surfaces
// whose texts have none.
func MarkTextSignature(signature string) string { return signedMark + signature }

// Signatures puts the signatures that came in the ids of tool calls, and behind texts,
// where they belong, so that no provider but the one that signed sees them. It is the last
// that a Client does to a call.
func Signatures(c *llm.Call) {
	for i := range c.Messages {
		m := &c.Messages[i]
		retained := 0
		for k := range m.Parts {
			p := &m.Parts[k]
			switch p.Kind {
			case llm.CallPart:
				p.Call.ID, p.EmbeddedSignature = splitID(p.Call.ID)
			case llm.ResultPart:
				p.Result.ID, _ = splitID(p.Result.ID)
			case llm.ReasoningPart, llm.SealedPart:
				sig, isTextSignature := textSignature(p)
				if !isTextSignature {
					attribute(c.Surface, p)
					break
				}
				if retained > 0 && m.Parts[retained-1].Kind == llm.TextPart {
					m.Parts[retained-1].EmbeddedSignature = sig
				}
				continue
			default: // has no place for one
			}
			if retained < k {
				m.Parts[retained] = *p
			}
			retained++
		}
		m.Parts = m.Parts[:retained]
	}
}

// attribute says who signed a thought, unless the Client knew.
func attribute(surface llm.Endpoint, p *llm.Part) {
	if p.Shape != "" {
		return
	}
	signature := &p.Signature
	if p.Kind == llm.SealedPart {
		signature = &p.Text
	}
	var redacted bool
	if p.Shape, *signature, redacted = readSigner(surface, *signature); redacted && p.Kind == llm.ReasoningPart {
		p.Kind, p.Text, p.Signature = llm.SealedPart, p.Signature, ""
	}
}

// textSignature is the signature of the text before a thought, when that is what it stands
// for. Callers of responses give it back as a thought that only the provider can read.
func textSignature(p *llm.Part) (signature string, ok bool) {
	switch {
	case p.Kind == llm.SealedPart:
		signature, ok = strings.CutPrefix(p.Text, signedMark)
	case p.Text == "":
		signature, ok = strings.CutPrefix(p.Signature, signedMark)
	}
	return signature, ok && !strings.Contains(signature, signersMark)
}

// Unsigned is the value of messages or of an input without what SignedID, MarkTextSignature and a
// Signer put there, for providers that speak the caller's shape; nil when there is nothing of it.
func Unsigned(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(signedMark)) {
		return nil
	}
	var w JSON
	unsigned(&w, raw, unsignedDepth)
	return w.B
}

// unsignedDepth is how deep the ids stand: a list, a message, a list, a call. Below are
// arguments, which are the caller's own.
const unsignedDepth = 4

func unsigned(w *JSON, raw []byte, depth int) {
	switch {
	case depth == 0 || !bytes.Contains(raw, []byte(signedMark)):
		w.Value(raw)
	case raw[0] == '[':
		w.Open('[')
		for val := range splice.Elements(raw) {
			if !signedElsewhere(val) && !hasOnlyForeignSignatures(val) {
				unsigned(w, val, depth-1)
			}
		}
		w.Close(']')
	case raw[0] == '{':
		w.Open('{')
		for name, val := range splice.Members(raw) {
			w.rawKey(name)
			if id, ok := splice.Unquote(val); ok && isID(name) {
				id, _ = splitID(id)
				w.Text(id)
				continue
			}
			unsigned(w, val, depth-1)
		}
		w.Close('}')
	default:
		w.Value(raw)
	}
}

func isID(name []byte) bool {
	switch string(name) {
	case `"id"`, `"call_id"`, `"tool_call_id"`, `"tool_use_id"`:
		return true
	}
	return false
}

// hasOnlyForeignSignatures reports whether nothing is left of a message: providers refuse those
// without content.
func hasOnlyForeignSignatures(message []byte) bool {
	content, _ := splice.Find(message, "content")
	some := false
	for block := range splice.Elements(content) {
		if !signedElsewhere(block) {
			return false
		}
		some = true
	}
	return some
}

// signedElsewhere reports whether a block, or an item, has the signature of a text, or
// that of a thought of another shape.
func signedElsewhere(block []byte) bool {
	switch splice.Text(block, "type") {
	case "thinking":
		return strings.HasPrefix(splice.Text(block, "signature"), signedMark)
	case "redacted_thinking":
		return strings.HasPrefix(splice.Text(block, "data"), signedMark)
	case "reasoning":
		return strings.HasPrefix(splice.Text(block, "encrypted_content"), signedMark)
	}
	return false
}
