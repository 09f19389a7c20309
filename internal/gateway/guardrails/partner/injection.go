package partner

import (
	"encoding/json"
	"fmt"
	"strings"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// injection adds the results of a search to the request: to its system prompt, or before the prompt of
// a completion. Source: contract/dataplane.md 5.8 (exa, tavily).
type injection struct {
	Results                  string   `json:"results"` // path of the list
	Title                    string   `json:"title"`   // members of a result
	URL                      string   `json:"url"`
	Date                     string   `json:"date"`
	Text                     []string `json:"text"`    // the first that is not empty
	Summary                  string   `json:"summary"` // path of a direct response to the query
	Images                   string   `json:"images"`  // path of image addresses
	results, summary, images path
}

// maxImages is the maximum number of image addresses in a prompt.
const maxImages = 5

func (i *injection) compile() (err error) {
	for to, from := range map[*path]string{&i.results: i.Results, &i.summary: i.Summary, &i.images: i.Images} {
		if *to, err = parsePath(from); err != nil {
			return err
		}
	}
	return nil
}

// rewrite returns the request with the results; nil leaves it unchanged, if there are none or the
// endpoint has no prompt.
func (i *injection) rewrite(root any, v *values) []byte {
	text := i.text(root, v)
	if text == "" {
		return nil
	}
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if !d.Indexes(v.in.Body) && jsonedit.Scan(v.in.Body, d) != nil {
		return nil
	}
	switch v.in.Endpoint {
	case llm.ChatComplete:
		return addSystemMessage(d, text)
	case llm.Complete:
		return addMember(d, "prompt", text, false, false)
	case llm.Messages:
		return addMember(d, "system", text, true, true)
	case llm.CreateModelResponse:
		return addMember(d, "instructions", text, true, true)
	default:
		return nil
	}
}

// supports reports whether the requests of an endpoint have a prompt to which results can be added.
func (i *injection) supports(e llm.Endpoint) bool {
	return e == llm.ChatComplete || e == llm.Complete || e == llm.Messages || e == llm.CreateModelResponse
}

// text returns the results as text.
func (i *injection) text(root any, v *values) string {
	results, _ := i.results.first(root, v).([]any)
	if len(results) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(v.param("prefix") + "\n")
	if summary := plainText(i.summary.first(root, v)); i.Summary != "" && summary != "" {
		b.WriteString("Answer: " + summary + "\n")
	}
	if i.Images != "" {
		addImages(&b, i.images.first(root, v))
	}
	for n, item := range results {
		m, _ := item.(map[string]any)
		fmt.Fprintf(&b, "[%d] %q\nURL: %s\n", n+1, plainText(m[i.Title]), plainText(m[i.URL]))
		if date := plainText(m[i.Date]); date != "" {
			b.WriteString("Date: " + date + "\n")
		}
		for _, name := range i.Text {
			if s := plainText(m[name]); s != "" {
				b.WriteString(s + "\n")
				break
			}
		}
	}
	b.WriteString(v.param("suffix"))
	return b.String()
}

// addImages adds image addresses: strings, or objects with url and description.
func addImages(b *strings.Builder, found any) {
	images, _ := found.([]any)
	for n, item := range images {
		if n == maxImages {
			return
		}
		m, isObject := item.(map[string]any)
		address := plainText(item)
		if isObject {
			address = plainText(m["url"])
		}
		if address == "" {
			continue
		}
		fmt.Fprintf(b, "Image %d: %s\n", n+1, address)
		if text := plainText(m["description"]); text != "" {
			b.WriteString("Description: " + text + "\n")
		}
	}
}

// param returns a text of the parameters.
func (v *values) param(name string) string { return plainText(v.params[name]) }

// addSystemMessage adds a text to the first system message, or a system message before all others.
func addSystemMessage(d *jsonedit.Doc, text string) []byte {
	raw, ok := d.Raw("messages")
	if !ok || raw[0] != '[' {
		return nil
	}
	var list []json.RawMessage
	added := false
	for m := range jsonedit.Elements(raw) {
		if edited := withSystemText(m, text); !added && edited != nil {
			m, added = edited, true
		}
		list = append(list, m)
	}
	if !added {
		first := append([]byte(`{"role":"system","content":`), jsonedit.Quote(text)...)
		list = append([]json.RawMessage{append(first, '}')}, list...)
	}
	return d.Apply([]jsonedit.Edit{jsonedit.Set("messages", array(list))})
}

// withSystemText returns a system message with a text added; nil for other messages.
func withSystemText(m []byte, text string) []byte {
	if role := jsonedit.Text(m, "role"); role != "system" && role != "developer" {
		return nil
	}
	d := jsonedit.GetDoc()
	defer jsonedit.PutDoc(d)
	if jsonedit.Scan(m, d) != nil {
		return nil
	}
	return addMember(d, "content", text, true, false)
}

// array returns the JSON of a list.
func array(list []json.RawMessage) []byte {
	out := []byte{'['}
	for i, e := range list {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, ']')
}

// addMember adds a text to a member that is a string or a list: after it, or before it. An absent
// member becomes the text if create is true. A member of another form leaves the document unchanged.
func addMember(d *jsonedit.Doc, name, text string, after, create bool) []byte {
	raw, ok := d.Raw(name)
	switch {
	case !ok || jsonedit.IsNull(raw):
		if !create {
			return nil
		}
		return d.Apply([]jsonedit.Edit{jsonedit.Set(name, jsonedit.Quote(text))})
	case raw[0] == '"':
		old, isText := jsonedit.Unquote(raw)
		if !isText {
			return nil
		}
		if after {
			text = old + text
		} else {
			text += old
		}
		return d.Apply([]jsonedit.Edit{jsonedit.Set(name, jsonedit.Quote(text))})
	case raw[0] == '[':
		return d.Apply([]jsonedit.Edit{jsonedit.Set(name, withElement(raw, text, after))})
	}
	return nil
}

// withElement returns a list with a text: a content part among objects, else a string.
func withElement(raw []byte, text string, after bool) []byte {
	element := json.RawMessage(jsonedit.Quote(text))
	var list []json.RawMessage
	objects := false
	for e := range jsonedit.Elements(raw) {
		list = append(list, e)
		objects = objects || len(e) > 0 && e[0] == '{'
	}
	if objects || after {
		element = append(append([]byte(`{"type":"text","text":`), element...), '}')
	}
	if after {
		list = append(list, element)
	} else {
		list = append([]json.RawMessage{element}, list...)
	}
	return array(list)
}
