package multipartedit

import (
	"slices"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// paramNames returns the parameter names of a header value that mime.ParseMediaType accepts, in
// lower case and as written. ParseMediaType itself returns the values of name*=… and name*0=…
// under name.
func paramNames(val string) (names []string) {
	_, rest, more := strings.Cut(val, ";")
	for more {
		var name, val string
		if name, val, more = strings.Cut(rest, "="); !more {
			break
		}
		names = append(names, strings.ToLower(strings.TrimSpace(name)))
		_, rest, more = strings.Cut(pastQuotes(strings.TrimSpace(val)), ";")
	}
	return names
}

// pastQuotes returns the rest of s after the quoted string at its beginning, if any.
func pastQuotes(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++ // an escaped character does not end the string
		case '"':
			return s[i+1:]
		}
	}
	return ""
}

// starred reports whether a star in a parameter name marks its value as encoded or partial.
// Source: RFC 2231 sections 3 and 4, RFC 8187.
func starred(name string) bool { return strings.Contains(name, "*") }

// refuseStars refuses a part that has different meanings for readers with and without RFC 2231,
// by the parameter names of its disposition. A name with a star is always refused. RFC 7578
// section 4.2 forbids filename* as well. But older clients (urllib3 before version 2, some of
// .NET and Java) send it for names that are not ASCII. Together with a plain filename, all
// readers see a file and differ only in its name. Without one, filename* makes the part a file
// for some readers and a field for others. A field that decides about access or cost must not
// be ambiguous.
func (p *Part) refuseStars(params []string) error {
	for _, param := range params {
		base, _, star := strings.Cut(param, "*")
		switch {
		case !star:
		case base == "name":
			return malformed("the name of a part is encoded; send it as name=\"…\"")
		case base == "filename" && !slices.Contains(params, "filename"):
			return malformed("the file name of a part is encoded, without a plain filename; send it as filename=\"…\"").WithParam(p.Name)
		case base == "filename" && jsonedit.RoutingKeyIndex([]byte(p.Name)) >= 0:
			return malformed("a part that is not a file has an encoded file name").WithParam(p.Name)
		}
	}
	return nil
}
