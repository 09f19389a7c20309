package demo

import (
	"encoding/json"
	"fmt"
	"strings"
)

// tool is a function that the caller offers.
type tool struct {
	Type     string       `json:"type"`
	Function toolFunction `json:"function"`
}

type toolFunction struct {
	Name       string         `json:"name"`
	Parameters map[string]any `json:"parameters"`
}

// toolCall is a call in a response. Arguments is JSON in a string.
type toolCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function calledByName `json:"function"`
}

type calledByName struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// requestedCalls returns the calls of choice i: the tool that tool_choice names; the tools whose
// names occur in the user's text; the first tool if tool_choice is "required" or the text
// contains the word "tool"; none if tool_choice is "none".
func requestedCalls(tools []tool, choice json.RawMessage, text string, i int) []toolCall {
	var calls []toolCall
	for _, t := range chosen(tools, choice, text) {
		calls = append(calls, toolCall{
			ID: fmt.Sprintf("call_demo_%d_%d", i, len(calls)), Type: "function",
			Function: calledByName{t.Function.Name, sample(t.Function.Parameters, text)},
		})
	}
	return calls
}

func chosen(tools []tool, choice json.RawMessage, text string) []tool {
	mode, name := parseChoice(choice)
	if mode == "none" {
		return nil
	}
	var named []tool
	for _, t := range tools {
		switch {
		case t.Function.Name == "": // built-in kinds are not called here
		case name == t.Function.Name:
			return []tool{t}
		case name == "" && strings.Contains(text, t.Function.Name):
			named = append(named, t)
		}
	}
	if len(named) == 0 && len(tools) > 0 && (mode == "required" || strings.Contains(strings.ToLower(text), "tool")) {
		named = tools[:1]
	}
	return named
}

// parseChoice reads tool_choice: a mode, or an object that names a function, in
// the form of chat or that of responses.
func parseChoice(raw json.RawMessage) (mode, name string) {
	if json.Unmarshal(raw, &mode) == nil {
		return mode, ""
	}
	var o struct {
		Name     string `json:"name"`
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	_ = json.Unmarshal(raw, &o) // an absent choice is "auto"
	return "", orElse(o.Function.Name, o.Name)
}
