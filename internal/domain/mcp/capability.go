package mcp

import (
	"cmp"
	"encoding/json"
	"slices"

	"sluice/internal/kernel/fault"
)

// CapabilityType is a sort of thing that a server offers, as it stands on the wire.
type CapabilityType string

// The sorts.
const (
	Tool             CapabilityType = "tool"
	Prompt           CapabilityType = "prompt"
	Resource         CapabilityType = "resource"
	ResourceTemplate CapabilityType = "resource_template"
)

// CapabilityTypes are all sorts, in the order of lists.
func CapabilityTypes() []CapabilityType {
	return []CapabilityType{Tool, Prompt, Resource, ResourceTemplate}
}

// Capability is one thing that a server offers.
type Capability struct {
	Type       CapabilityType  `json:"type"`
	Name       string          `json:"name"`
	Created    int64           `json:"created_ms,omitempty"`
	Updated    int64           `json:"updated_ms,omitempty"`
	Definition json.RawMessage `json:"definition,omitempty"` // as the server describes it
}

// Switch names a capability.
type Switch struct {
	Type CapabilityType `json:"type"`
	Name string         `json:"name"`
}

// Switches are the capabilities that are switched off. What is not among them is on,
// so that callers can use a new offer of a server at once.
type Switches []Switch

// maxSwitches bounds the capabilities that are off at one place.
const maxSwitches = 2000

// Has reports whether a capability is off.
func (s Switches) Has(t CapabilityType, name string) bool {
	return slices.Contains(s, Switch{t, name})
}

// Set returns the switches with one of them changed. The receiver may be used on.
func (s Switches) Set(t CapabilityType, name string, enabled bool) Switches {
	next := slices.DeleteFunc(slices.Clone(s), func(o Switch) bool { return o == Switch{t, name} })
	if !enabled {
		next = append(next, Switch{t, name})
	}
	return next
}

// Check bounds their number: fault.InvalidParameter.
func (s Switches) Check() error {
	if len(s) > maxSwitches {
		return fault.Newf(fault.InvalidParameter, "must not disable more than %d capabilities", maxSwitches).WithParam("capabilities")
	}
	return nil
}

// Enabled reports whether a capability may be used through a server: it must be on at
// the integration and at the server.
func Enabled(integration *Integration, s *Server, t CapabilityType, name string) bool {
	return !integration.Off.Has(t, name) && !s.Off.Has(t, name)
}

// Listed are the capabilities of a list: those that were found, and those that were
// switched off ahead of that, by type and name.
func Listed(found []Capability, off ...Switches) []Capability {
	list := slices.Clone(found)
	known := make(map[Switch]bool, len(found))
	for _, c := range found {
		known[Switch{c.Type, c.Name}] = true
	}
	for _, s := range slices.Concat(off...) {
		if !known[s] {
			known[s] = true
			list = append(list, Capability{Type: s.Type, Name: s.Name})
		}
	}
	order := CapabilityTypes()
	slices.SortFunc(list, func(a, b Capability) int {
		return cmp.Or(cmp.Compare(slices.Index(order, a.Type), slices.Index(order, b.Type)), cmp.Compare(a.Name, b.Name))
	})
	return list
}
