package sdk

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	cohere "github.com/cohere-ai/cohere-go/v2"
	cohereclient "github.com/cohere-ai/cohere-go/v2/client"
	cohereoption "github.com/cohere-ai/cohere-go/v2/option"
	"google.golang.org/genai"
)

// Clients of shapes that the gateway passes through untouched. Each sends the provider's
// own paths; the gateway's key is in a header of its own.
func ours() http.Header {
	h := http.Header{}
	h.Set("x-gateway-api-key", os.Getenv("SLUICE_KEY"))
	h.Set("x-gateway-provider", os.Getenv("SLUICE_PROVIDER"))
	return h
}

func newGoogle(t *testing.T) *genai.Client {
	t.Helper()
	only(t, "gemini", "aimock-gemini")
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{
		APIKey: "none", Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: os.Getenv("SLUICE_BASE"), APIVersion: "v1beta", Headers: ours()},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestVendorsGoogle(t *testing.T) {
	t.Parallel()
	c := newGoogle(t)
	whole, err := c.Models.GenerateContent(t.Context(), model, genai.Text("Hello there"), nil)
	if err != nil {
		t.Fatal(err)
	}
	begins(t, whole.Text(), `You said: "Hello there"`)
	var text strings.Builder
	var last *genai.GenerateContentResponse
	for chunk, err := range c.Models.GenerateContentStream(t.Context(), model, genai.Text("Hello there"), nil) {
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(chunk.Text())
		last = chunk
	}
	if text.String() != whole.Text() || last.Candidates[0].FinishReason != genai.FinishReasonStop {
		t.Errorf("streamed %q, want %q; %+v", text.String(), whole.Text(), last.Candidates[0])
	}
}

func TestVendorsGoogleFunctions(t *testing.T) {
	t.Parallel()
	c := newGoogle(t)
	declared := &genai.FunctionDeclaration{Name: "get_weather", ParametersJsonSchema: map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}}
	r, err := c.Models.GenerateContent(t.Context(), model, genai.Text("Please use get_weather for Paris"), &genai.GenerateContentConfig{Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{declared}}}})
	if err != nil {
		t.Fatal(err)
	}
	calls := r.FunctionCalls()
	if len(calls) != 1 || calls[0].Name != "get_weather" || !strings.Contains(calls[0].Args["city"].(string), "Paris") {
		t.Errorf("%+v", calls)
	}
}

func TestVendorsCohere(t *testing.T) {
	t.Parallel()
	only(t, "aimock-cohere")
	c := cohereclient.NewClient(cohereoption.WithBaseURL(os.Getenv("SLUICE_BASE")), cohereoption.WithToken("none"), cohereoption.WithHTTPHeader(ours()), cohereoption.WithMaxAttempts(1))
	messages := cohere.ChatMessages{{Role: "user", User: &cohere.UserMessageV2{Content: &cohere.UserMessageV2Content{String: "Hello there"}}}}
	whole, err := c.V2.Chat(t.Context(), &cohere.V2ChatRequest{Model: model, Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	said := whole.Message.Content[0].Text.Text
	begins(t, said, `You said: "Hello there"`)
	s, err := c.V2.ChatStream(t.Context(), &cohere.V2ChatStreamRequest{Model: model, Messages: messages})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }() // read to its end
	var text strings.Builder
	ended := false
	for !ended {
		e, err := s.Recv()
		if err != nil {
			t.Fatalf("after %q: %v", text.String(), err)
		}
		if d := e.ContentDelta; d != nil && d.Delta.Message.Content.Text != nil {
			text.WriteString(*d.Delta.Message.Content.Text)
		}
		ended = e.MessageEnd != nil
	}
	if text.String() != said {
		t.Errorf("streamed %q, want %q", text.String(), said)
	}
}

// newBedrock is a client that signs with credentials of nobody: the gateway signs anew.
func newBedrock(t *testing.T) *bedrockruntime.Client {
	t.Helper()
	only(t, "aimock-bedrock")
	return bedrockruntime.New(bedrockruntime.Options{
		Region: "us-east-1", BaseEndpoint: aws.String(os.Getenv("SLUICE_BASE")), RetryMaxAttempts: 1,
		Credentials: credentials.NewStaticCredentialsProvider("AKIDNOBODY", "none", ""),
		APIOptions: []func(*middleware.Stack) error{func(s *middleware.Stack) error {
			for name, values := range ours() {
				if err := smithyhttp.AddHeaderValue(name, values[0])(s); err != nil {
					return err
				}
			}
			return nil
		}},
	})
}

func fromUser(text string) []types.Message {
	return []types.Message{{Role: types.ConversationRoleUser, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: text}}}}
}

// The binary frames of a stream arrive as the client's own decoder wants them.
func TestVendorsBedrock(t *testing.T) {
	t.Parallel()
	c := newBedrock(t)
	whole, err := c.Converse(t.Context(), &bedrockruntime.ConverseInput{ModelId: aws.String(model), Messages: fromUser("Hello there")})
	if err != nil {
		t.Fatal(err)
	}
	said := whole.Output.(*types.ConverseOutputMemberMessage).Value.Content[0].(*types.ContentBlockMemberText).Value
	begins(t, said, `You said: "Hello there"`)
	out, err := c.ConverseStream(t.Context(), &bedrockruntime.ConverseStreamInput{ModelId: aws.String(model), Messages: fromUser("Hello there")})
	if err != nil {
		t.Fatal(err)
	}
	s := out.GetStream()
	defer func() { _ = s.Close() }() // read to its end
	var text strings.Builder
	var stop types.StopReason
	for e := range s.Events() {
		switch e := e.(type) {
		case *types.ConverseStreamOutputMemberContentBlockDelta:
			if d, ok := e.Value.Delta.(*types.ContentBlockDeltaMemberText); ok {
				text.WriteString(d.Value)
			}
		case *types.ConverseStreamOutputMemberMessageStop:
			stop = e.Value.StopReason
		}
	}
	if err := s.Err(); err != nil || text.String() != said || stop != types.StopReasonEndTurn {
		t.Errorf("streamed %q, want %q; stopped by %q, %v", text.String(), said, stop, err)
	}
}

func TestVendorsBedrockTools(t *testing.T) {
	t.Parallel()
	c := newBedrock(t)
	schema := document.NewLazyDocument(map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}})
	r, err := c.Converse(t.Context(), &bedrockruntime.ConverseInput{
		ModelId: aws.String(model), Messages: fromUser("Please use get_weather for Paris"),
		ToolConfig: &types.ToolConfiguration{Tools: []types.Tool{&types.ToolMemberToolSpec{Value: types.ToolSpecification{Name: aws.String("get_weather"), InputSchema: &types.ToolInputSchemaMemberJson{Value: schema}}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range r.Output.(*types.ConverseOutputMemberMessage).Value.Content {
		if use, ok := block.(*types.ContentBlockMemberToolUse); ok && *use.Value.Name == "get_weather" {
			return
		}
	}
	t.Errorf("no call: %+v", r.Output)
}
