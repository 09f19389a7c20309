// Package responses translates OpenAI's Responses API, for callers and for providers. A
// request contains a list of items, and so does a response. Start at Client and Upstream.
//
// This package does not store state between two calls. The code that resolves
// previous_response_id first puts the stored items before the input.
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

// Client returns the dialect for callers of POST /responses.
func Client() dialect.Client { return client{} }

// Upstream returns the dialect for providers that serve POST /responses, for calls that came
// in another shape.
func Upstream() dialect.Upstream { return upstream{} }

type (
	client   struct{}
	upstream struct{}
)

// idPrefix is the prefix of response ids that the gateway creates. OpenAI's ids continue with
// hexadecimal digits, so they cannot be mistaken for the gateway's.
const idPrefix = "resp_gw"

// ID is the id of the response that Client makes of an answer with this
// dialect.Answering.ID: "resp_gw0193f3a04c1e7b6f9d2a0c6d".
func ID(unique string) string { return idPrefix + short(unique) }

// uniqueBytes is the length of the unique part of an id. It leaves space for a number after it, so
// that all ids are as long as those of the other surfaces.
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
