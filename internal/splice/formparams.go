package splice

import (
	"slices"
	"strings"
)

// paramNames are the names of the parameters of a header value that mime.ParseMediaType
// takes, in lower case, as they stand there: it gives the value of name*=… and of name*0=…
// out as that of name.
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

// pastQuotes is what stands behind the quoted text that s begins with, if it does.
func pastQuotes(s string) string {
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++ // what is escaped ends nothing
		case '"':
			return s[i+1:]
		}
	}
	return ""
}

// starred reports whether the name of a parameter says, with a star, that its value is
// encoded or only a piece. Source: RFC 2231 sections 3 and 4, RFC 8187.
func starred(name string) bool { return strings.Contains(name, "*") }

// refuseStars refuses a part that is another one to readers which know RFC 2231 than to
// those which do not, by the names of its disposition's parameters. A name with a star
// always is. RFC 7578 section 4.2 forbids filename* as well; but older clients, urllib3
// before version 2 and some of .NET and Java, send it for names that are not ASCII, and
// beside a plain filename all readers see a file and differ in no more than what it is
// called. Alone it makes a file for some and a field for the others, and at a field that
// decides about access or cost nothing may be in doubt.
func (p *Part) refuseStars(params []string) error {
	for _, param := range params {
		base, _, star := strings.Cut(param, "*")
		switch {
		case !star:
		case base == "name":
			return malformed("the name of a part is encoded; send it as name=\"…\"")
		case base == "filename" && !slices.Contains(params, "filename"):
			return malformed("the file name of a part is encoded, without a plain filename; send it as filename=\"…\"").WithParam(p.Name)
		case base == "filename" && routingKeyIndex([]byte(p.Name)) >= 0:
			return malformed("a part that is not a file has an encoded file name").WithParam(p.Name)
		}
	}
	return nil
}
