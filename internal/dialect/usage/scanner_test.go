package usage_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/llm"
)

// In whatever pieces a reply comes, a sieve finds what is found in the whole of it.
func TestSieveFindsUsage(t *testing.T) {
	t.Parallel()
	long := strings.Repeat(`a\"}],{\\`, 30_000)
	members := []string{
		`"model":"gpt-4o"`, `"model" : "a\"b\\"`, `"usage":{"prompt_tokens":5,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":2}}`, `"usage":null`,
		`"data":[{"embedding":[1,2,3e-1]},{"usage":{"prompt_tokens":9}}]`, `"usage_info":{"pages_processed":3}`, `"duration":12.5`, `"x":"usage\":{"`,
		"\n \"service_tier\" : \"flex\"", `"response":{"usage":{"input_tokens":4}}`, `"meta":{"billed_units":{"search_units":1}}`, `"text":"` + long + `"`, `"usage":"` + long + `"`, `"":{}`, `"a":[[],{},[{}]]`,
	}
	rapid.Check(t, func(t *rapid.T) {
		body := " {" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(members), 0, 8).Draw(t, "members"), ",") + "}\n"
		ep := rapid.SampledFrom([]llm.Endpoint{llm.ChatComplete, llm.Proxy, llm.Rerank, llm.OCR, llm.CreateTranscription, llm.Messages}).Draw(t, "endpoint")
		var s usage.Scanner
		for rest := body; rest != ""; {
			n := rapid.SampledFrom([]int{1, 2, 3, 7, 64, 1000, 70_000, len(rest)}).Draw(t, "piece")
			n = min(n, len(rest))
			s.Feed([]byte(rest[:n]))
			rest = rest[n:]
		}
		u, model := s.Usage(ep)
		if want, named := usage.Read(ep, []byte(body), ""); u != want || model != named {
			t.Fatalf("%+v of %q, want %+v of %q", u, model, want, named)
		}
	})
}

// A sieve holds little of what passes by, and takes whatever comes.
func TestSieveIsBounded(t *testing.T) { //nolint:paralleltest // counts allocations
	for name, input := range map[string]string{
		"a text": "aaaaaaaaaaaaaaaa", "numbers": "1,2,3,4,", "nesting": "[{", "ends": "}]", "no names": `{"usage":{},`, "usages": `"usage":{"x":"` + strings.Repeat("a", 1000) + `"},`, "backslashes": `"\`,
	} {
		var s usage.Scanner
		s.Feed([]byte(`{"usage":`))
		again := []byte(input)
		few := testing.AllocsPerRun(1, func() {
			for range 20_000 {
				s.Feed(again)
			}
		})
		if few > 40 {
			t.Errorf("%s: %v allocations", name, few)
		}
		s.Usage(llm.ChatComplete)
	}
}

func FuzzSieve(f *testing.F) {
	f.Add([]byte(`{"model":"m","usage":{"prompt_tokens":1}}`), 3)
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		var full, cut usage.Scanner
		full.Feed(body)
		n = min(max(n, 0), len(body))
		cut.Feed(body[:n])
		cut.Feed(body[n:])
		u, m := full.Usage(llm.Proxy)
		if v, o := cut.Usage(llm.Proxy); u != v || m != o {
			t.Errorf("%+v of %q, cut at %d %+v of %q", u, m, n, v, o)
		}
	})
}
