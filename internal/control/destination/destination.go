package destination

import (
	"net/url"
	"slices"
	"strings"
)

// destinationNames are parts of the names of fields that are part of a provider's host or select
// the account of a call: azure_resource_name, snowflakeAccount. A region alone does not lead to
// another owner.
var destinationNames = []string{"resource", "account", "workspace", "host", "url", "endpoint", "tenan", "project", "domain", "compartment", "bucket", "foundry"}

// IsField reports whether a field of that name determines where a call goes.
func IsField(name string) bool {
	name = strings.ToLower(name)
	return name == "provider" || name == "virtual_key" || name == "virtualkey" ||
		slices.ContainsFunc(destinationNames, func(p string) bool { return strings.Contains(name, p) })
}

// Origin returns the scheme and host of a URL.
func Origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Scheme + "://" + u.Host
}
