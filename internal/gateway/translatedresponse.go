package gateway

import (
	"cmp"
	"context"
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/dialect/signatures"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/llm"
	"sluice/internal/kernel/wire"
	"sluice/internal/provider/transport"
)

// translated converts a provider's successful response to the caller's format.
func (re *receiver) translated(ctx context.Context, a *attempt) error {
	if a.first != nil {
		return nil // a stream is translated while it is relayed
	}
	if f, ok := a.speech.unified.(dialect.FileStreamer); ok {
		if kind, is := f.FileType(a.sent.Endpoint); is {
			a.relayFile(kind)
			return nil
		}
	}
	b, err := re.responses.readResponse(ctx, a, re.maxResponseBytes)
	if err != nil {
		return err
	}
	if isPage(b) {
		return pageError(a)
	}
	incoming := &dialect.Incoming{Status: a.status, Header: a.response.header, Body: b, Created: re.clock.Now().Unix(), Call: a.call, Sent: a.sent, To: a.to}
	if incoming.More, err = re.askMore(ctx, a); err != nil {
		return err
	}
	if a.speech.unified != nil {
		if responded, err := re.followUps.fetchFollowUps(ctx, a, incoming); responded || err != nil {
			return err
		}
		return setTranslatedResponse(a, incoming)
	}
	r, err := a.speech.upstream.DecodeResponse(incoming)
	if err != nil {
		a.log().Usage = a.errorUsage(b)
		return convertReportedError(a, b, fault.From(err))
	}
	a.log().Usage, a.log().ResponseModel = r.Usage, r.Model
	a.names.RewriteResponse(r)
	a.texts.RewriteResponse(r)
	signatures.NewSigner(a.call.Surface).RewriteResponse(r)
	if a.stream {
		replayResponse(a, r)
		return nil
	}
	a.setJSONResponse(a.conversation.SaveResponse(a.speech.client.EncodeResponse(make([]byte, 0, len(b)+responseOverheadBytes), r, a.answering())), "")
	return nil
}

// relayFile relays the response as it arrives.
func (i *incoming) relayFile(contentType string) {
	i.response.live = true
	if i.response.header.Get("content-type") == "" {
		i.response.header = i.response.header.Clone(1)
		i.response.header.Set("content-type", contentType)
	}
}

// responseOverheadBytes is the additional size that the caller's format may need.
const responseOverheadBytes = 1 << 10

func setTranslatedResponse(a *attempt, incoming *dialect.Incoming) error {
	out, err := a.speech.unified.TranslateResponse(incoming)
	if err != nil {
		a.log().Usage = a.errorUsage(incoming.Body)
		return convertReportedError(a, incoming.Body, fault.From(err))
	}
	a.log().Usage, a.log().ResponseModel = out.Usage, out.Model
	if counts[a.x.match.Endpoint] != "" {
		a.log().Usage = llm.Usage{} // the response is a count: no usage
	}
	body := out.Body
	if !a.spec.OmitProvider && out.ContentType == "" {
		body = named(body, a.spec.ID)
	}
	a.setJSONResponse(body, out.ContentType)
	return nil
}

func (i *incoming) setJSONResponse(body []byte, contentType string) {
	i.response.body = body
	i.response.header = i.response.header.Clone(1)
	i.response.header.Set("content-type", cmp.Or(contentType, "application/json"))
	i.response.header.Del("content-encoding")
}

// answering returns the parts of the call that the response repeats.
func (a *attempt) answering() *dialect.ResponseContext {
	providerID := a.spec.ID
	if a.spec.OmitProvider {
		providerID = ""
	}
	as := &dialect.ResponseContext{
		Call: a.call, ID: strings.ReplaceAll(a.x.id, "-", "")[:26], Created: a.x.started.Unix(), Provider: providerID, Strict: a.strict,
	}
	a.conversation.SetContext(as)
	return as
}

// replayResponse converts a buffered response to the stream that the caller requested.
func replayResponse(a *attempt, r *llm.Response) {
	enc := a.speech.client.NewEncoder(a.answering())
	var out []byte
	dialect.Replay(r, func(ev *llm.Event) { out = enc.Append(out, ev) })
	a.conversation.SaveStream(enc)
	a.setJSONResponse(out, "text/event-stream")
}

// moreMax is the maximum number of additional calls for one request: one for each of the 2,048
// inputs that OpenAI accepts in a request for embeddings, after the first.
// Source: https://platform.openai.com/docs/api-reference/embeddings/create, read 2026-11.
const moreMax = 2047

// checkMore refuses a request that needs more additional calls.
func checkMore(a *attempt, more [][]byte) error {
	if len(more) <= moreMax {
		return nil
	}
	return fault.Newf(fault.InvalidParameter, "%s accepts one input per call, and the gateway makes at most %d calls per request; send fewer inputs", a.spec.ID, moreMax+1).WithParam("input")
}

// askMore makes the additional calls of a request that the provider accepts only in parts.
// Together their responses may be as large as one response.
func (re *receiver) askMore(ctx context.Context, a *attempt) ([][]byte, error) {
	var all [][]byte
	left := re.maxResponseBytes
	for _, body := range a.more {
		a.body = wire.Bytes(body)
		resp, err := re.caller.call(ctx, a, nil)
		if err != nil {
			return nil, clientGone(ctx, err)
		}
		b, err := re.followUps.readFollowUpBody(a, resp, left, "a part of the request")
		if err != nil {
			return nil, err
		}
		left -= int64(len(b))
		all = append(all, b)
	}
	return all, nil
}

func readAll(resp *transport.Response, limit int64) ([]byte, error) { return resp.ReadAll(limit) }
