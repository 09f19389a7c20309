package e2e

import (
	"bufio"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/test/upstream"
	"sluice/internal/test/upstream/scripted"
)

// A call is told to who follows the log, shown with all that is known of it, found by what
// was said in it, and run again at another provider.
func TestOneLog(t *testing.T) {
	t.Parallel()
	g, up, other := start(t), upstream.Start(t), upstream.Start(t)
	other.Script(scripted.Anthropic)
	g.saveProvider("first", up)
	g.saveIntegration("second", "anthropic", other.URL()+"/v1")

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	tail, err := g.send(ctx, "GET", "/v1/logs/stream?ai_org=openai,anthropic", "")
	if err != nil || tail.StatusCode != 200 {
		t.Fatalf("follow the log: %v %+v", err, tail)
	}
	defer tail.Body.Close()
	follow := bufio.NewScanner(tail.Body)
	nextRow := func() gjson.Result {
		t.Helper()
		for follow.Scan() {
			if data, ok := strings.CutPrefix(follow.Text(), "data: "); ok {
				return gjson.Parse(data)
			}
		}
		t.Fatal("the tail ended: ", follow.Err())
		return gjson.Result{}
	}

	id := g.chat("x-gateway-provider: @first", "cookie: s3cr3t", "x-plain: shown").Header.Get("x-gateway-request-id")
	if got := nextRow().Get("id").String(); got != id {
		t.Errorf("the tail tells of %s, want %s", got, id)
	}
	log := g.awaitLog(id)
	for path, want := range map[string]string{
		"request.headers.cookie": "***", "request.headers.x-plain": "shown", "request.gatewayHeaders.x-gateway-provider": "@first",
		"response.headers.x-gateway-request-id": id, "transformedRequest.headers.user-agent": "sluice/" + version, "attempts.#": "1", "attempts.0.id": id, "metrics.source": "gateway",
		"request.body.messages.0.content": "Hello there",
	} {
		if got := log.get(path).String(); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	for _, phase := range []string{"request_parsing", "pre_processing", "connect", "first_byte", "upstream", "response_parsing", "gateway_processing", "total"} {
		if log.get("timings."+phase).Float() <= 0 {
			t.Errorf("%s took no time: %s", phase, log.get("timings"))
		}
	}
	if strings.Contains(log.Body, "s3cr3t") {
		t.Errorf("a cookie is shown: %s", log.Body)
	}
	if found := g.search(`you said: "HELLO there"`); len(found) != 1 || found[0] != id {
		t.Errorf("found %v", found)
	}

	again := g.call("POST", "/v1/logs/"+id+"/replay", `{"model":"@second/claude-sonnet-4-5"}`).want(t, 200)
	if again.get("original.log_id").String() != id || !strings.HasPrefix(again.get("original.text").String(), "You said") ||
		again.get("replay.status").Int() != 200 || again.get("replay.text").String() == "" || again.get("replay.cost").Float() <= 0 || !again.get("comparable").Bool() || again.get("differences.#").Int() == 0 {
		t.Errorf("replay %s", again.Body)
	}
	second := again.get("replay.log_id").String()
	if row := nextRow(); row.Get("id").String() != second || row.Get("replay_of").String() != id {
		t.Errorf("the tail tells of %s", row)
	}
	log = g.awaitLog(second)
	if log.get("metrics.source").String() != "replay" || log.get("metrics.replay_of").String() != id || log.get("metrics.cost").Float() != again.get("replay.cost").Float() ||
		log.get("request.body.max_tokens").Exists() || !log.get("transformedRequest.body.max_tokens").Exists() || !log.get("response.body.choices").Exists() || !log.get("originalResponse.body.content").Exists() {
		t.Errorf("the log of the replay: %s", log.Body)
	}
}
