package resource

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/kernel/sealed"
)

// secretEnds are the endings of the names of secret fields, in lower case and without
// separators: the last word of a name determines the type of field. An api_key is a secret;
// api_key_id, token_endpoint, total_tokens and key_transition_period_ms are not.
// Source: contract/identity-and-governance.md section 13.
var secretEnds = []string{
	"key", "apikeys", "accesskeys", "privatekeys", "secretkeys", "secret", "secrets", "password", "passwords", "passwd", "passphrase",
	"token", "accesstokens", "refreshtokens", "authtokens", "apitokens", "bearertokens", "credential", "credentials", "authorization",
	"pass", "pwd", "cookie", "cookies", "connectionstring", "dsn", "header", "headers", "serviceaccount", "serviceaccountjson", "accesskeyid", "privatekeypem", "secretid", "secretvalue", "secretstring",
}

// jwkSecrets are the private members of a JSON Web Key. Source: RFC 7518 section 6.
var jwkSecrets = []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"}

// openFields have names that end like those of secrets but are not secret: a slug, the keys of an
// object in a store and of a cached response, and names of headers.
var openFields = []string{"virtualkey", "cachekey", "awss3objectkey", "forwardheaders", "headerkey"}

// prices is the field that contains one object for each price, named after what is priced:
// "request_token" is not a token there.
const prices = "pay_as_you_go"

// SecretField reports whether a field of that name, in any spelling, may hold a secret:
// "api_key", "azureEntraClientSecret", "Authorization". List is the field whose list contains
// the object of the field, "" for none. A plain "key" is a secret except in the lists of
// policies, where it names a property of requests. "secret_key" is not a secret where fields are
// mapped to what a secret manager stores. Everything below a secret field counts as secret too;
// SecretNumber decides about numbers.
func SecretField(name, list string) bool {
	flat := flatName(name)
	switch {
	case list == "keys" && slices.Contains(jwkSecrets, name): // of a JSON Web Key
		return true
	case flat == "key":
		return list != "conditions" && list != "group_by"
	case flat == "secretkey" && list == "secret_mappings": // the member of a secret to read
		return false
	case slices.Contains(openFields, flat):
		return false
	}
	flat = strings.TrimRight(flat, "0123456789") // password2
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(flat, end) })
}

// SecretNumber reports whether a field of that name may hold a secret that is written as a
// number. Most numbers are limits, whatever the name of the field: "max_tokens".
func SecretNumber(name string) bool {
	flat := flatName(name)
	return strings.HasSuffix(flat, "password") || strings.HasSuffix(flat, "passphrase")
}

// WebhookField reports whether a field of that name holds the URL of a webhook, whose
// parameters may all be credentials: "webhookURL".
func WebhookField(name string) bool {
	flat := flatName(name)
	return strings.HasSuffix(flat, "webhookurl") || strings.HasSuffix(flat, "webhook") || strings.HasSuffix(flat, "callbackurl")
}

func flatName(name string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(name))
}

// mask returns the fields that were sent with secrets replaced, and with all values replaced
// that the schema of the body does not describe.
func (c *Call) mask(sent Sent) any {
	fields := make(map[string]any, len(sent))
	for name, raw := range sent {
		var v any
		_ = json.Unmarshal(raw, &v) // already parsed as JSON
		fields[name] = v
	}
	m := masker{known: c.engine.KnownField}
	var root *huma.Schema
	if c.schema != nil {
		m.registry, root = c.schema.registry, c.schema.root
	}
	return maskHidden(m.object(root, "", "", fields), nil, c.op.MaskedFields)
}

// maskHidden masks the texts that an operation hides in addition to fields with the name of a
// secret. Path is the path of the value in the body.
func maskHidden(v any, path []string, hides func(path []string) bool) any {
	if hides == nil {
		return v
	}
	childPath := func(name string) []string { return append(slices.Clone(path), name) }
	switch v := v.(type) {
	case string:
		if v != "" && hides(path) {
			return sealed.Mask
		}
	case map[string]any:
		for name, inner := range v {
			v[name] = maskHidden(inner, childPath(name), hides)
		}
	case []any:
		for i, inner := range v {
			v[i] = maskHidden(inner, childPath(strconv.Itoa(i)), hides)
		}
	}
	return v
}

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
