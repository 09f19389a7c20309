package resource

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"sluice/internal/sealed"
)

// quotedName is the name of a member in what looks like JSON.
var quotedName = regexp.MustCompile(`["']([^"']{1,100})["']\s*:`)

// maskedText is a text that stands in a field of another name than those of secrets. A
// config that was sent as text has its secrets all the same, as has the body of another
// API, and a URL may sign in or carry a key.
func maskedText(text string) string {
	inner := strings.TrimSpace(text)
	if !strings.HasPrefix(inner, "{") && !strings.HasPrefix(inner, "[") {
		return sealed.Address(text)
	}
	if wellFormed([]byte(inner)) != nil { // nobody knows what it means
		if namesSecret(inner) {
			return sealed.Mask
		}
		return text
	}
	var v any
	d := json.NewDecoder(strings.NewReader(inner))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return sealed.Mask // was well-formed
	}
	before, after := encoded(v), encoded(masked("", "", v))
	if bytes.Equal(before, after) {
		return text
	}
	return string(after)
}

// namesSecret reports whether a member of what looks like JSON has the name of a secret.
func namesSecret(text string) bool {
	for _, m := range quotedName.FindAllStringSubmatch(text, -1) {
		if SecretField(m[1], "") {
			return true
		}
	}
	return false
}

// encoded is a value that was decoded, as JSON.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // what JSON was is JSON
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
