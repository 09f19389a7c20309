package config

import (
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"net/mail"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/internal/kernel/wire"
)

// rule is one way to check a text, and the same in words.
type rule struct {
	form string
	ok   func(text string) bool
}

// encryptionKeys is the check of ENCRYPTION_KEY, whose paths are read with more care.
const encryptionKeys = "encryption-keys"

// rules are the values of the check tag.
var rules = map[string]rule{
	"bucket":          {"the name of a bucket: 3 to 222 letters, digits, dots, dashes and underscores", match(`^[A-Za-z0-9][A-Za-z0-9._-]{1,220}[A-Za-z0-9]$`)},
	"certificates":    {"one or more certificates in PEM form", isCertificates},
	"database":        {"letters, digits, dash and underscore, at most 63", match(`^[A-Za-z0-9_-]{1,63}$`)},
	"embeddings":      {"openai, azure-openai, google or vertex-ai, or @ and the slug of a saved provider, such as @embeddings", match(`^(openai|azure-openai|google|vertex-ai|@[A-Za-z0-9_.-]{1,255})$`)},
	encryptionKeys:    {"at least 16 characters; several keys as a comma-separated list, the current one first", areEncryptionKeys},
	"endpoint":        {"a host and port such as redis-1.internal:6379", isEndpoint},
	"fraction":        {"a number from 0 to 1, such as 0.95", isFraction},
	"gateway-key":     {"16 to 255 letters, digits, dashes and underscores", match(`^[A-Za-z0-9_-]{16,255}$`)},
	"header":          {"a header name such as x-team", headerName.MatchString},
	"header-or-star":  {"a header name such as x-team, or *", match(`^(\*|` + headerToken + `)$`)},
	"header-prefix":   {"a header prefix that ends in a dash, such as x-acme-", match(`^[A-Za-z][A-Za-z0-9-]{0,62}-$`)},
	"host":            {"a host name or an IP address, without a port", isHost},
	"https-url":       {"an https:// address", func(s string) bool { return isURL(s, "https") }},
	"key-prefix":      {"at most 32 letters, digits, dashes and underscores", match(`^[A-Za-z0-9_-]{1,32}$`)},
	"label":           {"lower-case letters, digits and dashes, at most 63", match(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)},
	"listen":          {"a host name or an IP address, with or without a port, or a port alone after a colon: 127.0.0.1, [::1]:8787 or :8787", isListen},
	"mailbox":         {"an address such as gateway@example.com, with or without a name before it in <>", isMailbox},
	"metadata-header": {"a header name such as x-team, but not one with credentials, because the log contains metadata; or header:key, such as x-user:_user", isMetadataHeader},
	"method":          {"a method such as POST", match(`^[A-Z]{1,20}$`)},
	"network":         {"a network such as 10.0.0.0/8, or one IP address", isNetwork},
	"origin":          {"an origin such as https://app.example.com, or *", isOrigin},
	"pairs":           {"comma-separated name=value pairs, such as api-key=secret,x-team=search", match(`^\s*[^=,\s]+=[^,]*(,\s*[^=,\s]+=[^,]*)*$`)},
	"plain-database":  {"letters, digits and underscore, at most 63", match(`^[A-Za-z0-9_]{1,63}$`)},
	"private-key":     {"a private key in PEM form, not encrypted", isPrivateKey},
	"proxy":           {"an address such as http://user:password@proxy.example.com:3128", isProxy},
	"redis-url":       {"an address such as redis://name:password@redis.internal:6379/0, or rediss:// for TLS", isRedisURL},
	"role-arn":        {"a role such as arn:aws:iam::123456789012:role/gateway", match(`^arn:aws[a-z-]*:iam::\d{12}:role/[\w+=,.@/-]{1,512}$`)},
	"segment":         {"letters, digits, dots, dashes and underscores, at most 128", match(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)},
	"server-url":      {"an http:// or https:// address with a host and an optional port, such as https://clickhouse.internal:8443; set names and passwords in their separate settings", isServerURL},
	"stored-path":     {"a path without .. in it, such as configs/pricing", func(s string) bool { return fs.ValidPath(strings.Trim(s, "/")) }},
	"web-url":         {"an http:// or https:// address", func(s string) bool { return isURL(s, "http", "https") }},
	"trusted-host":    {"a host name, *.domain, an IP address or a range, such as models.internal", match(`^[^\s,@\\"']{1,253}$`)},
}

// headerToken is a header name of RFC 9110 section 5.6.2.
const headerToken = "[A-Za-z0-9!#$%&'*+.^_`|~-]{1,127}"

var headerName = regexp.MustCompile(`^` + headerToken + `$`)

var metadataKey = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,128}$`)

// isMetadataHeader takes the headers whose values may be shown, and the keys that some get.
func isMetadataHeader(item string) bool {
	name, key, keyed := strings.Cut(item, ":")
	if keyed && !metadataKey.MatchString(key) {
		return false
	}
	lower := strings.ToLower(name)
	return headerName.MatchString(name) && !wire.CredentialHeader(lower) && lower != "x-gateway-api-key"
}

func isFraction(text string) bool {
	n, err := strconv.ParseFloat(text, 64)
	return err == nil && n >= 0 && n <= 1
}

func match(pattern string) func(string) bool { return regexp.MustCompile(pattern).MatchString }

var hostName = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9_.-]{0,251}[A-Za-z0-9])?$`)

func isHost(text string) bool {
	_, err := netip.ParseAddr(text)
	return err == nil || hostName.MatchString(text)
}

func isNetwork(text string) bool {
	_, err := wire.ParseProxies([]string{text})
	return err == nil
}

func isListen(text string) bool {
	_, _, ok := splitListen(text)
	return ok
}

// isMailbox accepts what a mail may come from.
func isMailbox(text string) bool {
	_, err := mail.ParseAddress(text)
	return err == nil
}

func isURL(text string, schemes ...string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Hostname() != "" && slices.Contains(schemes, u.Scheme)
}

// isOrigin accepts what a browser sends as Origin: no path, no query.
func isOrigin(text string) bool {
	u, err := url.Parse(text)
	if text == "*" || err != nil {
		return text == "*"
	}
	return isURL(text, "http", "https") && text == u.Scheme+"://"+u.Host
}

func isProxy(text string) bool { return isURL(text, "http", "https", "socks5") }

// areEncryptionKeys asks of each key for the 16 bytes that sealed.NewBox needs.
func areEncryptionKeys(text string) bool {
	keys := splitKeys(text)
	return len(keys) > 0 && !slices.ContainsFunc(keys, func(key string) bool { return len(key) < 16 })
}

func isCertificates(text string) bool {
	blocks, clean := pemBlocks(text)
	return clean && len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b *pem.Block) bool {
		_, err := x509.ParseCertificate(b.Bytes)
		return err != nil || b.Type != "CERTIFICATE"
	})
}

// isPrivateKey leaves the decoding to the match with the certificate, which every
// private key is set with. An EC key may come after its parameters.
func isPrivateKey(text string) bool {
	blocks, clean := pemBlocks(text)
	return clean && slices.ContainsFunc(blocks, func(b *pem.Block) bool {
		return strings.HasSuffix(b.Type, "PRIVATE KEY") && b.Type != "ENCRYPTED PRIVATE KEY"
	})
}

// pemBlocks decodes every block; clean is false when other text follows the last.
func pemBlocks(text string) (blocks []*pem.Block, clean bool) {
	rest := []byte(text)
	for {
		block, tail := pem.Decode(rest)
		if block == nil {
			return blocks, strings.TrimSpace(string(tail)) == ""
		}
		blocks, rest = append(blocks, block), tail
	}
}
