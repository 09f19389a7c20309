// Package responses is the shape of OpenAI's Responses API, from both sides: a list of
// items goes in, a response with a list of items comes out.
//
// What the Responses API keeps between two calls is none of the shape's business:
// whoever resolves previous_response_id puts the kept items before the input first.
// Source: https://platform.openai.com/docs/api-reference/responses, read 2026-11;
// contract/provider-transforms.md 10.
package responses

import (
	"strings"

	"sluice/internal/dialect"
)

// shapeName is what this package calls its own form in llm.Part.Shape, llm.Tool.Shape
// and the Name of an llm.EventCitation; chatShape is what package openai calls the
// form of chat completions.
const (
	shapeName = "responses"
	chatShape = "openai"
)

// Client returns the side that callers of POST /responses speak.
func Client() dialect.Client { return client{} }

// Upstream returns the side of providers that serve POST /responses, for calls that
// came in another shape.
func Upstream() dialect.Upstream { return upstream{} }

type (
	client   struct{}
	upstream struct{}
)

// idPrefix begins the ids of responses that the gateway makes. OpenAI's go on with
// hexadecimal digits, so that nobody's id is taken for the gateway's.
const idPrefix = "resp_gw"

// ID is the id of the response that Client makes of an answer with this
// dialect.Answering.ID: "resp_gw0193f3a04c1e7b6f9d2a0c6d".
func ID(unique string) string { return idPrefix + short(unique) }

// uniqueBytes are as much of what is unique as leaves room for a number behind it, so that
// all ids are as long as those of the other surfaces.
const uniqueBytes = 24

func short(unique string) string { return unique[:min(len(unique), uniqueBytes)] }

// Whose is the id of the response with which the gateway made an item, or showed it:
// "resp_gw0193f3a04c1e7b6f9d2a0c6d" of "fc_0193f3a04c1e7b6f9d2a0c6d2". Those of OpenAI's items
// are longer: false.
func Whose(item string) (response string, ok bool) {
	const number = 6 // digits at most, and a letter
	_, unique, _ := strings.Cut(item, "_")
	if n := len(unique) - uniqueBytes; n <= 0 || n > number {
		return "", false
	}
	return ID(unique), true
}

// IsID reports whether an id is one that ID made, here or in another gateway.
func IsID(id string) bool { return strings.HasPrefix(id, idPrefix) }
