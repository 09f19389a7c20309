package bedrock

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// nullJSON is what fields hold that have no value yet.
var nullJSON = []byte("null")

// epoch reads a time of the control plane, "2026-11-20T10:00:00Z" or a number of
// seconds; 0 for none.
func epoch(raw []byte) int64 {
	if at, err := time.Parse(time.RFC3339, plain(raw)); err == nil {
		return at.Unix()
	}
	var seconds float64
	if json.Unmarshal(raw, &seconds) != nil {
		return 0
	}
	return int64(seconds)
}

// at writes a time, null when it has not come.
func at(w *dialect.JSON, name string, raw []byte) {
	if t := epoch(raw); t != 0 {
		w.Int(name, t)
		return
	}
	w.Raw(name, nullJSON)
}

// merged writes what the caller gave in Amazon's own words and then what of ours it did
// not name. Some members are ours alone, such as the model: whoever may not use a model of
// an account must not name it here instead.
func merged(given, own []byte, ours ...string) []byte {
	var w dialect.JSON
	w.Open('{')
	for name, val := range splice.Members(given) {
		if !slices.Contains(ours, plain(name)) {
			w.Raw(bare(name), val)
		}
	}
	for name, val := range splice.Members(own) {
		if _, taken := splice.Find(given, plain(name)); !taken || slices.Contains(ours, plain(name)) {
			w.Raw(bare(name), val)
		}
	}
	w.Close('}')
	return w.B
}

// fileParam reads the id of a file that a request names.
func fileParam(t *llm.Tally, param string) (p place, ok bool, err error) {
	raw, ok := t.Take(param)
	if !ok {
		return p, false, nil
	}
	p, err = placeOf(plain(raw), param)
	return p, true, err
}

// outputConfig writes where the results go: the caller's own object, or the place that
// it names, or the folder of the input.
func outputConfig(t *llm.Tally, input place, param string) []byte {
	raw, ok := t.Take(param)
	if ok && raw[0] == '{' {
		return raw
	}
	if ok {
		return splice.Quote(unescape(plain(raw)))
	}
	return splice.Quote(input.folder())
}

// roleARN is the role in which Amazon reads and writes the files.
func roleARN(t *llm.Tally) ([]byte, error) {
	raw, ok := t.Take("role_arn")
	if !ok {
		return nil, fault.New(fault.InvalidParameter, "role_arn is missing: send the ARN of a role that may read and write the files").At("role_arn")
	}
	return raw, nil
}

// page makes the query of a list of the caller's: limit and after are maxResults and
// nextToken, the rest are Amazon's own words.
func page(query string) (string, error) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return "", fault.New(fault.InvalidRequest, "the query cannot be read").Because(err)
	}
	if n := q.Get("limit"); n != "" {
		if _, err := strconv.Atoi(n); err != nil {
			return "", fault.New(fault.InvalidParameter, "limit must be a whole number").At("limit")
		}
		q.Set("maxResults", n)
	}
	if token := q.Get("after"); token != "" {
		q.Set("nextToken", token)
	}
	q.Del("limit")
	q.Del("after")
	return strings.ReplaceAll(q.Encode(), "+", "%20"), nil // which signatures want
}

// list writes {"object":"list","data":[…]}. Bedrock goes on from a token of its own,
// not from the last item: it is last_id, to be sent as after.
func list(body []byte, name string, each func(w *dialect.JSON, raw []byte)) (*dialect.Answer, error) {
	items, ok := splice.Find(body, name)
	if !ok {
		return nil, fault.New(fault.UpstreamInvalid, "the provider's answer has no list")
	}
	var w dialect.JSON
	w.Open('{')
	w.Str("object", "list")
	w.Key("data").Open('[')
	for val := range splice.Elements(items) {
		each(&w, val)
	}
	w.Close(']')
	token := splice.Text(body, "nextToken")
	w.Bool("has_more", token != "")
	w.Opt("last_id", token)
	w.Close('}')
	return &dialect.Answer{Body: w.B}, nil
}

// one writes a job.
func one(body []byte, write func(w *dialect.JSON, raw []byte)) (*dialect.Answer, error) {
	if _, err := created(body); err != nil {
		return nil, err
	}
	var w dialect.JSON
	write(&w, body)
	return &dialect.Answer{Body: w.B}, nil
}

// cancelled is the answer to a cancelled job, of which Bedrock says nothing.
// Source: contract/provider-transforms.md 12.
func cancelled(object, id string) *dialect.Answer {
	var w dialect.JSON
	w.Open('{')
	w.Str("status", "success")
	w.Str("object", object)
	w.Str("id", escape(unescape(id)))
	w.Close('}')
	return &dialect.Answer{Body: w.B}
}

// created reads the ARN of a new job.
func created(body []byte) (string, error) {
	if arn := splice.Text(body, "jobArn"); arn != "" {
		return arn, nil
	}
	return "", fault.New(fault.UpstreamInvalid, "the provider's answer has no ARN of the job")
}
