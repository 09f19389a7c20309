package gateway

import (
	"cmp"
	"context"
	"slices"

	"sluice/internal/dialect/usage"
	"sluice/internal/domain/record"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

const (
	maxSegments = 64     // concurrent transcriptions; a new one replaces the oldest
	pcmRate     = 48_000 // bytes per second of speech: 24,000 samples of two bytes
	phoneRate   = 8_000  // bytes per second of G.711, the lowest rate
)

// transcription is the prefix of the types of transcription events.
const transcription = "conversation.item.input_audio_transcription."

// transcriptionMeter accounts for the cost of transcribing the caller's speech in a conversation,
// by a separate model. Each audio segment that the provider takes from its buffer is an attempt
// of the same request. Its limits and ledger entry are reserved when the segment is taken, and it
// is recorded when its text arrives. The mutex of the session guards it.
// Source: docs/money.md; https://platform.openai.com/docs/api-reference/realtime, read 2026-11.
type transcriptionMeter struct {
	s       *session
	model   string // of the transcription, "gpt-4o-transcribe"; empty while it is off
	rate    int64  // bytes per second
	waiting int64  // bytes in the provider's buffer
	under   []*attempt
}

// audioSegment is the speech of one transcription attempt.
type audioSegment struct {
	item  string // id of the conversation item: "item_AbC"
	milli int64
	text  []byte // the transcript
}

// send counts speech that the caller sends.
func (h *transcriptionMeter) send(data []byte) {
	audio, _ := jsonedit.Find(data, "audio")
	h.waiting += int64(len(audio)) * 3 / 4 // base64
}

// note processes an event of the provider. It returns an error when a limit refuses the
// transcription that begins with the event.
func (h *transcriptionMeter) note(ctx context.Context, kind string, data []byte) error {
	switch kind {
	case "session.created", "session.updated", "transcription_session.created", "transcription_session.updated":
		h.learn(data)
	case "input_audio_buffer.cleared":
		h.waiting = 0
	case "input_audio_buffer.committed":
		return h.begin(ctx, jsonedit.Text(data, "item_id"))
	case transcription + "delta":
		if a := h.findAttempt(data); a != nil && len(a.segment.text) < maxEventBytes {
			a.segment.text = append(a.segment.text, jsonedit.Text(data, "delta")...)
		}
	case transcription + "completed", transcription + "failed":
		if a := h.findAttempt(data); a != nil {
			h.done(a, kind == transcription+"failed", data)
		}
	}
	return nil
}

// learn reads the audio settings of the session, in the current or the beta format.
func (h *transcriptionMeter) learn(data []byte) {
	h.model = cmp.Or(jsonedit.Text(data, "session", "audio", "input", "transcription", "model"), jsonedit.Text(data, "session", "input_audio_transcription", "model"))
	switch cmp.Or(jsonedit.Text(data, "session", "audio", "input", "format", "type"), jsonedit.Text(data, "session", "input_audio_format")) {
	case "audio/pcm", "pcm16", "":
		h.rate = pcmRate
	default:
		h.rate = phoneRate
	}
}

// begin reserves the maximum cost of transcribing the speech in the buffer.
func (h *transcriptionMeter) begin(ctx context.Context, item string) error {
	milli := h.waiting * 1000 / max(h.rate, phoneRate)
	h.waiting = 0
	if h.model == "" {
		return nil
	}
	if len(h.under) == maxSegments {
		h.drop(h.under[0])
	}
	a := h.attempt(&audioSegment{item: item, milli: milli})
	if err := h.s.conversations.accountant.reserve(ctx, a); err != nil {
		a.x.scratch.release()
		return err
	}
	a.money.SetSent(true)
	h.under = append(h.under, a)
	return nil
}

// attempt returns an attempt for an audio segment. It has its own scratch, because the
// conversation still uses its holds.
func (h *transcriptionMeter) attempt(segment *audioSegment) *attempt {
	parent, r, now := h.s.a, acquireScratch(), h.s.conversations.clock.Now()
	parent.x.attempts++
	r.exchange = *parent.x
	x := &r.exchange
	x.scratch, x.match, x.limits = r, llm.Match{Endpoint: llm.CreateTranscription, Body: llm.NoBody}, r.caller.Share(parent.x.limits)
	return &attempt{
		x: x, target: parent.target, number: x.attempts - 1, started: now, segment: segment, auxiliary: true,
		resolvedTarget: resolvedTarget{spec: parent.spec, account: parent.account, values: parent.values, model: h.model},
		outgoing:       outgoing{stream: true},
		callTimes:      callTimes{called: now},
	}
}

// findAttempt returns the open attempt that an event belongs to, or nil.
func (h *transcriptionMeter) findAttempt(data []byte) *attempt {
	item := jsonedit.Text(data, "item_id")
	i := slices.IndexFunc(h.under, func(a *attempt) bool { return a.segment.item == item })
	if i < 0 {
		return nil
	}
	return h.under[i]
}

// done records a transcription that the provider has ended.
func (h *transcriptionMeter) done(a *attempt, failed bool, event []byte) {
	size := int64(len(event))
	a.log().Response = h.s.conversations.recorder.truncateBody("application/json", event, size)
	if failed { // the error event is not part of a response
		a.log().Error = jsonedit.Text(event, "error", "message")
		h.close(a, record.Failed)
		return
	}
	a.status, a.upstream, a.log().BytesOut = 200, 200, size
	a.segment.text = append(a.segment.text[:0], jsonedit.Text(event, "transcript")...)
	a.log().Usage, _ = usage.Read(llm.CreateTranscription, event, "")
	h.close(a, record.OK)
}

// drop closes a transcription without waiting for its end.
func (h *transcriptionMeter) drop(a *attempt) {
	a.committed = true
	h.close(a, record.Truncated)
}

func (h *transcriptionMeter) close(a *attempt, o record.Outcome) {
	h.s.conversations.recorder.record(a, o)
	a.x.scratch.release()
	h.under = slices.DeleteFunc(h.under, func(b *attempt) bool { return a == b })
}

// end closes the open transcriptions, because the conversation is over.
func (h *transcriptionMeter) end() {
	for len(h.under) > 0 {
		h.drop(h.under[0])
	}
}
