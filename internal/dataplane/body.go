package dataplane

import (
	"errors"
	"io/fs"
	"mime"
	"os"
	"strings"
	"sync"

	"sluice/internal/fault"
	"sluice/internal/jobs"
	"sluice/internal/llm"
	"sluice/internal/provider/transport"
	"sluice/internal/splice"
	"sluice/internal/wire"
	"sluice/internal/wire/syntax"
)

// readBody takes the body in, in the form that the route asks for. A typed JSON
// body is checked and its top level indexed; a form is checked part by part; what
// is only passed through is held only when it may have to be read or sent twice.
func (g *Gateway) readBody(x *exchange) error {
	if x.ctl.nitro == "true" {
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
	if t := mediaType(x.ctl.contentType); t != "" && t != "application/json" {
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
	x.doc = newDoc()
	if err := splice.Scan(raw, x.doc); err != nil {
		return x.orCoded(err)
	}
	return g.readFields(x)
}

// orCoded is what is wrong with a body that cannot be read: err, unless it is compressed.
func (x *exchange) orCoded(err error) error {
	coding := x.req.Header.Get("content-encoding")
	if coding != "" && !strings.EqualFold(coding, "identity") && fault.From(err).Param == "" {
		return fault.Newf(fault.UnsupportedMedia, "content-encoding %q is not supported; send the body uncompressed", clip(coding)).WithParam("content-encoding").WithCause(err)
	}
	return err
}

// readFields takes what routing must know from the top level of the body.
func (g *Gateway) readFields(x *exchange) error {
	x.nameModel(x.doc.String("model"))
	x.stream, _ = x.doc.Bool("stream")
	x.user, _ = x.doc.String("user")
	x.describeUser(x.user)
	return nil
}

// nameModel takes the model of a body, if it has one. A deployment in the path comes before
// it, as it does at Azure: clients send a name of no meaning beside it.
func (x *exchange) nameModel(sent string, ok bool) {
	if x.deployed != "" {
		sent, ok = x.deployed, true
	}
	if ok {
		x.account, x.model = x.splitModel(sent)
	}
}

// atModelPrefixes are the beginnings of model names that providers themselves write with an @:
// "@cf/meta/llama-3.1-8b-instruct" of Workers AI.
// Source: https://developers.cloudflare.com/workers-ai/models, read 2026-11.
var atModelPrefixes = map[string]bool{"cf": true, "hf": true}

// splitModel is splitModel for a name that may be a provider's own, unless there is a
// saved provider of that slug.
func (x *exchange) splitModel(m string) (account, model string) {
	account, model = splitModel(m)
	if atModelPrefixes[account] && x.dir.FindAccount(x.key.Principal.WorkspaceID, account) == nil {
		return "", m
	}
	return account, model
}

// splitModel takes "@slug/model" apart; any other name stays whole.
// Source: spec, Chat request shape.
func splitModel(m string) (account, model string) {
	if rest, ok := strings.CutPrefix(m, "@"); ok {
		if slug, name, ok := strings.Cut(rest, "/"); ok && slug != "" {
			return slug, name
		}
	}
	return "", m
}

func (g *Gateway) readForm(x *exchange) error {
	if t := mediaType(x.ctl.contentType); t != "multipart/form-data" {
		return fault.Newf(fault.UnsupportedMedia, "content type must be multipart/form-data, not %q", clip(t)).WithParam("content-type")
	}
	if x.req.Length > g.set.MaxUploadBytes {
		return tooLarge(g.set.MaxUploadBytes)
	}
	if x.req.Body == nil {
		return fault.New(fault.InvalidRequest, "the form is required; send it as multipart/form-data").WithParam("body")
	}
	x.spool = wire.NewSpool(g.set.SpoolDir)
	f, err := splice.ReadForm(x.req.Body, x.ctl.contentType, x.spool, splice.FormLimits{Total: g.set.MaxUploadBytes})
	if err != nil {
		return unheld(err, g.set.MaxUploadBytes)
	}
	x.form = f
	x.nameModel(f.Value("model"))
	v, _ := f.Value("stream")
	x.stream = v == "true"
	return nil
}

// readOpaque holds a pass-through body that is JSON, which may name the provider in its
// model field and is what rules of the config are about, and leaves anything else to be
// sent as it comes.
func (g *Gateway) readOpaque(x *exchange) error {
	if x.req.Body == nil || x.req.Length == 0 {
		return nil
	}
	if mediaType(x.ctl.contentType) == "multipart/form-data" && jobs.KindOf(x.match.Endpoint, x.req.Method, x.path) == jobs.Video {
		return g.readForm(x) // its fields say what it costs
	}
	x.bodyNotParsed = true
	if t := mediaType(x.ctl.contentType); t != "application/json" && !strings.HasSuffix(t, "+json") {
		return g.passBodyThrough(x)
	}
	if err := g.hold(x, g.set.MaxJSONBytes); err != nil {
		return err
	}
	raw, err := x.spool.Bytes()
	if err != nil {
		return fault.Wrap(fault.Internal, err)
	}
	// What is no JSON object is not ours to refuse here: the upstream knows its own
	// bodies. A doubled security-relevant field is refused all the same.
	d := newDoc()
	if err := splice.Scan(raw, d); err != nil {
		docs.Put(d)
		if fault.From(err).Param != "" {
			return err
		}
		return nil
	}
	x.doc, x.bodyNotParsed = d, false
	return g.readFields(x)
}

// passBodyThrough has a body sent as it comes.
func (g *Gateway) passBodyThrough(x *exchange) error {
	if x.req.Length > g.set.MaxUploadBytes {
		return tooLarge(g.set.MaxUploadBytes)
	}
	x.passes = &limitedBody{r: x.req.Body, left: g.set.MaxUploadBytes}
	p := wire.Stream(x.passes, x.req.Length)
	x.direct = &p
	return nil
}

// holdDirect takes a body in that was to be sent as it comes, because it may have
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

// unheld is what becomes of a failure to take a body in: a refusal where the client can be
// told, else a client that left.
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

// unsent is what becomes of a call that failed because the client's body could not be sent on
// to its end, be it before the provider answered or while it did; nil for other failures.
func (g *Gateway) unsent(err error) *fault.Error {
	if err == nil || !ofBody(err) {
		return nil
	}
	return fault.From(unheld(err, g.set.MaxUploadBytes))
}

// ofBody reports whether a failure is that of a body that could not be sent on.
func ofBody(err error) bool {
	var bodyErr *transport.BodyError
	return errors.As(err, &bodyErr)
}

// diskFailed reports whether an error is that of the spool's file, not the client's.
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

// docs keeps the indexes of bodies for the next request.
var docs = sync.Pool{New: func() any { return new(splice.Doc) }}

func newDoc() *splice.Doc { return docs.Get().(*splice.Doc) }

// mediaType is the type of a content-type header without parameters, lower case;
// one that cannot be read stays as it is, so that a refusal can show it.
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

// clip shortens what a caller sent before it is shown back.
func clip(s string) string {
	if len(s) > 80 {
		return s[:80] + "…"
	}
	return s
}
