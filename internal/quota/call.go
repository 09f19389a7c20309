package quota

import (
	"slices"
	"strings"

	"sluice/internal/llm"
)

// Call is what policies look at: who asks for what, at one target. What a call does not
// have is empty; conditions and groups on it do not apply. It is only read.
// Source: contract/identity-and-governance.yaml, enums.policy_keys.
type Call struct {
	OrgID     string
	Workspace Named
	KeyID     string
	Account   Named  // saved provider or virtual key
	Provider  string // its kind, "openai"
	Config    Named
	Prompt    Named
	Model     string // of the request, never of the answer
	Endpoint  llm.Endpoint
	Metadata  map[string]string
}

// Named is a stored thing. Conditions match its slug or its id, groups have its id.
type Named struct{ Slug, ID string }

// reader is how the value of a key is read from calls: its slug and its id, or the same
// twice. That of a model is without its provider.
func (k Key) reader() func(*Call) (slug, id string) {
	if name, ok := strings.CutPrefix(string(k), metadataPrefix); ok {
		return func(c *Call) (slug, id string) { return same(c.Metadata[name]) }
	}
	i := slices.IndexFunc(keyUses, func(u keyUse) bool { return u.key == k })
	if i < 0 {
		return func(*Call) (slug, id string) { return "", "" } // of a policy that Validate refuses: it never applies
	}
	return keyUses[i].lookup
}

func same(s string) (slug, id string) { return s, s }

func (n Named) both() (slug, id string) { return n.Slug, n.ID }
