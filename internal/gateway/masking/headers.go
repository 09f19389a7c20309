package masking

import (
	"strings"

	"sluice/internal/gateway/call"
	"sluice/internal/kernel/sealed"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider"
)

// Limits of recorded headers, in bytes. Both are the gateway's choice.
const (
	maxHeadBytes        = 16 << 10 // of one side
	maxHeaderValueBytes = 2 << 10  // of a value
)

const prefix = call.HeaderPrefix

// Headers masks the secret values of headers. Safe for concurrent use.
// Source: contract/content-and-observability.md 3.1 and 3.2.
type Headers struct {
	secret  map[string]bool // gateway header names in which providers receive credentials
	aliases []string        // prefixes that callers may use instead of call.HeaderPrefix
}

// NewHeaders returns the mask for the providers of a table. aliases are the prefixes, in lower
// case and with the dash, that callers may use instead of call.HeaderPrefix.
func NewHeaders(specs *provider.Table, aliases []string) *Headers {
	return &Headers{secret: secretHeaders(specs), aliases: aliases}
}

// Append appends the lines of a header, each "name: value" and a line feed. sensitive contains
// the names of further headers to mask, as the caller lists them: "x-tenant, x-trace-user". A
// header that is too long is cut after a line.
func (m *Headers) Append(b []byte, h wire.Header, sensitive string) []byte {
	limit := len(b) + maxHeadBytes
	for i := range h {
		name, value := h[i].Name, h[i].Value
		if len(name) > maxHeaderValueBytes {
			continue
		}
		if m.hides(name, value, sensitive) {
			value = sealed.Mask
		}
		value = value[:min(len(value), maxHeaderValueBytes)]
		if len(b)+len(name)+len(value)+3 > limit {
			break
		}
		b = append(append(append(append(b, name...), ": "...), value...), '\n')
	}
	return b
}

// plainHeader reports whether a header is common to nearly every call and never secret, so that
// its value is not inspected.
func plainHeader(name string) bool {
	switch name {
	case "accept", "accept-encoding", "accept-language", "cache-control", "connection", "content-encoding", "content-length", "content-type", "date", "host", "server",
		"strict-transport-security", "transfer-encoding", "user-agent", "vary", "via", "x-content-type-options", "x-request-id",
		prefix + "cache-status", prefix + "last-used-option-index", prefix + "metadata", prefix + "provider", prefix + "request-id",
		prefix + "retry-attempt-count", prefix + "span-id", prefix + "trace-id", prefix + "virtual-key":
		return true
	}
	return false
}

// hides reports whether the value of a header must not be recorded.
func (m *Headers) hides(name, value, sensitive string) bool {
	switch {
	case sensitive != "" && m.isListed(name, sensitive):
		return true
	case plainHeader(name):
		return false
	case name == prefix+"config": // an inline config may contain credentials
		return strings.IndexByte(value, '{') >= 0
	case name == "set-cookie", wire.CredentialHeader(name), wire.IsCredentialName(name), strings.HasPrefix(name, prefix) && m.secret[name]:
		return true
	}
	return strings.IndexByte(value, '/') >= 0 && strings.Contains(value, "://") && strings.ContainsAny(value, "?@") // a URL may be signed
}

// isListed reports whether the caller listed the header as sensitive.
func (m *Headers) isListed(name, sensitive string) bool {
	for n := range strings.SplitSeq(sensitive, ",") {
		if n = strings.TrimSpace(n); strings.EqualFold(n, name) {
			return true
		}
		for _, alias := range m.aliases { // the alias prefix was replaced on arrival
			if len(n) > len(alias) && strings.EqualFold(n[:len(alias)], alias) && strings.EqualFold(prefix+n[len(alias):], name) {
				return true
			}
		}
	}
	return false
}

// secretHeaders returns the headers in which the providers of a table receive credentials,
// without those whose names already mark them as secret.
func secretHeaders(t *provider.Table) map[string]bool {
	names := make(map[string]bool)
	for _, s := range t.All() {
		for i := range s.Fields {
			if s.Fields[i].Secret {
				for _, h := range s.Fields[i].Headers {
					if !wire.IsCredentialName(h) && !wire.CredentialHeader(h) {
						names[h] = true
					}
				}
			}
		}
	}
	return names
}
