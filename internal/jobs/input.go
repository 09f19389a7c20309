package jobs

import (
	"errors"
	"fmt"

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
	Requests int64        `json:"requests"`
	Input    int64        `json:"input"`    // of all requests
	Largest  int64        `json:"largest"`  // input of the largest request: it chooses the context tier
	Output   int64        `json:"output"`   // of the requests that limit their response
	Open     int64        `json:"open"`     // responses without a limit
	Context  int64        `json:"context"`  // requests that continue a conversation that the provider stores
	Searches int64        `json:"searches"` // requests that may search
	Images   int64        `json:"images"`   // that are to be made
}

// maxGroups bounds the models of one input.
const maxGroups = 64

// errGroups is why an input with more models is not counted.
var errGroups = errors.New("it names more than 64 models")

// Counter counts the tokens of a request body at most, for example tokens.BoundRequest.
type Counter func(ep llm.Endpoint, body []byte, model string) int64

// Add counts one line of an input file: a request of a batch in the shape of OpenAI,
// Anthropic, Bedrock, Vertex AI, Gemini or Mistral, or a training example. model is the
// one that the job names; a line may name another.
func (in *Input) Add(line []byte, model string, count Counter) error {
	if !splice.Valid(line) {
		return fmt.Errorf("line %d is not a JSON object", in.Lines+1)
	}
	in.Lines++
	body, err := requestOf(line)
	if err != nil {
		return fmt.Errorf("line %d: %w", in.Lines, err)
	}
	if name := splice.Text(body, "model"); name != "" {
		model = name
	}
	ep := endpointOf(splice.Text(line, "url"), body)
	if !bounded[ep] {
		return fmt.Errorf("line %d calls %s, whose cost is not known in advance", in.Lines, splice.Text(line, "url"))
	}
	g, err := in.group(model, ep)
	if err != nil {
		return err
	}
	n := count(ep, body, model)
	g.Requests++
	g.Input += n
	g.Largest = max(g.Largest, n)
	in.Training += n
	switch ep {
	case llm.Embed, llm.Moderate:
		return nil
	case llm.ImageGenerate:
		g.Images += max(1, numberAt(body, "n"))
	default:
	}
	g.addOutput(body)
	return nil
}

// bounded are the endpoints of which a body says what they can use at most.
var bounded = map[llm.Endpoint]bool{
	llm.ChatComplete: true, llm.Complete: true, llm.Messages: true, llm.CreateModelResponse: true, llm.Embed: true, llm.Moderate: true, llm.ImageGenerate: true,
}

// addOutput counts what the response to a request can have at most.
func (g *Group) addOutput(body []byte) {
	responses := int64(1)
	for _, name := range [...]string{"n", "best_of", "candidateCount"} {
		responses = max(responses, deepNumber(body, name))
	}
	limit := int64(0)
	for _, name := range limitNames {
		limit = max(limit, deepNumber(body, name))
	}
	if limit > 0 {
		g.Output += limit * responses
	} else {
		g.Open += responses
	}
	if has(body, "previous_response_id") || has(body, "conversation") || has(body, "prompt", "id") {
		g.Context++
	}
	for name, val := range splice.Members(body) {
		if (splice.IsName(name, "tools") || splice.IsName(name, "web_search_options")) && (splice.Mentions(val, "search") || splice.Mentions(name, "search")) {
			g.Searches++
			break
		}
	}
}

// limitNames are the names that providers have for the maximum length of a response.
var limitNames = [...]string{"max_completion_tokens", "max_tokens", "max_output_tokens", "maxOutputTokens", "max_tokens_to_sample", "maxTokens", "maxTokenCount", "max_gen_len"}

// deepNumber is a positive number of a body, at its top or in the objects in which some
// providers put parameters; 0 where it has none.
func deepNumber(body []byte, name string) int64 {
	n := numberAt(body, name)
	for _, in := range [...]string{"generationConfig", "generation_config", "inferenceConfig", "textGenerationConfig", "parameters"} {
		n = max(n, numberAt(body, in, name))
	}
	return n
}

func has(body []byte, path ...string) bool {
	raw, ok := splice.Find(body, path...)
	return ok && !splice.IsNull(raw)
}

func (in *Input) group(model string, ep llm.Endpoint) (*Group, error) {
	for i := range in.Groups {
		if g := &in.Groups[i]; g.Model == model && g.Endpoint == ep {
			return g, nil
		}
	}
	if len(in.Groups) >= maxGroups {
		return nil, errGroups
	}
	in.Groups = append(in.Groups, Group{Model: model, Endpoint: ep})
	return &in.Groups[len(in.Groups)-1], nil
}

// Requests are those of all groups.
func (in *Input) Requests() (n int64) {
	for i := range in.Groups {
		n += in.Groups[i].Requests
	}
	return n
}

// requestOf returns the request in a line of a batch; the line itself where there is none.
// It refuses a line of which readers of JSON may read different requests: one with two
// requests or addresses, or whose request names a field of cost twice.
func requestOf(line []byte) ([]byte, error) {
	body, found, addresses := line, 0, 0
	for name, raw := range splice.Members(line) {
		switch key, _ := splice.Unquote(name); key {
		case "body", "params", "modelInput", "request":
			if len(raw) > 0 && raw[0] == '{' {
				body = raw
				found++
			}
		case "url":
			addresses++
		}
	}
	if found > 1 || addresses > 1 {
		return nil, errTwice
	}
	return body, splice.Scan(body, new(splice.Doc))
}

// errTwice is why a line is not counted.
var errTwice = errors.New("it has more than one request or url; send one of each")

// endpointOf is the endpoint of a request: what its line says, else what its body shows.
func endpointOf(to string, body []byte) llm.Endpoint {
	if len(to) > 3 && to[:3] == "/v1" {
		to = to[3:]
	}
	if to != "" {
		return llm.Lookup("POST", to).Endpoint
	}
	switch {
	case has(body, "anthropic_version"):
		return llm.Messages
	case has(body, "messages"), has(body, "contents"):
		return llm.ChatComplete
	case has(body, "input"), has(body, "inputText"):
		return llm.CreateModelResponse
	case has(body, "prompt"):
		return llm.Complete
	}
	return llm.ChatComplete
}
