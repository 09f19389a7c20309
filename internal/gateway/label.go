package gateway

import (
	"bytes"
	"slices"
	"strings"

	"sluice/internal/dialect/sniff"
	"sluice/internal/gateway/metering/bound"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// Content types that replace wrong ones.
const (
	labelJSON   = "application/json"
	labelEvents = "text/event-stream; charset=utf-8"
	labelText   = "text/plain; charset=utf-8"
	labelPage   = "text/html"
	labelBytes  = "application/octet-stream"
)

// correctLabel corrects the content type of a successful response on a typed route by its first
// bytes, because many servers label a correct response wrongly or not at all. An empty response is
// text if the caller requested text. All later steps and the client use the corrected label. A
// response that is passed through is not relabelled. scratch reports whether the scratch space of
// the exchange is free for the body.
// Source: the rule on labels in docs/upstream-faults.md (ours), in place of the last row of
// contract/dataplane.md 6.5.
func correctLabel(a *attempt, resp *transport.Response, scratch bool) {
	if resp.Status < 200 || resp.Status > 299 || resp.Status == 204 || resp.Length == 0 && !a.asksText() || !a.unified() {
		return
	}
	label := resp.Header.Get("content-type")
	if !doubtsLabel(a, label) || !plainEncoding(resp.Header) {
		return
	}
	var body *opened
	if body = &a.x.scratch.opened; !scratch {
		body = new(opened)
	}
	kind := body.open(resp)
	var right string
	if a.stream || a.x.bodyNotParsed || asksSpeechEvents(a) {
		right = streamLabel(a, kind, label)
	} else {
		right = bufferedLabel(a, kind, label, body.head)
	}
	if right != label {
		resp.Header = resp.Header.Clone(1)
		resp.Header.Set("content-type", right)
	}
}

func plainEncoding(h wire.Header) bool {
	e := h.Get("content-encoding")
	return e == "" || e == "identity"
}

// doubtsLabel reports whether the label alone does not determine how the response is processed.
// Where a response can only be JSON, the JSON reader checks bodies with a JSON label. The decoder
// checks responses that are translated as a unit.
func doubtsLabel(a *attempt, label string) bool {
	switch {
	case a.stream, a.x.bodyNotParsed:
		return true
	case a.speech.translates():
		return false
	case a.answersFile():
		return mediaType(label) == labelPage
	case otherThanJSON[a.x.match.Endpoint]:
		return true
	}
	return !strings.Contains(label, "json")
}

// answersFile reports whether the response is a file, which may have any type and is relayed
// unchanged. Where a batch names its output, the first response is the batch, not the file.
func (a *attempt) answersFile() bool {
	ep := a.x.match.Endpoint
	return (ep == llm.RetrieveFileContent || ep == llm.GetBatchOutput) && a.plan.Endpoint.Follow == nil
}

// streamLabel returns the content type of a response to a request for a stream.
func streamLabel(a *attempt, kind sniff.BodyKind, label string) string {
	media := mediaType(label)
	switch kind {
	case sniff.EventBody:
		if media != "text/event-stream" {
			return labelEvents
		}
	case sniff.FrameBody:
		if a.spec.Stream.Framing == "aws-eventstream" {
			return amazonStream
		}
	case sniff.JSONBody:
		if !strings.Contains(label, "json") {
			return labelJSON
		}
	case sniff.PageBody:
		return labelPage
	default:
		if a.speech.translates() && a.spec.Stream.Framing == "text" && media != "text/plain" {
			return labelText
		}
		if a.hasAudioResponse() {
			return bufferedLabel(a, kind, label, nil)
		}
	}
	return label
}

// bufferedLabel returns the content type of a response that is not a stream.
func bufferedLabel(a *attempt, kind sniff.BodyKind, label string, head []byte) string {
	switch {
	case kind == sniff.PageBody:
		return labelPage
	case a.answersFile():
		return labelBytes
	case kind == sniff.JSONBody && strings.Contains(label, "json"):
		return label
	case kind == sniff.JSONBody:
		return labelJSON
	case a.asksText():
		return textLabel(label)
	case a.hasAudioResponse():
		return audioLabel(label, head)
	}
	return label
}

func (a *attempt) hasAudioResponse() bool { return a.x.match.Endpoint == llm.CreateSpeech }

// asksSpeechEvents reports whether the caller requested speech as events.
// Source: https://platform.openai.com/docs/api-reference/audio/createSpeech, read 2026-11.
func asksSpeechEvents(a *attempt) bool {
	return a.hasAudioResponse() && a.params().Text("stream_format") == "sse"
}

// asksText reports whether the caller requested a transcription as text or subtitles.
// Source: https://platform.openai.com/docs/api-reference/audio/createTranscription, read 2026-11.
func (a *attempt) asksText() bool {
	if !bound.IsTranscription(a.x.match.Endpoint) || a.x.form == nil {
		return false
	}
	format, _ := a.x.form.Value("response_format")
	return slices.Contains([]string{"text", "srt", "vtt"}, format)
}

// textLabel returns label if it is a text type, otherwise labelText.
func textLabel(label string) string {
	switch media := mediaType(label); {
	case media == labelPage, media == "text/event-stream":
		return labelText
	case strings.HasPrefix(media, "text/"), media == "application/x-subrip", media == "application/srt":
		return label
	}
	return labelText
}

// sounds are the first bytes of audio files. Sources: the format's own specifications.
var sounds = [...]struct{ begins, label string }{
	{"ID3", "audio/mpeg"}, {"RIFF", "audio/wav"}, {"OggS", "audio/ogg"}, {"fLaC", "audio/flac"},
	{"\xff\xf1", "audio/aac"}, {"\xff\xf9", "audio/aac"}, {"\xff\xfb", "audio/mpeg"}, {"\xff\xfa", "audio/mpeg"}, {"\xff\xf3", "audio/mpeg"}, {"\xff\xf2", "audio/mpeg"},
}

// audioLabel returns label if it is an audio type, otherwise the type that the first bytes show.
func audioLabel(label string, head []byte) string {
	if strings.HasPrefix(mediaType(label), "audio/") {
		return label
	}
	for _, s := range sounds {
		if bytes.HasPrefix(head, []byte(s.begins)) {
			return s.label
		}
	}
	return labelBytes
}

// setPlainText uses b as the text response of a caller that requested text, after b began like JSON
// but was not JSON. Otherwise it returns no, the original error.
func setPlainText(a *attempt, b []byte, no error) error {
	if !a.asksText() || len(b) == 0 {
		return no
	}
	a.setJSONResponse(b, labelText)
	return nil
}

// opened is a response body whose first bytes were read to detect its type. Read returns these
// bytes first. It belongs to one goroutine.
type opened struct {
	transport.Body
	pooled *[]byte
	head   []byte // part of pooled that Read has not returned yet
	err    error  // the error that follows head
}

// open reads the body until its first bytes show its type, and replaces resp.Body with o.
func (o *opened) open(resp *transport.Response) sniff.BodyKind {
	*o = opened{Body: resp.Body, pooled: wire.GetBuffer(wire.SmallReadBytes)}
	resp.Body = o
	buf, n := *o.pooled, 0
	for {
		var m int
		m, o.err = o.Body.Read(buf[n:])
		n += m
		kind, sure := sniff.Sniff(buf[:n])
		if sure || o.err != nil || n >= sniff.MaxSniffBytes {
			o.head = sniff.TrimByteOrderMark(buf[:n])
			if cut := int64(n - len(o.head)); cut > 0 && resp.Length > 0 {
				resp.Length -= cut
			}
			return kind
		}
	}
}

// Read implements transport.Body.
func (o *opened) Read(p []byte) (int, error) {
	if len(o.head) > 0 {
		n := copy(p, o.head)
		if o.head = o.head[n:]; len(o.head) == 0 {
			return n, o.err
		}
		return n, nil
	}
	o.free()
	if o.err != nil {
		return 0, o.err
	}
	return o.Body.Read(p)
}

// Close implements transport.Body.
func (o *opened) Close() error {
	o.free()
	return o.Body.Close()
}

func (o *opened) free() {
	if o.pooled != nil {
		wire.PutBuffer(o.pooled)
		o.pooled, o.head = nil, nil
	}
}
