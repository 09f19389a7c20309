package demo

// The answers of the chat endpoint as they go over the wire.
// Source: https://platform.openai.com/docs/api-reference/chat, read 2026-11.

type chatHead struct {
	ID          string `json:"id"`
	Object      string `json:"object"`
	Created     int64  `json:"created"`
	Model       string `json:"model"`
	Fingerprint string `json:"system_fingerprint"`
}

type chatResponse struct {
	chatHead
	Choices []chatChoice `json:"choices"`
	Usage   usage        `json:"usage"`
	Tier    string       `json:"service_tier"`
}

type chatChoice struct {
	Index    int         `json:"index"`
	Message  chatMessage `json:"message"`
	Logprobs *struct{}   `json:"logprobs"`
	Finish   string      `json:"finish_reason"`
}

type chatMessage struct {
	Role        string     `json:"role"`
	Content     *string    `json:"content"` // null next to tool calls
	Refusal     *string    `json:"refusal"`
	ToolCalls   []toolCall `json:"tool_calls,omitempty"`
	Annotations []struct{} `json:"annotations"`
}

// usage is the usage object of chat, completions and embeddings. The method total fills in Total.
type usage struct {
	Prompt           int64         `json:"prompt_tokens"`
	Completion       int64         `json:"completion_tokens"`
	Total            int64         `json:"total_tokens"`
	PromptDetail     *promptDetail `json:"prompt_tokens_details,omitempty"`
	CompletionDetail *outputDetail `json:"completion_tokens_details,omitempty"`
}

type promptDetail struct {
	Cached int64 `json:"cached_tokens"`
	Audio  int64 `json:"audio_tokens"`
}

type outputDetail struct {
	Reasoning int64 `json:"reasoning_tokens"`
	Audio     int64 `json:"audio_tokens"`
	Accepted  int64 `json:"accepted_prediction_tokens"`
	Rejected  int64 `json:"rejected_prediction_tokens"`
}

// total adds up the tokens, and adds the detail objects that chat responses contain.
func (u usage) total() usage {
	u.Total = u.Prompt + u.Completion
	u.PromptDetail, u.CompletionDetail = &promptDetail{}, &outputDetail{}
	return u
}

func newChatResponse(head chatHead, answers []choiceContent, used usage) chatResponse {
	response := chatResponse{chatHead: head, Choices: make([]chatChoice, len(answers)), Usage: used, Tier: "default"}
	for i, a := range answers {
		m := chatMessage{Role: "assistant", ToolCalls: a.calls, Annotations: []struct{}{}}
		if len(a.calls) == 0 {
			m.Content = &a.text
		}
		response.Choices[i] = chatChoice{Index: i, Message: m, Finish: a.finish}
	}
	return response
}

// chunk is one event of a stream. Usage is absent if not requested; if requested it is null in
// every chunk but the last.
type chunk struct {
	chatHead
	Choices []chunkChoice `json:"choices"`
	Usage   any           `json:"usage,omitempty"`
}

type chunkChoice struct {
	Index    int       `json:"index"`
	Delta    delta     `json:"delta"`
	Logprobs *struct{} `json:"logprobs"`
	Finish   *string   `json:"finish_reason"`
}

type delta struct {
	Role      string      `json:"role,omitempty"`
	Content   *string     `json:"content,omitempty"`
	ToolCalls []deltaCall `json:"tool_calls,omitempty"`
}

// deltaCall is a fragment of a tool call: the first has id, type and name.
type deltaCall struct {
	Index    int           `json:"index"`
	ID       string        `json:"id,omitempty"`
	Type     string        `json:"type,omitempty"`
	Function deltaFunction `json:"function"`
}

type deltaFunction struct {
	Name      string `json:"name,omitempty"`
	Arguments string `json:"arguments"`
}
