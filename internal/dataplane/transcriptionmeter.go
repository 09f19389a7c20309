package dataplane

import (
	"cmp"
	"context"
	"slices"

	"sluice/internal/dialect"
	"sluice/internal/llm"
	"sluice/internal/record"
	"sluice/internal/splice"
)

const (
	maxSegments = 64     // that are transcribed at once; the oldest is given up for another one
	pcmRate     = 48_000 // bytes of a second of speech: 24,000 samples of two
	phoneRate   = 8_000  // G.711, the least there is
	slackMilli  = 1_000  // of speech that may come on top of what was sent: audio and events pass each other
)

// transcription begins the types of events that tell of one.
const transcription = "conversation.item.input_audio_transcription."

// transcriptionMeter is the money of what the provider of a conversation transcribes of the caller's
// speech, by a model of its own. Each stretch of speech that the provider takes from its
// buffer is an attempt of its own under the same request: held against limits and on the
// ledger when it is taken, on record when its text is there. The session guards it.
// Source: docs/money.md; https://platform.openai.com/docs/api-reference/realtime, read 2026-11.
type transcriptionMeter struct {
	s       *session
	model   string // that transcribes, "gpt-4o-transcribe"; empty while none does
	rate    int64  // bytes of a second
	waiting int64  // bytes in the provider's buffer
	under   []*attempt
}

// audioSegment is the speech of an attempt that transcribes one.
type audioSegment struct {
	item  string // of the conversation: "item_AbC"
	milli int64
	text  []byte // that came of it
}

// send notes speech that the caller sends.
func (h *transcriptionMeter) send(data []byte) {
	audio, _ := splice.Find(data, "audio")
	h.waiting += int64(len(audio)) * 3 / 4 // it is in base64
}

// note takes an event of the provider; its error is that a limit refuses the
// transcription that begins with it.
func (h *transcriptionMeter) note(ctx context.Context, kind string, data []byte) error {
	switch kind {
	case "session.created", "session.updated", "transcription_session.created", "transcription_session.updated":
		h.learn(data)
	case "input_audio_buffer.cleared":
		h.waiting = 0
	case "input_audio_buffer.committed":
		return h.begin(ctx, splice.Text(data, "item_id"))
	case transcription + "delta":
		if a := h.findAttempt(data); a != nil && len(a.segment.text) < maxEventBytes {
			a.segment.text = append(a.segment.text, splice.Text(data, "delta")...)
		}
	case transcription + "completed", transcription + "failed":
		if a := h.findAttempt(data); a != nil {
			h.done(a, kind == transcription+"failed", data)
		}
	}
	return nil
}

// learn reads what the session says of speech, in the words of today or of the beta.
func (h *transcriptionMeter) learn(data []byte) {
	h.model = cmp.Or(splice.Text(data, "session", "audio", "input", "transcription", "model"), splice.Text(data, "session", "input_audio_transcription", "model"))
	switch cmp.Or(splice.Text(data, "session", "audio", "input", "format", "type"), splice.Text(data, "session", "input_audio_format")) {
	case "audio/pcm", "pcm16", "":
		h.rate = pcmRate
	default:
		h.rate = phoneRate
	}
}

// begin reserves what it may cost to transcribe the speech that was in the buffer.
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
	if err := h.s.g.reserve(ctx, a); err != nil {
		a.x.scratch.release()
		return err
	}
	a.sentUpstream = true
	h.under = append(h.under, a)
	return nil
}

// attempt is one for a stretch of speech. It has a room of its own, since the holds of the
// conversation stay taken meanwhile.
func (h *transcriptionMeter) attempt(segment *audioSegment) *attempt {
	parent, r, now := h.s.a, acquireScratch(), h.s.g.Clock.Now()
	parent.x.attempts++
	r.exchange = *parent.x
	x := &r.exchange
	x.scratch, x.match, x.holds = r, llm.Match{Endpoint: llm.CreateTranscription, Body: llm.NoBody}, nil
	return &attempt{
		x: x, target: parent.target, number: x.attempts - 1, started: now, called: now, stream: true,
		spec: parent.spec, account: parent.account, values: parent.values, model: h.model, segment: segment, auxiliary: true,
	}
}

// findAttempt is the attempt that an event tells of; nil for none that is under way.
func (h *transcriptionMeter) findAttempt(data []byte) *attempt {
	item := splice.Text(data, "item_id")
	i := slices.IndexFunc(h.under, func(a *attempt) bool { return a.segment.item == item })
	if i < 0 {
		return nil
	}
	return h.under[i]
}

// done puts a transcription on record that the provider ended.
func (h *transcriptionMeter) done(a *attempt, failed bool, event []byte) {
	size := int64(len(event))
	a.log().Response = h.s.g.truncateBody("application/json", event, size)
	if failed { // what it sends of that is no part of an answer
		a.log().Error = splice.Text(event, "error", "message")
		h.close(a, record.Failed)
		return
	}
	a.status, a.upstream, a.log().BytesOut = 200, 200, size
	a.segment.text = append(a.segment.text[:0], splice.Text(event, "transcript")...)
	a.log().Usage, _ = dialect.Usage(llm.CreateTranscription, event, "")
	h.close(a, record.OK)
}

// drop gives a transcription up whose end nobody will hear.
func (h *transcriptionMeter) drop(a *attempt) {
	a.committed = true
	h.close(a, record.Truncated)
}

func (h *transcriptionMeter) close(a *attempt, o record.Outcome) {
	h.s.g.record(a, o)
	a.x.scratch.release()
	h.under = slices.DeleteFunc(h.under, func(b *attempt) bool { return a == b })
}

// end gives up what is under way: the conversation is over.
func (h *transcriptionMeter) end() {
	for len(h.under) > 0 {
		h.drop(h.under[0])
	}
}
