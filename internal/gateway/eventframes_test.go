package gateway_test

import (
	"os"
	"testing"

	"sluice/internal/kernel/llm"
	"sluice/internal/test/upstream"
)

// Streams in Amazon's frames tell what they used as others do, when they are passed through.
func TestFramedStreamsAreBilled(t *testing.T) {
	t.Parallel()
	for path, c := range map[string]struct {
		stream string
		want   llm.Usage
	}{
		"/model/anthropic.claude-3-5-sonnet-20240620-v1%3A0/converse-stream":             {"../dialect/bedrock/testdata/converse.bin", llm.Usage{InputTokens: 465, OutputTokens: 89, TotalTokens: 554, CachedTokens: 40, CacheWriteTokens: 10, Reported: true}},
		"/model/anthropic.claude-3-5-sonnet-20240620-v1%3A0/invoke-with-response-stream": {"../dialect/testdata/invoke.bin", llm.Usage{InputTokens: 12, OutputTokens: 7, TotalTokens: 19, Reported: true}},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			stream, err := os.ReadFile(c.stream)
			if err != nil {
				t.Fatal(err)
			}
			r := newRig(t)
			var response upstream.Response
			response.Header = []upstream.Field{{Name: "Content-Type", Value: "application/vnd.amazon.eventstream"}}
			for ; len(stream) > 0; stream = stream[min(len(stream), 100):] {
				response.Chunks = append(response.Chunks, upstream.Chunk{Bytes: stream[:min(len(stream), 100)]})
			}
			r.up.Handle(path, upstream.Always(response))
			a := r.call("POST", "/v1"+path, `{"messages":[]}`, "x-gateway-provider: bedrock", "x-gateway-aws-region: eu-central-1", "x-gateway-aws-access-key-id: AKIDEXAMPLE", "x-gateway-aws-secret-access-key: secret", "x-gateway-custom-host: "+r.up.URL())
			row := r.journal.one(t)
			if row.Usage != c.want || row.Spend.State != "settled" || row.Spend.Cost <= 0 {
				t.Errorf("%d: %+v, %+v", a.StatusCode, row.Usage, row.Spend)
			}
		})
	}
}

// What says that it is in frames and is not does no harm, whatever its size.
func TestNoFrames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	response := upstream.Text(200, "application/vnd.amazon.eventstream", "")
	response.Chunks = []upstream.Chunk{{Bytes: []byte("data: {\"usage\":{\"inputTokens\":1}}\n\n"), Times: 1000}}
	r.up.Handle("/model/m/invoke", upstream.Always(response))
	a := r.call("POST", "/v1/model/m/invoke", `{}`, "x-gateway-provider: bedrock", "x-gateway-aws-region: eu-central-1", "x-gateway-aws-access-key-id: AKIDEXAMPLE", "x-gateway-aws-secret-access-key: secret", "x-gateway-custom-host: "+r.up.URL())
	if row := r.journal.one(t); a.StatusCode != 200 || len(a.Text) != 35_000 || row.Usage.Reported {
		t.Errorf("%d of %d bytes, %+v", a.StatusCode, len(a.Text), row.Usage)
	}
}
