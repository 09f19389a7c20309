package resource

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"sluice/internal/sealed"
)

// secretEnds are how the names of fields with secrets end, in lower case and without
// separators: what a field is stands last in its name. An api_key is a secret; an
// api_key_id, a token_endpoint, total_tokens and a key_transition_period_ms are none.
// Source: contract/identity-and-governance.md section 13.
var secretEnds = []string{
	"key", "apikeys", "accesskeys", "privatekeys", "secretkeys", "secret", "secrets", "password", "passwords", "passwd", "passphrase",
	"token", "accesstokens", "refreshtokens", "authtokens", "apitokens", "bearertokens", "credential", "credentials", "authorization",
	"pass", "pwd", "cookie", "cookies", "connectionstring", "dsn", "header", "headers", "serviceaccount", "serviceaccountjson", "accesskeyid", "privatekeypem", "secretid", "secretvalue", "secretstring",
}

// jwkSecrets are the private members of a JSON Web Key. Source: RFC 7518 section 6.
var jwkSecrets = []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"}

// openFields have names that end like those of secrets: a slug, the place of an object
// in a store, and names of headers.
var openFields = []string{"virtualkey", "awss3objectkey", "forwardheaders", "headerkey"}

// prices is the field that has an object for each price, by the name of what it is the
// price of: "request_token" there is no token.
const prices = "pay_as_you_go"

// SecretField reports whether a field of that name, in whatever spelling, may hold
// a secret: "api_key", "azureEntraClientSecret", "Authorization". List is the field
// whose list the object of the field stands in, "" for none: "key" alone is a secret
// except in the lists of policies, where it names a property of requests, and
// "secret_key" is none where fields are mapped to what a secret manager keeps. All that
// lies below such a field counts as secret too; numbers are told by SecretNumber.
func SecretField(name, list string) bool {
	flat := flatName(name)
	switch {
	case list == "keys" && slices.Contains(jwkSecrets, name): // of a JSON Web Key
		return true
	case flat == "key":
		return list != "conditions" && list != "group_by"
	case flat == "secretkey" && list == "secret_mappings": // which member of a secret is read
		return false
	case slices.Contains(openFields, flat):
		return false
	}
	flat = strings.TrimRight(flat, "0123456789") // password2
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(flat, end) })
}

// SecretNumber reports whether a field of that name may hold a secret that is
// written as a number. Most numbers are limits, whatever their field is called:
// "max_tokens".
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

// mask is what was sent with the secrets replaced, and with the values that the schema of
// the body does not know.
func (c *Call) mask(sent Sent) any {
	fields := make(map[string]any, len(sent))
	for name, raw := range sent {
		var v any
		_ = json.Unmarshal(raw, &v) // was read as JSON before
		fields[name] = v
	}
	m := masker{known: c.engine.KnownField}
	var root *huma.Schema
	if c.schema != nil {
		m.registry, root = c.schema.registry, c.schema.root
	}
	return maskHidden(m.object(root, "", "", fields), nil, c.op.MaskedFields)
}

// maskHidden is a value with the texts masked that an operation hides besides those whose
// names say that they are secrets. Path is where the value stands in the body.
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
