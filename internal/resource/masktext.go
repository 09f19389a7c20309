package resource

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// quotedName is the name of a member in what looks like JSON.
var quotedName = regexp.MustCompile(`["']([^"']{1,100})["']\s*:`)

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
