package main

import (
	"bytes"
	"io"

	"sluice/internal/ops/config"
)

// logWriter keeps the names and passwords of addresses out of the log: settings hold
// some, and errors of libraries repeat them.
type logWriter struct{ to io.Writer }

// Write writes one line of the log. Most have no @ and go through as they are.
func (w logWriter) Write(line []byte) (int, error) {
	if bytes.IndexByte(line, '@') < 0 || !bytes.Contains(line, []byte("://")) {
		return w.to.Write(line)
	}
	if _, err := io.WriteString(w.to, config.WithoutLogin(string(line))); err != nil {
		return 0, err
	}
	return len(line), nil
}
