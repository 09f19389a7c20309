package gateway

import "strings"

// passthroughHeader selects the provider for a request, whatever its path is. It is never
// forwarded.
const passthroughHeader = prefix + "passthrough"

// Selection states which part of the gateway the headers of a request select. The zero value
// selects nothing.
type Selection struct {
	Provider    bool // x-gateway-provider or x-gateway-virtual-key names a provider
	Routing     bool // x-gateway-config or x-gateway-custom-host is set: it may imply a provider, but names none
	Passthrough bool // x-gateway-passthrough is true: the provider responds, whatever the path
}

// Any reports whether a header selects a provider in any way.
func (s Selection) Any() bool { return s.Provider || s.Routing || s.Passthrough }

// Note evaluates one header, with its name in lower case. aliases are additional prefixes that
// count as x-gateway-. A header without a value is ignored.
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

// controlName returns the name of a control header without its prefix: "provider" for
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

// isTrue reports whether the value of a header is true, ignoring case.
func isTrue(value string) bool { return strings.EqualFold(strings.TrimSpace(value), "true") }
