package gateway

import (
	"errors"
	"io/fs"
	"mime"
	"os"
	"strings"

	"sluice/internal/domain/credential"
	"sluice/internal/domain/providerjob"
	"sluice/internal/gateway/intake"
	"sluice/internal/http1/syntax"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/multipartedit"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// bodyReader reads the body of a request, as far as the gateway needs it, and opens its spools.
type bodyReader struct {
	maxJSONBytes   int64
	maxUploadBytes int64
	spoolDir       string
}

// readBody reads the request body in the form that the route needs. A typed JSON body is
// checked and its top level is indexed. A form is checked part by part. A body that is only
// passed through is buffered only when it may have to be read or sent twice.
func (b *bodyReader) readBody(x *exchange) error {
	if x.ctl.Nitro == "true" {
		return b.readUnread(x)
	}
	switch x.match.Body {
	case llm.JSON:
		return b.readJSON(x)
	case llm.Multipart:
		return b.readForm(x)
	case llm.Opaque:
		return b.readOpaque(x)
	case llm.NoBody:
	}
	return nil
}

func (b *bodyReader) readJSON(x *exchange) error {
	if t := mediaType(x.ctl.ContentType); t != "" && t != "application/json" {
		return fault.Newf(fault.UnsupportedMedia, "content type must be application/json, not %q", clip(t)).WithParam("content-type")
	}
	if err := b.hold(x, b.maxJSONBytes); err != nil {
		return err
	}
	if x.spool.Len() == 0 && x.match.Endpoint == llm.CancelBatch || x.spool.Len() == 0 && x.match.Endpoint == llm.CancelFinetune {
		return nil
	}
	raw, err := x.spool.Bytes()
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	x.doc = jsonedit.GetDoc()
	if err := jsonedit.Scan(raw, x.doc); err != nil {
		return x.orCoded(err)
	}
	return b.readFields(x)
}

// orCoded returns the error for a body that cannot be parsed: err, or fault.UnsupportedMedia when
// the body has a content encoding and err does not name a field.
func (x *exchange) orCoded(err error) error {
	coding := x.req.Header.Get("content-encoding")
	if coding != "" && !strings.EqualFold(coding, "identity") && fault.From(err).Param == "" {
		return fault.Newf(fault.UnsupportedMedia, "content-encoding %q is not supported; send the body uncompressed", clip(coding)).WithParam("content-encoding").WithCause(err)
	}
	return err
}

// readFields reads the fields that routing needs from the top level of the body.
func (b *bodyReader) readFields(x *exchange) error {
	x.nameModel(x.doc.String("model"))
	x.stream, _ = x.doc.Bool("stream")
	x.user, _ = x.doc.String("user")
	x.metadata = intake.AddUser(x.metadata, x.user)
	return nil
}

// nameModel sets the model from the body, if ok. A deployment in the path takes precedence, as it
// does at Azure: clients send a meaningless model name with it.
func (x *exchange) nameModel(sent string, ok bool) {
	if x.deployed != "" {
		sent, ok = x.deployed, true
	}
	if ok {
		x.account, x.model = x.splitModel(sent)
	}
}

// atModelPrefixes are the first segments of provider model names that begin with an @, such as
// "@cf/meta/llama-3.1-8b-instruct" of Workers AI.
// Source: https://developers.cloudflare.com/workers-ai/models, read 2026-11.
var atModelPrefixes = map[string]bool{"cf": true, "hf": true}

// splitModel is credential.SplitModel, except that a name with one of atModelPrefixes is not
// split unless the workspace has a saved provider with that slug.
func (x *exchange) splitModel(m string) (account, model string) {
	account, model = credential.SplitModel(m)
	if atModelPrefixes[account] && x.dir.FindAccount(x.key.Principal.WorkspaceID, account) == nil {
		return "", m
	}
	return account, model
}

func (b *bodyReader) readForm(x *exchange) error {
	if t := mediaType(x.ctl.ContentType); t != "multipart/form-data" {
		return fault.Newf(fault.UnsupportedMedia, "content type must be multipart/form-data, not %q", clip(t)).WithParam("content-type")
	}
	if x.req.Length > b.maxUploadBytes {
		return tooLarge(b.maxUploadBytes)
	}
	if x.req.Body == nil {
		return fault.New(fault.InvalidRequest, "the form is required; send it as multipart/form-data").WithParam("body")
	}
	x.spool = wire.NewSpool(b.spoolDir)
	f, err := multipartedit.Read(x.req.Body, x.ctl.ContentType, x.spool, multipartedit.Limits{Total: b.maxUploadBytes})
	if err != nil {
		return unheld(err, b.maxUploadBytes)
	}
	x.form = f
	x.nameModel(f.Value("model"))
	v, _ := f.Value("stream")
	x.stream = v == "true"
	return nil
}

// readOpaque buffers a pass-through body that is JSON, because its model field may name the
// provider and rules of the config may apply to its fields. The fields of a form for videos
// are read, too. Any other body is sent as it arrives.
func (b *bodyReader) readOpaque(x *exchange) error {
	if x.req.Body == nil || x.req.Length == 0 {
		return nil
	}
	if mediaType(x.ctl.ContentType) == "multipart/form-data" && providerjob.KindOf(x.match.Endpoint, x.req.Method, x.path) == providerjob.Video {
		return b.readForm(x) // its fields determine the cost
	}
	x.bodyNotParsed = true
	if t := mediaType(x.ctl.ContentType); t != "application/json" && !strings.HasSuffix(t, "+json") {
		return b.passBodyThrough(x)
	}
	if err := b.hold(x, b.maxJSONBytes); err != nil {
		return err
	}
	raw, err := x.spool.Bytes()
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	// A body that is not a JSON object is not rejected here: the upstream checks its
	// own bodies. A duplicate security-relevant field is rejected all the same.
	d := jsonedit.GetDoc()
	if err := jsonedit.Scan(raw, d); err != nil {
		jsonedit.PutDoc(d)
		if fault.From(err).Param != "" {
			return err
		}
		return nil
	}
	x.doc, x.bodyNotParsed = d, false
	return b.readFields(x)
}

// passBodyThrough prepares the body to be streamed to the upstream unchanged.
func (b *bodyReader) passBodyThrough(x *exchange) error {
	if x.req.Length > b.maxUploadBytes {
		return tooLarge(b.maxUploadBytes)
	}
	x.passes = &limitedBody{r: x.req.Body, left: b.maxUploadBytes}
	p := wire.Stream(x.passes, x.req.Length)
	x.direct = &p
	return nil
}

// holdDirect buffers a body that was to be streamed to the upstream, because it may have
// to be sent twice.
func (b *bodyReader) holdDirect(x *exchange) error {
	if x.direct == nil {
		return nil
	}
	x.direct = nil
	return b.hold(x, b.maxUploadBytes)
}

func (b *bodyReader) hold(x *exchange, limit int64) error {
	x.spool = &x.scratch.body
	x.spool.Open(b.spoolDir)
	if x.req.Body == nil {
		return nil
	}
	return unheld(x.spool.Fill(x.req.Body, x.req.Length, limit), limit)
}

// unheld converts an error from reading the request body. The result is a rejection if the client
// or the gateway's disk is at fault, otherwise fault.ClientGone. It is nil for a nil err.
func unheld(err error, limit int64) error {
	if err == nil {
		return nil
	}
	var refused *fault.Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.Is(err, wire.ErrTooLarge):
		return tooLarge(limit).WithCause(err)
	case errors.Is(err, syntax.ErrChunk):
		return fault.New(fault.InvalidRequest, "the body is not valid chunked encoding; fix transfer-encoding or the body").WithParam("body").WithCause(err)
	case errors.Is(err, os.ErrDeadlineExceeded):
		f := fault.New(fault.ClientGone, "the body did not arrive in time; send it without long pauses").WithParam("body").WithCause(err)
		f.Status = 408 // Request Timeout
		return f
	case diskFailed(err):
		return fault.Wrap(fault.Internal, err)
	}
	return fault.Wrap(fault.ClientGone, err)
}

// unsent converts the error of a call that failed because the client's body could not be forwarded
// completely, before or during the provider's response. It returns nil for any other failure.
func (b *bodyReader) unsent(err error) *fault.Error {
	if err == nil || !ofBody(err) {
		return nil
	}
	return fault.From(unheld(err, b.maxUploadBytes))
}

// ofBody reports whether a call failed because the client's body could not be forwarded.
func ofBody(err error) bool {
	var bodyErr *transport.BodyError
	return errors.As(err, &bodyErr)
}

// diskFailed reports whether err comes from the spool's file, not from the client.
func diskFailed(err error) bool {
	if err == nil {
		return false
	}
	var disk *fs.PathError
	return errors.As(err, &disk)
}

func tooLarge(limit int64) *fault.Error {
	return fault.Newf(fault.TooLarge, "the body exceeds %d bytes, the maximum of this gateway; send a smaller body", limit).WithParam("body")
}

// mediaType returns the type of a content-type header in lower case, without parameters. If the
// header cannot be parsed, it returns the part before the first semicolon, so that an error
// message can quote it.
func mediaType(v string) string {
	if v == "application/json" || v == "" {
		return v
	}
	t, _, err := mime.ParseMediaType(v)
	if err != nil {
		t, _, _ = strings.Cut(strings.ToLower(v), ";")
		return strings.TrimSpace(t)
	}
	return t
}

// clip is fault.Clip.
func clip(s string) string { return fault.Clip(s) }
