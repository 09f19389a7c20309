package gateway_test

import (
	"strings"
	"testing"

	"sluice/internal/domain/credential"
	"sluice/internal/test/upstream"
)

const (
	profileARN       = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2"
	escapedARN       = "arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fa1b2"
	profileResponse  = `{"models":[{"modelArn":"arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-haiku-20240307-v1:0"}]}`
	claudeResponse   = `{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[{"type":"text","text":"Hello"}],"stop_reason":"end_turn","usage":{"input_tokens":4,"output_tokens":2}}`
	converseResponse = `{"output":{"message":{"role":"assistant","content":[{"text":"Hello"}]}},"stopReason":"end_turn","usage":{"inputTokens":4,"outputTokens":2,"totalTokens":6}}`
	askOfProfile     = `{"model":"` + profileARN + `","max_tokens":64,"top_k":5,"user":"u-1","messages":[{"role":"user","content":"Hello there"}]}`
	profilePath      = "/inference-profiles/" + escapedARN
)

// bedrock are the headers that send a call to the rig's upstream as if it were Bedrock.
func (r *rig) bedrock() []string {
	return []string{
		"x-gateway-provider: bedrock", "x-gateway-aws-access-key-id: AKIA", "x-gateway-aws-secret-access-key: s", "x-gateway-aws-region: us-east-1",
		"x-gateway-custom-host: " + r.up.URL(),
	}
}

// requestedPaths are the paths that the rig's upstream was asked for.
func (r *rig) requestedPaths() string {
	var out []string
	for _, s := range r.up.Seen() {
		out = append(out, strings.ReplaceAll(s.Target, escapedARN, "ARN"))
	}
	return strings.Join(out, " ")
}

// The model behind a profile is asked for once, and decides how it is spoken to; the
// profile's own name stays in the address.
func TestProfile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.up.Handle(profilePath, upstream.Always(upstream.JSON(200, []byte(profileResponse))))
	r.up.Handle("/model/"+escapedARN+"/converse", upstream.Always(upstream.JSON(200, []byte(converseResponse))))
	r.up.Handle("/model/"+escapedARN+"/invoke", upstream.Always(upstream.JSON(200, []byte(claudeResponse))))
	if a := r.call("POST", "/v1/chat/completions", askOfProfile, r.bedrock()...); a.StatusCode != 200 || a.Header.Get("x-gateway-dropped-params") != "" {
		t.Fatalf("%d dropped %q: %s", a.StatusCode, a.Header.Get("x-gateway-dropped-params"), a.Text)
	}
	body := string(r.up.Seen()[1].Body)
	if !strings.Contains(body, `"additionalModelRequestFields":{"top_k":5,"metadata":{"user_id":"u-1"}}`) {
		t.Errorf("sent %s", body)
	}
	if a := r.call("POST", "/v1/messages", strings.Replace(askOfProfile, `"user":"u-1",`, "", 1), r.bedrock()...); a.StatusCode != 200 || !strings.Contains(a.Text, `"id":"msg_1"`) {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if got := r.requestedPaths(); got != "/inference-profiles/ARN /model/ARN/converse /model/ARN/invoke" {
		t.Errorf("asked for %s", got)
	}
}

// A credential that may not look at a profile may still call it: the call goes on, as one
// to a model of no known family. A saved provider is not asked again at once.
func TestProfileUntold(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.dir.accounts["aws"] = &credential.Account{Slug: "aws", Spec: "bedrock", Status: "active", AllModels: true, Values: map[string]string{
		"aws_access_key_id": "AKIA", "aws_secret_access_key": "s", "aws_region": "us-east-1", "custom_host": r.up.URL(),
	}}
	r.up.Handle(profilePath, upstream.Always(upstream.JSON(403, []byte(`{"message":"not authorized to perform bedrock:GetInferenceProfile"}`))))
	r.up.Handle("/model/"+escapedARN+"/converse", upstream.Always(upstream.JSON(200, []byte(converseResponse))))
	saved := strings.Replace(askOfProfile, `"arn:`, `"@aws/arn:`, 1)
	for _, call := range []struct {
		body    string
		headers []string
	}{{askOfProfile, r.bedrock()}, {askOfProfile, r.bedrock()}, {saved, nil}, {saved, nil}} {
		a := r.call("POST", "/v1/chat/completions", call.body, call.headers...)
		if a.StatusCode != 200 || a.Header.Get("x-gateway-dropped-params") != "user" || !strings.Contains(a.Text, "Hello") {
			t.Errorf("%d dropped %q: %s", a.StatusCode, a.Header.Get("x-gateway-dropped-params"), a.Text)
		}
	}
	const asks, calls = "/inference-profiles/ARN ", "/model/ARN/converse"
	if got := r.requestedPaths(); got != asks+calls+" "+asks+calls+" "+asks+calls+" "+calls {
		t.Errorf("asked for %s", got)
	}
}
