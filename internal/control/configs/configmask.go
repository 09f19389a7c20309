package configs

import (
	"bytes"
	"strings"

	"sluice/internal/domain/keys"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/sealed"
)

// maskConfig returns a config document as responses show it: each secret masked, every other
// byte as it is stored.
func maskConfig(doc []byte) string {
	var b strings.Builder
	end := 0
	for _, s := range findSecrets(doc) {
		b.Write(doc[end:s.from])
		b.Write(jsonedit.Quote(s.mask))
		end = s.to
	}
	b.Write(doc[end:])
	return b.String()
}

// unmaskConfig replaces masks with the stored secrets, so that a document can be sent back as it
// was shown. A mask stands for the secret at the same path of the stored document, which is nil
// at creation. Any other mask is fault.InvalidConfig in the form of routing.Parse, which would
// accept it as a key.
func unmaskConfig(sent, stored []byte) ([]byte, error) {
	doc, misfits := unmask(sent, stored)
	return doc, refusal(misfits)
}

// unmask does the same as unmaskConfig for any document. It returns the masks that do not match
// a secret.
func unmask(sent, stored []byte) ([]byte, []misfit) {
	known := make(map[string]configSecret)
	for _, s := range findSecrets(stored) {
		known[s.path] = s
	}
	var b bytes.Buffer
	var misfits []misfit
	end := 0
	for _, s := range findSecrets(sent) {
		if !isMask(s) {
			continue
		}
		old := known[s.path]
		if reason := refuseMask(s, old); reason != "" {
			misfits = append(misfits, misfit{s.path, reason})
			continue
		}
		b.Write(sent[end:s.from])
		b.Write(stored[old.from:old.to])
		end = s.to
	}
	b.Write(sent[end:])
	return b.Bytes(), misfits
}

// isMask reports whether a secret that was sent is a mask. The mask of a URL is the URL with ***
// in it.
func isMask(s configSecret) bool {
	return keys.IsMask(s.text) || strings.Contains(s.text, "://") && strings.Contains(s.text, sealed.Mask)
}

// refuseMask returns why a mask does not match the stored secret, "" if it does. The secret
// must have the same destination as before. Otherwise a caller who may change configs but not
// see secrets could send one to a host of their own.
func refuseMask(sent, old configSecret) string {
	switch {
	case old.mask != sent.text:
		return "is a mask but does not match a stored secret; send the secret itself"
	case old.goesTo != sent.goesTo:
		return "is a mask, but the provider or an enclosing address was changed; send the secret itself"
	}
	return ""
}

// misfit is a mask that does not match a stored secret.
type misfit struct{ path, reason string }

// Limits of an error; routing.Parse has similar ones.
const (
	maxMisfits   = 20
	maxPathBytes = 256
)

// refusal returns the error that lists misfits; nil for none.
func refusal(misfits []misfit) error {
	if len(misfits) == 0 {
		return nil
	}
	misfits = misfits[:min(len(misfits), maxMisfits)]
	lines := make([]string, len(misfits))
	for i := range misfits {
		m := &misfits[i]
		if len(m.path) > maxPathBytes {
			m.path = strings.ToValidUTF8(m.path[:maxPathBytes], "") + "…"
		}
		lines[i] = "path: " + m.path + ", message: " + m.reason
	}
	first := misfits[0]
	return fault.Newf(fault.InvalidConfig, "config is invalid: %s: %s", first.path, first.reason).WithParam(first.path).WithDetails(lines...)
}
