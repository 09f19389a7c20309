package dataplane

import (
	"strings"

	"sluice/internal/provider"
	"sluice/internal/record"
	"sluice/internal/sealed"
	"sluice/internal/wire"
)

// What of header lines is put on record, in bytes. Both are ours.
const (
	maxHeadBytes        = 16 << 10 // of one side
	maxHeaderValueBytes = 2 << 10  // of a value
)

// describeHeads puts the header lines of all sides on record. Secrets are masked before
// anything else sees them.
// Source: contract/content-and-observability.md 3.1 and 3.2.
func (g *Gateway) describeHeads(a *attempt, r *record.Attempt) {
	x := a.x
	m := masking{secret: g.secretHeaders, sensitive: x.ctl.sensitive, aliases: g.set.HeaderAliases}
	b := x.scratch.heads[:0]
	var ends [4]int
	for i, h := range [...]wire.Header{x.req.Header, a.header, a.got, x.scratch.clientHeader} {
		b = m.lines(b, h)
		ends[i] = len(b)
	}
	x.scratch.heads = b
	r.ClientRequest.Head, r.Request.Head, r.Response.Head, r.ClientResponse.Head = b[:ends[0]], b[ends[0]:ends[1]], b[ends[1]:ends[2]], b[ends[2]:]
}

// masking knows which header lines are secret.
type masking struct {
	secret    map[string]bool // names of ours in which providers take credentials
	sensitive string          // names that the caller lists: "x-tenant, x-trace-user"
	aliases   []string        // prefixes that stood for ours when the caller wrote the names
}

// lines appends a header's lines, each "name: value" and a line feed.
func (m *masking) lines(b []byte, h wire.Header) []byte {
	limit := len(b) + maxHeadBytes
	for i := range h {
		name, value := h[i].Name, h[i].Value
		if len(name) > maxHeaderValueBytes {
			continue
		}
		if m.hides(name, value) {
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

// plainHeader reports whether a line is one of nearly every call, which says nothing secret
// and is looked at no further.
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

// hides reports whether the value of a line must not be on record.
func (m *masking) hides(name, value string) bool {
	switch {
	case m.sensitive != "" && m.listed(name):
		return true
	case plainHeader(name):
		return false
	case name == prefix+"config": // one that came with the request may hold credentials
		return strings.IndexByte(value, '{') >= 0
	case name == "set-cookie", wire.CredentialHeader(name), wire.IsCredentialName(name), strings.HasPrefix(name, prefix) && m.secret[name]:
		return true
	}
	return strings.IndexByte(value, '/') >= 0 && strings.Contains(value, "://") && strings.ContainsAny(value, "?@") // a URL may be signed
}

// listed reports whether the caller named the line.
func (m *masking) listed(name string) bool {
	for n := range strings.SplitSeq(m.sensitive, ",") {
		if n = strings.TrimSpace(n); strings.EqualFold(n, name) {
			return true
		}
		for _, alias := range m.aliases { // the line was renamed as it came
			if len(n) > len(alias) && strings.EqualFold(n[:len(alias)], alias) && strings.EqualFold(prefix+n[len(alias):], name) {
				return true
			}
		}
	}
	return false
}

// secretHeaders are the headers in which the providers of a table take credentials, as far
// as their names do not tell.
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
