package check

import (
	"bytes"
	"encoding/base64"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// imageLink is an image in a request body that is given by its URL.
type imageLink struct {
	start, end int  // of the value to replace
	source     bool // the value is the source of an image of Messages; otherwise it is the URL
	url        string
}

// imageURLs returns the images with an http or https URL in the messages or items of a request, in
// their order.
func imageURLs(body []byte) []imageLink {
	text := bytes.TrimLeft(body, " \t\r\n")
	w := imageWalker{r: jsonedit.NewReader(text), lead: len(body) - len(text)}
	for name := range w.r.Members() {
		if key := string(name); key == "messages" || key == "input" {
			w.value(0)
		}
	}
	return w.links
}

// maxImageDepth is the nesting depth at which images are searched: an image in a tool result in a
// message has depth 6.
const maxImageDepth = 16

// imageWalker reads a body from front to back.
type imageWalker struct {
	r     jsonedit.Reader
	lead  int // bytes before the text of the reader
	links []imageLink
}

func (w *imageWalker) value(depth int) {
	if depth > maxImageDepth {
		return
	}
	switch w.r.Kind() {
	case '[':
		for range w.r.Elements() {
			w.value(depth + 1)
		}
	case '{':
		w.object(depth + 1)
	}
}

// object reads a message, an item or a part of their content.
func (w *imageWalker) object(depth int) {
	kind, source := "", -1
	for name := range w.r.Members() {
		switch string(name) {
		case "type":
			kind, _ = jsonedit.Unquote(w.r.Raw())
		case "content", "output":
			w.value(depth)
		case "image_url":
			w.imageURL()
		case "source":
			source = len(w.links)
			w.add(true)
		}
	}
	if kind != "image" && source >= 0 && source < len(w.links) && w.links[source].source { // a document
		w.links = append(w.links[:source], w.links[source+1:]...)
	}
}

// imageURL reads the URL of an image: a string (Responses), or an object with it (chat completions).
func (w *imageWalker) imageURL() {
	if w.r.Kind() != '{' {
		w.add(false)
		return
	}
	for name := range w.r.Members() {
		if string(name) == "url" {
			w.add(false)
		}
	}
}

// add reads the next value and adds it if it is a URL, or the source of an image with one.
func (w *imageWalker) add(source bool) {
	start := w.lead + w.r.Mark()
	raw := w.r.Raw()
	link := imageLink{start: start, end: start + len(raw), source: source}
	if !source {
		link.url, _ = jsonedit.Unquote(raw)
	} else if jsonedit.Text(raw, "type") == "url" {
		link.url = jsonedit.Text(raw, "url")
	}
	if lower := strings.ToLower(link.url[:min(len(link.url), 8)]); strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://") {
		w.links = append(w.links, link)
	}
}

// inlineImages returns the body with the images that were fetched, and their number. Other bytes stay.
func inlineImages(body []byte, links []imageLink, images map[string]image) (out []byte, inlined int) {
	done := 0
	for _, link := range links {
		img := images[link.url]
		if img.err != nil {
			continue
		}
		out = append(out, body[done:link.start]...)
		out = img.appendJSON(out, link.source)
		done = link.end
		inlined++
	}
	return append(out, body[done:]...), inlined
}

// appendJSON appends an image as a JSON string with a data URL, or as the source of an image of
// Messages.
func (i *image) appendJSON(out []byte, source bool) []byte {
	before, after := `"data:`+i.mediaType+`;base64,`, `"`
	if source {
		before, after = `{"type":"base64","media_type":"`+i.mediaType+`","data":"`, `"}`
	}
	out = append(out, before...)
	out = base64.StdEncoding.AppendEncode(out, i.data)
	return append(out, after...)
}
