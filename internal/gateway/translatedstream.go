package gateway

import (
	"errors"
	"io"
	"slices"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/toolcalls"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// translatedStream is a provider's stream in the caller's format. It translates one provider read
// at a time. It belongs to one goroutine.
type translatedStream struct {
	transport.Body
	to     dialect.StreamTranscoder
	buf    wire.ReadBuffer
	raw    *wire.Capture // captures what the provider sent; nil when bodies are not captured
	out    []byte        // translated, not yet read
	offset int
	err    error // returned after out
}

// translateStream converts the stream of a response to the caller's format, if that differs. If
// it were inlined, each waiting call would keep its variables on the stack.
//
//go:noinline
func (t *translator) translateStream(a *attempt, resp *transport.Response) {
	incoming := &dialect.Incoming{Status: resp.Status, Header: resp.Header, Created: t.clock.Now().Unix(), Call: a.call, Sent: a.sent, To: a.to}
	var to dialect.StreamTranscoder
	switch s, _ := a.speech.unified.(dialect.Streamer); {
	case a.speech.upstream != nil:
		a.translator = &streamTranslator{dec: a.speech.upstream.NewDecoder(incoming), enc: a.speech.client.NewEncoder(a.answering()), names: a.names, texts: a.texts, signer: signatures.NewSigner(a.call.Surface), conversation: a.conversation, surface: a.call.Surface}
		to = a.translator
	case s != nil:
		to = s.NewStream(incoming)
	default:
		return
	}
	translated := &translatedStream{Body: resp.Body, to: to}
	if a.x.capturesBodies() {
		a.raw.Free()
		a.raw = wire.Capture{Max: t.bodyLogBytes}
		translated.raw = &a.raw
	}
	resp.Body, resp.Length = translated, -1
	resp.Header = eventHeader(resp.Header)
}

// textStream reports whether a provider streams its response as plain text, without events.
func (a *attempt) textStream(h wire.Header) bool {
	return a.speech.translates() && a.spec.Stream.Framing == "text" && strings.HasPrefix(h.Get("content-type"), "text/plain")
}

// eventHeader returns an upstream's header with the content type of an event stream.
func eventHeader(h wire.Header) wire.Header {
	h = h.Clone(1)
	h.Set("content-type", "text/event-stream; charset=utf-8")
	h.Del("content-encoding")
	return h
}

// Read returns the next events in the caller's format.
func (r *translatedStream) Read(p []byte) (int, error) {
	for r.offset == len(r.out) && r.err == nil {
		r.out, r.offset = r.out[:0], 0
		r.next()
	}
	n := copy(p, r.out[r.offset:])
	r.offset += n
	if r.offset == len(r.out) {
		return n, r.err
	}
	return n, nil
}

// next translates the data of one provider read.
func (r *translatedStream) next() {
	buf := r.buf.Bytes()
	n, err := r.Body.Read(buf)
	if n > 0 {
		if r.raw != nil {
			r.raw.Add(buf[:n])
		}
		if r.out, r.err = r.to.Append(r.out, buf[:n]); r.err != nil {
			return
		}
		r.buf.Took(n)
	}
	if err == nil {
		return
	}
	if r.err = err; errors.Is(err, io.EOF) {
		var bad error
		if r.out, bad = r.to.Close(r.out); bad != nil {
			r.err = bad
		}
	}
}

// Close frees the buffers and closes the provider's body.
func (r *translatedStream) Close() error {
	r.buf.Free()
	return r.Body.Close()
}

// streamTranslator translates the stream of a conversation between two formats.
type streamTranslator struct {
	dec    dialect.EventDecoder
	enc    dialect.EventEncoder
	names  *toolcalls.Names
	texts  *toolcalls.FreeTextTools
	signer *signatures.Signer

	surface llm.Endpoint // of the client

	dst          []byte
	conversation *responsestore.Conversation
	usage        llm.Usage
	model        string
	fault        *llm.Event // sent by the provider in the stream; nil for none
	final        bool       // the error included the usage
	blocks       int        // begun so far, in all choices
}

// blocksMax is the maximum number of blocks (text, reasoning, calls) in a response. Surfaces
// store each block that they have sent and search the list.
const blocksMax = 16384

// Append appends the translation of the provider's next bytes.
func (t *streamTranslator) Append(dst, p []byte) ([]byte, error) {
	t.dst = dst
	err := t.dec.Feed(p, t.event)
	return t.dst, t.bounded(err)
}

// Close ends the decoder's input.
func (t *streamTranslator) Close(dst []byte) ([]byte, error) {
	t.dst = dst
	err := t.dec.Close(t.event)
	return t.dst, t.bounded(err)
}

// bounded returns err, or an error when there are too many blocks.
func (t *streamTranslator) bounded(err error) error {
	if t.blocks > blocksMax {
		return fault.Newf(fault.UpstreamInvalid, "the provider response has more than %d blocks", blocksMax)
	}
	return err
}

func (t *streamTranslator) event(ev *llm.Event) {
	switch ev.Kind {
	case llm.EventStart:
		t.model = ev.Model
	case llm.EventUsage:
		t.usage = *ev.Usage
	case llm.EventFault:
		t.failed(ev)
	case llm.EventBlock:
		t.blocks++
	default:
	}
	if t.blocks > blocksMax {
		return
	}
	t.names.Event(ev)
	t.texts.Event(ev, t.sign)
	if ev.Kind == llm.EventEnd {
		t.conversation.SaveStream(t.enc)
	}
}

// failed records an error of the provider. It forwards the usage in the error first, because
// nothing is read after an error.
func (t *streamTranslator) failed(ev *llm.Event) {
	failed := *ev
	failed.Raw = slices.Clone(ev.Raw)
	t.fault = &failed
	upstreamerror.Reword(t.surface, ev)
	if ev.Usage == nil {
		return
	}
	if ev.Usage.InputTokens == 0 {
		ev.Usage.InputTokens, ev.Usage.CachedTokens, ev.Usage.CacheWriteTokens = t.usage.InputTokens, t.usage.CachedTokens, t.usage.CacheWriteTokens
	}
	t.usage, t.final = *ev.Usage, true
	t.put(&llm.Event{Kind: llm.EventUsage, Usage: &t.usage})
}

// contentFields returns the status of an error that the provider put into the stream, or 0
// without one.
func (t *streamTranslator) contentFields() int {
	if t == nil || t.fault == nil {
		return 0
	}
	return t.fault.Status
}

// failure returns that error as a separate response with the provider's fields, because the
// events of some surfaces have no field for its type. It returns nil without an error.
func (t *streamTranslator) failure() []byte {
	if t == nil || t.fault == nil {
		return nil
	}
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("error").Open('{')
	w.Str("message", t.fault.Text)
	if t.fault.Name != t.fault.ID {
		w.Opt("type", t.fault.Name)
	}
	w.Opt("code", t.fault.ID)
	upstreamerror.WriteExtra(&w, t.fault.Raw)
	w.Close('}')
	w.Close('}')
	return w.B
}

func (t *streamTranslator) sign(ev *llm.Event) { t.signer.Event(ev, t.put) }

func (t *streamTranslator) put(ev *llm.Event) { t.dst = t.enc.Append(t.dst, ev) }
