package passage

import (
	"strings"
	"unicode/utf8"
)

// maxName is the maximum length of names with a rule. Longer names do not have one.
const maxName = 64

// foldName appends a member name in the form of the rules: lower case, without underscores and
// hyphens, "reasoning_content" and "reasoningContent" as "reasoningcontent". Some readers ignore
// the case of names, also that of U+017F and U+212A, and Google's read both spellings. A text must
// not hide from the rules under another spelling.
func foldName(dst, name []byte) []byte {
	if len(name) > 2*maxName {
		return dst
	}
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c == '_' || c == '-':
		case 'A' <= c && c <= 'Z':
			dst = append(dst, c+'a'-'A')
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRune(name[i:])
			switch r {
			case 'ſ':
				dst = append(dst, 's')
			case '\u212a': // Kelvin sign
				dst = append(dst, 'k')
			default:
				dst = append(dst, name[i:i+n]...)
			}
			i += n - 1
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// isIdentity reports whether the next value is an id, a type, a name, binary data or a credential by the
// folded name of its member. Only values that look like one are; others are texts.
func (w *walker) isIdentity(key []byte) bool {
	name := string(key)
	if credentialNames[name] {
		return true
	}
	if w.r.Kind() != '"' {
		return false
	}
	next := w.r // reads ahead
	raw := next.Raw()
	if len(raw) < 2 {
		return false
	}
	text := raw[1 : len(raw)-1]
	switch {
	case identityNames[name]:
		return consistsOf(text, isIdentifier)
	case binaryNames[name]:
		return len(text) >= minBinary && consistsOf(text, isBase64)
	}
	return false
}

// minBinary is the length of the shortest text that counts as binary data. Shorter ones may be words.
const minBinary = 32

func consistsOf(text []byte, is func(c byte) bool) bool {
	for _, c := range text {
		if !is(c) {
			return false
		}
	}
	return true
}

func isIdentifier(c byte) bool { return isBase64(c) || c == '.' || c == ':' || c == '@' }

// identityNames are the members whose values are ids, types, names of tools and models.
var identityNames = nameSet("callid code containerid detail eventid fileid finishreason format id itemid mediatype mimetype model modelversion name nativefinishreason " +
	"object phase previousresponseid provider requestid responseid role serverlabel servicetier status stopreason systemfingerprint toolcallid tooluseid " +
	"truncation type userid vectorstoreid")

// binaryNames are the members with data in base64.
var binaryNames = nameSet("audio b64json bytes data encryptedcontent encryptedindex filedata image imagebase64 mask obfuscation partialimageb64 result signature thoughtsignature")

// credentialNames are the members with credentials for servers that a provider calls. No model reads them.
var credentialNames = nameSet("accesstoken apikey authentication authorization authorizationtoken connectionstring encodedapikey headers key password token")

func nameSet(names string) map[string]bool {
	out := make(map[string]bool)
	for _, name := range strings.Fields(names) {
		out[name] = true
	}
	return out
}

// isDataURL reports whether a raw string is a data URL with base64 data only, which is not that of a
// text: "data:image/png;base64,iVBORw0KGgo=".
func isDataURL(raw []byte) bool {
	head, data := cutDataURL(raw[1 : len(raw)-1])
	if head == 0 || !consistsOf(data, isBase64) {
		return false
	}
	start, ok := decodeBase64(data[:min(len(data), textHead)])
	return ok && !isPlain(start)
}

func isBase64(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '+' || c == '/' || c == '=' || c == '-' || c == '_'
}
