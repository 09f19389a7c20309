package dataplane

import "strings"

// passthroughHeader sends a request to the provider whatever its path is. It is for the
// gateway alone and never sent on.
const passthroughHeader = prefix + "passthrough"

// Selection is what the headers of a request select: who answers it. The zero value selects
// nothing.
type Selection struct {
	Provider    bool // x-gateway-provider or x-gateway-virtual-key names a provider
	Routing     bool // x-gateway-config or x-gateway-custom-host is there: a provider may be meant, none is named
	Passthrough bool // x-gateway-passthrough is true: the provider answers, whatever the path
}

// Any reports whether a header asks for a provider in any way.
func (s Selection) Any() bool { return s.Provider || s.Routing || s.Passthrough }

// Note takes one header line into account, with its name in lower case. Aliases are further
// prefixes that count as x-gateway-. A header without a value is ignored.
func (s *Selection) Note(name, value string, aliases []string) {
	control, ok := controlName(name, aliases)
	if !ok || strings.TrimSpace(value) == "" {
		return
	}
	switch control {
	case "provider", "virtual-key":
		s.Provider = true
	case "config", "custom-host":
		s.Routing = true
	case "passthrough":
		s.Passthrough = s.Passthrough || isTrue(value)
	}
}

// controlName is the name of a control header without its prefix: "provider" of
// "x-gateway-provider".
func controlName(name string, aliases []string) (control string, ok bool) {
	if control, ok = strings.CutPrefix(name, prefix); ok {
		return control, true
	}
	for _, a := range aliases {
		if control, ok = strings.CutPrefix(name, a); ok {
			return control, true
		}
	}
	return "", false
}

// isTrue reports whether the value of a header is true, in any case.
func isTrue(value string) bool { return strings.EqualFold(strings.TrimSpace(value), "true") }
