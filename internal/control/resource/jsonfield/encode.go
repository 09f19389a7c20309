package jsonfield

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/control/resource"
)

// Digest returns a short name of a long string.
func Digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Clip returns at most n bytes of a string without cutting a character.
func Clip(s string, n int) string {
	return strings.ToValidUTF8(s[:min(len(s), n)], "")
}

// Encode is for types that always encode.
func Encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("admin: encode: " + err.Error())
	}
	return b
}

// Document is JSON of any form. It is absent if it is empty.
type Document []byte

// MarshalJSON writes the document unchanged.
func (d Document) MarshalJSON() ([]byte, error) { return d, nil }

// Schema describes Document.
func (Document) Schema(huma.Registry) *huma.Schema { return &huma.Schema{} }

// OrNullDocument returns null for an empty value.
func OrNullDocument(raw []byte) Document {
	if len(raw) == 0 {
		return Document("null")
	}
	return raw
}

// SentAny reports whether a body contains one of the fields.
func SentAny(sent resource.Sent, names []string) bool {
	for _, n := range names {
		if _, ok := sent[n]; ok {
			return true
		}
	}
	return false
}
