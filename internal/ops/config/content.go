package config

import (
	"encoding/base64"
	"errors"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// content replaces the path of a readable file by what the file holds, for settings
// that are mounted as files. A path that leads nowhere stays the value of a password,
// which may begin with a slash, and the operator is warned. Keys and certificates do not:
// sealed under a mistyped path, everything would be lost with the next correct start.
// Source: contract/dataplane.md 10.3, contract/identity-and-governance.md section 15.
func (l *loader) content(s setting, g rawSetting) (rawSetting, *Problem) {
	if !s.content() {
		g.text = strings.TrimSpace(g.text)
		return g, nil
	}
	var err error
	if isLikelyPath(g.text) {
		var text string
		if text, err = readFile(g.text); err == nil {
			return rawSetting{strings.TrimSpace(text), g.origin + ", content of " + g.text, g.rank, Source{Content: g.text}}, nil
		}
	}
	switch {
	case s.check == encryptionKeys:
		return l.keyContent(s, g)
	case err == nil:
		return g, nil
	case s.check != "" || isThere(err):
		return g, badPath(s, g, g.text, err)
	}
	l.warnings = append(l.warnings, s.name+" looks like a path, but the file "+reason(err)+"; using the value unchanged")
	return g, nil
}

// keyContent does it for the list of encryption keys, each of which may be in a file of
// its own.
func (l *loader) keyContent(s setting, g rawSetting) (rawSetting, *Problem) {
	keys, paths := splitList(g.text), 0
	for i, key := range keys {
		if !isLikelyPath(key) {
			continue
		}
		text, err := readFile(key)
		switch {
		case err == nil:
			keys[i], paths = strings.TrimSpace(text), paths+1
			g.origin += ", content of " + key
		case isBase64Key(key):
			l.warnings = append(l.warnings, s.name+" begins with / and is used as a base64 key, because no such file is readable")
		default:
			return g, badPath(s, g, key, err)
		}
	}
	if paths > 0 {
		g.text = strings.Join(keys, ",")
	}
	return g, nil
}

func isLikelyPath(text string) bool {
	for _, start := range []string{"/", "./", "../"} {
		if strings.HasPrefix(text, start) && !strings.ContainsAny(text, "\n\x00") {
			return true
		}
	}
	return false
}

// isBase64Key reports whether a text that begins with a slash is a key in base64 of at
// least 16 bytes rather than a path: it has no first folder that is there, and either
// ends as base64 does or mixes what random letters mix.
func isBase64Key(text string) bool {
	raw, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(text, "="))
	if err != nil || len(raw) < 16 || strings.HasSuffix(text, "=") && len(text)%4 != 0 {
		return false
	}
	if folder, _, deep := strings.Cut(text[1:], "/"); deep && folder != "" {
		if _, err := os.Stat("/" + folder); err == nil {
			return false
		}
	}
	return strings.HasSuffix(text, "=") || lower.MatchString(text) && upper.MatchString(text) && digit.MatchString(text)
}

var (
	lower, upper, digit = regexp.MustCompile(`[a-z]`), regexp.MustCompile(`[A-Z]`), regexp.MustCompile(`[0-9]`)
	plainPath           = regexp.MustCompile(`^[A-Za-z0-9._/-]{1,255}$`)
)

// badPath returns the path that does not exist, and why. What may be a key all the same is not
// repeated.
func badPath(s setting, g rawSetting, path string, err error) *Problem {
	named := "is the path " + shown(path) + ", which "
	if s.secret() && !plainPath.MatchString(path) {
		named = "begins like a path, which "
	}
	return &Problem{Setting: s.name, Where: g.origin, Text: named + reason(err), Form: s.form()}
}

// isThere reports whether a file that cannot be read is there: then nobody meant the
// path as the value itself.
func isThere(err error) bool {
	var path *fs.PathError
	return errors.Is(err, fs.ErrPermission) || !errors.As(err, &path)
}

// reason is why a file cannot be read, without its path: the text may be a secret.
func reason(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "does not exist"
	case errors.Is(err, fs.ErrPermission):
		return "is not readable"
	case errors.As(err, &path):
		return "cannot be read: " + path.Err.Error()
	}
	return err.Error()
}
