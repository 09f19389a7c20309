package gateway

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
)

// vendorSurface returns the surface of the paths that a vendor's own clients call. ok is false
// for all others. OpenAI's clients call Google's /v1beta/openai.
func (x *exchange) vendorSurface() (s fault.Surface, ok bool) {
	if x.alias == nil || x.match.Endpoint != llm.Proxy {
		return fault.Model, false
	}
	switch x.alias.Vendor {
	case "google":
		_, rest, _ := strings.Cut(strings.TrimPrefix(x.path, "/"), "/")
		return fault.Google, rest != "openai" && !strings.HasPrefix(rest, "openai/")
	case "amazon":
		return fault.Amazon, true
	case "cohere":
		return fault.Cohere, true
	}
	return fault.Model, false
}

// vendorHeader adds the headers that the clients of the surface read in an error.
func (x *exchange) vendorHeader(h wire.Header, f *fault.Error) wire.Header {
	if x.surface() == fault.Amazon {
		h = append(h, wire.Field{Name: "x-amzn-errortype", Value: f.AmazonType()})
	}
	return h
}

// reportCut writes the error of a stream that ended early, if the vendor's protocol has a form
// for it. The connection is cut afterwards, as for every incomplete response.
func (p *relay) reportCut() {
	a := p.a
	if a.fault == nil || a.fault.Code == fault.ClientGone || !a.committed || p.watch == nil || a.resp.Length >= 0 {
		return
	}
	event := p.cutEvent(a.x.surface())
	if event == nil {
		return
	}
	if _, err := a.x.out.Write(event); err == nil {
		_ = a.x.out.Flush() // the connection is cut in any case
	}
}

// cutEvent returns that error in the form of the surface. It returns nil when there is no such
// form, or when the stream ended inside a frame.
func (p *relay) cutEvent(s fault.Surface) []byte {
	f := p.a.fault
	if s == fault.Amazon {
		if p.frame == nil || !p.frame.AtBoundary() {
			return nil
		}
		return dialect.AppendException(nil, f.AmazonType(), f.Body(s))
	}
	if p.frame != nil || s != fault.Google && s != fault.Cohere {
		return nil
	}
	var event []byte
	if p.watch.End().Mid {
		event = append(event, "\n\n"...)
	}
	if s == fault.Google {
		event = append(event, "data: "...)
		event = append(event, f.Body(s)...)
		return append(event, "\n\n"...)
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("type", "message-end")
	w.Key("delta").Open('{')
	w.Str("finish_reason", "ERROR")
	w.Str("error", f.Text())
	w.Close('}')
	w.Close('}')
	event = append(event, "event: message-end\ndata: "...)
	return append(append(event, w.B...), "\n\n"...)
}
