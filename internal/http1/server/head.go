package server

import (
	"net/http"
	"strconv"

	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/wire"
)

// appendHead appends the status line and the valid fields. It adds a Date field if h does not
// have one.
func (d *dates) appendHead(b []byte, status int, h wire.Header) []byte {
	b = append(b, "HTTP/1.1 "...)
	b = strconv.AppendInt(b, int64(status), 10)
	b = append(b, ' ')
	b = append(b, reasonPhrase(status)...)
	b = append(b, "\r\n"...)
	dated := false
	for i := range h {
		f := &h[i]
		if wire.HopByHop(f.Name) || f.Name == "content-length" || !syntax.TokenName(f.Name) || !wire.ValidValue(f.Value) {
			continue
		}
		dated = dated || f.Name == "date"
		b = append(b, f.Name...)
		b = append(b, ": "...)
		b = append(b, f.Value...)
		b = append(b, "\r\n"...)
	}
	if !dated {
		b = append(b, "date: "...)
		b = append(b, d.now()...)
		b = append(b, "\r\n"...)
	}
	return b
}

// reasonPhrase returns the reason phrase of a status, or "" for none.
func reasonPhrase(status int) string {
	switch status {
	case 246, 446: // a guardrail failed, or denied the call. Source: contract/dataplane.md 5.4; for 446 it is ours.
		return "Hooks failed"
	}
	return http.StatusText(status)
}
