package sealed

import (
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Prefixes of secrets that this gateway issues for users and directories. They identify such a
// secret in any text. API keys have a separate prefix (API_KEY_PREFIX).
const (
	SessionPrefix = "ses_"
	InvitePrefix  = "inv_"
	SCIMPrefix    = "scim_"
)

// keyForm is the prefix of one type of secrets, with their minimum length including the prefix.
type keyForm struct {
	prefix string
	min    int
}

// keyForms are the recognisable secrets of this gateway, of providers and of other services.
// Source: the pattern lists of secret scanners, read 2026-11.
var keyForms = []keyForm{
	{SessionPrefix, 32}, {InvitePrefix, 32}, {SCIMPrefix, 32},
	{"sk-", minKey}, {"sk_", 20}, {"rk_", 20}, {"pk-lf-", 20}, // OpenAI and many more, this gateway by default, Stripe, Langfuse
	{"AKIA", 20}, {"ASIA", 20}, {"ABSK", 40}, // AWS, Bedrock
	{"AIza", 35}, {"ya29.", 20}, // Google
	{"xoxb-", 20}, {"xoxp-", 20}, {"xoxa-", 20}, {"xoxr-", 20}, {"xoxs-", 20}, {"xoxe-", 20}, {"xoxe.", 20}, {"xapp-", 20}, // Slack
	{"ghp_", 20}, {"gho_", 20}, {"ghu_", 20}, {"ghs_", 20}, {"ghr_", 20}, {"github_pat_", 20}, {"glpat-", 20}, // GitHub, GitLab
	{"gsk_", 20}, {"xai-", 20}, {"pplx-", 20}, {"hf_", 20}, {"r8_", 20}, {"nvapi-", 20}, {"tvly-", 20}, {"jina_", 20}, {"csk-", 20}, {"fw_", 20}, {"dapi", 36}, // further providers
	{"Bearer ", minKey}, {"bearer ", minKey}, {"Basic ", minKey}, {"basic ", minKey}, // a complete header value
}

const (
	minKey       = 12 // minimum length of a segment that is checked
	minToken     = 30 // minimum length of a JSON web token
	issuedRandom = 32 // letters and digits at the end of an API key of this gateway
	maxPrefix    = 32 // maximum length of the prefix (API_KEY_PREFIX)
)

// Path returns the path of a request in the form for logs,
// "/v1/admin/users/invites/***/accept". Segments that look like a secret are masked, even where
// no route has a parameter for one, because mistyped paths are logged too. A query is
// unchanged. Without a secret the result is path itself.
func Path(path string) string {
	end := strings.IndexByte(path, '?')
	if end < 0 {
		end = len(path)
	}
	for start := 0; start < end; {
		length := strings.IndexByte(path[start:end], '/')
		if length < 0 {
			length = end - start
		}
		if length >= minKey && HasKeyForm(path[start:start+length]) {
			path = path[:start] + Mask + path[start+length:]
			end += len(Mask) - length
			length = len(Mask)
		}
		start += length + 1
	}
	return path
}

// Name returns the name of a field or parameter in the form for logs. A name that looks like a
// secret becomes ***, because a caller may send {"sk-live-…": 1}.
func Name(name string) string {
	if HasKeyForm(name) {
		return Mask
	}
	return Path(name)
}

// Prose returns a text with the words masked that look like a secret, for example an error that
// names an unknown field.
func Prose(text string) string {
	word := func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
	}
	var out strings.Builder
	for rest := text; rest != ""; {
		end := strings.IndexFunc(rest, func(r rune) bool { return !word(r) })
		if end < 0 {
			end = len(rest)
		}
		out.WriteString(proseWord(rest[:end]))
		if rest = rest[end:]; rest != "" {
			_, size := utf8.DecodeRuneInString(rest)
			out.WriteString(rest[:size])
			rest = rest[size:]
		}
	}
	return out.String()
}

// proseWord masks one word of a text. The word may be the path of a field:
// "rate_limits.sk-live-…".
func proseWord(word string) string {
	if plain := strings.TrimRight(word, "."); HasKeyForm(plain) {
		return Mask + word[len(plain):]
	}
	parts := strings.Split(word, ".")
	for i, part := range parts {
		if HasKeyForm(part) {
			parts[i] = Mask
		}
	}
	return strings.Join(parts, ".")
}

// HasKeyForm reports whether a string, such as a path segment, has the form of an API key, an
// access token or a JSON web token: "sk-live-…", "AKIA…", "Bearer …". It decodes URL escapes.
func HasKeyForm(text string) bool {
	if len(text) < minKey {
		return false
	}
	if strings.IndexByte(text, '%') >= 0 {
		if plain, err := url.PathUnescape(text); err == nil {
			text = plain
		}
	}
	for _, f := range keyForms {
		if len(text) >= f.min && strings.HasPrefix(text, f.prefix) {
			return true
		}
	}
	return isWebToken(text) || isIssued(text)
}

// isWebToken reports whether a string is a JSON web token, or the beginning of one.
// Source: RFC 7519.
func isWebToken(text string) bool {
	return len(text) >= minToken && strings.HasPrefix(text, "eyJ") && strings.IndexByte(text, '.') > 0
}

// isIssued reports whether a string has the form of an API key of this gateway under any
// API_KEY_PREFIX: the prefix and 32 random letters and digits.
func isIssued(text string) bool {
	at := len(text) - issuedRandom
	if at < 1 || at > maxPrefix {
		return false
	}
	var lowers, uppers, digits int
	for _, c := range []byte(text[at:]) {
		switch {
		case 'a' <= c && c <= 'z':
			lowers++
		case 'A' <= c && c <= 'Z':
			uppers++
		case '0' <= c && c <= '9':
			digits++
		default:
			return false
		}
	}
	return lowers > 0 && uppers > 0 && digits > 0 && isPrefix(text[:at])
}

// isPrefix reports whether a string may be an API_KEY_PREFIX.
func isPrefix(text string) bool {
	for _, c := range []byte(text) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (lower(c) < 'a' || lower(c) > 'z') {
			return false
		}
	}
	return true
}
