package quota

import (
	"slices"
	"strconv"
	"strings"

	"sluice/internal/kernel/fault"
)

// Key names a property of a request, for example "api_key" or "metadata.team".
type Key string

// metadataPrefix begins the keys that name a metadata value. The name after it is
// case-sensitive.
const metadataPrefix = "metadata."

// MaxValues is the largest number of values, conditions or groups in one list.
const MaxValues = 100

// keyUse is a key, what it may be used for, and how its value is read from a call.
type keyUse struct {
	key    Key
	group  bool // allowed in group_by too, not only in conditions
	lookup func(*Call) (slug, id string)
}

// keyUses lists the keys, except metadata.<name>.
// Source: contract/identity-and-governance.yaml, enums.policy_keys.
var keyUses = []keyUse{
	{"api_key", true, func(c *Call) (slug, id string) { return same(c.KeyID) }},
	{"workspace_id", true, func(c *Call) (slug, id string) { return c.Workspace.both() }},
	{"organisation_id", true, func(c *Call) (slug, id string) { return same(c.OrgID) }},
	{"virtual_key", true, func(c *Call) (slug, id string) { return c.Account.both() }},
	{"provider", true, func(c *Call) (slug, id string) { return same(c.Provider) }},
	{"config", true, func(c *Call) (slug, id string) { return c.Config.both() }},
	{"prompt", true, func(c *Call) (slug, id string) { return c.Prompt.both() }},
	{modelKey, true, func(c *Call) (slug, id string) { return same(c.Model) }},
	{"endpoint_type", false, func(c *Call) (slug, id string) { return same(string(c.Endpoint)) }},
}

// modelKey is the key whose values are "@openai/gpt-4o", or "@openai/*" for all models with
// that prefix.
const modelKey Key = "model"

// endpointTypes are the values of the key endpoint_type.
// Source: contract/identity-and-governance.yaml, enums.endpoint_types.
var endpointTypes = strings.Fields("chatComplete complete embed messages imageGenerate imageEdit createSpeech createTranscription " +
	"createTranslation rerank createModelResponse realtime createBatch createFinetune uploadFile proxy *")

// known reports whether the key may be used in conditions or, if group is set, in group_by.
func (k Key) known(group bool) bool {
	if name, ok := strings.CutPrefix(string(k), metadataPrefix); ok {
		return name != "" && len(name) <= 128
	}
	return slices.ContainsFunc(keyUses, func(u keyUse) bool { return u.key == k && (u.group || !group) })
}

func keyNames(group bool) string {
	var names []string
	for _, u := range keyUses {
		if u.group || !group {
			names = append(names, string(u.key))
		}
	}
	return strings.Join(append(names, metadataPrefix+"<name>"), ", ")
}

func (c Condition) validate(param string) error {
	if !c.Key.known(false) {
		return fault.Newf(fault.InvalidParameter, "must be one of %s", keyNames(false)).WithParam(param + ".key")
	}
	if len(c.Value) == 0 {
		return fault.New(fault.InvalidParameter, "is required; use * for any value").WithParam(param + ".value")
	}
	if err := c.validateValues(c.Value, param+".value"); err != nil {
		return err
	}
	return c.validateValues(c.Excludes, param+".excludes")
}

func (c Condition) validateValues(list Values, param string) error {
	if len(list) > MaxValues || slices.Contains(list, "") {
		return fault.Newf(fault.InvalidParameter, "must not have more than %d values or an empty value", MaxValues).WithParam(param)
	}
	if c.Key == "endpoint_type" && slices.ContainsFunc(list, func(v string) bool { return !slices.Contains(endpointTypes, v) }) {
		return fault.Newf(fault.InvalidParameter, "must be one of %s", strings.Join(endpointTypes, ", ")).WithParam(param)
	}
	return nil
}

func validateGroups(groups []GroupBy) error {
	for i, g := range groups {
		param := path("group_by", i) + ".key"
		if !g.Key.known(true) {
			return fault.Newf(fault.InvalidParameter, "must be one of %s", keyNames(true)).WithParam(param)
		}
		if slices.Contains(groups[:i], g) {
			return fault.Newf(fault.InvalidParameter, "%s is duplicated", g.Key).WithParam(param)
		}
	}
	return nil
}

func path(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }
