package dialect_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/internal/dialect"
	"sluice/internal/kernel/llm"
)

// The chunks of a chat as OpenAI sends them when usage was asked for.
const (
	chunkRole  = `data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}` + "\n\n"
	chunkHello = `data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"delta":{"content":"Grü\u00dfe, \"usage\":null"},"finish_reason":null}],"usage":null}` + "\n\n"
	chunkStop  = `data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini-2024-07-18","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}` + "\n\n"
	chunkUsage = `data: {"id":"chatcmpl-9","object":"chat.completion.chunk","created":1,"model":"gpt-4o-mini-2024-07-18","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15,"prompt_tokens_details":{"cached_tokens":8,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":1}}}` + "\n\n"
	done       = "data: [DONE]\n\n"
)

const chatStream = ": hello\n\n" + chunkRole + chunkHello + chunkStop + chunkUsage + done

var chatUsage = llm.Usage{InputTokens: 12, OutputTokens: 3, TotalTokens: 15, CachedTokens: 8, ReasoningTokens: 1, Reported: true}

// hidden is a stream as the caller sees it who did not ask for usage.
func hidden(s string) string {
	s = strings.ReplaceAll(s, chunkUsage, "")
	return strings.ReplaceAll(s, `}],"usage":null}`, `}]}`)
}

// relay feeds a stream in the given pieces and returns what was relayed.
func relay(o dialect.StreamOptions, chunks ...string) (string, dialect.StreamEnd) {
	s := dialect.NewStream(o)
	var out strings.Builder
	for _, p := range chunks {
		out.Write(s.Feed([]byte(p)))
	}
	end := s.End()
	out.Write(end.Tail)
	end.Tail = nil
	return out.String(), end
}

func TestStreamPlain(t *testing.T) {
	t.Parallel()
	crlf := strings.ReplaceAll(chatStream, "\n", "\r\n")
	for _, c := range []struct {
		name   string
		opt    dialect.StreamOptions
		stream string
		want   dialect.StreamEnd
	}{
		{"chat", dialect.StreamOptions{Endpoint: llm.ChatComplete}, chatStream,
			dialect.StreamEnd{Done: true, Finished: true, Usage: chatUsage, Model: "gpt-4o-mini-2024-07-18", ID: "chatcmpl-9", Events: 5}},
		{"chat with line feeds of Windows", dialect.StreamOptions{Endpoint: llm.ChatComplete}, crlf,
			dialect.StreamEnd{Done: true, Finished: true, Usage: chatUsage, Model: "gpt-4o-mini-2024-07-18", ID: "chatcmpl-9", Events: 5}},
		{"chat with carriage returns", dialect.StreamOptions{Endpoint: llm.ChatComplete}, strings.ReplaceAll(chatStream, "\n", "\r"),
			dialect.StreamEnd{Done: true, Finished: true, Usage: chatUsage, Model: "gpt-4o-mini-2024-07-18", ID: "chatcmpl-9", Events: 5}},
		{"chat without a last line end", dialect.StreamOptions{Endpoint: llm.ChatComplete}, strings.TrimRight(chatStream, "\n"),
			dialect.StreamEnd{Done: true, Finished: true, Mid: true, Usage: chatUsage, Model: "gpt-4o-mini-2024-07-18", ID: "chatcmpl-9", Events: 5}},
		{"cut between events", dialect.StreamOptions{Endpoint: llm.ChatComplete}, chunkRole + chunkHello,
			dialect.StreamEnd{Model: "gpt-4o-mini-2024-07-18", ID: "chatcmpl-9", Events: 2}},
		{"cut inside an event", dialect.StreamOptions{Endpoint: llm.ChatComplete}, chunkRole + chunkUsage[:80],
			dialect.StreamEnd{Mid: true, Model: "gpt-4o-mini-2024-07-18", ID: "chatcmpl-9", Events: 1}},
		{"an empty stream", dialect.StreamOptions{Endpoint: llm.ChatComplete}, "", dialect.StreamEnd{}},
		{"an error event", dialect.StreamOptions{Endpoint: llm.ChatComplete}, chunkRole + `data: {"error":{"message":"no capacity","type":"overloaded_error","code":"529"}}` + "\n\n",
			dialect.StreamEnd{Failed: true, UpstreamError: "no capacity", Status: 529, Model: "gpt-4o-mini-2024-07-18", ID: "chatcmpl-9", Events: 2}},
		{"an error that is null", dialect.StreamOptions{Endpoint: llm.ChatComplete}, `data: {"error":null,"choices":[]}` + "\n\n" + done,
			dialect.StreamEnd{Done: true, Events: 2}},
		{"usage under x_groq", dialect.StreamOptions{Endpoint: llm.CreateTranscription, Rules: dialect.ResponseRules{UsagePath: "x_groq.usage"}}, `data: {"x_groq":{"id":"r","usage":{"prompt_tokens":3,"completion_tokens":4}}}` + "\n\n" + done,
			dialect.StreamEnd{Done: true, Events: 2, Usage: llm.Usage{InputTokens: 3, OutputTokens: 4, TotalTokens: 7, Reported: true}}},
		{"usage in a choice", dialect.StreamOptions{Endpoint: llm.ChatComplete}, `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":4}}]}` + "\n\n" + done,
			dialect.StreamEnd{Done: true, Finished: true, Events: 2, Usage: llm.Usage{InputTokens: 3, OutputTokens: 4, TotalTokens: 7, Reported: true}}},
		{"a mark of the order of bytes", dialect.StreamOptions{Endpoint: llm.ChatComplete}, "\ufeff" + chatStream,
			dialect.StreamEnd{Done: true, Finished: true, Usage: chatUsage, Model: "gpt-4o-mini-2024-07-18", ID: "chatcmpl-9", Events: 5}},
		{"responses", dialect.StreamOptions{Endpoint: llm.CreateModelResponse},
			"event: response.created\n" + `data: {"type":"response.created","response":{"id":"resp_1","model":"gpt-4.1","error":null,"usage":null}}` + "\n\n" +
				"event: response.output_text.delta\n" + `data: {"type":"response.output_text.delta","delta":"Hi"}` + "\n\n" +
				"event: response.completed\n" + `data: {"type":"response.completed","response":{"id":"resp_1","model":"gpt-4.1","output":[],"service_tier":"flex","usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":2},"output_tokens":6,"output_tokens_details":{"reasoning_tokens":4},"total_tokens":11}}}` + "\n\n",
			dialect.StreamEnd{Done: true, Model: "gpt-4.1", Events: 3, Sequence: 3, Usage: llm.Usage{InputTokens: 5, OutputTokens: 6, TotalTokens: 11, CachedTokens: 2, ReasoningTokens: 4, Tier: "flex", Reported: true}}},
		{"a response that failed", dialect.StreamOptions{Endpoint: llm.CreateModelResponse},
			"event: response.failed\n" + `data: {"type":"response.failed","response":{"id":"resp_1","error":{"code":"server_error","message":"it broke"},"usage":null}}` + "\n\n",
			dialect.StreamEnd{Done: true, Failed: true, UpstreamError: "it broke", Status: 500, Sequence: 1, Events: 1}},
		{"messages", dialect.StreamOptions{Endpoint: llm.Messages},
			"event: message_start\n" + `data: {"type":"message_start","message":{"id":"msg_1","model":"claude-sonnet-4","usage":{"input_tokens":10,"cache_read_input_tokens":100,"cache_creation_input_tokens":20,"output_tokens":1}}}` + "\n\n" +
				"event: content_block_delta\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}` + "\n\n" +
				"event: message_delta\n" + `data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}` + "\n\n" +
				"event: message_stop\n" + `data: {"type":"message_stop"}` + "\n\n",
			dialect.StreamEnd{Done: true, Model: "claude-sonnet-4", Events: 4, Usage: llm.Usage{InputTokens: 130, OutputTokens: 15, TotalTokens: 145, CachedTokens: 100, CacheWriteTokens: 20, Reported: true}}},
		{"messages that fail", dialect.StreamOptions{Endpoint: llm.Messages}, "event: error\n" + `data: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}` + "\n\n",
			dialect.StreamEnd{Failed: true, UpstreamError: "Overloaded", Status: 529, Events: 1}},
		{"a transcription", dialect.StreamOptions{Endpoint: llm.CreateTranscription},
			`data: {"type":"transcript.text.delta","delta":"I see"}` + "\n\n" + `data: {"type":"transcript.text.done","text":"I see","usage":{"type":"tokens","input_tokens":14,"input_token_details":{"text_tokens":0,"audio_tokens":14},"output_tokens":45,"total_tokens":59}}` + "\n\n",
			dialect.StreamEnd{Done: true, Events: 2, Usage: llm.Usage{InputTokens: 14, OutputTokens: 45, TotalTokens: 59, InputAudioTokens: 14, Reported: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, chunks := range [][]string{{c.stream}, strings.Split(c.stream, ""), strings.SplitAfter(c.stream, "\n")} {
				out, end := relay(c.opt, chunks...)
				if out != c.stream && c.opt.Rules.UsagePath == "" {
					t.Fatalf("relayed\n%q\nwant\n%q", out, c.stream)
				}
				if d := cmp.Diff(c.want, end); d != "" {
					t.Fatalf("the end differs in %d pieces (-want +got):\n%s", len(chunks), d)
				}
			}
		})
	}
}

func TestStreamPlainRelaysTheVeryBytesWithoutAllocating(t *testing.T) {
	reads := [][]byte{[]byte(chunkRole), []byte(chunkHello + chunkHello), []byte(chunkHello[:70]), []byte(chunkHello[70:]), []byte(chunkUsage)}
	s := dialect.NewStream(dialect.StreamOptions{Endpoint: llm.ChatComplete})
	feed := func() {
		for _, p := range reads {
			if out := s.Feed(p); &out[0] != &p[0] || len(out) != len(p) {
				t.Fatal("the bytes that are relayed are not those that came")
			}
		}
	}
	feed()
	if n := testing.AllocsPerRun(100, feed); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestHideUsage(t *testing.T) {
	t.Parallel()
	opt := dialect.StreamOptions{Endpoint: llm.ChatComplete, HideUsage: true}
	azure := `data: {"choices":[],"prompt_filter_results":[{"prompt_index":0}],"usage":null}` + "\n\n"
	habit := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}` + "\n\n"
	for _, c := range []struct{ name, input, want string }{
		{"OpenAI", chatStream, hidden(chatStream)},
		{"a first event of Azure stays", azure, strings.Replace(azure, `,"usage":null`, "", 1)},
		{"usage on a chunk with a choice stays", habit, habit},
		{"white space around", "data:{ \"choices\" : [ ] ,\r\ndata: x\n\ndata: {\"usage\" : null , \"choices\":[1]}\n\n", "data:{ \"choices\" : [ ] ,\r\ndata: x\n\ndata: {\"choices\":[1]}\n\n"},
		{"names and ids of a dropped event go with it", "id: 7\nevent: x\ndata: {\"choices\":[],\"usage\":{\"total_tokens\":1}}\n\n" + done, done},
		{"broken JSON is relayed", "data: {\"usage\":null,\n\n", "data: {\"usage\":null,\n\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, chunks := range [][]string{{c.input}, strings.Split(c.input, "")} {
				if out, _ := relay(opt, chunks...); out != c.want {
					t.Fatalf("relayed\n%q\nwant\n%q", out, c.want)
				}
			}
		})
	}
}

func TestHideUsageHoldsNothingThatIsWhole(t *testing.T) {
	t.Parallel()
	s := dialect.NewStream(dialect.StreamOptions{Endpoint: llm.ChatComplete, HideUsage: true})
	if out := string(s.Feed([]byte(chunkRole + chunkHello + chunkStop[:30]))); out != hidden(chunkRole+chunkHello) {
		t.Errorf("relayed %q", out)
	}
	if out := string(s.Feed([]byte(chunkStop[30:]))); out != hidden(chunkStop) {
		t.Errorf("then relayed %q", out)
	}
	s.Feed([]byte(chunkStop[:30]))
	if end := s.End(); len(end.Tail) > 0 || end.Mid {
		t.Errorf("a cut event is relayed: %q, mid %v", end.Tail, end.Mid)
	}
	s = dialect.NewStream(dialect.StreamOptions{Endpoint: llm.ChatComplete, HideUsage: true})
	s.Feed([]byte("data: [DONE]"))
	if end := s.End(); string(end.Tail) != done || !end.Done || end.Mid {
		t.Errorf("a last event without its end is relayed as %q, done %v, mid %v", end.Tail, end.Done, end.Mid)
	}
}

func TestStreamRules(t *testing.T) {
	t.Parallel()
	stop := func(reason string) string {
		return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"
	}
	groq := `data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"x_groq":{"id":"r","usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}}` + "\n\n"
	deltaChunk := func(delta string) string { return `data: {"choices":[{"index":0,"delta":` + delta + `}]}` + "\n\n" }
	lists := deltaChunk(`{"content":"so "}`) + deltaChunk(`{"content": [{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}`) + deltaChunk(`{"content":"a"}`) + deltaChunk(`{"content":[{"type":"text","text":"b"}]}`)
	for _, c := range []struct {
		name        string
		opt         dialect.StreamOptions
		input, want string
		done        bool
	}{
		{"lists become texts", dialect.StreamOptions{Endpoint: llm.ChatComplete, Rules: dialect.ResponseRules{ContentLists: true}}, lists + done,
			deltaChunk(`{"content":"so "}`) + deltaChunk(`{"content":""}`) + deltaChunk(`{"content":"a"}`) + deltaChunk(`{"content":"b"}`) + done, true},
		{"lists become texts and blocks", dialect.StreamOptions{Endpoint: llm.ChatComplete, Rules: dialect.ResponseRules{ContentLists: true, Blocks: true}}, lists + done,
			deltaChunk(`{"content":"so "}`) + deltaChunk(`{"content":"","content_blocks":[{"index":0,"delta":{"thinking":"hm"}}]}`) + deltaChunk(`{"content":"a","content_blocks":[{"index":1,"delta":{"text":"a"}}]}`) +
				deltaChunk(`{"content":"b","content_blocks":[{"index":1,"delta":{"text":"b"}}]}`) + done, true},
		{"finish reasons", dialect.StreamOptions{Endpoint: llm.ChatComplete, Rules: dialect.ResponseRules{FinishReasons: map[string]string{"model_length": "length", "eos": "stop"}}},
			stop("model_length") + stop("tool_calls") + done, stop("length") + stop("tool_calls") + done, true},
		{"extras", dialect.StreamOptions{Endpoint: llm.ChatComplete, Rules: dialect.ResponseRules{Extras: []string{"citations"}}},
			`data: {"citations":["a"],"choices":[{"delta":{"content":"x"}}]}` + "\n\n" + `data: {"citations":["b"],"choices":[{"delta":{"content":"y"}}]}` + "\n\n" + done,
			`data: {"choices":[{"delta":{"content":"x"}}]}` + "\n\n" + `data: {"choices":[{"delta":{"content":"y"}}]}` + "\n\n" + done, true},
		{"usage elsewhere", dialect.StreamOptions{Endpoint: llm.ChatComplete, Rules: dialect.ResponseRules{UsagePath: "x_groq.usage"}},
			groq + done, strings.Replace(groq, "}}}\n", `}},"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`+"\n", 1) + done, true},
		{"an end is added", dialect.StreamOptions{Endpoint: llm.ChatComplete, Rules: dialect.ResponseRules{NoDone: true}}, stop("stop"), stop("stop") + done, true},
		{"an end is added behind a cut line", dialect.StreamOptions{Endpoint: llm.ChatComplete, Rules: dialect.ResponseRules{NoDone: true}}, stop("stop") + ": ping", stop("stop") + ": ping\n\n" + done, true},
		{"an end is not added to a part", dialect.StreamOptions{Endpoint: llm.ChatComplete, Rules: dialect.ResponseRules{NoDone: true}}, stop(""), stop(""), false},
		{"an end is not doubled", dialect.StreamOptions{Endpoint: llm.ChatComplete, Rules: dialect.ResponseRules{NoDone: true}}, stop("stop") + done, stop("stop") + done, true},
		{"ids", dialect.StreamOptions{Endpoint: llm.ChatComplete, ID: "chatcmpl-1"}, chunkHello + done, strings.Replace(chunkHello, "chatcmpl-9", "chatcmpl-1", 1) + done, true},
		{"lines become events", dialect.StreamOptions{Endpoint: llm.ChatComplete, Framing: dialect.Lines}, ": ping\n" + strings.TrimSuffix(stop("stop"), "\n") + "data: [DONE]\n", ": ping\n" + stop("stop") + done, true},
		{"lines that are events already", dialect.StreamOptions{Endpoint: llm.ChatComplete, Framing: dialect.Lines}, stop("stop") + "\n" + done, stop("stop") + "\n" + done, true},
		{"lines without usage", dialect.StreamOptions{Endpoint: llm.ChatComplete, Framing: dialect.Lines, HideUsage: true}, chatStream, hidden(chatStream), true},
		{"other surfaces stay", dialect.StreamOptions{Endpoint: llm.CreateModelResponse, ID: "x", HideUsage: true, Rules: dialect.ResponseRules{FinishReasons: map[string]string{"stop": "end"}}}, stop("stop") + done, stop("stop") + done, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, chunks := range [][]string{{c.input}, strings.Split(c.input, "")} {
				out, end := relay(c.opt, chunks...)
				if out != c.want || end.Done != c.done {
					t.Fatalf("relayed, done %v\n%q\nwant, done %v\n%q", end.Done, out, c.done, c.want)
				}
			}
		})
	}
}

func TestStreamText(t *testing.T) {
	t.Parallel()
	delta := func(d string) string {
		return `data: {"choices":[{"index":0,"delta":` + d + `,"finish_reason":null}]}` + "\n\n"
	}
	text := delta(`{"role":"assistant","content":"","refusal":null}`) + delta(`{"content":"Grü\u00dfe"}`) + delta(`{"content":" aus\nKöln"}`)
	for _, c := range []struct {
		name, input, text string
		only              bool
	}{
		{"text", text, "Grüße aus\nKöln", true},
		{"a tool call", text + delta(`{"tool_calls":[{"index":0,"id":"call_1"}]}`), "Grüße aus\nKöln", false},
		{"reasoning", delta(`{"reasoning_content":"hm"}`) + text, "", false},
		{"empty extras", delta(`{"content":null,"tool_calls":[],"function_call":null}`) + text, "Grüße aus\nKöln", true},
		{"a second choice", text + `data: {"choices":[{"index":1,"delta":{"content":"x"}}]}` + "\n\n", "Grüße aus\nKöln", false},
		{"a cut event is not text", text + delta(`{"content":"!"}`)[:40], "Grüße aus\nKöln", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, end := relay(dialect.StreamOptions{Endpoint: llm.ChatComplete, CollectText: true}, strings.Split(c.input, "")...)
			if end.TextOnly != c.only || c.only && end.Text != c.text {
				t.Errorf("text %q, only %v", end.Text, end.TextOnly)
			}
			if !strings.HasPrefix(c.input, out) || end.Mid {
				t.Errorf("relayed %q, mid %v", out, end.Mid)
			}
		})
	}
	if _, end := relay(dialect.StreamOptions{Endpoint: llm.Complete, CollectText: true}, text); end.TextOnly {
		t.Error("a completion can be continued")
	}
	if _, end := relay(dialect.StreamOptions{Endpoint: llm.ChatComplete}, text); end.TextOnly || end.Text != "" {
		t.Error("text was kept that nobody asked for")
	}
}

func TestStreamLargeEvent(t *testing.T) {
	t.Parallel()
	pad := strings.Repeat("A", 3<<20)
	image := "event: image_generation.completed\n" + `data: {"type":"image_generation.completed","b64_json":"` + pad + `","usage": {"input_tokens":50,"output_tokens":60,"input_tokens_details":{"image_tokens":40},"output_tokens_details":{"image_tokens":30}}}` + "\n\n"
	chat := `data: {"model":"m","choices":[{"index":0,"delta":{"content":"` + pad + `"},"finish_reason":"length"}],"usage":null}` + "\n\n"
	for _, c := range []struct {
		name  string
		opt   dialect.StreamOptions
		input string
		want  dialect.StreamEnd
	}{
		{"an image", dialect.StreamOptions{Endpoint: llm.ImageGenerate}, image,
			dialect.StreamEnd{Done: true, Events: 1, Usage: llm.Usage{InputTokens: 50, OutputTokens: 60, TotalTokens: 110, InputImageTokens: 40, OutputImageTokens: 30, Reported: true}}},
		{"a chat that hides usage", dialect.StreamOptions{Endpoint: llm.ChatComplete, HideUsage: true}, chat + done,
			dialect.StreamEnd{Done: true, Finished: true, Model: "m", Events: 2}},
		{"a chat whose end never comes", dialect.StreamOptions{Endpoint: llm.ChatComplete, HideUsage: true}, chat[:2<<20],
			dialect.StreamEnd{Mid: true, Model: "m", Events: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var chunks []string
			for rest := c.input; rest != ""; rest = rest[min(len(rest), 60000):] {
				chunks = append(chunks, rest[:min(len(rest), 60000)])
			}
			out, end := relay(c.opt, chunks...)
			if out != c.input {
				t.Errorf("relayed %d bytes of %d", len(out), len(c.input))
			}
			if d := cmp.Diff(c.want, end); d != "" {
				t.Errorf("the end differs (-want +got):\n%s", d)
			}
		})
	}
}

func TestStreamSplitsDoNotMatter(t *testing.T) {
	t.Parallel()
	parts := []string{chunkRole, chunkHello, chunkStop, chunkUsage, done, ": ping\n\n", "\n", `data: {"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]}]}}]}` + "\n\n", "event: x\ndata: {\"a\":\ndata: 1}\n\n", strings.ReplaceAll(chunkHello, "\n", "\r\n"), "data\n\n", `data: {"error":"x"}` + "\r\r"}
	rapid.Check(t, func(t *rapid.T) {
		stream := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "parts"), "")
		opt := dialect.StreamOptions{
			Endpoint:  rapid.SampledFrom([]llm.Endpoint{llm.ChatComplete, llm.Messages}).Draw(t, "endpoint"),
			HideUsage: rapid.Bool().Draw(t, "hide"), CollectText: rapid.Bool().Draw(t, "keep"),
			Framing: rapid.SampledFrom([]dialect.Framing{dialect.SSE, dialect.Lines}).Draw(t, "framing"),
			Rules:   dialect.ResponseRules{NoDone: rapid.Bool().Draw(t, "no done"), ContentLists: rapid.Bool().Draw(t, "lists"), Blocks: rapid.Bool().Draw(t, "blocks")},
		}
		full, fullEnd := relay(opt, stream)
		var chunks []string
		for rest := stream; rest != ""; {
			n := rapid.IntRange(1, min(len(rest), 90)).Draw(t, "cut")
			chunks = append(chunks, rest[:n])
			rest = rest[n:]
		}
		cut, cutEnd := relay(opt, chunks...)
		if full != cut || !cmp.Equal(fullEnd, cutEnd) {
			t.Fatalf("%q\nwhole %q\npieces %q\n%s", chunks, full, cut, cmp.Diff(fullEnd, cutEnd))
		}
	})
}

func FuzzStream(f *testing.F) {
	f.Add([]byte(chatStream), uint8(10), uint8(0))
	f.Add([]byte(strings.ReplaceAll(chatStream, "\n", "\r\n")), uint8(1), uint8(1))
	f.Add([]byte("data: {\"usage\":null}\r\rdata:[DONE]\r"), uint8(3), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, step, how uint8) {
		opt := dialect.StreamOptions{Endpoint: llm.ChatComplete, HideUsage: how&1 == 1, CollectText: how&2 == 2}
		if how&4 == 4 {
			opt.Framing = dialect.Lines
		}
		var chunks []string
		for rest := string(b); rest != ""; rest = rest[min(len(rest), int(step)+1):] {
			chunks = append(chunks, rest[:min(len(rest), int(step)+1)])
		}
		full, fullEnd := relay(opt, string(b))
		cut, cutEnd := relay(opt, chunks...)
		if full != cut || !cmp.Equal(fullEnd, cutEnd) {
			t.Fatalf("whole %q\npieces %q\n%s", full, cut, cmp.Diff(fullEnd, cutEnd))
		}
		if how&7 == 0 && full != string(b) {
			t.Fatalf("the plain stream %q became %q", b, full)
		}
	})
}

func BenchmarkStream(b *testing.B) {
	stream := []byte(chunkRole + strings.Repeat(chunkHello, 100) + chunkStop + chunkUsage + done)
	for _, c := range []struct {
		name string
		opt  dialect.StreamOptions
	}{
		{"plain", dialect.StreamOptions{Endpoint: llm.ChatComplete}},
		{"hide usage", dialect.StreamOptions{Endpoint: llm.ChatComplete, HideUsage: true}},
	} {
		b.Run(c.name, func(b *testing.B) {
			events := bytes.SplitAfter(stream, []byte("\n\n"))
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				s := dialect.NewStream(c.opt)
				for _, e := range events {
					s.Feed(e)
				}
			}
		})
	}
}

// A code that is a number is relayed as a string, in whatever pieces the event comes, as long as
// the code itself was not relayed before the event is known to be an error. All other bytes stay.
func TestStreamErrorCodeIsAString(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ep          llm.Endpoint
		input, want string
	}{
		"chat": {llm.ChatComplete, `data: {"error":{"message":"m", "code": 529,"type":"t"}}`, `data: {"error":{"message":"m", "code": "529","type":"t"}}`},
		"chat, inside a chunk": {
			llm.ChatComplete, `data: {"id":"c","choices":[],"error":{"code":502,"message":"m","metadata":{"code":1}},"usage":{"total_tokens":3}}`,
			`data: {"id":"c","choices":[],"error":{"code":"502","message":"m","metadata":{"code":1}},"usage":{"total_tokens":3}}`,
		},
		"messages": {
			llm.Messages, "event: error\ndata: " + `{"type":"error","error":{"type":"api_error","message":"m","code":-1}}`,
			"event: error\ndata: " + `{"type":"error","error":{"type":"api_error","message":"m","code":"-1"}}`,
		},
		"responses": {
			llm.CreateModelResponse, "event: error\ndata: " + `{"type":"error","sequence_number":4,"code":500,"message":"m","param":null}`,
			"event: error\ndata: " + `{"type":"error","sequence_number":4,"code":"500","message":"m","param":null}`,
		},
		"a response that failed": {
			llm.CreateModelResponse, "event: response.failed\ndata: " + `{"type":"response.failed","sequence_number":4,"response":{"id":"r","error":{"code":500,"message":"m"}}}`,
			"event: response.failed\ndata: " + `{"type":"response.failed","sequence_number":4,"response":{"id":"r","error":{"code":"500","message":"m"}}}`,
		},
		"a string already": {llm.ChatComplete, `data: {"error":{"message":"m","code":"529"}}`, `data: {"error":{"message":"m","code":"529"}}`},
	} {
		in, want := chunkRole+c.input+"\n\n", chunkRole+c.want+"\n\n"
		for _, hide := range []bool{false, true} {
			for size := 1; size <= len(in); size++ {
				if hide && c.ep != llm.ChatComplete || !hide && size < len(c.input) && !strings.Contains(c.input[:18], "error") {
					continue // its code was relayed before
				}
				s := dialect.NewStream(dialect.StreamOptions{Endpoint: c.ep, HideUsage: hide})
				var out []byte
				for at := 0; at < len(in); at += size {
					out = append(out, s.Feed([]byte(in[at:min(at+size, len(in))]))...)
				}
				out = append(out, s.End().Tail...)
				if got := strings.Replace(string(out), `,"usage":null`, "", 1); got != strings.Replace(want, `,"usage":null`, "", 1) {
					t.Fatalf("%s, pieces of %d, held %t:\n got %s\nwant %s", name, size, hide, out, want)
				}
			}
		}
	}
}
