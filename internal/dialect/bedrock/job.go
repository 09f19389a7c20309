package bedrock

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/dialect/pagination"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// nullJSON is the value of fields that have no value yet.
var nullJSON = []byte("null")

// epoch reads a time of the control plane, "2026-11-20T10:00:00Z" or a number of seconds, as epoch
// seconds; 0 when it is missing.
func epoch(raw []byte) int64 {
	if parsed, err := time.Parse(time.RFC3339, plain(raw)); err == nil {
		return parsed.Unix()
	}
	var seconds float64
	if json.Unmarshal(raw, &seconds) != nil {
		return 0
	}
	return int64(seconds)
}

// writeTime writes a time, null when it is missing.
func writeTime(w *jsonwriter.Writer, name string, raw []byte) {
	if t := epoch(raw); t != 0 {
		w.Int(name, t)
		return
	}
	w.Raw(name, nullJSON)
}

// merged returns the caller's members in Amazon's format and then the gateway's members that the
// caller did not set. For protected members, such as the model, the gateway's value always wins. The
// caller must not be able to select a model that it has no permission to use.
func merged(clientParams, gatewayParams []byte, protected ...string) []byte {
	var w jsonwriter.Writer
	w.Open('{')
	for name, val := range jsonedit.Members(clientParams) {
		if !slices.Contains(protected, plain(name)) {
			w.Raw(bare(name), val)
		}
	}
	for name, val := range jsonedit.Members(gatewayParams) {
		if _, taken := jsonedit.Find(clientParams, plain(name)); !taken || slices.Contains(protected, plain(name)) {
			w.Raw(bare(name), val)
		}
	}
	w.Close('}')
	return w.B
}

// fileParam reads the file id in a parameter of the request.
func fileParam(t *llm.FieldTracker, param string) (p s3Object, ok bool, err error) {
	raw, ok := t.Consume(param)
	if !ok {
		return p, false, nil
	}
	p, err = parseS3Object(plain(raw), param)
	return p, true, err
}

// outputConfig returns the destination of the results: the caller's own object, or the location that
// the caller set, or the folder of the input.
func outputConfig(t *llm.FieldTracker, input s3Object, param string) []byte {
	raw, ok := t.Consume(param)
	if ok && raw[0] == '{' {
		return raw
	}
	if ok {
		return jsonedit.Quote(unescape(plain(raw)))
	}
	return jsonedit.Quote(input.folder())
}

// jobInput returns what every new job needs: the file with its input, from a parameter of the
// request, and the role. A job needs a model, too.
func jobInput(t *llm.FieldTracker, param string, to *dialect.Target) (input s3Object, role []byte, err error) {
	input, ok, err := fileParam(t, param)
	switch {
	case err != nil:
		return input, nil, err
	case !ok:
		return input, nil, fault.New(fault.InvalidParameter, param+" is required; send it in the request body").WithParam(param)
	case to.Model == "":
		return input, nil, fault.New(fault.InvalidParameter, "model is required; send it in the request body").WithParam("model")
	}
	role, err = roleARN(t)
	return input, role, err
}

// roleARN returns the role with which Amazon reads and writes the files.
func roleARN(t *llm.FieldTracker) ([]byte, error) {
	raw, ok := t.Consume("role_arn")
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "role_arn is required; send the ARN of a role that can read and write the files").WithParam("role_arn")
	}
	return raw, nil
}

// pages returns the pagination of a list of jobs in the given member. Query parameters that OpenAI
// does not have, such as statusEquals, are forwarded to Amazon.
// Source: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListModelInvocationJobs.html
// and API_ListModelCustomizationJobs.html, read 2026-11, both of which give up to 1000.
func pages(member string, write func(w *jsonwriter.Writer, raw []byte)) *pagination.Pages {
	return &pagination.Pages{
		Items: member, Token: "nextToken", Size: "maxResults", After: "nextToken", Usual: 20, MaxLimit: 1000, ItemsRequired: true, ForwardUnknownParams: true,
		IsID: func(after string) bool { return strings.HasPrefix(after, "arn:") }, Plain: unescape, Write: write,
	}
}

// one writes a job.
func one(body []byte, write func(w *jsonwriter.Writer, raw []byte)) (*dialect.Response, error) {
	if _, err := created(body); err != nil {
		return nil, err
	}
	var w jsonwriter.Writer
	write(&w, body)
	return &dialect.Response{Body: w.B}, nil
}

// cancelled returns the response for a cancelled job. Bedrock does not describe such a job.
// Source: contract/provider-transforms.md 12.
func cancelled(object, id string) *dialect.Response {
	var w jsonwriter.Writer
	w.Open('{')
	w.Str("status", "success")
	w.Str("object", object)
	w.Str("id", escape(unescape(id)))
	w.Close('}')
	return &dialect.Response{Body: w.B}
}

// created returns the ARN of a job.
func created(body []byte) (string, error) {
	if arn := jsonedit.Text(body, "jobArn"); arn != "" {
		return arn, nil
	}
	return "", fault.New(fault.UpstreamInvalid, "the provider response does not contain the job ARN")
}
