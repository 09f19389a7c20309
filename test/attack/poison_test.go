package attack

import (
	"strings"
	"testing"
)

// What a caller writes into the fields of a record, however odd, neither stops the
// request log nor keeps the records behind it from being taken.
func TestPoisonedRecords(t *testing.T) {
	t.Parallel()
	g := start(t)
	odd := []string{"\xff\xfe", "a\xc3", "\xed\xa0\x80", strings.Repeat("é", 100), strings.Repeat("x", 127) + "é", "'; drop table attempts; --"}
	for _, o := range odd {
		for _, name := range []string{"x-gateway-trace-id", "x-gateway-span-id", "x-gateway-span-name", "x-gateway-metadata", "baggage", "x-gateway-provider"} {
			value := o
			switch name {
			case "x-gateway-metadata":
				value = `{"` + o + `":"` + o + `","_user":"` + o + `"}`
			case "baggage":
				value = "k=" + o + ",j=%ff%00%c3"
			}
			g.raw("POST /v1/chat/completions HTTP/1.1\r\nHost: gw\r\nconnection: close\r\n" + strings.Replace(g.to(), name+": openai\r\n", "", 1) + name + ": " + value +
				"\r\ncontent-type: application/json\r\ncontent-length: 76\r\n\r\n" + hello)
		}
		g.raw("GET /v1/x" + o + "?" + o + " HTTP/1.1\r\nHost: gw\r\nconnection: close\r\n" + g.to() + "\r\n")
	}
	for _, body := range []string{
		`{"model":"a\u0000b","user":"\u0000","messages":[{"role":"user","content":"\u0000"}]}`,
		`{"model":"\ud800","user":"\udfff","messages":[{"role":"user","content":"x"}]}`,
		`{"model":"` + strings.Repeat("m", 1<<20) + `","messages":[{"role":"user","content":"x"}]}`,
		`{"model":"m","user":"` + strings.Repeat("é", 100) + `","messages":[{"role":"user","content":"x"}]}`,
	} {
		g.call("POST", "/v1/chat/completions", body, `x-gateway-metadata: {"a":"\u0000","\u0000":"\ud800"}`)
	}
	g.call("POST", "/v1/chat/completions", hello, "x-gateway-trace-id: the-last-one")
	if !g.logged("the-last-one") {
		t.Error("the request log stands still")
	}
	if status, text := g.call("GET", "/v1/health", ""); status != 200 || !strings.Contains(text, `"status":"ok"`) {
		t.Errorf("%d %s", status, text)
	}
}
