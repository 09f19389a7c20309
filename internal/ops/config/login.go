package config

import (
	"regexp"
	"strings"

	"sluice/internal/kernel/sealed"
)

// login is the name and password of an address, which end with the last @ before its path.
var login = regexp.MustCompile(`://[^/?#\s"]*@`)

// WithoutLogin shows the addresses in a text, such as an error, without the names and
// passwords in them: "http://***@proxy.example:3128".
func WithoutLogin(text string) string {
	return login.ReplaceAllLiteralString(text, "://"+sealed.Mask+"@")
}

// withoutAnyLogin does it to a text that is not a valid address, so that nobody
// knows where its password ends: all before the last @ may be part of one.
func withoutAnyLogin(text string) string {
	index := strings.LastIndexByte(text, '@')
	if index < 0 || !strings.Contains(text[:index], ":") {
		return text
	}
	start := 0
	if i := strings.Index(text[:index], "://"); i >= 0 {
		start = i + len("://")
	}
	return text[:start] + sealed.Mask + text[index:]
}
