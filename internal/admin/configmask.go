package admin

import (
	"bytes"
	"regexp"
	"strings"

	"sluice/internal/fault"
	"sluice/internal/sealed"
	"sluice/internal/splice"
)

// maskConfig is a config document as answers show it: each secret masked, every
// other byte as it is stored.
func maskConfig(doc []byte) string {
	var b strings.Builder
	end := 0
	for _, s := range findSecrets(doc) {
		b.Write(doc[end:s.from])
		b.Write(splice.Quote(s.mask))
		end = s.to
	}
	b.Write(doc[end:])
	return b.String()
}

// unmaskConfig puts stored secrets in the place of their masks, so that a document
// can be sent back as it was shown. A mask stands for the secret at the same path of
// the stored document, which is nil at creation. Any other mask is
// fault.InvalidConfig in the form of routing.Parse, which would take it for a key.
func unmaskConfig(sent, stored []byte) ([]byte, error) {
	doc, misfits := unmask(sent, stored)
	return doc, refusal(misfits)
}

// unmask is unmaskConfig for documents of any sort; it returns the masks that stand
// for nothing.
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

// isMask reports whether a secret that was sent is the mask of one. That of a URL is the
// URL with *** in it.
func isMask(s configSecret) bool {
	return maskForm.MatchString(s.text) || strings.Contains(s.text, "://") && strings.Contains(s.text, sealed.Mask)
}

// maskForm is what a value looks like that is taken for a mask. No provider's key
// does.
var maskForm = regexp.MustCompile(`(?s)^(.{1,2}\*{5}.{1,3}|\*{5})$`)

// refuseMask says why a mask does not stand for the stored secret, "" when it does.
// It must go where it went before: who may change configs could otherwise have a
// secret that nobody shows them sent to a host of their own.
func refuseMask(sent, old configSecret) string {
	switch {
	case old.mask != sent.text:
		return "is a mask but does not match a stored secret; send the secret itself"
	case old.goesTo != sent.goesTo:
		return "is a mask, but the provider or an enclosing address was changed; send the secret itself"
	}
	return ""
}

// misfit is a mask that stands for nothing.
type misfit struct{ path, reason string }

// Limits of a refusal; those of routing.Parse are alike.
const (
	maxMisfits   = 20
	maxPathBytes = 256
)

// refusal is the error that lists misfits; nil for none.
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
