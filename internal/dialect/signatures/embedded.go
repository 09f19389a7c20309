package signatures

import (
	"bytes"
	"encoding/base64"
	"strings"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// signedMark separates the id of a tool call from the signature that its provider requires
// back. Every client returns the id unchanged, so the signature is embedded in it. Other
// gateways use the same mark.
const signedMark = "__thought__"

// maxSignatureBytes is the maximum size of a signature embedded in an id. Gemini's signatures
// have a few KB.
const maxSignatureBytes = 64 << 10

// SignedID embeds a signature in the id of a tool call, in characters that ids may contain on
// all surfaces: "call_1__thought__CpQB". An empty signature, or one that is not base64, is
// not embedded.
func SignedID(id, signature string) string {
	sig := strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(signature), "=")
	if sig == "" || len(sig) > maxSignatureBytes || standard(sig) != signature {
		return id
	}
	return id + signedMark + sig
}

// splitID is the inverse of SignedID. The signature is empty if the id has none.
func splitID(id string) (plain, signature string) {
	plain, sig, found := strings.Cut(id, signedMark)
	if !found || plain == "" {
		return id, ""
	}
	return plain, standard(sig)
}

// standard converts the characters of an id back into standard base64.
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

// MarkText formats the signature of a text as that of empty reasoning, for surfaces
// whose texts have no signatures.
func MarkText(signature string) string { return signedMark + signature }

// Restore restores the signatures from the ids of tool calls and from parts after texts.
// After that, only the provider that signed them receives them. It is the last step of a
// Client on a call.
func Restore(c *llm.Call) {
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
			default: // cannot have a signature
			}
			if retained < k {
				m.Parts[retained] = *p
			}
			retained++
		}
		m.Parts = m.Parts[:retained]
	}
}

// attribute sets the signer of a reasoning part, unless the Client has set it.
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

// textSignature returns the signature of the text before a reasoning part, if the part
// represents one. Callers of responses return it as reasoning that only the provider can read.
func textSignature(p *llm.Part) (signature string, ok bool) {
	switch {
	case p.Kind == llm.SealedPart:
		signature, ok = strings.CutPrefix(p.Text, signedMark)
	case p.Text == "":
		signature, ok = strings.CutPrefix(p.Signature, signedMark)
	}
	return signature, ok && !strings.Contains(signature, signersMark)
}

// Unsigned returns the value of messages or of an input without the additions of SignedID,
// MarkText and Signer, for providers that use the caller's shape. It is
// nil if there are none.
func Unsigned(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(signedMark)) {
		return nil
	}
	var w jsonwriter.Writer
	unsigned(&w, raw, unsignedDepth)
	return w.B
}

// unsignedDepth is the nesting depth of the ids: a list, a message, a list, a call. Below are
// arguments, which belong to the caller.
const unsignedDepth = 4

func unsigned(w *jsonwriter.Writer, raw []byte, depth int) {
	switch {
	case depth == 0 || !bytes.Contains(raw, []byte(signedMark)):
		w.Value(raw)
	case raw[0] == '[':
		w.Open('[')
		for val := range jsonedit.Elements(raw) {
			if !signedElsewhere(val) && !hasOnlyForeignSignatures(val) {
				unsigned(w, val, depth-1)
			}
		}
		w.Close(']')
	case raw[0] == '{':
		w.Open('{')
		for name, val := range jsonedit.Members(raw) {
			w.RawKey(name)
			if id, ok := jsonedit.Unquote(val); ok && isID(name) {
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

// hasOnlyForeignSignatures reports whether a message would have no content left. Providers
// reject messages without content.
func hasOnlyForeignSignatures(message []byte) bool {
	content, _ := jsonedit.Find(message, "content")
	some := false
	for block := range jsonedit.Elements(content) {
		if !signedElsewhere(block) {
			return false
		}
		some = true
	}
	return some
}

// signedElsewhere reports whether a block or an item has the signature of a text, or of
// reasoning of another shape.
func signedElsewhere(block []byte) bool {
	switch jsonedit.Text(block, "type") {
	case "thinking":
		return strings.HasPrefix(jsonedit.Text(block, "signature"), signedMark)
	case "redacted_thinking":
		return strings.HasPrefix(jsonedit.Text(block, "data"), signedMark)
	case "reasoning":
		return strings.HasPrefix(jsonedit.Text(block, "encrypted_content"), signedMark)
	}
	return false
}
