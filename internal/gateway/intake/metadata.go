package intake

import (
	"net/url"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/tenant"
	"sluice/internal/gateway/call"
	"sluice/internal/kernel/wire"
)

// MetadataHeader is a request header that becomes metadata. Front ends name their user in such a
// header and send one key for all users.
type MetadataHeader struct {
	Header  string // lower case: "x-openwebui-user-email"
	Key     string // metadata key: "_user"
	Private bool   // the header is not forwarded to the provider and not logged
}

// MetadataHeaders are the request headers that become metadata.
type MetadataHeaders []MetadataHeader

// Describe returns the metadata of a call: of its workspace and key, its own, and of the
// configured headers. scope is nil for a caller without a workspace. It removes private headers
// from h, so that no later step can forward them. The result may be nil.
func (m MetadataHeaders) Describe(o *call.Options, key *keys.Entry, scope *tenant.Scope, h *wire.Header) map[string]string {
	var workspaceDefaults map[string]string
	if scope != nil {
		workspaceDefaults = scope.Defaults.Metadata
	}
	all := m.addTo(readMetadata(o, workspaceDefaults, key.Key.Defaults.Metadata), h)
	return attribute(all, key.Principal.UserID, scope)
}

// attribute adds the user of a user key to the metadata, as the workspace is configured. Source:
// contract/identity-and-governance.yaml, WorkspaceSettings.
func attribute(metadata map[string]string, user string, scope *tenant.Scope) map[string]string {
	if user == "" || scope != nil && !scope.Attributed {
		return metadata
	}
	if scope != nil && !scope.Attributes {
		delete(metadata, "_user")
	}
	return AddUser(metadata, user)
}

// AddUser adds a user to the metadata unless it is empty or the metadata already names one. It
// returns the metadata, which may be new.
func AddUser(metadata map[string]string, user string) map[string]string {
	if user == "" || metadata["_user"] != "" {
		return metadata
	}
	if metadata == nil {
		metadata = make(map[string]string, 1)
	}
	metadata["_user"] = shortened(user)
	return metadata
}

// addTo adds the values of the configured headers to the metadata of a call. It does not replace
// existing keys. A nil map is empty metadata. It removes private headers from h.
func (m MetadataHeaders) addTo(metadata map[string]string, h *wire.Header) map[string]string {
	private := false
	for _, from := range m {
		v := h.Get(from.Header)
		if v == "" {
			continue
		}
		if private = private || from.Private; metadata == nil {
			metadata = make(map[string]string, 1)
		}
		if _, there := metadata[from.Key]; !there {
			metadata[from.Key] = shortened(v)
		}
	}
	if private {
		*h = slices.DeleteFunc(*h, func(f wire.Field) bool { return m.isPrivate(f.Name) })
	}
	return metadata
}

func (m MetadataHeaders) isPrivate(name string) bool {
	return slices.ContainsFunc(m, func(h MetadataHeader) bool { return h.Private && h.Header == name })
}

// Metadata limits. Source: contract/dataplane.md 1.1 for the value; the number of
// pairs is ours.
const (
	metadataValueMax = 128
	metadataPairsMax = 64
)

// readMetadata merges the metadata of the layers, the request and its baggage header. The first
// value of a key wins. A value that is not a JSON object counts as empty. Values that are not
// strings are converted to text, and long values are truncated.
// Source: contract/content-and-observability.md 3.3.
func readMetadata(c *call.Options, layers ...map[string]string) map[string]string {
	var m map[string]string
	put := func(k, v string) {
		if m == nil {
			m = make(map[string]string, 4)
		}
		if _, there := m[k]; !there && len(m) < metadataPairsMax {
			m[k] = shortened(v)
		}
	}
	for _, l := range layers {
		for k, v := range l {
			put(k, v)
		}
	}
	if parsed := gjson.Parse(c.Metadata); parsed.IsObject() && gjson.Valid(c.Metadata) {
		parsed.ForEach(func(k, v gjson.Result) bool {
			put(k.String(), v.String())
			return true
		})
	}
	for pair := range strings.SplitSeq(c.Baggage, ",") {
		k, v, ok := strings.Cut(pair, "=")
		v, _, _ = strings.Cut(v, ";")
		if plain, err := url.PathUnescape(strings.TrimSpace(v)); ok && err == nil {
			put(strings.TrimSpace(k), plain)
		}
	}
	return m
}

// shortened truncates a metadata value to metadataValueMax characters.
func shortened(v string) string {
	n := 0
	for i := range v {
		if n == metadataValueMax {
			return v[:i]
		}
		n++
	}
	return v
}
