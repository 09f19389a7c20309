package gateway_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"sluice/internal/domain/record"
	"sluice/internal/test/upstream"
)

// encodings are those that providers know.
var encodings = map[string]func(io.Writer) io.WriteCloser{
	"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	"zstd": func(w io.Writer) io.WriteCloser {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil { // of options: cannot happen
			panic(err)
		}
		return z
	},
}

// encoded is a reply with each of its pieces flushed in an encoding.
func encoded(encoding string, r upstream.Response) upstream.Response {
	var b bytes.Buffer
	w := encodings[encoding](&b)
	chunks := r.Chunks
	r.Header, r.Chunks = append(r.Header, upstream.Field{Name: "Content-Encoding", Value: encoding}), nil
	for i, p := range chunks {
		_, _ = w.Write(p.Bytes) // memory takes everything
		if i == len(chunks)-1 {
			_ = w.Close()
		} else {
			_ = w.(interface{ Flush() error }).Flush()
		}
		r.Chunks = append(r.Chunks, upstream.Chunk{Bytes: bytes.Clone(b.Bytes())})
		b.Reset()
	}
	return r
}

// An answer that is encoded although nobody asked for it is read as any other: it is
// translated, its error is understood, and what it used is on record.
func TestEncodedAnswersAreRead(t *testing.T) {
	t.Parallel()
	s := surfaces["chat"]
	for encoding := range encodings {
		for _, p := range speakers {
			t.Run(p.id+" in "+encoding, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				r.up.Script(upstream.InTurn(
					encoded(encoding, upstream.JSON(200, []byte(p.response))),
					encoded(encoding, events(p.events...)),
					encoded(encoding, upstream.JSON(429, []byte(`{"error":{"message":"too fast","type":"t"}}`))),
				))
				buffered := r.call("POST", s.path, s.body, r.as(p)...)
				stream := r.call("POST", s.path, strings.Replace(s.body, "{", `{"stream":true,`, 1), r.as(p)...)
				failed := r.call("POST", s.path, s.body, r.as(p)...)
				for _, want := range s.buffered {
					if buffered.StatusCode != 200 || !strings.Contains(buffered.Text, want) {
						t.Errorf("%d without %s: %q", buffered.StatusCode, want, buffered.Text)
					}
				}
				if stream.StatusCode != 200 || !strings.HasSuffix(stream.Text, s.end) || !strings.Contains(stream.Text, `"lo"`) {
					t.Errorf("streamed %d %q", stream.StatusCode, stream.Text)
				}
				if failed.StatusCode != 429 || !strings.Contains(failed.Text, " error: too fast") {
					t.Errorf("failed %d %q", failed.StatusCode, failed.Text)
				}
				rows := r.journal.some(t, 3)
				for i, a := range []callResult{buffered, stream, failed} {
					if got := a.Header.Get("content-encoding"); got != "" {
						t.Errorf("answer %d says %q", i, got)
					}
					if u := &rows[i].Usage; i < 2 && (u.InputTokens != 4 || u.OutputTokens != 2 || !u.Reported || rows[i].Outcome != record.OK) {
						t.Errorf("record %d: %s %+v", i, rows[i].Outcome, u)
					}
				}
			})
		}
	}
}

// What is only passed through keeps its encoding, and is billed all the same.
func TestEncodedPassThroughIsBilled(t *testing.T) {
	t.Parallel()
	const responseBody = `{"id":"x","model":"gpt-4o-mini","usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}}`
	for encoding := range encodings {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			buffered, stream := encoded(encoding, upstream.Text(200, "application/json", responseBody)), encoded(encoding, upstream.Stream("data: {}\n\n", "data: "+responseBody+"\n\n", "data: [DONE]\n\n"))
			r.up.Script(upstream.InTurn(buffered, stream))
			for i, sent := range []upstream.Response{buffered, stream} {
				a := r.call("POST", "/v1/threads/runs", hello, r.custom("accept-encoding: "+encoding)...)
				var want []byte
				for _, p := range sent.Chunks {
					want = append(want, p.Bytes...)
				}
				if a.Text != string(want) || a.Header.Get("content-encoding") != encoding {
					t.Errorf("answered %v %q", a.Header, a.Text)
				}
				if row := r.journal.some(t, i+1)[i]; row.Usage.InputTokens != 7 || row.Usage.OutputTokens != 3 || row.Spend.Cost == 0 {
					t.Errorf("record %+v, %+v", row.Usage, row.Spend)
				}
			}
		})
	}
}

// An answer that cannot be decoded is none: the walk goes on, and what it began is no
// answer of success.
func TestAnswersInOddEncodings(t *testing.T) {
	t.Parallel()
	ok := `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`
	buffered := encoded("gzip", upstream.Text(200, "application/json", ok)).Chunks[0].Bytes
	damaged := bytes.Clone(buffered)
	damaged[len(damaged)-6] ^= 1
	for name, c := range map[string]struct {
		encoding string
		status   int
		body     []byte
		want     int
		outcome  record.Outcome
	}{
		"unknown":             {"compress", 200, buffered, 502, record.Invalid},
		"unknown, of a fault": {"compress", 429, buffered, 429, record.Failed},
		"two":                 {"gzip, br", 200, buffered, 502, record.Invalid},
		"not what it says":    {"gzip", 200, []byte(ok), 502, record.Invalid},
		"damaged":             {"gzip", 200, damaged, 502, record.Invalid},
		"cut short":           {"gzip", 200, buffered[:len(buffered)/2], 502, record.Unreachable},
		"identity":            {"identity", 200, []byte(ok), 200, record.OK},
		"nothing":             {"gzip", 200, nil, 502, record.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			response := upstream.Text(c.status, "application/json", string(c.body))
			response.Header = append(response.Header, upstream.Field{Name: "Content-Encoding", Value: c.encoding})
			r.up.Script(upstream.Always(response))
			a := r.call("POST", "/v1/chat/completions", hello, r.custom()...)
			if a.StatusCode != c.want || a.Header.Get("content-encoding") != "" && c.encoding != "identity" || !strings.HasPrefix(a.Text, "{") {
				t.Errorf("answered %d %v %q", a.StatusCode, a.Header, a.Text)
			}
			if row := r.journal.one(t); row.Outcome != c.outcome {
				t.Errorf("outcome %s: %s", row.Outcome, fmt.Sprint(row.Error))
			}
		})
	}
}

// What a provider has flushed of a stream is there before it goes on.
func TestUncodedStreamsDoNotWait(t *testing.T) {
	t.Parallel()
	for encoding, enc := range encodings {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			from, to := io.Pipe()
			w, r, received := enc(to), record.Uncode(from, encoding), make(chan struct{})
			defer r.Close()
			go func() {
				for _, part := range []string{"one", "two"} {
					_, _ = w.Write([]byte(part)) // a failure is the reader's, too
					_ = w.(interface{ Flush() error }).Flush()
					<-received
				}
				_ = w.Close()
				_ = to.Close()
			}()
			for _, part := range []string{"one", "two"} {
				got := make([]byte, len(part))
				if _, err := io.ReadFull(r, got); err != nil || string(got) != part {
					t.Fatalf("%q %v", got, err)
				}
				received <- struct{}{}
			}
			if rest, err := io.ReadAll(r); len(rest) > 0 || err != nil {
				t.Errorf("behind the end: %q %v", rest, err)
			}
		})
	}
}

// A client cannot hide a response that is passed through from the guardrails by requesting an encoding:
// neither a whole one nor a stream.
func TestGuardrails_ReadEncodedResponsesThatArePassedThrough(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ contentType, text string }{
		"whole":  {"application/json", `{"choices":[{"message":{"role":"assistant","content":"a forbidden text"}}]}`},
		"stream": {"text/event-stream", `data: {"choices":[{"index":0,"delta":{"content":"a forbidden text"}}]}` + "\n\ndata: [DONE]\n\n"},
	} {
		for encoding, encode := range encodings {
			r := newRig(t)
			var packed bytes.Buffer
			w := encode(&packed)
			_, _ = io.WriteString(w, c.text)
			_ = w.Close()
			response := upstream.JSON(200, packed.Bytes())
			response.Header = []upstream.Field{{Name: "Content-Type", Value: c.contentType}, {Name: "Content-Encoding", Value: encoding}}
			r.up.Script(upstream.Always(response))
			body := strings.Replace(hello, "{", fmt.Sprintf(`{"stream":%v,`, name == "stream"), 1)
			a := r.call("POST", "/v1/proxy/v2/chat/completions", body, r.inline(`"output_guardrails":[{"id":"g1","deny":true,`+shorthandRule+`}]`), "accept-encoding: "+encoding)
			if a.Header.Get("content-encoding") != "" || strings.Contains(a.Text, "forbidden text") || strings.Contains(a.Text, packed.String()) || !strings.Contains(r.journal.one(t).Hooks, `"deny":true`) {
				t.Errorf("%s, %s: %d %q", name, encoding, a.StatusCode, a.Text)
			}
			if got := r.up.Seen()[0].Get("accept-encoding"); got != "" {
				t.Errorf("%s, %s: the provider was asked for %q", name, encoding, got)
			}
		}
	}
}
