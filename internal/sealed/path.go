package sealed

import (
	"slices"
	"strings"
)

// The beginnings of secrets that this gateway makes for people and directories, by which
// they are known wherever they turn up. API keys have one of their own (API_KEY_PREFIX).
const (
	SessionPrefix = "ses_"
	InvitePrefix  = "inv_"
	SCIMPrefix    = "scim_"
)

var prefixes = []string{SessionPrefix, InvitePrefix, SCIMPrefix}

// leastSecret is how long one of them is at least, its beginning included.
const leastSecret = 32

// Path is the path of a request as logs may show it, "/v1/admin/users/invites/***/accept":
// segments that have the form of a secret are masked, also where no route has a place for
// one, since a mistyped path is logged like any other. It does not undo escapes.
func Path(path string) string {
	if !slices.ContainsFunc(prefixes, func(p string) bool { return strings.Contains(path, p) }) {
		return path
	}
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if len(s) >= leastSecret && slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s, p) }) {
			segments[i] = Mask
		}
	}
	return strings.Join(segments, "/")
}
