package gateway

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"sluice/internal/dialect/usage"
	"sluice/internal/domain/record"
	"sluice/internal/gateway/metering"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
	"sluice/internal/limits/catalog"
	"sluice/internal/limits/ledger"
	"sluice/internal/limits/quota"
	"sluice/internal/limits/tokens"
)

// session accounts for the cost of a realtime conversation. Each response has its own ledger
// entry. The entry is reserved when the client requests a response or the provider begins one. It
// is closed with the usage at the end of the response. Concurrent responses share one entry. Two
// goroutines call it, one for each side.
// Source: docs/money.md; https://platform.openai.com/docs/api-reference/realtime, read 2026-11.
type session struct {
	conversations *conversations
	a             *attempt

	mu            sync.Mutex // guards the fields below and the reservation of the attempt
	openResponses int        // responses in progress
	used          llm.Usage  // of the completed responses in the open entry
	last          int64      // input tokens of the last completed response
	textEvents    []byte     // text events since the last entry was closed
	all           llm.Usage  // of closed entries
	spend         record.Spend
	terms         []catalog.Term
	transcription transcriptionMeter
}

func newSession(c *conversations, a *attempt) *session {
	s := &session{conversations: c, a: a}
	s.transcription.s = s
	return s
}

// maxEventBytes is the maximum size of the buffered events for counting an interrupted response.
const maxEventBytes = 256 << 10

// FromClient processes an event of the client. It returns an error when a limit refuses the
// response that the event requests.
func (s *session) FromClient(ctx context.Context, data []byte) error {
	kind := jsonedit.Text(data, "type")
	s.mu.Lock()
	defer s.mu.Unlock()
	switch kind {
	case "response.create":
		return s.reserve(ctx)
	case "input_audio_buffer.append":
		s.transcription.send(data)
	}
	return nil
}

// FromProvider processes an event of the provider. It returns an error when a limit refuses the
// response that the event begins.
func (s *session) FromProvider(ctx context.Context, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.a.log().BytesOut += int64(len(data))
	switch kind := jsonedit.Text(data, "type"); kind {
	case "response.created":
		s.openResponses++
		return s.reserve(ctx)
	case "response.done":
		u, model := usage.Read(llm.Realtime, data, "response.usage")
		s.a.log().ResponseModel = cmp.Or(model, s.a.log().ResponseModel)
		s.used, s.last = s.used.Add(u), u.InputTokens
		if s.openResponses = max(s.openResponses-1, 0); s.openResponses == 0 {
			s.close(metering.Answered)
		}
	case "response.output_text.delta", "response.text.delta", "response.output_audio_transcript.delta", "response.audio_transcript.delta":
		if len(s.textEvents)+len(data) < maxEventBytes {
			s.textEvents = append(append(append(s.textEvents, "data: "...), data...), '\n')
		}
	default:
		return s.transcription.note(ctx, kind, data)
	}
	return nil
}

// reserve opens a ledger entry unless one is open.
func (s *session) reserve(ctx context.Context) error {
	if s.a.money.IsOpen() {
		return nil
	}
	err := s.conversations.accountant.reserve(ctx, s.a)
	s.a.money.SetSent(err == nil)
	return err
}

// probe returns the error that reserve would return after checks were paid, and reserves nothing.
func (s *session) probe(ctx context.Context, checksNano int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.a.money.IsOpen() { // further responses share its entry
		return nil
	}
	return s.conversations.accountant.probe(ctx, s.a, checksNano)
}

// close closes the ledger entry with its usage.
func (s *session) close(how metering.Outcome) {
	a := s.a
	if !a.money.IsOpen() {
		return
	}
	a.log().Usage = s.used
	r := chargedResponse(a)
	one := s.conversations.meter.CloseAlone(a.money, a.bounds(), how, &r)
	s.addSpend(&one, a.money.Charge())
	s.used, s.textEvents = llm.Usage{}, s.textEvents[:0]
}

// addSpend adds a closed ledger entry to the record of the conversation.
func (s *session) addSpend(one *record.Spend, o *metering.Charge) {
	s.conversations.metrics.spent(s.a.spec.ID, one)
	s.all = s.all.Add(o.Usage)
	for _, t := range o.Bill.Terms {
		alike := func(u catalog.Term) bool { u.Units, u.Nano = t.Units, t.Nano; return u == t }
		if i := slices.IndexFunc(s.terms, alike); i >= 0 {
			s.terms[i].Units, s.terms[i].Nano = quota.Plus(s.terms[i].Units, t.Units), quota.Plus(s.terms[i].Nano, t.Nano)
		} else {
			s.terms = append(s.terms, t)
		}
	}
	total := &s.spend
	if total.State == "" || total.State == ledger.Released.String() || one.State == ledger.Estimated.String() {
		total.State = one.State
	}
	total.Cost, total.MaxCost, total.Version, total.Unpriced = quota.Plus(total.Cost, one.Cost), max(total.MaxCost, one.MaxCost), one.Version, cmp.Or(total.Unpriced, one.Unpriced)
}

// end closes the open ledger entry and sets the total usage of the conversation in the record. An
// interrupted response counts with the input of the previous one and the text received. A
// response that never began counts nothing.
func (s *session) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.transcription.end()
	switch {
	case s.openResponses > 0:
		s.used = s.used.Add(llm.Usage{InputTokens: s.last, OutputTokens: s.conversations.counter.Text(tokens.EventText(s.textEvents), s.a.priceName()).Tokens})
		s.used.TotalTokens = s.used.InputTokens + s.used.OutputTokens
		s.close(metering.Broken)
	default:
		s.a.money.SetSent(false)
		s.close(metering.Unsent)
	}
	s.spend.Terms = string(catalog.AppendTerms(nil, s.terms))
	s.a.log().Usage, s.a.log().Spend = s.all, s.spend
}
