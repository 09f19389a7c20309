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

// readBody reads the request body in the form that the route needs. A typed JSON body is
// checked and its top level is indexed. A form is checked part by part. A body that is only
// passed through is buffered only when it may have to be read or sent twice.
func (g *Gateway) readBody(x *exchange) error {
	if x.ctl.Nitro == "true" {
		return g.readUnread(x)
	}
	switch x.match.Body {
	case llm.JSON:
		return g.readJSON(x)
	case llm.Multipart:
		return g.readForm(x)
	case llm.Opaque:
		return g.readOpaque(x)
	case llm.NoBody:
	}
	return nil
}

func (g *Gateway) readJSON(x *exchange) error {
	if t := mediaType(x.ctl.ContentType); t != "" && t != "application/json" {
		return fault.Newf(fault.UnsupportedMedia, "content type must be application/json, not %q", clip(t)).WithParam("content-type")
	}
	if err := g.hold(x, g.set.MaxJSONBytes); err != nil {
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
	return g.readFields(x)
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
func (g *Gateway) readFields(x *exchange) error {
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

func (g *Gateway) readForm(x *exchange) error {
	if t := mediaType(x.ctl.ContentType); t != "multipart/form-data" {
		return fault.Newf(fault.UnsupportedMedia, "content type must be multipart/form-data, not %q", clip(t)).WithParam("content-type")
	}
	if x.req.Length > g.set.MaxUploadBytes {
		return tooLarge(g.set.MaxUploadBytes)
	}
	if x.req.Body == nil {
		return fault.New(fault.InvalidRequest, "the form is required; send it as multipart/form-data").WithParam("body")
	}
	x.spool = wire.NewSpool(g.set.SpoolDir)
	f, err := multipartedit.Read(x.req.Body, x.ctl.ContentType, x.spool, multipartedit.Limits{Total: g.set.MaxUploadBytes})
	if err != nil {
		return unheld(err, g.set.MaxUploadBytes)
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
func (g *Gateway) readOpaque(x *exchange) error {
	if x.req.Body == nil || x.req.Length == 0 {
		return nil
	}
	if mediaType(x.ctl.ContentType) == "multipart/form-data" && providerjob.KindOf(x.match.Endpoint, x.req.Method, x.path) == providerjob.Video {
		return g.readForm(x) // its fields determine the cost
	}
	x.bodyNotParsed = true
	if t := mediaType(x.ctl.ContentType); t != "application/json" && !strings.HasSuffix(t, "+json") {
		return g.passBodyThrough(x)
	}
	if err := g.hold(x, g.set.MaxJSONBytes); err != nil {
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
	return g.readFields(x)
}

// passBodyThrough prepares the body to be streamed to the upstream unchanged.
func (g *Gateway) passBodyThrough(x *exchange) error {
	if x.req.Length > g.set.MaxUploadBytes {
		return tooLarge(g.set.MaxUploadBytes)
	}
	x.passes = &limitedBody{r: x.req.Body, left: g.set.MaxUploadBytes}
	p := wire.Stream(x.passes, x.req.Length)
	x.direct = &p
	return nil
}

// holdDirect buffers a body that was to be streamed to the upstream, because it may have
// to be sent twice.
func (g *Gateway) holdDirect(x *exchange) error {
	if x.direct == nil {
		return nil
	}
	x.direct = nil
	return g.hold(x, g.set.MaxUploadBytes)
}

func (g *Gateway) hold(x *exchange, limit int64) error {
	x.spool = &x.scratch.body
	x.spool.Open(g.set.SpoolDir)
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
func (g *Gateway) unsent(err error) *fault.Error {
	if err == nil || !ofBody(err) {
		return nil
	}
	return fault.From(unheld(err, g.set.MaxUploadBytes))
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
