package apidoc

import (
	"encoding/json"
	"strings"
	"testing"
)

// types is the description of one operation as the administration gives it.
func types(id, path string) []byte {
	return []byte(`{"components":{"schemas":{"Failure":{"type":"object"},"Thing":{"type":"object","properties":{
		"mode":{"type":["string","null"],"enum":["a"]},
		"flag":{"type":["integer","null"],"enum":[0,1]},
		"responseTime":{"type":"integer"},
		"response_time":{"type":"integer","description":"ms"}}}}},
	"paths":{"` + path + `":{"get":{"operationId":"` + id + `","description":"Needs configs.read.","responses":{
		"200":{"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Thing"}}}},
		"default":{"content":{"application/json":{"schema":{"$ref":"` + failureSchema + `"}}}}}}}}}`)
}

func TestBuild_ReportsAnOperationWithoutText(t *testing.T) {
	t.Parallel()
	_, err := Build(types("inventThings", "/things"), map[string]Sample{"inventThings": {Response: []byte(`{}`)}})
	if err == nil || !strings.Contains(err.Error(), "inventThings") {
		t.Errorf("got %v, want an error that names the operation", err)
	}
}

func TestBuild_ReportsAnOperationWithoutExample(t *testing.T) {
	t.Parallel()
	_, err := Build(types("getConfig", "/configs/{slug}"), nil)
	if err == nil || !strings.Contains(err.Error(), "no transcript has an example") {
		t.Errorf("got %v, want an error that asks for an example", err)
	}
}

func TestDocument_NamesTheErrorsOfAnOperation(t *testing.T) {
	t.Parallel()
	d := &document{seen: map[string]string{}, described: map[string]bool{}, samples: map[string]Sample{"getConfig": {Response: []byte(`{"list":[1,2,3]}`)}}}
	if err := json.Unmarshal(types("getConfig", "/configs/{slug}"), &d.root); err != nil {
		t.Fatal(err)
	}
	for _, step := range [...]func() error{d.addModels, d.readTexts, d.readErrors} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	op := &operation{d.root["paths"].(object)["/configs/{slug}"].(object)["get"].(object), "get", "/configs/{slug}", "getConfig"}
	if err := d.complete(op); err != nil {
		t.Fatal(err)
	}
	responses := op.object["responses"].(object)
	for status, want := range map[string]bool{"400": true, "401": true, "403": true, "404": true, "409": false, "413": false, "429": true} {
		if _, got := responses[status]; got != want {
			t.Errorf("status %s is listed: %v, want %v", status, got, want)
		}
	}
	media := responses["200"].(object)["content"].(object)["application/json"].(object)
	if got := len(media["example"].(object)["list"].([]any)); got != maxListed {
		t.Errorf("the example has %d elements, want %d", got, maxListed)
	}
}

func TestTidySchemas(t *testing.T) {
	t.Parallel()
	var root object
	if err := json.Unmarshal(types("getConfig", "/configs"), &root); err != nil {
		t.Fatal(err)
	}
	tidySchemas(root["components"])
	properties := root["components"].(object)["schemas"].(object)["Thing"].(object)["properties"].(object)
	got, err := json.Marshal(properties)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"flag":{"maximum":1,"minimum":0,"type":["integer","null"]},"mode":{"enum":["a",null],"type":["string","null"]},"response_time":{"description":"ms","type":"integer"}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
