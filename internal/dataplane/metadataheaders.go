package dataplane

import (
	"slices"

	"sluice/internal/wire"
)

// MetadataHeader is a request header that becomes metadata. Front ends name their user in such a
// header and send one key for all users.
type MetadataHeader struct {
	Header  string // lower case: "x-openwebui-user-email"
	Key     string // metadata key: "_user"
	Private bool   // the header is not forwarded to the provider and not logged
}

// headersToMetadata adds the values of the configured headers to the metadata of a call. It does
// not replace existing keys. A nil map is empty metadata. It removes private headers from h, so
// that no later step can forward them.
func (g *Gateway) headersToMetadata(m map[string]string, h *wire.Header) map[string]string {
	private := false
	for _, from := range g.set.MetadataFrom {
		v := h.Get(from.Header)
		if v == "" {
			continue
		}
		if private = private || from.Private; m == nil {
			m = make(map[string]string, 1)
		}
		if _, there := m[from.Key]; !there {
			m[from.Key] = shortened(v)
		}
	}
	if private {
		*h = slices.DeleteFunc(*h, func(f wire.Field) bool { return g.privateHeader(f.Name) })
	}
	return m
}

func (g *Gateway) privateHeader(name string) bool {
	return slices.ContainsFunc(g.set.MetadataFrom, func(m MetadataHeader) bool { return m.Private && m.Header == name })
}
