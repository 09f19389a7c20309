package gateway_test

import (
	"errors"
	"strings"
	"testing"

	"sluice/internal/domain/keys"
	"sluice/internal/domain/providerjob"
	"sluice/internal/domain/record"
	"sluice/internal/gateway"
	"sluice/internal/limits/quota"
	"sluice/internal/test/upstream"
)

// A job that the database does not take counts with its maximum at once.
func TestJobWithoutADatabaseCountsWithItsMaximum(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := new(jobTracker)
	store.follow(r)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 10)}})
	r.up.Handle("/v1/videos", upstream.Always(upstream.JSON(200, []byte(`{"id":"video_1","status":"queued"}`))))
	store.Fail(errors.New("no database"))
	if a := r.call("POST", "/v1/videos", `{"model":"sora-2","prompt":"a cat","seconds":"8"}`, r.custom()...); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	row := r.journal.one(t)
	if s := r.limiter.State(r.gateway.Clock.Now(), &plan.Budgets[0]); s.Used != 8*100_000_000 || s.Held != 0 || row.Spend.Cost != s.Used || row.Spend.State != "unknown" {
		t.Errorf("%+v, on record as %+v", s, row.Spend)
	}
}

// Where nobody knows whether a job began, or under which name, it counts with its maximum.
func TestJobWithoutANameCountsWithItsMaximum(t *testing.T) {
	t.Parallel()
	const video = `{"model":"sora-2","prompt":"a cat","seconds":"8"}`
	const maxCost = 8 * 100_000_000
	broken := upstream.JSON(200, []byte(`{"id":"video_1"`))
	broken.Claim = 500
	for name, response := range map[string]upstream.Response{
		"no id":           upstream.JSON(200, []byte(`{"status":"queued"}`)),
		"a broken answer": broken,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			store := new(jobTracker)
			store.follow(r)
			plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 10)}})
			r.up.Handle("/v1/videos", upstream.Always(response))
			r.tryCall("/v1/videos", video, r.custom()...)
			row := r.journal.one(t)
			if row.Spend.Cost != maxCost || row.Spend.State != "unknown" || len(store.Jobs()) != 0 {
				t.Errorf("%s %+v, %d jobs", row.Outcome, row.Spend, len(store.Jobs()))
			}
			if s := r.limiter.State(r.gateway.Clock.Now(), &plan.Budgets[0]); s.Used != maxCost || s.Held != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}

// An error of the provider costs nothing, and a try again holds one job alone.
func TestJobThatIsRefusedCostsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := new(jobTracker)
	store.follow(r)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 10)}})
	tries := 0
	r.up.Handle("/v1/videos", func(upstream.Seen) *upstream.Response {
		response := upstream.JSON(500, []byte(`{"error":{"message":"no"}}`))
		if tries++; tries == 2 {
			response = upstream.JSON(200, []byte(`{"id":"video_1","status":"queued"}`))
		}
		return &response
	})
	config := `x-gateway-config: {"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1","retry":{"attempts":2,"on_status_codes":[500]}}`
	if a := r.call("POST", "/v1/videos", `{"model":"sora-2","prompt":"a cat","seconds":"4"}`, config); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if s := r.limiter.State(r.gateway.Clock.Now(), &plan.Budgets[0]); s.Used+store.Used(r.keyID()+"/cost") != 4*100_000_000 || s.Held != 0 || len(store.Jobs()) != 1 {
		t.Errorf("%+v, %d jobs", s, len(store.Jobs()))
	}
	tries = 5
	r.call("POST", "/v1/videos", `{"model":"sora-2","prompt":"a cat","seconds":"4"}`, r.custom()...)
	if s := r.limiter.State(r.gateway.Clock.Now(), &plan.Budgets[0]); s.Used+store.Used(r.keyID()+"/cost") != 4*100_000_000 || s.Held != 0 || len(store.Jobs()) != 1 {
		t.Errorf("after an error: %+v, %d jobs", s, len(store.Jobs()))
	}
}

// What a config sets counts, whatever the caller sent; a body that is not read is refused.
func TestJobIsHeldAsItIsSent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := new(jobTracker)
	store.follow(r)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 10)}})
	r.up.Handle("/v1/videos", upstream.Always(upstream.JSON(200, []byte(`{"id":"video_1","status":"queued"}`))))
	config := `x-gateway-config: {"provider":"openai","api_key":"k","custom_host":"` + r.up.URL() + `/v1","override_params":{"seconds":"12"}}`
	if a := r.call("POST", "/v1/videos", `{"model":"sora-2","prompt":"a cat","seconds":"4"}`, config); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if s := r.limiter.State(r.gateway.Clock.Now(), &plan.Budgets[0]); s.Used+s.Held != 0 || store.Used(r.keyID()+"/cost") != 12*100_000_000 {
		t.Errorf("%+v", s)
	}
	before := r.up.Total()
	if a := r.call("POST", "/v1/videos", `{"model":"sora-2","seconds":"4"}`, r.custom("content-type: application/octet-stream")...); a.StatusCode != 412 || r.up.Total() != before {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
}

// UNPRICED_MODELS=allow lets a job of a model without a price through, and no other job
// without a maximum.
func TestUnpricedJobMayBeAllowed(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(s *gateway.Settings) { s.AllowUnpriced = true })
	store := new(jobTracker)
	store.follow(r)
	r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 10)}})
	r.up.Handle("/v1/videos", upstream.Always(upstream.JSON(200, []byte(`{"id":"video_1","status":"queued"}`))))
	if a := r.call("POST", "/v1/videos", `{"model":"own-video","prompt":"a cat"}`, r.custom()...); a.StatusCode != 200 || len(store.Jobs()) != 1 {
		t.Errorf("%d %s", a.StatusCode, a.Text)
	}
	if a := r.call("POST", "/v1/batches", createBatch, r.custom()...); a.StatusCode != 412 {
		t.Errorf("a batch of an unknown file: %d %s", a.StatusCode, a.Text)
	}
}

// Bedrock takes the model of a batch with the call and the requests from a file in S3, which
// the gateway wrote in Amazon's format when it was uploaded.
func TestBatchOfBedrock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := new(jobTracker)
	store.follow(r)
	plan := r.limited(keys.Kind, r.keyID(), quota.Limits{Budgets: []quota.Budget{budget(quota.Cost, 10)}})
	const arn = "arn:aws:bedrock:us-east-1:123456789012:model-invocation-job/abc"
	r.up.Handle("/b/rows.jsonl", upstream.Always(upstream.JSON(200, nil)))
	r.up.Handle("/model-invocation-job", upstream.Always(upstream.JSON(200, []byte(`{"jobArn":"`+arn+`"}`))))
	aws := []string{"x-gateway-provider: bedrock", "x-gateway-custom-host: " + r.up.URL(), "x-gateway-aws-access-key-id: AKID", "x-gateway-aws-secret-access-key: secret", "x-gateway-aws-region: us-east-1", "x-gateway-aws-s3-bucket: b", "x-gateway-aws-s3-object-key: rows.jsonl", "x-gateway-aws-bedrock-model: amazon.nova-lite-v1:0"}
	form := "--x\r\ncontent-disposition: form-data; name=\"purpose\"\r\n\r\nbatch\r\n--x\r\ncontent-disposition: form-data; name=\"file\"; filename=\"rows.jsonl\"\r\n\r\n" + strings.ReplaceAll(twoLines(requestLine), "gpt-4o-mini", "amazon.nova-lite-v1:0") + "\r\n--x--\r\n"
	up := r.call("POST", "/v1/files", form, append(aws, "content-type: multipart/form-data; boundary=x")...)
	if up.StatusCode != 200 {
		t.Fatalf("upload: %d %s", up.StatusCode, up.Text)
	}
	a := r.call("POST", "/v1/batches", `{"model":"amazon.nova-lite-v1:0","input_file_id":"s3%3A%2F%2Fb%2Frows.jsonl","endpoint":"/v1/chat/completions","completion_window":"24h","role_arn":"arn:aws:iam::1:role/r"}`, aws...)
	if a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	open := store.Jobs()
	if len(open) != 1 || open[0].UpstreamID != arn || open[0].MaxCostNano < 2*100*120 || open[0].Kind != providerjob.Batch {
		t.Fatalf("%+v", open)
	}
	if s := r.limiter.State(r.gateway.Clock.Now(), &plan.Budgets[0]); s.Used+store.Used(r.keyID()+"/cost") != open[0].MaxCostNano {
		t.Errorf("%+v", s)
	}
	job := `{"jobArn":"` + arn + `","modelId":"amazon.nova-lite-v1:0","status":"Stopped","inputDataConfig":{"s3InputDataConfig":{"s3Uri":"s3://b/rows.jsonl"}},"outputDataConfig":{"s3OutputDataConfig":{"s3Uri":"s3://b/out/"}},"totalRecordCount":2,"successRecordCount":1}`
	for _, path := range []string{"/model-invocation-job/" + arn, "/model-invocation-job/" + strings.NewReplacer(":", "%3A", "/", "%2F").Replace(arn)} {
		r.up.Handle(path, upstream.Always(upstream.JSON(200, []byte(job))))
	}
	r.up.Handle("/b/out/abc/rows.jsonl.out", upstream.Always(upstream.JSON(200, []byte(`{"recordId":"1","modelInput":{},"modelOutput":{"output":{"message":{"role":"assistant","content":[{"text":"Hi."}]}},"stopReason":"end_turn","usage":{"inputTokens":1000,"outputTokens":40,"totalTokens":1040}}}`+"\n"))))
	store.turn(t, r)
	rows := r.journal.all()
	last := rows[len(rows)-1]
	if last.Outcome != record.OK || last.Spend.Cost != 1000*30+40*120 || last.Spend.State != "settled" {
		t.Errorf("%s %+v %s", last.Outcome, last.Spend, last.Error)
	}
}

// A batch that is passed through, in Mistral's paths and states, is held and billed alike.
func TestBatchThatIsPassedThrough(t *testing.T) {
	t.Parallel()
	w := newWorks(t, "openai")
	plan := w.budget(1)
	w.up.handle("GET /v1/files/file-in/content", twoLines(requestLine))
	w.up.handle("POST /v1/batch/jobs", `{"id":"job-1","object":"batch","status":"QUEUED"}`)
	w.up.handle("GET /v1/batch/jobs/job-1", `{"id":"job-1","object":"batch","status":"SUCCESS","output_file":"file-out"}`)
	w.up.handle("GET /v1/files/file-out/content", twoLines(resultLine))
	if a := w.call("POST", "/v1/batch/jobs", `{"input_files":["file-in"],"model":"gpt-4o-mini","endpoint":"/v1/chat/completions"}`, savedWorks); a.StatusCode != 200 {
		t.Fatalf("%d %s", a.StatusCode, a.Text)
	}
	if held := w.used(plan); held < 2*100*300 {
		t.Errorf("%d is held", held)
	}
	w.turn()
	if last := w.journal.some(t, 2)[1]; last.Spend.Cost != 2*lineCost || w.used(plan) != 2*lineCost {
		t.Errorf("%+v, used %d", last.Spend, w.used(plan))
	}
}
