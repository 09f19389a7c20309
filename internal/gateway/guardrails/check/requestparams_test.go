package check_test

import (
	"testing"

	"sluice/internal/gateway/guardrails/check"
)

func body(s string) check.Input { return check.Input{Body: []byte(s)} }

const toolBody = `{"model":"m","tools":[{"type":"function","function":{"name":"get_weather"}},{"type":"web_search"}],"temperature":0.5,"stream":true}`

func TestRequestParametersCheck_JudgesTools(t *testing.T) {
	t.Parallel()
	runRequests(t, "default.requestParametersCheck", []requestCase{
		{"no rule", `{}`, body(toolBody), true, "", `{"violations":[]}`},
		{"empty lists are no rule", `{"tools":{"allowedTypes":[],"blockedTypes":[]}}`, body(toolBody), true, "", ""},
		{"a blocked type", `{"tools":{"blockedTypes":["web_search"]}}`, body(toolBody), false, "", `{"violations":["the tool type web_search is not permitted"]}`},
		{"a type that is not allowed", `{"tools":{"allowedTypes":["function"]}}`, body(toolBody), false, "", ""},
		{"all types are allowed", `{"tools":{"allowedTypes":["function","web_search"]}}`, body(toolBody), true, "", ""},
		{"a blocked function", `{"tools":{"blockedFunctionNames":["get_weather"]}}`, body(toolBody), false, "", `{"violations":["the tool get_weather is not permitted"]}`},
		{"the name of a tool without one is its type", `{"tools":{"blockedFunctionNames":["web_search"]}}`, body(toolBody), false, "", ""},
		{"a function that is not allowed", `{"tools":{"allowedFunctionNames":["get_weather"]}}`, body(toolBody), false, "", `{"violations":["the tool web_search is not permitted"]}`},
		{"a tool of Messages", `{"tools":{"blockedFunctionNames":["bash"]}}`, body(`{"tools":[{"name":"bash","input_schema":{}}]}`), false, "", ""},
		{"a tool without type is a function", `{"tools":{"blockedTypes":["function"]}}`, body(`{"tools":[{"name":"bash"}]}`), false, "", ""},
		{"the older list of functions", `{"tools":{"blockedFunctionNames":["f"]}}`, body(`{"functions":[{"name":"f"}]}`), false, "", ""},
		{"functions of Gemini", `{"tools":{"blockedFunctionNames":["f"]}}`, body(`{"tools":[{"functionDeclarations":[{"name":"e"},{"name":"f"}]}]}`), false, "", `{"violations":["the tool f is not permitted"]}`},
		{"functions of Gemini are functions", `{"tools":{"allowedTypes":["function"]}}`, body(`{"tools":[{"function_declarations":[{"name":"e"}]}]}`), true, "", ""},
		{"a tool of Gemini", `{"tools":{"blockedTypes":["googleSearch"]}}`, body(`{"tools":[{"googleSearch":{}}]}`), false, "", ""},
		{"a tool of Bedrock", `{"tools":{"blockedFunctionNames":["f"]}}`, body(`{"toolConfig":{"tools":[{"toolSpec":{"name":"f"}}]}}`), false, "", ""},
		{"an escaped name", `{"tools":{"blockedFunctionNames":["f"]}}`, body(`{"t\u006fols":[{"function":{"name":"\u0066"}}]}`), false, "", ""},
	})
}

func TestRequestParametersCheck_JudgesParameters(t *testing.T) {
	t.Parallel()
	runRequests(t, "default.requestParams", []requestCase{
		{"a blocked key", `{"params":{"blockedKeys":["temperature"]}}`, body(toolBody), false, "", `{"violations":["the parameter temperature is not permitted"]}`},
		{"only keys at the top level", `{"params":{"blockedKeys":["function"]}}`, body(toolBody), true, "", ""},
		{"a key that is not allowed", `{"params":{"allowedKeys":["model","tools","stream"]}}`, body(toolBody), false, "", ""},
		{"a blocked value", `{"params":{"values":{"stream":{"blockedValues":[true]}}}}`, body(toolBody), false, "", `{"violations":["the value of stream is not permitted"]}`},
		{"values have types", `{"params":{"values":{"stream":{"blockedValues":["true",1]}}}}`, body(toolBody), true, "", ""},
		{"an allowed value", `{"params":{"values":{"temperature":{"allowedValues":[0,0.5]}}}}`, body(toolBody), true, "", ""},
		{"a value that is not allowed", `{"params":{"values":{"temperature":{"allowedValues":[0,1]}}}}`, body(toolBody), false, "", ""},
		{"a missing parameter has no value", `{"params":{"values":{"n":{"allowedValues":[1]}}}}`, body(toolBody), true, "", ""},
		{"a list equals no allowed value", `{"params":{"values":{"tools":{"allowedValues":["a"]}}}}`, body(toolBody), false, "", ""},
		{"each duplicate is judged", `{"params":{"values":{"n":{"blockedValues":[2]}}}}`, body(`{"n":2,"n":1}`), false, "", ""},
		{"null is a value", `{"params":{"values":{"n":{"blockedValues":[null]}}}}`, body(`{"n":null}`), false, "", ""},
		{"no JSON is an error", `{}`, check.Input{}, false, "not JSON", ""},
	})
	runRefusals(t, "default.requestParams", refusals{
		`{"params":{"values":{"n":{"allowedValues":[{}]}}}}`: ".params.values.n.allowedValues[0]: a string, a number",
		`{"params":{"keys":["a"]}}`:                          ".params.keys: unknown parameter",
	})
	refuse(t, "default.requestParams", `{"tools":{"allowedTypes":["a"],"blockedTypes":["a"]}}`, "tools.blockedTypes must not contain a")
	refuse(t, "default.requestParams", `{"params":{"values":{"n":{"allowedValues":[1],"blockedValues":[1]}}}}`, "params.values.n.blockedValues must not contain a value")
}
