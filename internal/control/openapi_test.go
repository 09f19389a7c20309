package control_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"golang.org/x/tools/txtar"

	"sluice/api"
	"sluice/internal/control"
	"sluice/internal/control/apidoc"
	"sluice/internal/control/resource"
	"sluice/internal/kernel/ident"
)

const published = "../../api/openapi.json"

// The published description is generated from the types, the texts and the transcripts.
func TestOpenAPI_PublishedFileIsCurrent(t *testing.T) {
	t.Parallel()
	current := buildDescription(t)
	if *update {
		if err := os.WriteFile(published, current, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	stored, err := os.ReadFile(published)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(stored, current) {
		t.Error("api/openapi.json is out of date; run go generate ./internal/control")
	}
}

func TestOpenAPI_ServedDescriptionHasTheVersionOfTheProgram(t *testing.T) {
	t.Parallel()
	var served struct{ Info struct{ Version string } }
	if err := json.Unmarshal(plainAdmin().Description(), &served); err != nil {
		t.Fatal(err)
	}
	if served.Info.Version != "1.0.0" {
		t.Errorf("info.version is %q, want that of the program", served.Info.Version)
	}
}

func buildDescription(t *testing.T) []byte {
	t.Helper()
	types, err := json.Marshal(control.Describe(control.Parts{Clock: ident.System{}, Version: api.Version}))
	if err != nil {
		t.Fatal(err)
	}
	built, err := apidoc.Build(types, recordedSamples(t))
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// recordedSamples returns the first successful call of each operation in the transcripts.
func recordedSamples(t *testing.T) map[string]apidoc.Sample {
	t.Helper()
	ops := operationsOf(t)
	samples := make(map[string]apidoc.Sample)
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range archive.Files {
			op, sample := readSample(ops, string(step.Data))
			if op != nil && len(samples[op.id].Response) == 0 && op.describes(sample.Request) {
				samples[op.id] = sample
			}
		}
	}
	return samples
}

// described is an operation of the description: its path as a pattern, and its id.
type describedPath struct {
	method, id string
	parts      []string
	body       *openapi3.Schema // of the request; nil for none
}

// describes reports whether a request has the fields that are described, and no others: some
// transcripts send more to show that they are ignored.
func (p *describedPath) describes(request json.RawMessage) bool {
	if p.body == nil || len(request) == 0 {
		return true
	}
	var v any
	return json.Unmarshal(request, &v) == nil && p.body.VisitJSON(v, openapi3.EnableJSONSchema2020()) == nil
}

func operationsOf(t *testing.T) []describedPath {
	t.Helper()
	types, err := json.Marshal(control.Describe(control.Parts{Clock: ident.System{}}))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi3.NewLoader().LoadFromData(types)
	if err != nil {
		t.Fatal(err)
	}
	var ops []describedPath
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			p := describedPath{method: method, id: op.OperationID, parts: strings.Split(path[1:], "/")}
			if op.RequestBody != nil && op.RequestBody.Value.Content.Get("application/json") != nil {
				p.body = op.RequestBody.Value.Content.Get("application/json").Schema.Value
			}
			ops = append(ops, p)
		}
	}
	slices.SortFunc(ops, func(a, b describedPath) int { // the path with the fewest placeholders counts
		return strings.Count(strings.Join(a.parts, "/"), "{") - strings.Count(strings.Join(b.parts, "/"), "{")
	})
	return ops
}

// readSample reads a step of a transcript: the operation that it called, and what was sent
// and returned. The operation is nil when the call failed or belongs to none.
func readSample(ops []describedPath, text string) (*describedPath, apidoc.Sample) {
	sent, response, ok := strings.Cut(text, "=>")
	status, body, _ := strings.Cut(strings.TrimLeft(response, " "), "\n")
	fields := strings.Fields(sent)
	if !ok || !strings.HasPrefix(status, "200") || len(fields) < 3 {
		return nil, apidoc.Sample{}
	}
	method, address := fields[1], strings.TrimPrefix(strings.TrimPrefix(fields[2], "/v1"), "/v2")
	path, _, _ := strings.Cut(address, "?")
	for i := range ops {
		if op := &ops[i]; op.method == method && matchPath(op.parts, strings.Split(strings.TrimPrefix(path, "/"), "/")) {
			return op, apidoc.Sample{Request: revealed(requestBody(sent)), Response: revealed(body)}
		}
	}
	return nil, apidoc.Sample{}
}

func matchPath(pattern, path []string) bool {
	if len(pattern) != len(path) {
		return false
	}
	for i, part := range pattern {
		if !strings.HasPrefix(part, "{") && part != path[i] {
			return false
		}
	}
	return true
}

// requestBody is the JSON that follows the line of the call and its headers.
func requestBody(sent string) string {
	for _, open := range []string{"\n{", "\n["} {
		if i := strings.Index(sent, open); i >= 0 {
			return sent[i+1:]
		}
	}
	return ""
}

var placeholder = regexp.MustCompile(`<([a-z-]+?)-?(\d*)>`)

// revealed replaces the names of a transcript with values that look real, and drops what is
// not JSON.
func revealed(body string) json.RawMessage {
	body = strings.ReplaceAll(strings.TrimSpace(placeholder.ReplaceAllStringFunc(body, exampleValue)), "s3cr3t", "example")
	if !json.Valid([]byte(body)) {
		return nil
	}
	return json.RawMessage(body)
}

func exampleValue(name string) string {
	m := placeholder.FindStringSubmatch(name)
	kind, number := m[1], m[2]
	switch kind {
	case "raw":
		return "sk-example" + number
	case "masked-raw", "mask":
		return "sk-***" + number
	case "slug":
		return "example-" + number
	case "session", "invite", "cursor", "link", "hash", "signature", "genesis", "audit-key", "audit-pem", "audit-key-id":
		return "example-" + kind + number
	}
	return exampleID(kind + number)
}

// exampleID is a UUID that is always the same for a name.
func exampleID(name string) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(name)).String()
}

// Every example must fit its schema: official tools refuse the description otherwise.
func TestOpenAPI_ExamplesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(buildDescription(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Error(err)
	}
}

// Parameters of queries have one spelling.
func TestOpenAPI_ParametersAreInSnakeCase(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(buildDescription(t))
	if err != nil {
		t.Fatal(err)
	}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			for _, p := range op.Parameters {
				if p.Value.In == "query" && p.Value.Name != resource.SnakeName(p.Value.Name) {
					t.Errorf("%s %s has the parameter %s", method, path, p.Value.Name)
				}
			}
		}
	}
}
