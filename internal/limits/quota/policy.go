package quota

import "strings"

// MaxValueKey is the maximum length of a value key, in bytes. A longer one is cut and ends in
// the digest of the complete key.
const MaxValueKey = 1024

// defaultValueKey is the value key of a policy without group_by.
// Source: contract/identity-and-governance.md section 8.
const defaultValueKey = "default"

// Policy is a compiled policy. It is shared and never changed.
type Policy struct {
	hold       Hold // complete except for the amount, and the value key of groups
	conditions []condition
	groups     []group
	seen       *valueKeys // nil without groups
}

// group is a part of a value key.
type group struct {
	key    Key
	lookup func(*Call) (slug, id string)
	prefix string // "metadata.team:"
}

// Compile compiles a usage-limit policy. Validate must accept the policy.
func (p *UsageLimit) Compile(id string) *Policy {
	h := Hold{
		Counter: CounterID{Subject: id}, Owner: &Owner{Kind: UsageLimitKind, ID: id, Name: p.Name},
		Measure: p.Measure, Limit: p.Limit(), Soft: p.Soft(),
	}
	return newPolicy(h, p.Conditions, p.GroupBy)
}

// Compile compiles a rate-limit policy. Validate must accept the policy.
func (p *RateLimit) Compile(id string) *Policy {
	h := Rate{Type: p.Type, Unit: p.Unit, Value: p.Value}.hold()
	h.Counter = CounterID{Subject: id, Entry: RateEntry(p.Type, p.Unit)}
	h.Owner = &Owner{Kind: RateLimitKind, ID: id, Name: p.Name}
	return newPolicy(h, p.Conditions, p.GroupBy)
}

func newPolicy(h Hold, conditions []Condition, groups []GroupBy) *Policy {
	p := &Policy{hold: h}
	for _, c := range conditions {
		p.conditions = append(p.conditions, compile(c))
	}
	for _, g := range groups {
		p.groups = append(p.groups, group{g.Key, g.Key.reader(), string(g.Key) + ":"})
	}
	if len(groups) == 0 {
		p.hold.Counter.ValueKey, p.hold.ref = defaultValueKey, newCounterRef()
	} else {
		p.seen = new(valueKeys)
	}
	return p
}

// Match returns the hold of the policy for a call, without an amount. It returns false if the
// policy does not apply: a condition is not met, or a part of the value key is missing. Only a
// policy with groups may allocate, for a value key that it has not cached.
func (p *Policy) Match(c *Call) (Hold, bool) {
	for i := range p.conditions {
		if !p.conditions[i].meets(c) {
			return Hold{}, false
		}
	}
	h := p.hold
	if len(p.groups) > 0 {
		v := p.valueKey(c)
		if v.text == "" {
			return Hold{}, false
		}
		h.Counter.ValueKey, h.ref = v.text, v.ref
	}
	return h, true
}

// valueKey joins the parts of the groups: "metadata.team:search-api_key:0191…". It is empty if
// a part is missing.
func (p *Policy) valueKey(c *Call) valueKey {
	n := len(p.groups) - 1
	for i := range p.groups {
		size := p.groups[i].size(c)
		if size == 0 {
			return valueKey{}
		}
		n += size
	}
	var buf [inlineKeyBytes]byte
	b := buf[:0]
	for i := range p.groups {
		if i > 0 {
			b = append(b, '-')
		}
		b = p.groups[i].append(b, c)
	}
	if n <= inlineKeyBytes {
		return p.seen.find(b)
	}
	key := string(b)
	if n <= MaxValueKey {
		return valueKey{text: key}
	}
	digest := EntryOf(key)
	return valueKey{text: strings.ToValidUTF8(key[:MaxValueKey-len(digest)-1], "") + "~" + digest}
}

// size returns the length of a part, 0 if the call has no value for it.
func (g *group) size(c *Call) int {
	_, value := g.lookup(c)
	switch {
	case value == "" || g.key == modelKey && c.Provider == "":
		return 0
	case g.key == modelKey:
		return len(g.prefix) + len(c.Provider) + 1 + len(value)
	}
	return len(g.prefix) + len(value)
}

func (g *group) append(b []byte, c *Call) []byte {
	_, value := g.lookup(c)
	b = append(b, g.prefix...)
	if g.key == modelKey {
		b = append(append(b, c.Provider...), '.')
	}
	return append(b, value...)
}
