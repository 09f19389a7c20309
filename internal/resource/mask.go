package resource

import (
	"encoding/json"
	"slices"
	"strings"

	"sluice/internal/sealed"
)

// secretParts are what the names of fields with secrets hold, in lower case and
// without separators.
// Source: contract/identity-and-governance.md section 13.
var secretParts = []string{"secret", "token", "password", "passphrase", "credential", "authorization", "privatekey", "apikey", "accesskey", "serviceaccount", "header"}

// secret reports whether a field of that name may hold a secret. "key" alone is one
// except in the lists of policies, where it names a property of requests.
func secret(name, list string) bool {
	flat := strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(name))
	if flat == "key" {
		return list != "conditions" && list != "group_by"
	}
	if strings.HasSuffix(flat, "key") && flat != "virtualkey" {
		return true
	}
	return slices.ContainsFunc(secretParts, func(p string) bool { return strings.Contains(flat, p) })
}

// mask is what was sent with secrets replaced. Numbers and truth values stay: they
// are limits and switches, whatever their field is called.
func mask(sent Sent) map[string]any {
	out := make(map[string]any, len(sent))
	for name, raw := range sent {
		var v any
		_ = json.Unmarshal(raw, &v) // was read as JSON before
		out[name] = masked(name, "", v)
	}
	return out
}

// masked is a value of a field, which stands in an object of a list or in none.
func masked(name, list string, v any) any {
	switch v := v.(type) {
	case string:
		if v != "" && secret(name, list) {
			return sealed.Mask
		}
	case map[string]any:
		if secret(name, list) {
			return sealed.Mask
		}
		for n, inner := range v {
			v[n] = masked(n, list, inner)
		}
	case []any:
		for i, inner := range v {
			if object, ok := inner.(map[string]any); ok {
				v[i] = masked("", name, object)
			} else {
				v[i] = masked(name, list, inner)
			}
		}
	}
	return v
}
