package dataplane

import (
	"context"
	"errors"
	"io"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/provider/transport"
	"sluice/internal/splice"
	"sluice/internal/wire"
)

// errorBodyMax is how much of an upstream's error is read to understand it.
const errorBodyMax = 1 << 20

// receive turns the upstream's answer into the one to give. On typed routes a JSON
// answer is held until it is known to be usable, so that one that is cut or garbled
// leaves the next target to be tried; errors get one shape. Everything else is left
// at the upstream, to be relayed byte for byte.
func (g *Gateway) receive(ctx context.Context, a *attempt) error {
	a.status, a.response.header = a.resp.Status, a.resp.Header
	head := a.resp.Header
	switch kind := head.Get("content-type"); {
	case !a.unified(), a.status == 204, head.Get("content-encoding") != "" && head.Get("content-encoding") != "identity":
		a.response.live = true
		return nil
	case a.status >= 400:
		return g.normalise(ctx, a)
	case a.isNative():
		return g.nativeResponse(ctx, a)
	case a.status >= 300 && a.speech.translates():
		return g.redirected(ctx, a)
	case a.status >= 300:
		a.response.live = true
		return nil
	case a.speech.translates():
		return g.translated(ctx, a)
	case a.first != nil:
		return nil // a stream, relayed by the next step
	case a.status < 300 && a.answersFile() && mediaType(kind) != "text/html":
		a.response.live = true
		return nil
	case strings.Contains(kind, "json") || kind == "":
		return g.bufferResponse(ctx, a)
	case a.status < 300 && (mediaType(kind) == labelPage || !otherThanJSON[a.x.match.Endpoint]):
		return g.unusable(ctx, a)
	}
	a.response.live = true
	return nil
}

// otherThanJSON are the endpoints whose answers may be anything: sound, subtitles, files.
var otherThanJSON = map[llm.Endpoint]bool{
	llm.CreateSpeech: true, llm.CreateTranscription: true, llm.CreateTranslation: true,
	llm.RetrieveFileContent: true, llm.GetBatchOutput: true,
}

// readResponse takes the whole body of the answer in, at most limit bytes.
func (g *Gateway) readResponse(ctx context.Context, a *attempt, limit int64) ([]byte, error) {
	a.spooled = &a.x.scratch.responseSpool
	a.spooled.Open(g.set.SpoolDir)
	err := a.spooled.Fill(a.resp.Body, a.resp.Length, limit)
	a.bodyReadAt = g.Clock.Now()
	switch {
	case g.unsent(err) != nil: // first, since a request's body can be too large, too
		return nil, g.unsent(err)
	case errors.Is(err, wire.ErrTooLarge) && limit == errorBodyMax:
	case errors.Is(err, wire.ErrTooLarge):
		return nil, fault.Newf(fault.UpstreamInvalid, "the provider response is larger than %d bytes", limit)
	case err != nil && ctx.Err() != nil:
		return nil, clientGone(ctx, err)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fault.New(fault.UpstreamFailed, "the provider ended its response early").WithCause(err)
	case err != nil:
		return nil, err
	}
	_ = a.resp.Body.Close() // it was read to its end, or is not wanted
	a.resp = nil
	b, err := a.spooled.Bytes()
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	a.log().BytesOut = a.spooled.Len()
	a.log().Response = g.truncateBody(a.response.header.Get("content-type"), b, a.spooled.Len())
	return dialect.TrimMark(b), nil
}

// bufferResponse holds a JSON answer, meters it and applies the provider's reply rules.
func (g *Gateway) bufferResponse(ctx context.Context, a *attempt) error {
	b, err := g.readResponse(ctx, a, g.set.MaxResponseBytes)
	if err != nil {
		return err
	}
	if a.isPage(b) {
		return a.sentPage()
	}
	ep := a.x.match.Endpoint
	d := newDoc()
	defer docs.Put(d)
	r := g.responseRules(a)
	if a.log().Usage, a.log().ResponseModel, err = dialect.ReadResponse(ep, b, r.UsagePath, d); err != nil {
		return a.plainText(b, err)
	}
	g.detectBackgroundJob(a, b)
	if status, message, failed := dialect.DetectResponseFailure(ep, b); failed && !errorAlone(d) {
		a.failing, a.log().Error = status, message
	}
	if errorAlone(d) {
		if status, found := dialect.DetectResponseError(b); found {
			return a.failedWith(status, b)
		}
	}
	if a.plan.Endpoint.Follow != nil {
		return g.resolveFollowUp(ctx, a, b)
	}
	if a.response.body = r.Apply(ep, b); a.failing != 0 {
		a.response.body = dialect.TextCode(a.response.body)
	}
	if a.x.wantsBase64() {
		a.response.body = dialect.InBase64(a.response.body)
	}
	same := sameBytes(a.response.body, b)
	if err := dialect.CheckListMember(ep, a.response.body); err != nil && a.failing == 0 {
		return a.reported(b, err)
	}
	switch {
	case a.spec.OmitProvider:
	case d.Indexes(a.response.body):
		a.response.body, a.log().Named = naming(d, a.spec.ID), same
	default:
		a.response.body = named(a.response.body, a.spec.ID)
	}
	return nil
}

// wantsBase64 reports whether the caller wants embeddings in base64.
func (x *exchange) wantsBase64() bool {
	if x.match.Endpoint != llm.Embed || x.doc == nil {
		return false
	}
	format, _ := x.doc.String("encoding_format")
	return format == "base64"
}

// named has an answer say the provider's id.
// Source: contract/providers.yaml, rules common to all.
func named(b []byte, id string) []byte {
	d := newDoc()
	defer docs.Put(d)
	if splice.Scan(b, d) != nil {
		return b
	}
	return naming(d, id)
}

// naming is named for an answer that is indexed.
func naming(d *splice.Doc, id string) []byte {
	return d.Apply([]splice.Edit{splice.Set("provider", splice.Quote(id))})
}

// normalise gives an upstream error the one shape of the surface.
// Source: contract/dataplane.md 7.2.
func (g *Gateway) normalise(ctx context.Context, a *attempt) error {
	f := a.failure()
	if a.first != nil { // an error as the first event of a stream, of which nothing more is wanted
		_ = a.resp.Body.Close()
		a.log().BytesOut = int64(len(a.first))
		a.log().Response = g.truncateBody(a.response.header.Get("content-type"), a.first, a.log().BytesOut)
		f.Shape = "openai"
		if f.Body = a.translator.failure(); f.Body == nil {
			f.Body = dialect.FirstEventFailure(a.first)
		}
		a.resp = nil
		a.log().Usage = a.errorUsage(dialect.FirstData(a.first))
	} else {
		b, err := g.readResponse(ctx, a, errorBodyMax)
		if err != nil {
			return err
		}
		f.Body = b
		a.log().Usage = a.errorUsage(b)
	}
	a.failed(&f)
	return nil
}

// errorUsage is the usage that comes with an error: in the words of the surface, or where the
// call was translated, in those of its provider.
func (a *attempt) errorUsage(body []byte) llm.Usage {
	if t := a.translator; t != nil && t.usage.Reported {
		return t.usage
	}
	if u, _ := dialect.Usage(a.x.match.Endpoint, body, ""); u.Reported && !a.speech.translates() {
		return u
	}
	if u := dialect.FaultUsage(body); u != nil {
		return *u
	}
	return llm.Usage{}
}

// errorReadMax is how much of an error is read for the usage in it before a further try.
const errorReadMax = 64 << 10

// noteRetried notes the usage that comes with the error of a call that is given up for another
// try. A body of unknown length is not waited for.
func (a *attempt) noteRetried(resp *transport.Response) {
	switch {
	case !a.reservation.reserved():
	case a.first != nil:
		a.log().Usage = a.errorUsage(dialect.FirstData(a.first))
	case resp.Status >= 400 && isJSON(resp.Header) && resp.Length > 0 && resp.Length <= errorReadMax:
		b := make([]byte, resp.Length)
		if _, err := io.ReadFull(resp.Body, b); err == nil {
			a.log().Usage = a.errorUsage(b)
		}
	}
}

// reported makes of an answer of success that reports an error the error that it is, because
// fallback goes by its status: some providers, OpenRouter among them, begin to answer before
// they know. Where it tells none, no is the outcome. An answer that says in another way that the
// model failed is an error with the status of no.
// Source: https://openrouter.ai/docs/api-reference/errors, read 2026-11.
func (a *attempt) reported(body []byte, no error) error {
	status, found := dialect.DetectResponseError(body)
	switch f := fault.From(no); {
	case found:
		return a.failedWith(status, body)
	case f.Code == fault.UpstreamFailed, f.Wire != "":
		return a.modelFailed(f)
	}
	return no
}

// modelFailed makes an answer of success the error that its decoder found in it.
func (a *attempt) modelFailed(found *fault.Error) error {
	a.status = found.HTTPStatus()
	f := a.failure()
	var w dialect.JSON
	w.Open('{')
	w.Key("error").Open('{')
	w.Str("message", found.Text())
	w.Opt("type", found.Wire)
	w.Close('}')
	w.Close('}')
	f.Shape, f.Body = "openai", w.B
	a.failed(&f)
	return nil
}

// failedWith makes an answer of success the error that its body tells.
func (a *attempt) failedWith(status int, body []byte) error {
	a.status = status
	f := a.failure()
	f.Body = body
	a.failed(&f)
	return nil
}

// errorAlone reports whether an answer has an error and nothing of what makes one. Jobs and
// batches that failed have an error, too, beside their id.
func errorAlone(d *splice.Doc) bool {
	return d.Has("error") && !d.Has("id") && !d.Has("object") && !d.Has("data") && !d.Has("text") && !d.Has("results") && !d.Has("choices")
}

func (a *attempt) failure() dialect.Failure {
	return dialect.Failure{Endpoint: a.x.match.Endpoint, Shape: a.plan.Endpoint.Error, Provider: a.spec.ID, Status: a.status, Type: errorType(a.response.header), Request: a.x.id}
}

// failed answers with an error in the shape of the surface.
func (a *attempt) failed(f *dialect.Failure) {
	f.Body = a.withoutKey(f.Body)
	if a.response.body = f.Normalised(); a.x.surface() == fault.Messages {
		a.response.body = f.ForMessages()
	}
	a.response.header = a.response.header.Clone(1)
	a.response.header.Set("content-type", "application/json")
}

// errorType is the name that Amazon gives an error in its header:
// "ThrottlingException:http://internal.amazon.com/coral/…".
func errorType(h wire.Header) string {
	name, _, _ := strings.Cut(h.Get("x-amzn-errortype"), ":")
	return name
}

// unusable refuses an answer of success that is no answer of this endpoint.
func (g *Gateway) unusable(ctx context.Context, a *attempt) error {
	if _, err := g.readResponse(ctx, a, errorBodyMax); err != nil {
		return err
	}
	kind := mediaType(a.response.header.Get("content-type"))
	if kind == labelPage {
		return a.sentPage()
	}
	return fault.Newf(fault.UpstreamInvalid, "Invalid response received from %s: %s instead of a response", a.spec.ID, clip(kind))
}

// redirected refuses a redirect, which is never followed, where the answer had to be translated.
func (g *Gateway) redirected(ctx context.Context, a *attempt) error {
	if _, err := g.readResponse(ctx, a, errorBodyMax); err != nil {
		return err
	}
	return fault.Newf(fault.UpstreamInvalid, "Invalid response received from %s: a redirect (status %d) instead of JSON; check the address of the provider", a.spec.ID, a.status)
}

// sentPage is the refusal of an HTML page, which a proxy before the provider sends, or the
// provider at a wrong address.
func (a *attempt) sentPage() error {
	return fault.Newf(fault.UpstreamInvalid, "Invalid response received from %s: an HTML page instead of JSON", a.spec.ID)
}

// isPage reports whether an answer of success is an HTML page.
func (a *attempt) isPage(body []byte) bool {
	kind, _ := dialect.Sniff(body[:min(len(body), dialect.MaxSniffBytes)])
	return kind == dialect.PageBody
}
