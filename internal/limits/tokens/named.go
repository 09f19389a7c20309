package tokens

import (
	"bytes"
	"net/url"
	"path"
	"strings"

	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// namers are the members that name a file, a recording or a video by its URL or id, in all
// formats, without capitals and underscores. The content is not known.
// Source: https://ai.google.dev/api/caching#FileData,
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_S3Location.html,
// https://docs.mistral.ai/capabilities/document_ai/document_qna,
// https://openrouter.ai/docs/guides/overview/multimodal/videos, read 2026-11.
var namers = names("fileuri filedata s3location s3uri gcsuri documenturl videourl audiourl fileurl videouri audiouri")

// ownWords are the members whose content is text to a model, whatever its names are: arguments
// and results of tools that the caller runs, and their schemas.
var ownWords = names("tools functions responseformat text toolconfig args arguments response json metadata parameters inputschema")

// namesUnseen reports whether a request body names, by URL or id, something of unknown length
// that a model reads. A named image, and a document of a typed endpoint, are a medium: see
// mediumIn.
func namesUnseen(ep llm.Endpoint, body []byte) bool {
	for name, raw := range jsonedit.Members(body) {
		if key := folded(name); !ownWords[key] && unseen(ep, key, raw, 0) {
			return true
		}
	}
	return false
}

// unseen is namesUnseen for a member by its folded name.
func unseen(ep llm.Endpoint, key string, raw []byte, depth int) bool {
	if len(raw) == 0 || depth > 2*depthMax {
		return false
	}
	switch raw[0] {
	case '"':
		return unseenText(ep, key, raw)
	case '[':
		for el := range jsonedit.Elements(raw) {
			if unseen(ep, key, el, depth+1) {
				return true
			}
		}
	case '{':
		for name, val := range jsonedit.Members(raw) {
			member := folded(name)
			if ownWords[member] && member != "text" || member == "input" && depth > 0 {
				continue
			}
			if member == "url" && key == "imageurl" {
				member = key
			}
			if namers[key] && (member == "url" || member == "uri") && placed(val) || unseen(ep, member, val, depth+1) {
				return true
			}
		}
	}
	return false
}

// unseenText is unseen for a string.
func unseenText(ep llm.Endpoint, key string, raw []byte) bool {
	switch {
	case bytes.HasPrefix(raw, []byte(`"data:`)): // may be long
		return false
	case namers[key]:
		return key != "filedata" && placed(raw)
	case key == "video" || key == "audio" || key == "inputvideo":
		return bytes.Contains(raw, []byte("://"))
	case ep == llm.Proxy && (key == "fileid" || key == "url" || key == "uri"):
		return placed(raw)
	case key == "url" || key == "uri" || key == "imageurl":
		address, _ := jsonedit.Unquote(raw)
		return elsewhere(address)
	}
	return false
}

// placed reports whether a raw string names something that it does not contain.
func placed(raw []byte) bool {
	address, _ := jsonedit.Unquote(raw)
	return address != "" && !strings.HasPrefix(address, "data:")
}

// elsewhere reports whether an address is not that of an image: a file store, a video site, or
// a file of another type.
func elsewhere(address string) bool {
	at, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return false
	}
	switch strings.ToLower(at.Scheme) {
	case "gs", "s3":
		return true
	case "http", "https":
		host := strings.TrimPrefix(strings.ToLower(at.Hostname()), "www.")
		return host == "youtu.be" || host == "youtube.com" || strings.HasSuffix(host, ".youtube.com") || notPictures[strings.ToLower(path.Ext(at.Path))]
	}
	return false
}

// notPictures are the suffixes of recordings, videos and documents.
var notPictures = names(".mp4 .m4v .mov .webm .mkv .avi .mpg .mpeg .mpegps .wmv .flv .3gp .3gpp .mp3 .wav .ogg .oga .opus .flac .aac .aiff .m4a .pdf .doc .docx .txt .csv .html")

// folded returns a raw name without its quotes, capitals and underscores.
func folded(raw []byte) string {
	name, _ := jsonedit.Unquote(raw)
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}
