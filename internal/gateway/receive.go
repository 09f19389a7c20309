package gateway

import (
	"context"
	"errors"
	"io"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/embeddings"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/sniff"
	"sluice/internal/dialect/upstreamerror"
	"sluice/internal/dialect/usage"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// errorBodyMax is the maximum number of bytes of an upstream error that are read to parse it.
const errorBodyMax = 1 << 20

// receiver turns an upstream response into the response of its attempt.
type receiver struct {
	responses        *responseReader
	maxResponseBytes int64
	rules            *ruleCache
	backgroundJobs   *backgroundTracker
	followUps        *followUpCaller
	clock            ident.Clock
	caller           *upstreamCaller
}

// receive turns the upstream's response into the one for the caller. On typed routes a JSON
// response is buffered until it is known to be usable, so that the next target can be tried when
// it is cut or malformed. Errors are normalised to one shape. Every other body remains at the
// upstream, to be relayed unchanged.
func (re *receiver) receive(ctx context.Context, a *attempt) error {
	a.status, a.response.header = a.resp.Status, a.resp.Header
	head := a.resp.Header
	switch kind := head.Get("content-type"); {
	case !a.unified(), a.status == 204, head.Get("content-encoding") != "" && head.Get("content-encoding") != "identity":
		a.response.live = true
		return nil
	case a.status >= 400:
		return re.responses.normalise(ctx, a)
	case a.isNative():
		return re.nativeResponse(ctx, a)
	case a.status >= 300 && a.speech.translates():
		return re.responses.redirected(ctx, a)
	case a.status >= 300:
		a.response.live = true
		return nil
	case a.speech.translates():
		return re.translated(ctx, a)
	case a.first != nil:
		return nil // a stream, relayed by the next step
	case a.status < 300 && a.answersFile() && mediaType(kind) != "text/html":
		a.response.live = true
		return nil
	case strings.Contains(kind, "json") || kind == "":
		return re.bufferResponse(ctx, a)
	case a.status < 300 && (mediaType(kind) == labelPage || !otherThanJSON[a.x.match.Endpoint]):
		return re.responses.unusable(ctx, a)
	}
	a.response.live = true
	return nil
}

// otherThanJSON are the endpoints whose responses may have any type: audio, subtitles, files.
var otherThanJSON = map[llm.Endpoint]bool{
	llm.CreateSpeech: true, llm.CreateTranscription: true, llm.CreateTranslation: true,
	llm.RetrieveFileContent: true, llm.GetBatchOutput: true,
}

// responseReader reads upstream responses into memory, and converts errors to the caller's format.
type responseReader struct {
	spoolDir string
	clock    ident.Clock
	bodies   *bodyReader
	// bodyLogBytes is the maximum number of bytes of a body in the record.
	bodyLogBytes int
}

// readResponse reads the complete body of the response, at most limit bytes. Beyond that it returns
// fault.UpstreamInvalid, except that an error body is cut at errorBodyMax.
func (r *responseReader) readResponse(ctx context.Context, a *attempt, limit int64) ([]byte, error) {
	a.spooled = &a.x.scratch.responseSpool
	a.spooled.Open(r.spoolDir)
	err := a.spooled.Fill(a.resp.Body, a.resp.Length, limit)
	a.bodyReadAt = r.clock.Now()
	switch {
	case r.bodies.unsent(err) != nil: // first, because the request's body can be too large, too
		return nil, r.bodies.unsent(err)
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
	_ = a.resp.Body.Close() // it was read to its end, or the rest is not needed
	a.resp = nil
	b, err := a.spooled.Bytes()
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err)
	}
	a.log().BytesOut = a.spooled.Len()
	a.log().Response = record.NewBody(a.response.header.Get("content-type"), b, a.spooled.Len(), r.bodyLogBytes)
	return sniff.TrimByteOrderMark(b), nil
}

// bufferResponse buffers a JSON response, meters it and applies the provider's reply rules.
func (re *receiver) bufferResponse(ctx context.Context, a *attempt) error {
	b, err := re.responses.readResponse(ctx, a, re.maxResponseBytes)
	if err != nil {
		return err
	}
	if isPage(b) {
		return pageError(a)
	}
	ep := a.x.match.Endpoint
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	r := re.rules.responseRules(a)
	if a.log().Usage, a.log().ResponseModel, err = usage.ReadResponse(ep, b, r.UsagePath, d); err != nil {
		return setPlainText(a, b, err)
	}
	re.backgroundJobs.detectBackgroundJob(a, b)
	if status, message, failed := upstreamerror.DetectFailure(ep, b); failed && !errorAlone(d) {
		a.failing, a.log().Error = status, message
	}
	if errorAlone(d) {
		if status, found := upstreamerror.DetectError(b); found {
			return setBodyFailure(a, status, b)
		}
	}
	if a.plan.Endpoint.Follow != nil {
		return re.followUps.resolveFollowUp(ctx, a, b)
	}
	if a.response.body = r.Apply(ep, b); a.failing != 0 {
		a.response.body = upstreamerror.TextCode(a.response.body)
	}
	if a.x.wantsBase64() {
		a.response.body = embeddings.InBase64(a.response.body)
	}
	same := sameBytes(a.response.body, b)
	if err := sniff.CheckList(ep, a.response.body); err != nil && a.failing == 0 {
		return convertReportedError(a, b, err)
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

// wantsBase64 reports whether the caller requests embeddings in base64.
func (x *exchange) wantsBase64() bool {
	if x.match.Endpoint != llm.Embed || x.doc == nil {
		return false
	}
	format, _ := x.doc.String("encoding_format")
	return format == "base64"
}

// named sets the member "provider" of a response to the provider's id.
// Source: contract/providers.yaml, rules common to all.
func named(b []byte, id string) []byte {
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(b, d) != nil {
		return b
	}
	return naming(d, id)
}

// naming is named for a response that is already indexed by d.
func naming(d *jsonedit.Doc, id string) []byte {
	return d.Apply([]jsonedit.Edit{jsonedit.Set("provider", jsonedit.Quote(id))})
}

// normalise converts an upstream error to the shape of the caller's API.
// Source: contract/dataplane.md 7.2.
func (r *responseReader) normalise(ctx context.Context, a *attempt) error {
	f := newFailure(a)
	if a.first != nil { // the first event of a stream is an error; the rest is not needed
		_ = a.resp.Body.Close()
		a.log().BytesOut = int64(len(a.first))
		a.log().Response = record.NewBody(a.response.header.Get("content-type"), a.first, a.log().BytesOut, r.bodyLogBytes)
		f.Shape = "openai"
		if f.Body = a.translator.failure(); f.Body == nil {
			f.Body = dialect.FirstEventFailure(a.first)
		}
		a.resp = nil
		a.log().Usage = a.errorUsage(dialect.FirstData(a.first))
	} else {
		b, err := r.readResponse(ctx, a, errorBodyMax)
		if err != nil {
			return err
		}
		f.Body = b
		a.log().Usage = a.errorUsage(b)
	}
	setFailure(a, &f)
	return nil
}

// errorUsage returns the usage that an error reports: in the format of the caller's API, or for a
// translated call in that of its provider.
func (a *attempt) errorUsage(body []byte) llm.Usage {
	if t := a.translator; t != nil && t.usage.Reported {
		return t.usage
	}
	if u, _ := usage.Read(a.x.match.Endpoint, body, ""); u.Reported && !a.speech.translates() {
		return u
	}
	if u := upstreamerror.Usage(body); u != nil {
		return *u
	}
	return llm.Usage{}
}

// errorReadMax is the maximum size of an error body that is read for its usage before a retry.
const errorReadMax = 64 << 10

// noteRetried records the usage in the error of a call that is abandoned for a retry. It does not
// wait for a body of unknown length.
func noteRetried(a *attempt, resp *transport.Response) {
	switch {
	case !a.money.IsOpen():
	case a.first != nil:
		a.log().Usage = a.errorUsage(dialect.FirstData(a.first))
	case resp.Status >= 400 && isJSON(resp.Header) && resp.Length > 0 && resp.Length <= errorReadMax:
		b := make([]byte, resp.Length)
		if _, err := io.ReadFull(resp.Body, b); err == nil {
			a.log().Usage = a.errorUsage(b)
		}
	}
}

// convertReportedError converts a response that reports an error with a success status into that
// error, because fallback depends on the status. Some providers, such as OpenRouter, begin to
// respond before the error occurs. If the decoder's error no shows that the model failed, its
// status is used. Otherwise convertReportedError returns no.
// Source: https://openrouter.ai/docs/api-reference/errors, read 2026-11.
func convertReportedError(a *attempt, body []byte, no error) error {
	status, found := upstreamerror.DetectError(body)
	switch f := fault.From(no); {
	case found:
		return setBodyFailure(a, status, body)
	case f.Code == fault.UpstreamFailed, f.Wire != "":
		return setModelFailure(a, f)
	}
	return no
}

// setModelFailure converts a response with a success status into the error that its decoder found.
func setModelFailure(a *attempt, found *fault.Error) error {
	a.status = found.HTTPStatus()
	f := newFailure(a)
	var w jsonwriter.Writer
	w.Open('{')
	w.Key("error").Open('{')
	w.Str("message", found.Text())
	w.Opt("type", found.Wire)
	w.Close('}')
	w.Close('}')
	f.Shape, f.Body = "openai", w.B
	setFailure(a, &f)
	return nil
}

// setBodyFailure converts a response with a success status into the error in its body.
func setBodyFailure(a *attempt, status int, body []byte) error {
	a.status = status
	f := newFailure(a)
	f.Body = body
	setFailure(a, &f)
	return nil
}

// errorAlone reports whether a response contains an error and no member of a normal response.
// Failed jobs and batches also have an error, but next to their id.
func errorAlone(d *jsonedit.Doc) bool {
	return d.Has("error") && !d.Has("id") && !d.Has("object") && !d.Has("data") && !d.Has("text") && !d.Has("results") && !d.Has("choices")
}

func newFailure(a *attempt) upstreamerror.Failure {
	return upstreamerror.Failure{Endpoint: a.x.match.Endpoint, Shape: a.plan.Endpoint.Error, Provider: a.spec.ID, Status: a.status, Type: errorType(a.response.header), Request: a.x.id}
}

// setFailure sets the response to the error in the shape of the caller's API.
func setFailure(a *attempt, f *upstreamerror.Failure) {
	f.Body = a.withoutKey(f.Body)
	if a.response.body = f.Normalised(); a.x.surface() == fault.Messages {
		a.response.body = f.ForMessages()
	}
	a.response.header = a.response.header.Clone(1)
	a.response.header.Set("content-type", "application/json")
}

// errorType returns the name of an error in Amazon's header:
// "ThrottlingException:http://internal.amazon.com/coral/…".
func errorType(h wire.Header) string {
	name, _, _ := strings.Cut(h.Get("x-amzn-errortype"), ":")
	return name
}

// unusable rejects a response with a success status whose content type does not fit its endpoint.
func (r *responseReader) unusable(ctx context.Context, a *attempt) error {
	if _, err := r.readResponse(ctx, a, errorBodyMax); err != nil {
		return err
	}
	kind := mediaType(a.response.header.Get("content-type"))
	if kind == labelPage {
		return pageError(a)
	}
	return fault.Newf(fault.UpstreamInvalid, "Invalid response received from %s: %s instead of a response", a.spec.ID, clip(kind))
}

// redirected rejects a redirect of a call whose response must be translated. Redirects are never
// followed.
func (r *responseReader) redirected(ctx context.Context, a *attempt) error {
	if _, err := r.readResponse(ctx, a, errorBodyMax); err != nil {
		return err
	}
	return fault.Newf(fault.UpstreamInvalid, "Invalid response received from %s: a redirect (status %d) instead of JSON; check the address of the provider", a.spec.ID, a.status)
}

// pageError returns the error for an HTML page. A proxy in front of the provider sends such pages,
// or the provider when its configured address is wrong.
func pageError(a *attempt) error {
	return fault.Newf(fault.UpstreamInvalid, "Invalid response received from %s: an HTML page instead of JSON", a.spec.ID)
}

// isPage reports whether the body is an HTML page.
func isPage(body []byte) bool {
	kind, _ := sniff.Sniff(body[:min(len(body), sniff.MaxSniffBytes)])
	return kind == sniff.PageBody
}
