package telemetry

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"sluice/internal/kernel/sealed"
)

// The formats of the log.
const (
	Auto = "auto" // Text on a terminal, else JSON
	Text = "text" // key=value, for people
	JSON = "json" // one object a line
)

// Format resolves a LOG_FORMAT for an output: Auto is Text on a terminal and JSON on
// anything else, such as a pipe, a file or a container's log.
func Format(setting string, out *os.File) string {
	if setting != Auto {
		return setting
	}
	if about, err := out.Stat(); err == nil && about.Mode()&os.ModeCharDevice != 0 {
		return Text
	}
	return JSON
}

// maxValue is the maximum length of one attribute, in bytes. It prevents a body in an error text
// from filling the log.
const maxValue = 4096

// NewLogger writes lines of the given level ("debug", "info", "warn" or "error") and above to w
// in the given format. Attributes whose key names a secret print as *** whatever their value, as
// sealed strings always do; long values are truncated. The logger is safe for concurrent use if w
// is.
func NewLogger(w io.Writer, format, level string) (*slog.Logger, error) {
	var minLevel slog.Level
	if err := minLevel.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("log level %q is not valid; use debug, info, warn or error", level)
	}
	opts := &slog.HandlerOptions{Level: minLevel, ReplaceAttr: clean}
	switch format {
	case Text:
		return slog.New(slog.NewTextHandler(w, opts)), nil
	case JSON:
		return slog.New(slog.NewJSONHandler(w, opts)), nil
	}
	return nil, fmt.Errorf("log format %q is not valid; use %s or %s", format, Text, JSON)
}

// clean masks and truncates one attribute.
func clean(_ []string, a slog.Attr) slog.Attr {
	if namesSecret(a.Key) {
		return slog.String(a.Key, sealed.Mask)
	}
	if a.Value.Kind() == slog.KindString {
		return cut(a, a.Value.String())
	}
	if err, ok := a.Value.Any().(error); ok {
		return cut(a, err.Error())
	}
	return a
}

// cut returns a unchanged if text is short. It never splits a character.
func cut(a slog.Attr, text string) slog.Attr {
	if len(text) <= maxValue {
		return a
	}
	return slog.String(a.Key, strings.ToValidUTF8(text[:maxValue], "")+"…")
}

// namesSecret is a fallback for the rule that secrets are sealed strings.
func namesSecret(key string) bool {
	switch strings.ReplaceAll(strings.ToLower(key), "-", "_") {
	case "authorization", "proxy_authorization", "cookie", "set_cookie", "password", "pass", "secret", "token",
		"api_key", "x_api_key", "x_gateway_api_key", "private_key", "encryption_key":
		return true
	}
	return false
}
