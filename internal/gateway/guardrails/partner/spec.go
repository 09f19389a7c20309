package partner

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"

	"sluice/internal/domain/guardrail"
)

//go:embed specs/*.json
var specFiles embed.FS

// file is the content of a file in specs/.
type file struct {
	Partner     string            `json:"partner"` // "azure": the part of an id before the dot
	Source      string            `json:"source"`  // URL of the published interface
	Date        string            `json:"date"`    // when the source was read: "2026-11-28"
	Unavailable string            `json:"unavailable,omitempty"`
	Aliases     []string          `json:"aliases,omitempty"` // of an unavailable partner
	Shared      json.RawMessage   `json:"shared,omitempty"`  // members that all checks have
	Checks      []json.RawMessage `json:"checks,omitempty"`  // each is a spec, with the shared members as defaults
}

// spec describes one check of a partner.
type spec struct {
	partner, source, date string

	ID      string            `json:"id"`      // "contentSafety"
	Aliases []string          `json:"aliases"` // complete ids: "zscaler.*"
	Phases  []guardrail.Phase `json:"phases"`
	// Transformer marks a check that adds to the request and never denies.
	Transformer bool                 `json:"transformer"`
	Credentials map[string]paramSpec `json:"credentials"` // fields of the parameter "credentials"
	Parameters  map[string]paramSpec `json:"parameters"`
	Constants   map[string]any       `json:"constants"` // values for placeholders: {"$":"const.evaluator"}
	// Send is the way in which texts go to the partner; see the constants. SendRedacting replaces it
	// when the check redacts.
	Send          sendMode `json:"send"`
	SendRedacting sendMode `json:"send_redacting"`
	Limits        limits   `json:"limits"`
	// Scope names a parameter that selects messages of the request instead of the texts of the hook; see
	// conversation.scope.
	Scope     string  `json:"scope"`
	TimeoutMS int     `json:"timeout_ms"` // default of the parameter timeout; 0 means 10,000
	Request   request `json:"request"`
	// Chat replaces members of Request for the requests of chat completions; nil for none.
	Chat *chatRequest `json:"chat"`
	// Expect lists members that each response has. A response without one is an error of the check.
	Expect []expectation `json:"expect"`
	Fails  *rule         `json:"fails"` // when the check fails
	// Errors holds for responses of a service that could not judge. A failure comes first.
	Errors *rule      `json:"errors"`
	Redact *redaction `json:"redact"`
	Inject *injection `json:"inject"`
	// Data is the path of the part of the response that results show; empty shows all of it.
	Data string `json:"data"`
	// OnError is the verdict of an errored check: "open" passes, "closed" fails. Empty leaves it to the
	// guardrail. OnMissing replaces it when a credential is absent.
	OnError   string `json:"on_error"`
	OnMissing string `json:"on_missing_credential"`
	Hook      string `json:"hook"` // code that data cannot replace; see hooks
}

// request describes the HTTP request.
type request struct {
	Method string `json:"method"` // "POST"
	URL    string `json:"url"`    // "https://{credentials.domain}/v1/check"
	// CustomBase names a value, a URL, that replaces scheme and host: "param.customHost".
	CustomBase string            `json:"custom_base"`
	Query      map[string]string `json:"query"`
	Header     map[string]string `json:"header"` // a field whose placeholder has no value is omitted
	Body       json.RawMessage   `json:"body"`   // a template
	AWS        *awsNames         `json:"aws"`
}

// chatRequest describes a different address for the requests of chat completions.
type chatRequest struct {
	Send sendMode        `json:"send"`
	URL  string          `json:"url"`
	Body json.RawMessage `json:"body"`
}

// awsNames are the names of the values that sign a request to an Amazon service.
type awsNames struct {
	Service string `json:"service"` // "bedrock"
}

// limits are the limits of a partner for one call. Zero means that none is published.
type limits struct {
	MaxChars     int `json:"max_chars"`      // characters of one text
	MaxTexts     int `json:"max_texts"`      // texts of one call
	MaxCallChars int `json:"max_call_chars"` // characters of all texts of one call
	// MaxBodyBytes is the limit of a JSON body. A larger one goes as messages, in several calls.
	MaxBodyBytes int `json:"max_body_bytes"`
}

// sendMode is the way in which the texts of a call go to a partner.
type sendMode string

const (
	sendJoined   sendMode = "joined"   // one text: all texts, joined by newlines
	sendEach     sendMode = "each"     // one call for each text
	sendBatch    sendMode = "batch"    // several texts in a call
	sendMessages sendMode = "messages" // the messages of the request, or the texts of the response as messages
	sendBody     sendMode = "body"     // the JSON of the request or response
)

// load reads the specs. The error names the file and the member.
func load(fsys fs.FS) (files []file, specs []spec, err error) {
	names, err := fs.Glob(fsys, "specs/*.json")
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		raw, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, nil, err
		}
		var f file
		if err := decodeStrict(raw, &f); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		list, err := f.specs()
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		files, specs = append(files, f), append(specs, list...)
	}
	return files, specs, nil
}

// specs decodes the checks of a file.
func (f *file) specs() ([]spec, error) {
	if f.Partner == "" || f.Source == "" || f.Date == "" {
		return nil, fmt.Errorf("partner, source and date are required")
	}
	if (f.Unavailable == "") == (len(f.Checks) == 0) {
		return nil, fmt.Errorf("either checks or unavailable is required")
	}
	var list []spec
	for i, raw := range f.Checks {
		s := spec{partner: f.Partner, source: f.Source, date: f.Date}
		if len(f.Shared) > 0 {
			if err := decodeStrict(f.Shared, &s); err != nil {
				return nil, fmt.Errorf("shared: %w", err)
			}
		}
		if err := decodeStrict(raw, &s); err != nil {
			return nil, fmt.Errorf("checks[%d]: %w", i, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// decodeStrict decodes one JSON value. Unknown members are an error.
func decodeStrict(raw []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("must be one JSON value")
	}
	return nil
}

// name returns the id of the check: "azure.contentSafety".
func (s *spec) name() string { return s.partner + "." + s.ID }

// names returns the sorted keys of a map.
func names[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
