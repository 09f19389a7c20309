package bedrock

import (
	"errors"
	"strconv"

	"sluice/internal/dialect/jsonwriter"
	"sluice/internal/kernel/jsonedit"
)

// tuningLine translates a line of a training file, {"messages":[…]}, into the model's format:
// {"system":…,"messages":[…]} for chat models, {"prompt":…,"completion":…} for text models. For
// text models, a line that already has a prompt and no messages remains unchanged.
func tuningLine(text bool) func(dst, line []byte) ([]byte, error) {
	return func(dst, line []byte) ([]byte, error) {
		list, ok := jsonedit.Find(line, "messages")
		if !ok {
			if _, pair := jsonedit.Find(line, "prompt"); pair && text {
				return append(dst, line...), nil
			}
			return dst, errors.New("has no messages")
		}
		system, turns, err := tuningTurns(list)
		if err != nil {
			return dst, err
		}
		n := len(turns)
		if n == 0 || jsonedit.Text(turns[0], "role") != user || jsonedit.Text(turns[n-1], "role") != assistant {
			return dst, errors.New("must begin with a user message and end with an assistant message")
		}
		w := jsonwriter.AppendTo(dst)
		w.Open('{')
		if text {
			if n != 2 || system != "" {
				return dst, errors.New("must have one user message and one assistant message")
			}
			prompt, _ := jsonedit.Find(turns[0], "content")
			completion, _ := jsonedit.Find(turns[1], "content")
			w.Raw("prompt", prompt)
			w.Raw("completion", completion)
			w.Close('}')
			return w.B, nil
		}
		if system == "" {
			system = jsonedit.Text(line, "system")
		}
		w.Opt("system", system)
		w.Key("messages").Open('[')
		for _, m := range turns {
			w.Value(m)
		}
		w.Close(']')
		w.Close('}')
		return w.B, nil
	}
}

// tuningTurns separates the system text from the turns. The content of each message must be a string.
func tuningTurns(list []byte) (system string, turns [][]byte, err error) {
	for m := range jsonedit.Elements(list) {
		content, _ := jsonedit.Find(m, "content")
		if len(content) == 0 || content[0] != '"' {
			return "", nil, errors.New("contains a message whose content is not a string")
		}
		switch role := jsonedit.Text(m, "role"); role {
		case "system", "developer":
			system += plain(content)
		case user, assistant:
			var w jsonwriter.Writer
			w.Open('{')
			w.Str("role", role)
			w.Raw("content", content)
			w.Close('}')
			turns = append(turns, w.B)
		default:
			return "", nil, errors.New("contains a message of role " + strconv.Quote(role) + ", which is not supported for training")
		}
	}
	return system, turns, nil
}
