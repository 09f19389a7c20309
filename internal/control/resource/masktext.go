package resource

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// quotedName matches the name of a member in a text that resembles JSON.
var quotedName = regexp.MustCompile(`["']([^"']{1,100})["']\s*:`)

// namesSecret reports whether a member in a text that resembles JSON has the name of a secret.
func namesSecret(text string) bool {
	for _, m := range quotedName.FindAllStringSubmatch(text, -1) {
		if SecretField(m[1], "") {
			return true
		}
	}
	return false
}

// encoded returns a value that was decoded from JSON as JSON.
func encoded(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v) // decoded JSON always encodes
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
