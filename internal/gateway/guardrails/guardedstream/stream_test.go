package guardedstream_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"sluice/internal/gateway/guardrails/guardedstream"
	"sluice/internal/kernel/llm"
)

// The characters of the secret are nowhere else in the streams.
const secret = "ΩΨ\"ΞΔ\\Σ😀§"

const (
	secretLetters = "ΩΨΞΔΣ😀§"
	secretLength  = 9
)

const before, after = "this text is before the part, ", " and this text follows it to the end of the answer"

func leaks(out string) bool { return strings.ContainsAny(out, secretLetters) }

// cutText returns the text in three deltas, cut inside the secret before character i.
func cutText(i int) []string {
	runes := []rune(secret)
	return []string{before + string(runes[:i]), string(runes[i:]) + after[:20], after[20:]}
}

// TestNoByteOfASecretLeaksAtAnySplit cuts the secret between two events before each character, and
// the stream between two reads at each byte: every byte with at least one of the nine cuts of the secret.
func TestNoByteOfASecretLeaksAtAnySplit(t *testing.T) {
	t.Parallel()
	for _, surface := range surfaces {
		t.Run(string(surface), func(t *testing.T) {
			t.Parallel()
			for i := range []rune(secret) {
				checkCuts(t, surface, streamOf(surface, cutText(i)...), i%cutStep)
			}
		})
	}
}

// cutStep is the distance of the cuts of one stream.
const cutStep = 5

// checkCuts cuts a stream at each fifth byte from first on.
func checkCuts(t *testing.T, surface llm.Endpoint, stream string, first int) {
	t.Helper()
	redacted := run(t, surface, &judge{window: secretLength, secret: secret, with: "[R]"}, stream)
	if got, want := textOf(t, surface, redacted), before+"[R]"+after; got != want || leaks(redacted) {
		t.Fatalf("got %q, want %q; %s", got, want, redacted)
	}
	for cut := first; cut <= len(stream); cut += cutStep {
		out := run(t, surface, &judge{window: secretLength, secret: secret, deny: true}, stream, cut)
		if leaks(out) {
			t.Fatalf("cut at %d: the denied stream leaks: %s", cut, out)
		}
		out = run(t, surface, &judge{window: secretLength, secret: secret, with: "[R]"}, stream, cut)
		if out != redacted {
			t.Fatalf("cut at %d: got %q, want %q", cut, out, redacted)
		}
	}
}

func TestNoByteOfASecretLeaksByteByByte(t *testing.T) {
	t.Parallel()
	for _, surface := range surfaces {
		stream := streamOf(surface, strings.SplitAfter(before+secret+after, "")...)
		cuts := make([]int, len(stream))
		for i := range cuts {
			cuts[i] = i
		}
		for _, j := range []*judge{{window: secretLength}, {hold: true}, {window: secretLength, hold: true}} {
			j.secret, j.with = secret, "[R]"
			out := run(t, surface, j, stream, cuts...)
			if got, want := textOf(t, surface, out), before+"[R]"+after; got != want || leaks(out) {
				t.Errorf("%s, window %d, hold %t: got %q; %s", surface, j.window, j.hold, got, out)
			}
			j.deny = true
			if out := run(t, surface, j, stream, cuts...); leaks(out) {
				t.Errorf("%s, window %d, hold %t: denied stream leaks: %s", surface, j.window, j.hold, out)
			}
		}
	}
}

func TestABenignStreamIsByteEqual(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		surface := rapid.SampledFrom(surfaces).Draw(rt, "surface")
		stream := streamOf(surface, rapid.SliceOf(rapid.String()).Draw(rt, "deltas")...)
		if rapid.Bool().Draw(rt, "crlf") {
			stream = strings.ReplaceAll(stream, "\n", "\r\n")
		}
		if rapid.Bool().Draw(rt, "cut") {
			stream = stream[:rapid.IntRange(0, len(stream)).Draw(rt, "length")]
		}
		j := &judge{window: rapid.IntRange(0, 40).Draw(rt, "window"), hold: rapid.Bool().Draw(rt, "hold")}
		var cuts []int
		for at := 0; at < len(stream); at += rapid.IntRange(1, 400).Draw(rt, "cut") {
			cuts = append(cuts, at)
		}
		want := stream
		if j.window > 0 || j.hold {
			want = withoutCutEvent(stream)
		}
		if out := run(t, surface, j, stream, cuts...); out != want {
			rt.Fatalf("got %q, want %q", out, want)
		}
		if j.finishes != 1 {
			rt.Fatalf("Finish was called %d times, want once", j.finishes)
		}
	})
}

// withoutCutEvent returns a stream without a last event whose JSON is incomplete.
func withoutCutEvent(stream string) string {
	end := 0
	for _, blank := range []string{"\n\n", "\r\n\r\n"} {
		if i := strings.LastIndex(stream, blank); i >= 0 {
			end = max(end, i+len(blank))
		}
	}
	for line := range strings.SplitSeq(stream[end:], "\n") {
		if data, ok := strings.CutPrefix(line, "data: "); ok && strings.HasPrefix(data, "{") && !json.Valid([]byte(data)) {
			return stream[:end]
		}
	}
	return stream
}

func TestACutEventIsNotReleased(t *testing.T) {
	t.Parallel()
	stream := delta("content", "hid") + `data: {"choices":[{"delta":{"content":"den"`
	for _, j := range []*judge{{window: 8}, {hold: true}} {
		if out := run(t, llm.ChatComplete, j, stream); out != delta("content", "hid") || j.result.Regular {
			t.Errorf("hold %t: got %q, regular %t", j.hold, out, j.result.Regular)
		}
	}
}

func TestTextIsReleasedAWindowLater(t *testing.T) {
	t.Parallel()
	const window = 12
	for _, surface := range surfaces {
		for _, width := range []int{1, 3, 7, 30} {
			j := &judge{window: window}
			s := guardedstream.New(surface, j, guardedstream.Options{})
			stream := streamOf(surface, split(strings.Repeat("é", 200), width)...)
			var out []byte
			received := ""
			for e := range strings.SplitAfterSeq(stream, "\n\n") {
				out, _ = s.Append(t.Context(), out, []byte(e))
				received += e
				waiting := len([]rune(textOf(t, surface, received))) - len([]rune(textOf(t, surface, string(out))))
				if waiting > window+width-1 {
					t.Fatalf("%s, deltas of %d: %d characters wait, want at most %d", surface, width, waiting, window+width-1)
				}
			}
		}
	}
}

// split cuts a text into parts of n characters.
func split(text string, n int) (parts []string) {
	runes := []rune(text)
	for len(runes) > n {
		parts = append(parts, string(runes[:n]))
		runes = runes[n:]
	}
	return append(parts, string(runes))
}

func TestTheContextIsAtMostTwoWindows(t *testing.T) {
	t.Parallel()
	j := &judge{window: 5}
	run(t, llm.ChatComplete, j, streamOf(llm.ChatComplete, split(strings.Repeat("äbc", 40), 2)...))
	for _, p := range j.judged {
		if n := len([]rune(p.Text[:p.Context])); n > 10 {
			t.Fatalf("got a context of %d characters, want at most 10", n)
		}
	}
	if last := j.judged[len(j.judged)-1]; !last.Last {
		t.Errorf("the last piece is not marked as last: %+v", last)
	}
}

func TestATrailerFollowsTheLastEvent(t *testing.T) {
	t.Parallel()
	const trailer = "data: {\"hook_results\":{}}\n\n"
	final := func(*guardedstream.Answer) guardedstream.Final { return guardedstream.Final{Trailer: []byte(trailer)} }
	for _, surface := range surfaces {
		stream := streamOf(surface, "some ", "text")
		for _, j := range []*judge{{window: 3}, {hold: true}, {}} {
			j.final = final
			if out := run(t, surface, j, stream); out != stream+trailer {
				t.Errorf("%s: got %q", surface, out)
			}
			if !j.result.Regular || len(j.result.Texts) == 0 || j.result.Texts[0].Text != "some text" {
				t.Errorf("%s: got answer %+v", surface, j.result)
			}
		}
	}
}

func TestAnAnswerAboveTheLimitIsDenied(t *testing.T) {
	t.Parallel()
	for _, surface := range surfaces {
		j := &judge{hold: true}
		s := guardedstream.New(surface, j, guardedstream.Options{MaxHeld: 4000})
		out, _ := runStream(t, s, streamOf(surface, split(strings.Repeat("x", 8000), 100)...), 3000)
		if !s.Denied() || !errors.Is(s.Err(), guardedstream.ErrHeld) || strings.Contains(out, "xxx") {
			t.Errorf("%s: denied %t, error %v, %q", surface, s.Denied(), s.Err(), out)
		}
		if !j.result.Denied || j.finishes != 1 {
			t.Errorf("%s: got answer %+v after %d calls", surface, j.result, j.finishes)
		}
	}
}

func TestAReportIsPartialAboveTheLimit(t *testing.T) {
	t.Parallel()
	j := &judge{}
	s := guardedstream.New(llm.ChatComplete, j, guardedstream.Options{MaxHeld: 1000})
	stream := chatStream(append(split(strings.Repeat("x", 900), 100), strings.Repeat("y", 5000), "z")...)
	if out, _ := runStream(t, s, stream, 2500, 5000, 6000, 7000, 8000); out != stream {
		t.Errorf("got %q, want %q", out, stream)
	}
	if !j.result.Partial || len(j.result.Texts[0].Text) > 1000 || s.Denied() {
		t.Errorf("got answer %+v", j.result)
	}
}

func TestAHeldStreamHasKeepAlives(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	j := &judge{hold: true}
	s := guardedstream.New(llm.ChatComplete, j, guardedstream.Options{KeepAlive: 5 * time.Second, Now: func() time.Time { return now }})
	var out []byte
	for range 12 {
		out, _ = s.Append(t.Context(), out, []byte(chatChunk(0, `"content":"x"`, "null")))
		now = now.Add(time.Second)
	}
	if got, want := string(out), strings.Repeat(": keep-alive\n\n", 2); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
