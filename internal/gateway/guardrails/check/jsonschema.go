package check

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// jsonSchema passes texts with a JSON value that a schema accepts. The schema has the rules of draft
// 2020-12 and is never fetched.
func jsonSchema() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.jsonSchema", Phases: outputPhase(), Params: []param.Param{
			param.Required("schema", param.Schema), param.Not,
		}},
		New: func(p Params, _ *Deps) (Runner, error) {
			r := &schemaRunner{not: p.Bool("not", false)}
			raw, err := json.Marshal(p.Object("schema"))
			if err != nil {
				return nil, invalidParameter("schema", "must be a JSON Schema object")
			}
			if bytes.Contains(raw, []byte("Ref\":")) || bytes.Contains(raw, []byte("$ref\":")) {
				if bytes.Contains(raw, []byte(`"dependentSchemas":`)) || bytes.Contains(raw, []byte(`"dependencies":`)) {
					return nil, invalidParameter("schema", "must not combine dependentSchemas with $ref: its evaluation takes too long; use if and then")
				}
			}
			r.raw = raw
			first, err := compileSchema(raw)
			if err != nil {
				return nil, invalidParameter("schema", "must be a valid JSON Schema without external references")
			}
			r.pool.Put(first)
			return r, nil
		},
	}
}

type schemaRunner struct {
	raw  []byte
	not  bool
	pool sync.Pool // of *countedSchema: each counts the steps of one evaluation
}

// Run validates each JSON value of the text. The first valid one is the best; otherwise the one with
// the fewest errors is.
func (r *schemaRunner) Run(ctx context.Context, in *Input) Result {
	text := in.Text()
	data := report{"not": r.not, "textExcerpt": excerpt(text), "matchedJson": nil, "validationErrors": nil}
	schema, err := r.acquire()
	if err != nil {
		return errorResult("the schema does not compile; correct it", data)
	}
	defer r.pool.Put(schema)
	ctx, cancel := context.WithTimeout(ctx, schemaTime)
	defer cancel()
	schema.steps.steps = 0
	valid, fewest := false, -1
	for _, candidate := range jsonCandidates(text) {
		value, err := decodeJSON(candidate)
		if err != nil {
			continue
		}
		texts, err := schema.validate(ctx, value)
		if err != nil {
			return errorResult(err.Error(), data)
		}
		if fewest < 0 || len(texts) < fewest {
			fewest = len(texts)
			data["matchedJson"], data["validationErrors"] = json.RawMessage(candidate), texts
		}
		if valid = len(texts) == 0; valid {
			break
		}
	}
	return r.result(data, valid, fewest >= 0)
}

// result is the verdict. A text without JSON fails whatever not requests.
func (r *schemaRunner) result(data report, valid, found bool) Result {
	verdict := found && valid != r.not
	data["verdict"] = verdict
	switch {
	case !found:
		data["explanation"] = "the text contains no JSON value"
	case valid:
		data["explanation"] = "the JSON value is valid"
	default:
		data["explanation"] = "the JSON value is not valid"
	}
	return Result{Verdict: verdict, Data: data}
}

func (r *schemaRunner) acquire() (*countedSchema, error) {
	if s, ok := r.pool.Get().(*countedSchema); ok {
		return s, nil
	}
	return compileSchema(r.raw)
}

// countedSchema is a compiled schema that counts the steps of its evaluation, because the number can
// double with each level of a value. It belongs to one goroutine at a time.
type countedSchema struct {
	schema *jsonschema.Schema
	steps  stepCounter
}

// Limits of the evaluation of a text.
const (
	schemaTime      = 2 * time.Second
	maxSchemaSteps  = 500_000
	maxSchemaErrors = 20 // that a result shows
)

var (
	errSchemaSteps = errors.New("the evaluation of the schema takes too many steps; use a simpler schema")
	errSchemaTime  = errors.New("the evaluation of the schema did not end in time; use a simpler schema")
)

// stepCounter implements jsonschema.SchemaExt. It ends an evaluation that is too long by a panic, which
// validate recovers: the library has no other way to end one.
type stepCounter struct {
	ended func() bool // nil while the schema itself is checked
	steps int
}

// Validate counts the evaluation of one schema.
func (c *stepCounter) Validate(*jsonschema.ValidatorContext, any) { c.count() }

func (c *stepCounter) count() {
	c.steps++
	switch {
	case c.ended == nil:
	case c.steps > maxSchemaSteps:
		panic(errSchemaSteps)
	case c.steps%1024 == 0 && c.ended():
		panic(errSchemaTime)
	}
}

// countedPattern is a pattern of a schema that counts its uses.
type countedPattern struct {
	*regexp.Regexp
	counter *stepCounter
}

// MatchString implements jsonschema.Regexp.
func (p countedPattern) MatchString(s string) bool {
	p.counter.count()
	return p.Regexp.MatchString(s)
}

func compileSchema(raw []byte) (*countedSchema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	s := &countedSchema{}
	c := jsonschema.NewCompiler()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // it has no scheme, so it loads nothing
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.AssertVocabs()
	c.UseRegexpEngine(func(pattern string) (jsonschema.Regexp, error) {
		re, err := regexp.Compile(pattern)
		return countedPattern{re, &s.steps}, err
	})
	c.RegisterVocabulary(&jsonschema.Vocabulary{
		URL:     "mem:///steps",
		Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) { return &s.steps, nil },
	})
	if err := c.AddResource("mem:///schema.json", doc); err != nil {
		return nil, err
	}
	s.schema, err = c.Compile("mem:///schema.json")
	return s, err
}

// validate returns the errors of a value, none if it is valid. err is set if the evaluation is too long.
func (s *countedSchema) validate(ctx context.Context, value any) (texts []string, err error) {
	s.steps.ended = func() bool { return ctx.Err() != nil }
	defer func() {
		s.steps.ended = nil
		if stopped := recover(); stopped != nil {
			texts, err = nil, asError(stopped)
		}
	}()
	var invalid *jsonschema.ValidationError
	if found := s.schema.Validate(value); errors.As(found, &invalid) {
		return leafErrors(invalid, nil), nil
	} else if found != nil {
		return nil, found
	}
	return nil, nil
}

func asError(v any) error {
	if err, ok := v.(error); ok && (errors.Is(err, errSchemaSteps) || errors.Is(err, errSchemaTime)) {
		return err
	}
	return fmt.Errorf("the schema cannot be evaluated: %v", v)
}

// leafErrors appends the errors that have no cause, with their place in the value: "/a/0: missing
// property 'b'".
func leafErrors(e *jsonschema.ValidationError, texts []string) []string {
	if len(texts) >= maxSchemaErrors {
		return texts
	}
	if len(e.Causes) == 0 {
		path, text := "/"+strings.Join(e.InstanceLocation, "/"), e.Error()
		if i := strings.LastIndex(text, "': "); i >= 0 && !strings.Contains(text[i:], "\n") {
			text = text[i+3:]
		}
		return append(texts, excerpt(path)+": "+text[:min(len(text), 300)])
	}
	for _, cause := range e.Causes {
		texts = leafErrors(cause, texts)
	}
	return texts
}
