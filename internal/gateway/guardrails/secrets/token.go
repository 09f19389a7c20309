package secrets

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// Types that have no row in the tables of formats.
const (
	typeURL        = "basic-auth-url"
	typeDatabase   = "database-url"
	typePrivateKey = "private-key"
	typeJWT        = "jwt"
	typeGeneric    = "generic"
)

// maxTokenHead is the length of the head of a JSON Web Token, in base64.
const maxTokenHead = 512

// tokenAt finds a JSON Web Token at i: a JSON object with the member alg, a second one, and a signature.
// Source: RFC 7519.
func (s *scanner) tokenAt(i int) int {
	if !strings.HasPrefix(s.text[i:], "eyJ") || !s.types.has(typeJWT) {
		return 0
	}
	dot := s.runs.end(classBase64URL, i, maxTokenHead)
	if dot == len(s.text) || !strings.HasPrefix(s.text[dot:], ".eyJ") || !s.isTokenHead(i, dot) {
		return 0
	}
	end := s.runs.end(classBase64URL, dot+1, maxSecretBytes)
	if end < len(s.text) && s.text[end] == '.' {
		end = s.runs.end(classBase64URL, end+1, maxSecretBytes)
	}
	return s.add(i, end, typeJWT)
}

// isTokenHead reports whether the base64url text [i, end) has the member alg. Without it, a shorter text
// that ends there and divides into the same groups of four characters does not have it either: headless
// has the last such text for each division.
func (s *scanner) isTokenHead(i, end int) bool {
	known := &s.headless[i%len(s.headless)]
	if known.end == end && i >= known.start {
		return false
	}
	head, err := base64.RawURLEncoding.DecodeString(s.text[i:end])
	if err == nil && bytes.Contains(head, []byte(`"alg"`)) {
		return true
	}
	*known = textRange{i, end}
	return false
}

// Marks of a private key. Source: RFC 7468.
const (
	keyBegin = "-----BEGIN "
	keyEnd   = "-----END "
	keyMark  = "PRIVATE KEY"
	maxLabel = 40
)

// privateKeyAt finds a private key whose first line begins at i. A key without a last line ends with its
// base64 text.
func (s *scanner) privateKeyAt(i int) int {
	if !strings.HasPrefix(s.text[i:], keyBegin) {
		return 0
	}
	label := s.text[i+len(keyBegin) : min(len(s.text), i+len(keyBegin)+maxLabel)]
	mark := strings.Index(label, "-----")
	if mark < 0 || !strings.Contains(label[:mark], keyMark) {
		return 0
	}
	body := i + len(keyBegin) + mark + 5
	end := body
	if last := strings.Index(s.text[body:min(len(s.text), i+maxSecretBytes)], keyEnd); last >= 0 {
		end = body + last + len(keyEnd)
		if n := strings.Index(s.text[end:min(len(s.text), end+maxLabel)], "-----"); n >= 0 {
			end += n + 5
		}
		return s.add(i, end, typePrivateKey)
	}
	for end < len(s.text) && end-i < maxSecretBytes && (byteSets['p'][s.text[end]] || strings.IndexByte("\r\n\\", s.text[end]) >= 0) {
		end++
	}
	return s.add(i, end, typePrivateKey)
}

// databaseSchemes are the schemes of URLs of databases and queues.
var databaseSchemes = map[string]bool{
	"postgres": true, "postgresql": true, "mysql": true, "mariadb": true, "mongodb": true, "srv": true, "redis": true, "rediss": true, "amqp": true,
	"amqps": true, "mssql": true, "sqlserver": true, "clickhouse": true, "cockroachdb": true, "couchdb": true, "neo4j": true, "kafka": true,
}

// maxUserInfo bounds the user and password of a URL.
const maxUserInfo = 256

// minURLPassword is the number of bytes of a password in a URL.
const minURLPassword = 3

// urlEnds are bytes that end the host and port of a URL.
var urlEnds = newByteSet("/?#\"'`<>\\ \t\r\n")

// urlAt finds the password in the URL whose "://" is at i: what is between the first colon and the last
// at sign before the path. The finding is the password.
func (s *scanner) urlAt(i int) int {
	begin := i + len("://")
	host := s.text[begin:min(len(s.text), begin+maxUserInfo)]
	for k := range len(host) {
		if urlEnds[host[k]] {
			host = host[:k]
			break
		}
	}
	colon, at := strings.IndexByte(host, ':'), strings.LastIndexByte(host, '@')
	if colon < 0 || at-colon <= minURLPassword || isPlaceholder(host[colon+1:at]) {
		return 0
	}
	return s.add(begin+colon+1, begin+at, s.urlType(i))
}

// urlType returns the type of the URL whose scheme ends at i.
func (s *scanner) urlType(i int) string {
	start := i
	for start > 0 && i-start < maxCue && isAlnum(s.text[start-1]) {
		start--
	}
	if databaseSchemes[s.text[start:i]] {
		return typeDatabase
	}
	return typeURL
}
