package providerjob

import (
	"errors"
	"fmt"
	"slices"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// Input is the maximum usage of the input of a batch, or of a training file.
//
//	{"lines":1000,"groups":[{"model":"gpt-4o-mini","endpoint":"chatComplete","requests":1000,…}]}
type Input struct {
	Lines  int64   `json:"lines"`
	Groups []Group `json:"groups,omitempty"` // at most 64
	// Training is the number of tokens of all lines, read as training examples, for one epoch.
	Training int64 `json:"training,omitempty"`
}

// Group counts the requests of one model and endpoint. Input, Largest and Output are tokens; the
// other counts are not.
type Group struct {
	Model    string       `json:"model,omitempty"` // empty: the job names it
	Endpoint llm.Endpoint `json:"endpoint"`
	// Addressed reports that the lines name the endpoint. Otherwise the shape of their bodies
	// determines it.
	Addressed bool `json:"-"`

	Requests int64 `json:"requests"`
	Input    int64 `json:"input"`    // of all requests
	Largest  int64 `json:"largest"`  // input of the largest request, which determines the context tier
	Output   int64 `json:"output"`   // of the requests that limit their response
	Open     int64 `json:"open"`     // number of responses without a limit
	Context  int64 `json:"context"`  // requests that continue a conversation that the provider stores
	Searches int64 `json:"searches"` // requests that may search
	Images   int64 `json:"images"`   // images to generate
}

// maxGroups is the maximum number of groups in one input.
const maxGroups = 64

// errGroups reports an input with more groups, which is not counted.
var errGroups = errors.New("it contains more than 64 models")

// Counter returns the maximum number of tokens of a request body, for example by
// tokens.MaxRequestTokens.
type Counter func(ep llm.Endpoint, body []byte, model string) int64

// Add counts one line of an input file: a request of a batch in the shape of OpenAI,
// Anthropic, Bedrock, Vertex AI, Gemini or Mistral, or a training example. model is the
// model that the job names, empty while it is unknown. A line may name another model.
func (in *Input) Add(line []byte, model string, count Counter) error {
	if !jsonedit.Valid(line) {
		return fmt.Errorf("line %d is not a JSON object", in.Lines+1)
	}
	in.Lines++
	body, to, field, err := requestOf(line)
	if err != nil {
		return fmt.Errorf("line %d: %w", in.Lines, err)
	}
	if name := jsonedit.Text(body, "model"); name != "" {
		model = name
	}
	ep := endpointOf(to, body)
	if !bounded[ep] {
		return fmt.Errorf("line %d calls %s, whose cost is unknown in advance", in.Lines, to)
	}
	g, err := in.group(Group{Model: model, Endpoint: ep, Addressed: to != ""})
	if err != nil {
		return err
	}
	n := count(ep, body, model)
	g.Requests++
	g.Input = plus(g.Input, n)
	g.Largest = max(g.Largest, n)
	if len(body) < len(line) { // a training example is the complete line, even if it contains a request
		in.Training = plus(in.Training, max(n, count(ep, line, model)))
	} else {
		in.Training = plus(in.Training, n)
	}
	if answersNothing(ep) && shapeOf(body) == llm.CreateModelResponse {
		return nil
	}
	if ep == llm.ImageGenerate {
		g.Images = plus(g.Images, max(1, numberAt(body, "n")))
	}
	g.addOutput(body, limitOf(ep, body, field))
	return nil
}

// answersNothing reports whether the responses of an endpoint have no tokens. Providers that derive
// the endpoint only from the shape of a request ignore the endpoint of a line or batch.
func answersNothing(ep llm.Endpoint) bool { return ep == llm.Embed || ep == llm.Moderate }

// Merge adds the maximum usage of another input, or of a part of one. It returns an error if the
// sum has more than 64 groups.
func (in *Input) Merge(other *Input) error {
	in.Lines = plus(in.Lines, other.Lines)
	in.Training = plus(in.Training, other.Training)
	for i := range other.Groups {
		o := &other.Groups[i]
		g, err := in.group(Group{Model: o.Model, Endpoint: o.Endpoint, Addressed: o.Addressed})
		if err != nil {
			return err
		}
		g.Largest = max(g.Largest, o.Largest)
		for _, add := range [...]struct {
			to   *int64
			more int64
		}{
			{&g.Requests, o.Requests},
			{&g.Input, o.Input},
			{&g.Output, o.Output},
			{&g.Open, o.Open},
			{&g.Context, o.Context},
			{&g.Searches, o.Searches},
			{&g.Images, o.Images},
		} {
			*add.to = plus(*add.to, add.more)
		}
	}
	return nil
}

// SendTo assigns all requests to the endpoint of the batch, "/v1/chat/completions". Providers
// call that endpoint, whichever their lines name. SendTo returns an error if a line names another
// one, or if the cost of the endpoint is not known in advance.
func (in *Input) SendTo(endpoint string) error {
	ep := addressed(endpoint)
	if !bounded[ep] {
		return fmt.Errorf("endpoint is %s, whose cost is not known in advance", endpoint)
	}
	for i := range in.Groups {
		switch g := &in.Groups[i]; {
		case g.Addressed && g.Endpoint != ep:
			return errors.New("the url of a line is not the endpoint of the batch; send lines whose url is " + endpoint)
		case g.Addressed:
		case ep == llm.ImageGenerate:
			return errors.New("a line has no url; send lines whose url is " + endpoint)
		case !answersNothing(ep):
			g.Endpoint = ep
		case g.Endpoint == llm.CreateModelResponse: // {"input":…} fits embeddings and moderations
			g.Endpoint, g.Output, g.Open, g.Context, g.Searches = ep, 0, 0, 0, 0
		}
	}
	return nil
}

// bounded are the endpoints whose request bodies determine the maximum usage.
var bounded = map[llm.Endpoint]bool{
	llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.CreateModelResponse: true, llm.Embed: true, llm.Moderate: true, llm.ImageGenerate: true,
}

// addOutput adds the maximum usage of the response to a request. limit is the maximum length, 0 for
// none.
func (g *Group) addOutput(body []byte, limit int64) {
	responses := int64(1)
	for _, name := range [...]string{"n", "best_of", "candidateCount", "num_generations", "numResults", "num_return_sequences"} {
		responses = max(responses, deepNumber(body, name))
	}
	if limit > 0 {
		g.Output = plus(g.Output, Times(limit, responses))
	} else {
		g.Open = plus(g.Open, responses)
	}
	if addsInput(body) {
		g.Context++
	}
	if searches(body) {
		g.Searches++
	}
}

// limitOf returns the maximum length of the response to a request. It returns 0 if the limit does
// not have the exact name that the endpoint reads: servers ignore any other name and respond at
// full length. Similar names can only raise the limit.
func limitOf(ep llm.Endpoint, body []byte, field string) (limit int64) {
	for _, path := range limitPaths(ep, body, field) {
		if raw, ok := jsonedit.Find(body, path...); ok {
			limit = max(limit, numberOf(raw))
		}
	}
	if limit == 0 {
		return 0
	}
	for _, name := range limitNames {
		limit = max(limit, deepNumber(body, name))
	}
	return limit
}

// limitPaths returns the paths at which a request can have its limit. field is the field of the
// line that contains the request.
func limitPaths(ep llm.Endpoint, body []byte, field string) [][]string {
	switch {
	case field == "modelInput":
		return modelInputLimits
	case field == "request" && has(body, "contents"):
		return geminiLimits
	case ep == llm.CreateModelResponse:
		return responseLimits
	}
	return chatLimits
}

var (
	chatLimits     = [][]string{{"max_tokens"}, {"max_completion_tokens"}}
	responseLimits = [][]string{{"max_output_tokens"}}
	geminiLimits   = [][]string{
		{"generationConfig", "maxOutputTokens"},
		{"generationConfig", "max_output_tokens"},
		{"generation_config", "maxOutputTokens"},
		{"generation_config", "max_output_tokens"},
	}
	modelInputLimits = [][]string{
		{"max_tokens"},
		{"max_completion_tokens"},
		{"max_tokens_to_sample"},
		{"max_gen_len"},
		{"inferenceConfig", "maxTokens"},
		{"inferenceConfig", "max_new_tokens"},
		{"textGenerationConfig", "maxTokenCount"},
	}
)

// limitNames are the providers' names for the maximum length of a response.
var limitNames = [...]string{"max_completion_tokens", "max_tokens", "max_output_tokens", "max_tokens_to_sample", "maxTokenCount", "max_gen_len", "max_new_tokens"}

// deepNumber returns a positive number of a body, from the top level or from the objects in which
// some providers put parameters. It returns the largest one, or 0 if there is none.
func deepNumber(body []byte, name string) int64 {
	n := numberAt(body, name)
	for _, in := range [...]string{"generationConfig", "inferenceConfig", "textGenerationConfig", "parameters"} {
		n = max(n, numberAt(body, in, name))
	}
	return n
}

func has(body []byte, path ...string) bool {
	for raw := range Values(body, path...) {
		if !jsonedit.IsNull(raw) {
			return true
		}
	}
	return false
}

// group returns the group with the same model, endpoint and Addressed. It adds the group if needed.
func (in *Input) group(group Group) (*Group, error) {
	for i := range in.Groups {
		if g := &in.Groups[i]; g.Model == group.Model && g.Endpoint == group.Endpoint && g.Addressed == group.Addressed {
			return g, nil
		}
	}
	if len(in.Groups) >= maxGroups {
		return nil, errGroups
	}
	in.Groups = append(in.Groups, group)
	return &in.Groups[len(in.Groups)-1], nil
}

// Requests returns the number of requests of all groups.
func (in *Input) Requests() (n int64) {
	for i := range in.Groups {
		n += in.Groups[i].Requests
	}
	return n
}

// requestOf returns the request in a line of a batch (the line itself if there is none), the
// address that the line names, and the field that contains the request (empty for the line
// itself). It rejects a line from which JSON parsers may read different requests: one with two
// requests or addresses, or whose request repeats a field that affects the cost.
func requestOf(line []byte) (body []byte, to, field string, err error) {
	body, found, addresses := line, 0, 0
	for name, raw := range jsonedit.Members(line) {
		if isField(name, "url") {
			to, _ = jsonedit.Unquote(raw)
			addresses++
		}
		at := slices.IndexFunc(requestFields[:], func(field string) bool { return isField(name, field) })
		if at >= 0 && len(raw) > 0 && raw[0] == '{' {
			body, field = raw, requestFields[at]
			found++
		}
	}
	if found > 1 || addresses > 1 {
		return nil, "", "", errTwice
	}
	return body, to, field, jsonedit.Scan(body, new(jsonedit.Doc))
}

// requestFields are the fields of a line that can contain the request.
var requestFields = [...]string{"body", "params", "modelInput", "request"}

// errTwice reports a line with several requests or addresses, which is not counted.
var errTwice = errors.New("it has several requests or urls; send one of each")

// addressed returns the endpoint of an address: "/v1/chat/completions", "/chat/completions".
func addressed(to string) llm.Endpoint {
	if len(to) > 3 && to[:3] == "/v1" {
		to = to[3:]
	}
	switch to {
	case "/fim/completions":
		return llm.Complete
	case "/chat/moderations":
		return llm.Moderate
	}
	return llm.Lookup("POST", to).Endpoint
}

// endpointOf returns the endpoint of a request: the one that its line names, otherwise the one that
// its body indicates.
func endpointOf(to string, body []byte) llm.Endpoint {
	if to != "" {
		return addressed(to)
	}
	return shapeOf(body)
}

// shapeOf returns the endpoint that a body indicates. CreateModelResponse is only for a body that
// has just an input, as bodies of embeddings and moderations do.
func shapeOf(body []byte) llm.Endpoint {
	switch {
	case has(body, "anthropic_version"):
		return llm.Messages
	case has(body, "messages"), has(body, "contents"):
		return llm.ChatComplete
	case has(body, "prompt"), has(body, "inputText"):
		return llm.Complete
	case has(body, "input"):
		return llm.CreateModelResponse
	}
	return llm.ChatComplete
}
