package check

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/kernel/jsonedit"
)

// requestParametersCheck passes requests whose tools and parameters violate no rule. Parameters are
// the members of the request body at its top level.
func requestParametersCheck() Check {
	values := param.Fields(param.Optional("blockedValues", listOrEmpty(primitiveForm)), param.Optional("allowedValues", listOrEmpty(primitiveForm)))
	names := listOrEmpty(param.Text(1024))
	return Check{
		Definition: guardrail.Definition{
			ID: "default.requestParams", Aliases: []string{"default.requestParametersCheck"}, Phases: inputPhase(),
			Params: []param.Param{
				param.Optional("tools", param.Fields(
					param.Optional("blockedTypes", names), param.Optional("allowedTypes", names),
					param.Optional("blockedFunctionNames", names), param.Optional("allowedFunctionNames", names),
				)),
				param.Optional("params", param.Fields(
					param.Optional("blockedKeys", names), param.Optional("allowedKeys", names), param.Optional("values", param.MapOf(values)),
				)),
			},
		},
		Textless: true,
		New:      func(p Params, _ *Deps) (Runner, error) { return newParamsRunner(p) },
	}
}

// listOrEmpty accepts a list that may be empty, which means that there is no rule.
func listOrEmpty(item param.Form) param.Form {
	return param.Custom(func(v any) *param.Problem {
		if list, ok := v.([]any); ok && len(list) == 0 {
			return nil
		}
		return param.List(item).Check(v)
	})
}

var primitiveForm = param.Custom(func(v any) *param.Problem {
	switch v.(type) {
	case map[string]any, []any:
		return param.Wrong("must be a string, a number, a boolean or null")
	}
	return nil
})

// nameRule permits names by an allow list and a block list. An empty allow list permits all names.
type nameRule struct{ allowed, blocked []string }

func newNameRule(p Params, allowed, blocked, path string) (nameRule, error) {
	r := nameRule{p.List(allowed), p.List(blocked)}
	if common, found := overlap(r.allowed, r.blocked); found {
		return r, invalidParameter(path+"."+blocked, "must not contain "+common+", which "+allowed+" contains too")
	}
	return r, nil
}

// permits reports whether a rule permits a thing that has these names.
func (r *nameRule) permits(names ...string) bool {
	in := func(list []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(list, name) })
	}
	return !in(r.blocked) && (len(r.allowed) == 0 || in(r.allowed))
}

// valueRule permits values of one parameter.
type valueRule struct{ allowed, blocked []any }

func newValueRule(p Params, path string) (valueRule, error) {
	var r valueRule
	r.allowed, _ = p["allowedValues"].([]any)
	r.blocked, _ = p["blockedValues"].([]any)
	if slices.ContainsFunc(r.allowed, func(v any) bool { return slices.Contains(r.blocked, v) }) {
		return r, invalidParameter(path+".blockedValues", "must not contain a value that allowedValues contains too")
	}
	return r, nil
}

// permits reports whether a rule permits a raw value. Lists and objects equal no value of a rule.
func (r *valueRule) permits(raw []byte) bool {
	var v any
	if json.Unmarshal(raw, &v) != nil || primitiveForm.Check(v) != nil {
		return len(r.allowed) == 0
	}
	return !slices.Contains(r.blocked, v) && (len(r.allowed) == 0 || slices.Contains(r.allowed, v))
}

type paramsRunner struct {
	toolTypes, functions, keys nameRule
	values                     map[string]valueRule
}

func newParamsRunner(p Params) (*paramsRunner, error) {
	tools, params := Params(p.Object("tools")), Params(p.Object("params"))
	r := &paramsRunner{values: make(map[string]valueRule)}
	for _, row := range []struct {
		to                     *nameRule
		from                   Params
		allowed, blocked, path string
	}{
		{&r.toolTypes, tools, "allowedTypes", "blockedTypes", "tools"},
		{&r.functions, tools, "allowedFunctionNames", "blockedFunctionNames", "tools"},
		{&r.keys, params, "allowedKeys", "blockedKeys", "params"},
	} {
		var err error
		if *row.to, err = newNameRule(row.from, row.allowed, row.blocked, row.path); err != nil {
			return nil, err
		}
	}
	values := Params(params.Object("values"))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		rule, err := newValueRule(Params(values.Object(name)), "params.values."+name)
		if err != nil {
			return nil, err
		}
		r.values[name] = rule
	}
	return r, nil
}

// maxViolations is the number of violations that a result lists.
const maxViolations = 20

// Run compares the tools and the members of the request body.
func (r *paramsRunner) Run(_ context.Context, in *Input) Result {
	if in.Body == nil {
		return errorResult("the request body is not JSON", report{})
	}
	violations := []string{}
	add := func(text string) {
		if len(violations) < maxViolations {
			violations = append(violations, text)
		}
	}
	for name, raw := range jsonedit.Members(in.Body) {
		key, _ := jsonedit.Unquote(name)
		if !r.keys.permits(key) {
			add("the parameter " + excerpt(key) + " is not permitted")
		}
		if rule, ok := r.values[key]; ok && !rule.permits(raw) {
			add("the value of " + excerpt(key) + " is not permitted")
		}
		switch key {
		case "tools", "functions":
			r.judgeTools(raw, add)
		case "toolConfig": // Converse of Bedrock
			tools, _ := jsonedit.Find(raw, "tools")
			r.judgeTools(tools, add)
		}
	}
	verdict := len(violations) == 0
	return Result{Verdict: verdict, Data: report{
		"verdict": verdict, "violations": violations,
		"explanation": choose(verdict, "no rule is violated", "the request violates "+strconv.Itoa(len(violations))+" rules"),
	}}
}

// judgeTools compares the tools of a request.
func (r *paramsRunner) judgeTools(list []byte, add func(string)) {
	for tool := range jsonedit.Elements(list) {
		kinds, names := toolNames(tool)
		if !r.toolTypes.permits(kinds...) {
			add("the tool type " + excerpt(kinds[0]) + " is not permitted")
		}
		for _, name := range names {
			if !r.functions.permits(name) {
				add("the tool " + excerpt(name) + " is not permitted")
			}
		}
	}
}

// untypedTools are the types of a tool that names none: a function of the caller, which Messages calls
// "custom".
var untypedTools = []string{"function", "custom"}

// toolNames returns the types of a tool, of which one must be permitted, and its names, of which all
// must be. The name is function.name, else name, else the type. Source: contract/dataplane.md 5.6. Bedrock
// has toolSpec.name, and Gemini a list of functions or a member for a tool of its own: {"googleSearch":{}}.
func toolNames(tool []byte) (kinds, names []string) {
	kind := jsonedit.Text(tool, "type")
	for _, path := range [...][]string{{"function", "name"}, {"name"}, {"toolSpec", "name"}} {
		if name := jsonedit.Text(tool, path...); name != "" && len(names) == 0 {
			names = append(names, name)
		}
	}
	if kind != "" {
		kinds = []string{kind}
	}
	if len(kinds) == 0 && len(names) == 0 {
		kinds, names = memberTools(tool)
	}
	if len(kinds) == 0 {
		kinds = untypedTools
	}
	if len(names) == 0 {
		names = kinds[:1]
	}
	return kinds, names
}

// memberTools returns the types and names of a tool of Gemini.
func memberTools(tool []byte) (kinds, names []string) {
	for member, raw := range jsonedit.Members(tool) {
		key, _ := jsonedit.Unquote(member)
		if key != "functionDeclarations" && key != "function_declarations" {
			kinds, names = append(kinds, key), append(names, key)
			continue
		}
		for function := range jsonedit.Elements(raw) {
			names = append(names, jsonedit.Text(function, "name"))
		}
	}
	return kinds, names
}
