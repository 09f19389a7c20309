package e2e

import (
	"bufio"
	"bytes"
	"context"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"sluice/internal/test/upstream"
)

// A credential of a tool server in the body of a call, and in the answer that repeats it,
// reaches the provider and the client, and nothing that the gateway keeps or prints: log,
// followers of the log, export, spans, the journal, any other file, its own output.
func TestCredentialsInBodiesAreNotKept(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-of-a-tool-server"
	collector, sent := collects(t)
	g, up := start(t, collector, with("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=ON")), upstream.Start(t)
	g.saveProvider("main", up)
	const tools = `"tools":[{"type":"mcp","server_label":"s","server_url":"https://t.example/mcp?token=` + secret + `","headers":{"x-api-key":"` + secret + `"},"authorization":"` + secret + `"}]`
	up.Handle("/v1/responses", upstream.Always(upstream.JSON(200, []byte(`{"id":"resp_1","object":"response","status":"completed","model":"gpt-4o-mini","output":[],`+tools+`,"usage":{"input_tokens":4,"output_tokens":2,"total_tokens":6}}`))))

	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	tail, err := g.send(ctx, "GET", "/v1/logs/stream", "")
	require.NoError(t, err)
	defer tail.Body.Close()

	a := g.call("POST", "/v1/responses?token="+secret, `{"model":"gpt-4o-mini","input":"Hi",`+tools+`}`, "x-gateway-provider: @main").want(t, 200)
	assert.Equal(t, 3, strings.Count(a.Body, secret), "what the client got: %s", a.Body)
	assert.Equal(t, 3, strings.Count(string(up.Seen()[0].Body), secret), "what the provider got: %s", up.Seen()[0].Body)
	id := a.Header.Get("x-gateway-request-id")
	custom := g.call("POST", "/v1/logs", `{"request":{"url":"https://api.example/v1/responses?key=`+secret+`","provider":"openai","headers":{"authorization":"`+secret+`"},"body":{"model":"m",`+tools+`}},"response":{"body":{`+tools+`}}}`).want(t, 200)
	began := strconv.FormatInt(time.Now().Add(-time.Minute).UnixNano(), 10)
	g.call("POST", "/v1/otel/v1/traces", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"00f067aa0ba902b7","name":"n","startTimeUnixNano":"`+began+`","endTimeUnixNano":"`+began+`","attributes":[
		{"key":"http.request.header.authorization","value":{"arrayValue":{"values":[{"stringValue":"`+secret+`"}]}}},{"key":"llm.request","value":{"stringValue":`+strconv.Quote("{"+tools+"}")+`}}]}]}]}]}`).want(t, 200)

	log := g.awaitLog(id)
	assert.Equal(t, "*** ***", log.get("request.body.tools.0.headers.x-api-key").String()+" "+log.get("response.body.tools.0.authorization").String(), log.Body)
	eventually(t, logLimit, "all are in the log", func() bool { return len(g.loggedIDs()) == 3 })
	for _, one := range g.loggedIDs() {
		assert.NotContains(t, g.awaitLog(one).Body, secret)
	}
	assert.True(t, g.awaitLog(custom.get("ids.0").String()).get("request.body.tools.0").Exists())
	assert.Empty(t, g.search(secret))
	refused := g.call("POST", "/v1/logs/"+id+"/replay", `{}`)
	assert.Equal(t, 400, refused.Status)
	assert.Contains(t, refused.Body, "tools[0].server_url is masked in the log")

	follow, rows := bufio.NewScanner(tail.Body), 0
	for rows < 3 && follow.Scan() {
		if strings.HasPrefix(follow.Text(), "data: ") {
			rows++
		}
		assert.NotContains(t, follow.Text(), secret)
	}
	select {
	case m := <-sent:
		assert.NotContains(t, m, secret)
		assert.Contains(t, m, `\"authorization\":\"***\"`)
	case <-time.After(60 * time.Second):
		t.Fatal("the collector got nothing")
	}

	order := g.call("POST", "/v1/logs/exports", `{"filters":{},"requested_data":["id","request","response"],"format":"jsonl","compression":"none"}`).want(t, 200)
	path := "/v1/logs/exports/" + order.get("id").String()
	g.call("POST", path+"/start", "").want(t, 200)
	eventually(t, logLimit, "the export is done", func() bool { return g.call("GET", path, "").get("status").String() == "success" })
	link := g.call("GET", path+"/download", "").want(t, 200).get("signed_url").String()
	_, query, _ := strings.Cut(link, "/file?")
	file := g.call("GET", path+"/file?"+query, "").want(t, 200)
	assert.Equal(t, 3, strings.Count(file.Body, "\n"), file.Body)
	assert.NotContains(t, file.Body, secret)
	assert.True(t, gjson.Get(strings.SplitN(file.Body, "\n", 2)[0], "id").Exists())

	g.stop()
	assert.NotContains(t, g.child.out.String()+g.child.err.String(), secret)
	require.NoError(t, filepath.WalkDir(g.dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(name)
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s has the credential", name)
		}
		return err
	}))
}

// Texts of errors and access lines of calls that fail show no credential of a query.
func TestQueriesOfFailedCallsAreNotPrinted(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t-in-a-query"
	g := start(t)
	unreachable := "http://127.0.0.1:9" // nobody listens there
	for _, path := range []string{"/v1/chat/completions", "/v1/unknown/things", "/v1/logs", "/nowhere"} {
		for _, query := range []string{"key", "session", "sas", "bearer"} {
			a := g.call("POST", path+"?"+query+"="+secret, hello, "x-gateway-provider: openai", "authorization: Bearer x", "x-gateway-custom-host: "+unreachable+"/v1?"+query+"="+secret)
			assert.NotContains(t, a.Body, secret, path)
			a = g.call("POST", path+"?"+query+"="+secret, hello, "x-gateway-provider: openai", "authorization: Bearer x", "x-gateway-custom-host: "+unreachable+"/v1")
			assert.NotContains(t, a.Body, secret, path)
			assert.NotEqual(t, http.StatusOK, a.Status)
		}
	}
	for _, one := range g.loggedIDs() {
		assert.NotContains(t, g.awaitLog(one).Body, secret)
	}
	g.stop()
	assert.NotContains(t, g.child.out.String()+g.child.err.String(), secret)
}
