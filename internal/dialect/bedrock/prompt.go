package bedrock

import (
	"strings"

	"sluice/internal/dialect/conversation"
	"sluice/internal/kernel/llm"
)

// turn is a message with its role and text.
type turn struct{ role, text string }

// turnsOf returns the turns of a conversation that contains only text.
func turnsOf(t *llm.FieldTracker, c *llm.Call) ([]turn, error) {
	turns := make([]turn, 0, len(c.Messages))
	for i := range c.Messages {
		m := &c.Messages[i]
		text, err := conversation.PlainText(t, c, m)
		if err != nil {
			return nil, err
		}
		turns = append(turns, turn{string(m.Role), text})
	}
	return turns, nil
}

// transcriptPrompt writes a line for each message, and the beginning of the model's own line.
func transcriptPrompt(turns []turn) string {
	var b strings.Builder
	for _, t := range turns {
		b.WriteString(t.role + ": " + t.text + "\n")
	}
	b.WriteString("Assistant:")
	return b.String()
}

// llama2 writes the prompt format of Llama 2: pairs of instruction and response, with the system text
// inside the first instruction.
// Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-meta.html, read 2026-11.
func llama2(turns []turn) string {
	var b strings.Builder
	system := ""
	for _, t := range turns {
		switch t.role {
		case "system", "developer":
			system += t.text
		case assistant:
			b.WriteString(" " + t.text + " </s>")
		default:
			b.WriteString("<s>[INST] ")
			if system != "" {
				b.WriteString("<<SYS>>\n" + system + "\n<</SYS>>\n\n")
				system = ""
			}
			b.WriteString(t.text + " [/INST]")
		}
	}
	return b.String()
}

// llama3 writes the prompt format of Llama 3 and later.
func llama3(turns []turn) string {
	var b strings.Builder
	b.WriteString("<|begin_of_text|>")
	head := func(role string) { b.WriteString("<|start_header_id|>" + role + "<|end_header_id|>\n\n") }
	for _, t := range turns {
		if t.role == "developer" {
			t.role = "system"
		}
		head(t.role)
		b.WriteString(t.text + "<|eot_id|>")
	}
	head(assistant)
	return b.String()
}

// mistral writes the prompt format of Mistral's instruction models. The system text precedes the
// first instruction.
// Source: https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-mistral-text-completion.html, read 2026-11.
func mistral(turns []turn) string {
	var b strings.Builder
	b.WriteString("<s>")
	system := ""
	for _, t := range turns {
		switch t.role {
		case "system", "developer":
			system += t.text + "\n\n"
		case assistant:
			b.WriteString(" " + t.text + " </s>")
		default:
			b.WriteString("[INST] " + system + t.text + " [/INST]")
			system = ""
		}
	}
	return b.String()
}
