package dataplane

import (
	"slices"

	"sluice/internal/wire"
)

// MetadataHeader is a request header that becomes metadata: front ends name their user in one,
// and send one key for all users.
type MetadataHeader struct {
	Header  string // lower case: "x-openwebui-user-email"
	Key     string // of the metadata: "_user"
	Private bool   // the header goes no further: not to the provider, and not into the log
}

// headersToMetadata adds the values of the headers that are listed to the metadata of a call, nil
// for none so far, where it has no such key yet. It takes the private ones out of the header, so
// that nothing behind it can send them on.
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
