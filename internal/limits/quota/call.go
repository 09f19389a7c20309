package quota

import (
	"slices"
	"strings"

	"sluice/internal/kernel/llm"
)

// Call contains the properties of a call that policies match: its caller, its request and one
// target. A missing property is empty; conditions and groups on it do not apply. Policies only
// read it.
// Source: contract/identity-and-governance.yaml, enums.policy_keys.
type Call struct {
	OrgID     string
	Workspace Named
	KeyID     string
	Account   Named  // saved provider or virtual key
	Provider  string // its kind, "openai"
	Config    Named
	Prompt    Named
	Model     string // of the request, never of the response
	Endpoint  llm.Endpoint
	Metadata  map[string]string
}

// Named is a stored record. Conditions match its slug or its id; groups use its id.
type Named struct{ Slug, ID string }

// reader returns a function that reads the value of a key from a call: its slug and its id, or
// the same value twice. The value of a model does not include its provider.
func (k Key) reader() func(*Call) (slug, id string) {
	if name, ok := strings.CutPrefix(string(k), metadataPrefix); ok {
		return func(c *Call) (slug, id string) { return same(c.Metadata[name]) }
	}
	i := slices.IndexFunc(keyUses, func(u keyUse) bool { return u.key == k })
	if i < 0 {
		return func(*Call) (slug, id string) { return "", "" } // of a policy that Validate rejects: it never applies
	}
	return keyUses[i].lookup
}

func same(s string) (slug, id string) { return s, s }

func (n Named) both() (slug, id string) { return n.Slug, n.ID }
