package sealed

import (
	"net/url"
	"strings"
)

// secretParams are complete names of query parameters in which providers and other servers
// accept credentials, in lower case and without separators: "api-key" is "apikey" here.
var secretParams = map[string]bool{
	"key": true, "apikey": true, "token": true, "auth": true, "authorization": true, "code": true, "sig": true, "jwt": true, "pass": true, "pwd": true,
	"session": true, "sessionid": true, "sid": true, "sas": true, "bearer": true, "ticket": true, "assertion": true, "clientassertion": true, "samlresponse": true,
	"accesskeyid": true, "awsaccesskeyid": true, "googleaccessid": true, "passphrase": true, "secretid": true, "connectionstring": true,
	"tokens": true, "keys": true, "pat": true, "pats": true, "otp": true, "totp": true,
}

// secretParamEnds are the suffixes of further names: "tavilyApiKey", "X-Goog-Signature".
// "pageToken" and "idempotency_key" do not match. Each suffix also matches in the plural.
var secretParamEnds = []string{
	"apikey", "accesskey", "secretkey", "privatekey", "subscriptionkey", "accesstoken", "authtoken", "apitoken", "bearertoken", "refreshtoken", "idtoken",
	"sessiontoken", "securitytoken", "sastoken", "privatetoken", "jobtoken", "bottoken", "secret", "password", "passwd", "signature", "credential", "credentials",
}

// maxParam is the number of bytes at the end of a name that are checked.
const maxParam = 48

// Target returns the target of a request in the form for records and logs: the values of query
// parameters that are known to contain credentials are masked, "/v1/models?key=***&page=2".
// Names match in any case and spelling, also escaped. The path is unchanged.
func Target(target string) string {
	path, query, ok := strings.Cut(target, "?")
	if !ok {
		return target
	}
	return path + "?" + maskedPairs(query)
}

// Address returns a string that may be a URL in the form for records. It masks the query like
// Target, and also the user information: "https://***@example.com/mcp?token=***". A string with
// blanks or without a scheme is not a URL and is unchanged.
func Address(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok || scheme == "" || strings.ContainsAny(scheme, "/?#@") || strings.ContainsAny(text, " \t\r\n") {
		return text
	}
	location, query := rest, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		location, query = rest[:i], rest[i:]
	}
	switch index, late := strings.LastIndexByte(location, '@'), strings.LastIndexByte(rest, '@'); {
	case index >= 0 && (!strings.Contains(location[:index], "/") || oddPort(location)):
		location = Mask + location[index:]
	case late >= len(location) && oddPort(location):
		return scheme + "://" + Mask + rest[late:]
	}
	if query != "" {
		query = query[:1] + maskedPairs(query[1:])
	}
	return scheme + "://" + location + query
}

// oddPort reports whether the apparent port is part of a password that contains "/", "?" or "#"
// before the "@".
func oddPort(location string) bool {
	authority, _, _ := strings.Cut(location, "/")
	_, port, ok := strings.Cut(authority, ":")
	return ok && !strings.HasPrefix(authority, "[") && strings.Trim(port, "0123456789") != ""
}

// Webhook returns the URL of a webhook in the form for records and responses. In addition to
// Address it masks every parameter, because each service has its own name for the credential.
// It also masks the long path segments in which some services put it:
// "https://***@hooks.example.com/services/***?a=***".
func Webhook(text string) string {
	shown := Address(text)
	scheme, rest, ok := strings.Cut(shown, "://")
	if !ok || scheme == "" || strings.ContainsAny(text, " \t\r\n") {
		return shown
	}
	location, query := rest, ""
	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		location, query = rest[:i], rest[i:]
	}
	segments := strings.Split(location, "/")
	for i, s := range segments[1:] {
		if len(s) >= minHookSecret {
			segments[i+1] = Mask
		}
	}
	return scheme + "://" + strings.Join(segments, "/") + everyPair(query)
}

// minHookSecret is the length from which a path segment of a webhook counts as a secret.
const minHookSecret = 20

// everyPair masks every value of a query, which begins with "?".
func everyPair(query string) string {
	pairs := strings.FieldsFunc(query, func(r rune) bool { return strings.ContainsRune("?&;#", r) })
	for i, p := range pairs {
		if name, value, ok := strings.Cut(p, "="); ok && value != "" {
			pairs[i] = name + "=" + Mask
		} else if p != "" && !ok {
			pairs[i] = Mask
		}
	}
	if len(pairs) == 0 {
		return query
	}
	return query[:1] + strings.Join(pairs, "&")
}

// maskedPairs masks the values of secret parameters in "a=b&c=d". A fragment may follow.
func maskedPairs(query string) string {
	var out strings.Builder
	for start := 0; start < len(query); {
		end := strings.IndexAny(query[start:], "&;#?")
		if end < 0 {
			end = len(query) - start
		}
		pair := query[start : start+end]
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" && secretParam(name) {
			out.WriteString(name + "=" + Mask)
		} else {
			out.WriteString(pair)
		}
		if start += end; start < len(query) {
			out.WriteByte(query[start])
			start++
		}
	}
	return out.String()
}

// secretParam reports whether a query parameter of that name may contain a credential.
func secretParam(name string) bool {
	if strings.ContainsAny(name, "%+") {
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
	}
	var flat [maxParam]byte
	index := len(flat)
	for i := len(name) - 1; i >= 0 && index > 0; i-- {
		switch c := name[i]; {
		case c == '-' || c == '_' || c == '.':
		case 'A' <= c && c <= 'Z':
			index--
			flat[index] = c + 'a' - 'A'
		default:
			index--
			flat[index] = c
		}
	}
	if secretParams[string(flat[index:])] {
		return true
	}
	last := len(flat)
	if index < last && flat[last-1] == 's' {
		last--
	}
	for _, end := range secretParamEnds {
		if hasSuffix(flat[index:], end) || hasSuffix(flat[index:last], end) {
			return true
		}
	}
	return false
}

func hasSuffix(name []byte, end string) bool {
	return len(name) >= len(end) && string(name[len(name)-len(end):]) == end
}
