package dialect

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"strings"

	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Unframer converts Bedrock's stream of a natively invoked model, AWS messages of
// {"bytes":"<base64 of an event>"}, into the server-sent events inside:
//
//	event: message_start
//	data: {"type":"message_start",…}
//
// The events are copied unchanged, including Amazon's metrics in the last one. An event
// without a plain type is sent without a name. An exception becomes the error event of the
// messages surface. The zero value is ready; it belongs to one goroutine.
// Source: contract/provider-transforms.md 3.6, 3.7.
type Unframer struct {
	frames FrameReader
	event  []byte // decoded
	failed bool
}

var _ StreamTranscoder = (*Unframer)(nil)

// Append appends the events that p completes. Any other stream is fault.UpstreamInvalid.
// After an exception, it ignores further messages.
func (u *Unframer) Append(dst, p []byte) ([]byte, error) {
	err := u.frames.Feed(p, func(f *Frame) (err error) {
		if !u.failed {
			dst, err = u.frame(dst, f)
		}
		return err
	})
	return dst, err
}

// Close returns dst unchanged. A stream that ends inside a message is
// fault.UpstreamInvalid.
func (u *Unframer) Close(dst []byte) ([]byte, error) { return dst, u.frames.Close() }

func (u *Unframer) frame(dst []byte, f *Frame) ([]byte, error) {
	if e, ok := f.Exception(); ok {
		u.failed = true
		typ := cmp.Or(exceptions[strings.ToLower(e.Name)].messages, "api_error")
		return append(dst, upstreamerror.Event(llm.Messages, e.Message, typ)...), nil
	}
	var err error
	if u.event, err = f.Inner(u.event[:0]); err != nil || len(u.event) == 0 {
		return dst, err
	}
	if typ, ok := jsonedit.Find(u.event, "type"); ok && typ[0] == '"' && bytes.IndexByte(typ, '\\') < 0 {
		dst = append(append(append(dst, "event: "...), typ[1:len(typ)-1]...), '\n')
	}
	dst = append(dst, "data: "...)
	from := len(dst)
	dst = append(dst, u.event...)
	for i := from; i < len(dst); i++ {
		if dst[i] == '\n' || dst[i] == '\r' { // between tokens, where JSON accepts a space as well
			dst[i] = ' '
		}
	}
	return append(dst, "\n\n"...), nil
}

// Inner appends the event inside a message of InvokeModelWithResponseStream, and nothing for
// other kinds of messages. An event that is not a JSON object is fault.UpstreamInvalid.
func (f *Frame) Inner(dst []byte) ([]byte, error) {
	raw, ok := jsonedit.Find(f.Payload, "bytes")
	if !ok {
		return dst, nil
	}
	if len(raw) < 2 || raw[0] != '"' {
		return dst, badFrame("the payload of a chunk is not a string")
	}
	from := len(dst)
	dst, err := base64.StdEncoding.AppendDecode(dst, raw[1:len(raw)-1])
	if err != nil {
		return dst, badFrame("the payload of a chunk is not base64")
	}
	if !jsonedit.Valid(dst[from:]) {
		return dst, badFrame("the event in a chunk is not a JSON object")
	}
	return dst, nil
}

// Exception is an error that Amazon reports inside a stream.
type Exception struct {
	Name    string // "throttlingException"
	Message string // at most 1 KiB
	Status  int    // HTTP status of the same error in a response: 429
}

// Exception reads the error in a message. Ok is false if the message is an event.
func (f *Frame) Exception() (e Exception, ok bool) {
	if string(f.Type) != "exception" && string(f.Type) != "error" {
		return e, false
	}
	e.Name = string(f.Name)
	for name, val := range jsonedit.Members(f.Payload) {
		if string(name) == `"message"` || string(name) == `"Message"` {
			e.Message, _ = jsonedit.Unquote(val)
		}
	}
	if e.Message == "" {
		e.Message = string(f.Message)
	}
	e.Message = upstreamerror.Clip(cmp.Or(e.Message, e.Name), upstreamerror.MaxTextBytes)
	e.Status = 500
	if x, known := exceptions[strings.ToLower(e.Name)]; known {
		e.Status = x.status
	}
	return e, true
}

// exceptions are Bedrock's errors with their statuses and their counterparts on the messages
// surface.
// Source: contract/provider-transforms.md 3.4;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html, read 2026-11.
var exceptions = map[string]struct {
	status   int
	messages string
}{
	"validationexception":           {400, "invalid_request_error"},
	"accessdeniedexception":         {403, "permission_error"},
	"resourcenotfoundexception":     {404, "not_found_error"},
	"modeltimeoutexception":         {408, "timeout_error"},
	"modelerrorexception":           {424, "api_error"},
	"modelstreamerrorexception":     {424, "api_error"},
	"throttlingexception":           {429, "rate_limit_error"},
	"modelnotreadyexception":        {429, "overloaded_error"},
	"servicequotaexceededexception": {429, "rate_limit_error"},
	"internalserverexception":       {500, "api_error"},
	"serviceunavailableexception":   {503, "overloaded_error"},
}
