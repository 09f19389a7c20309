package jobs

import (
	"errors"
	"fmt"
	"slices"

	"sluice/internal/llm"
	"sluice/internal/splice"
)

// Input is what the input of a batch, or a training file, can use at most.
//
//	{"lines":1000,"groups":[{"model":"gpt-4o-mini","endpoint":"chatComplete","requests":1000,…}]}
type Input struct {
	Lines  int64   `json:"lines"`
	Groups []Group `json:"groups,omitempty"` // at most 64
	// Training are the tokens of all lines read as training examples, for one epoch.
	Training int64 `json:"training,omitempty"`
}

// Group are the requests of one model and endpoint. Counts are tokens.
type Group struct {
	Model    string       `json:"model,omitempty"` // empty: the job says it
	Endpoint llm.Endpoint `json:"endpoint"`
	// Addressed says that the lines name the endpoint; else it is what their bodies look like.
	Addressed bool `json:"-"`

	Requests int64 `json:"requests"`
	Input    int64 `json:"input"`    // of all requests
	Largest  int64 `json:"largest"`  // input of the largest request: it chooses the context tier
	Output   int64 `json:"output"`   // of the requests that limit their response
	Open     int64 `json:"open"`     // responses without a limit
	Context  int64 `json:"context"`  // requests that continue a conversation that the provider stores
	Searches int64 `json:"searches"` // requests that may search
	Images   int64 `json:"images"`   // that are to be made
}

// maxGroups bounds the models of one input.
const maxGroups = 64

// errGroups is why an input with more models is not counted.
var errGroups = errors.New("it contains more than 64 models")

// Counter counts the tokens of a request body at most, for example tokens.BoundRequest.
type Counter func(ep llm.Endpoint, body []byte, model string) int64

// Add counts one line of an input file: a request of a batch in the shape of OpenAI,
// Anthropic, Bedrock, Vertex AI, Gemini or Mistral, or a training example. model is the
// one that the job names, empty where that is not known yet; a line may name another.
func (in *Input) Add(line []byte, model string, count Counter) error {
	if !splice.Valid(line) {
		return fmt.Errorf("line %d is not a JSON object", in.Lines+1)
	}
	in.Lines++
	body, to, field, err := requestOf(line)
	if err != nil {
		return fmt.Errorf("line %d: %w", in.Lines, err)
	}
	if name := splice.Text(body, "model"); name != "" {
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
	if len(body) < len(line) { // a training example is all of the line, whatever stands in it
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

// answersNothing reports whether the responses of an endpoint have no tokens. Providers that
// take the endpoint from the shape of a request alone pass over what a line or batch says.
func answersNothing(ep llm.Endpoint) bool { return ep == llm.Embed || ep == llm.Moderate }

// Merge adds what another input, or part of one, can use at most.
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

// SendTo has all requests sent to the endpoint of the batch, "/v1/chat/completions", which
// is what providers call, whatever their lines name. It fails where a line names another one,
// or where the cost of the endpoint is not known in advance.
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
		case g.Endpoint == llm.CreateModelResponse: // {"input":…}, which may be of both
			g.Endpoint, g.Output, g.Open, g.Context, g.Searches = ep, 0, 0, 0, 0
		}
	}
	return nil
}

// bounded are the endpoints of which a body says what they can use at most.
var bounded = map[llm.Endpoint]bool{
	llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.CreateModelResponse: true, llm.Embed: true, llm.Moderate: true, llm.ImageGenerate: true,
}

// addOutput counts what the response to a request with a limit, 0 for none, can have at most.
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
	if bringsIn(body) {
		g.Context++
	}
	if searches(body) {
		g.Searches++
	}
}

// limitOf is how long the response to a request may become; 0 where it does not say it in the
// very words that the endpoint reads: servers pass over any others, and answer at full length.
// What is only like such a limit can make it larger.
func limitOf(ep llm.Endpoint, body []byte, field string) (limit int64) {
	for _, path := range limitPaths(ep, body, field) {
		if raw, ok := splice.Find(body, path...); ok {
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

// limitPaths are where the limit of a request can stand that a field of its line holds.
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

// limitNames are the names that providers have for the maximum length of a response.
var limitNames = [...]string{"max_completion_tokens", "max_tokens", "max_output_tokens", "max_tokens_to_sample", "maxTokenCount", "max_gen_len", "max_new_tokens"}

// deepNumber is a positive number of a body, at its top or in the objects in which some
// providers put parameters; 0 where it has none.
func deepNumber(body []byte, name string) int64 {
	n := numberAt(body, name)
	for _, in := range [...]string{"generationConfig", "inferenceConfig", "textGenerationConfig", "parameters"} {
		n = max(n, numberAt(body, in, name))
	}
	return n
}

func has(body []byte, path ...string) bool {
	for raw := range Values(body, path...) {
		if !splice.IsNull(raw) {
			return true
		}
	}
	return false
}

// group is the one with the model and endpoint of another.
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

// Requests are those of all groups.
func (in *Input) Requests() (n int64) {
	for i := range in.Groups {
		n += in.Groups[i].Requests
	}
	return n
}

// requestOf returns the request in a line of a batch, the line itself where there is none,
// the address that the line names, and the field that has the request, empty for the line. It refuses a line of
// which readers of JSON may read different requests: one with two requests or addresses, or
// whose request names a field of cost twice.
func requestOf(line []byte) (body []byte, to, field string, err error) {
	body, found, addresses := line, 0, 0
	for name, raw := range splice.Members(line) {
		if isField(name, "url") {
			to, _ = splice.Unquote(raw)
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
	return body, to, field, splice.Scan(body, new(splice.Doc))
}

// requestFields have the request in a line.
var requestFields = [...]string{"body", "params", "modelInput", "request"}

// errTwice is why a line is not counted.
var errTwice = errors.New("it has several requests or urls; send one of each")

// addressed is the endpoint of an address: "/v1/chat/completions", "/chat/completions".
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

// endpointOf is the endpoint of a request: what its line says, else what its body shows.
func endpointOf(to string, body []byte) llm.Endpoint {
	if to != "" {
		return addressed(to)
	}
	return shapeOf(body)
}

// shapeOf is the endpoint that a body shows: CreateModelResponse only for one that has nothing
// but an input, as those of embeddings and moderations.
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
