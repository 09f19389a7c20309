package dialect_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"sluice/internal/dialect"
	"sluice/internal/dialect/openai"
	"sluice/internal/dialect/signatures"
	"sluice/internal/dialect/usage"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// anyChunk draws a chunk of a chat stream as servers send them, and as they had better not.
func anyChunk() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		one := func(label string, from ...string) string { return rapid.SampledFrom(from).Draw(t, label) }
		textMarker := func(label string) string {
			return one(label, ``, `a`, `b c`, `\ud83d`, `\ude00`, `{`, `}`, `{}`, `{\"x\":1}`, `\n`)
		}
		call := func() string {
			var m []string
			for _, member := range []string{
				one("index", ``, `"index":0`, `"index":1`, `"index":2`, `"index":null`),
				one("id", ``, `"id":"a"`, `"id":"b"`, `"id":""`, `"id":null`),
				one("function", ``, `"function":{"name":"f"}`, `"function":{"arguments":"`+textMarker("args")+`"}`, `"function":{"name":"g","arguments":"`+textMarker("args")+`"}`, `"function":null`, `"custom":{"name":"c","input":"x"}`),
			} {
				if member != "" {
					m = append(m, member)
				}
			}
			return `{` + strings.Join(m, ",") + `}`
		}
		delta := one("delta",
			`"content":"`+textMarker("text")+`"`, `"content":null`, `"role":"assistant","content":""`, ``,
			`"reasoning_content":"`+textMarker("thought")+`"`, `"refusal":"`+textMarker("refusal")+`"`,
			`"reasoning":"x","reasoning_details":[{"type":"reasoning.text","text":"`+textMarker("thought")+`","format":"anthropic-claude-v1","index":0}]`,
			`"reasoning_details":[{"type":"reasoning.text","signature":"s","format":"anthropic-claude-v1","index":0}]`,
			`"reasoning_details":[{"type":"reasoning.encrypted","data":"d","format":"openai-responses-v1","id":"r","index":1}]`,
			`"images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}]`,
			`"audio":{"id":"au","data":"aGk=","transcript":"hi"}`,
			`"annotations":[{"type":"url_citation","url_citation":{"url":"https://x.example","start_index":0,"end_index":1}}]`,
			`"tool_calls":[`+call()+`]`, `"tool_calls":[`+call()+`,`+call()+`]`, `"tool_calls":null`, `"function_call":{"name":"f","arguments":"{}"}`,
		)
		return one("chunk",
			`{"id":"c","model":"m","choices":[{"index":`+one("choice", `0`, `0`, `0`, `1`)+`,"delta":{`+delta+`},"finish_reason":`+one("finish", `null`, `null`, `null`, `null`, `""`, `"stop"`, `"tool_calls"`, `"length"`)+`}]}`,
			`{"id":"c","model":"m","choices":[{"index":0,"delta":{`+delta+`}}]}`,
			`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}`,
			`{"choices":[],"citations":["x"]}`,
		)
	})
}

// What a chat's stream comes to, whatever its server does, has the grammar of the caller's
// surface: events that are JSON, blocks that begin before they go on and end once, calls with
// names, and one end.
func TestGrammarOfStreams(t *testing.T) {
	t.Parallel()
	upstream := openai.Dialect().Upstreams[llm.ChatComplete]
	rapid.Check(t, func(t *rapid.T) {
		chunks := rapid.SliceOfN(anyChunk(), 1, 12).Draw(t, "chunks")
		strict := rapid.Bool().Draw(t, "strict")
		stream := "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\ndata: [DONE]\n\n"
		for surface, client := range surfaces {
			var out []byte
			enc := client.NewEncoder(&dialect.ResponseContext{Call: &llm.Call{Surface: surface, Model: "m"}, ID: "0123456789abcdef0123456789", Strict: strict})
			signer := signatures.NewSigner(surface)
			put := func(ev *llm.Event) { signer.Event(ev, func(ev *llm.Event) { out = enc.Append(out, ev) }) }
			dec := upstream.NewDecoder(nil)
			if err := dec.Feed([]byte(stream), put); err != nil {
				t.Fatal(err)
			}
			if err := dec.Close(put); err != nil {
				t.Fatal(err)
			}
			if err := grammars[surface](out); err != nil {
				t.Fatalf("%s: %v\n%s\nof\n%s", surface, err, out, stream)
			}
		}
	})
}

var grammars = map[llm.Endpoint]func(stream []byte) error{llm.ChatComplete: chatGrammar, llm.Messages: messagesGrammar, llm.CreateModelResponse: responsesGrammar}

// eachEvent hands on the data of each event.
func eachEvent(stream []byte, do func(data []byte) error) error {
	for _, ev := range bytes.Split(bytes.TrimSuffix(stream, []byte("\n\n")), []byte("\n\n")) {
		index := bytes.Index(ev, []byte("data: "))
		if index < 0 {
			return fmt.Errorf("no data in %q", ev)
		}
		data := ev[index+len("data: "):]
		if !jsonedit.Valid(data) && string(data) != "[DONE]" {
			return fmt.Errorf("no JSON: %s", data)
		}
		if err := do(data); err != nil {
			return err
		}
	}
	return nil
}

func chatGrammar(stream []byte) error {
	calls, done := map[string]bool{}, 0
	err := eachEvent(stream, func(data []byte) error {
		if string(data) == "[DONE]" {
			done++
			return nil
		}
		if done > 0 {
			return fmt.Errorf("behind the end: %s", data)
		}
		list, _ := jsonedit.Find(data, "choices")
		for c := range jsonedit.Elements(list) {
			choice, _ := jsonedit.Find(c, "index")
			all, _ := jsonedit.Find(c, "delta", "tool_calls")
			for call := range jsonedit.Elements(all) {
				index, _ := jsonedit.Find(call, "index")
				key := string(choice) + "/" + string(index)
				if !calls[key] && (jsonedit.Text(call, "id") == "" || jsonedit.Text(call, jsonedit.Text(call, "type"), "name") == "") {
					return fmt.Errorf("a call begins without id or name: %s", data)
				}
				calls[key] = true
			}
		}
		return nil
	})
	if err == nil && done != 1 {
		return fmt.Errorf("%d ends", done)
	}
	return err
}

func messagesGrammar(stream []byte) error {
	next, open, ends := 0, -1, 0
	err := eachEvent(stream, func(data []byte) error {
		raw, _ := jsonedit.Find(data, "index")
		n, _ := usage.Count(raw)
		index := int(n)
		switch jsonedit.Text(data, "type") {
		case "content_block_start":
			if open >= 0 || index != next {
				return fmt.Errorf("block %d begins while %d is open and %d is next", index, open, next)
			}
			open = index
			next++
			block, _ := jsonedit.Find(data, "content_block")
			if jsonedit.Text(block, "type") == "tool_use" && (jsonedit.Text(block, "name") == "" || jsonedit.Text(block, "id") == "") {
				return fmt.Errorf("a call without id or name: %s", data)
			}
		case "content_block_delta":
			if index != open {
				return fmt.Errorf("a piece of block %d, open is %d", index, open)
			}
		case "content_block_stop":
			if index != open {
				return fmt.Errorf("block %d ends, open is %d", index, open)
			}
			open = -1
		case "message_stop":
			ends++
		}
		return nil
	})
	if err == nil && (ends != 1 || open >= 0) {
		return fmt.Errorf("%d ends, open is %d", ends, open)
	}
	return err
}

func responsesGrammar(stream []byte) error {
	seq, items, ends := int64(0), map[int64]string{}, 0
	err := eachEvent(stream, func(data []byte) error {
		raw, _ := jsonedit.Find(data, "sequence_number")
		if n, _ := usage.Count(raw); n != seq {
			return fmt.Errorf("event %d has the number %d", seq, n)
		}
		seq++
		raw, there := jsonedit.Find(data, "output_index")
		index, _ := usage.Count(raw)
		kind := jsonedit.Text(data, "type")
		switch {
		case kind == "response.completed", kind == "response.incomplete":
			ends++
			for index, state := range items {
				if state != "done" {
					return fmt.Errorf("item %d is %s at the end", index, state)
				}
			}
		case kind == "response.output_item.added":
			if index != int64(len(items)) {
				return fmt.Errorf("item %d is added behind %d others", index, len(items))
			}
			items[index] = "open"
			item, _ := jsonedit.Find(data, "item")
			if jsonedit.Text(item, "type") == "function_call" && (jsonedit.Text(item, "name") == "" || jsonedit.Text(item, "call_id") == "") {
				return fmt.Errorf("a call without id or name: %s", data)
			}
		case there && items[index] != "open":
			return fmt.Errorf("%s of item %d, which is %q", kind, index, items[index])
		case kind == "response.output_item.done":
			items[index] = "done"
		}
		return nil
	})
	if err == nil && ends != 1 {
		return fmt.Errorf("%d ends", ends)
	}
	return err
}
