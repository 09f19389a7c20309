package catalog

import (
	"encoding/json"
	"maps"
)

// General contains the capabilities and parameters of a model.
// Source: contract/content-and-observability.yaml, GeneralConfig.
type General struct {
	Name              string          `json:"name,omitempty"` // for people
	Params            []Param         `json:"params,omitempty"`
	Type              *Type           `json:"type,omitempty"`
	Messages          *Messages       `json:"messages,omitempty"`
	RemoveParams      []string        `json:"removeParams,omitempty"`
	DisablePlayground bool            `json:"disablePlayground,omitempty"`
	IsDefault         bool            `json:"isDefault,omitempty"`
	Features          json.RawMessage `json:"features,omitempty"` // a list or an object
}

// Type is the purpose of a model.
type Type struct {
	Primary     string   `json:"primary,omitempty"` // chat, text, embedding, image, audio, moderation, rerank, ocr or video
	Supported   []string `json:"supported,omitempty"`
	Unsupported []string `json:"unsupported,omitempty"`
}

// Messages lists the roles that messages to a model may have.
type Messages struct {
	Options []string `json:"options,omitempty"`
}

// Param is a parameter of a model and its limits.
// Source: contract/content-and-observability.yaml, ParamConfig.
type Param struct {
	Key            string          `json:"key"`
	DefaultValue   json.RawMessage `json:"defaultValue,omitempty"`
	MinValue       *float64        `json:"minValue,omitempty"`
	MaxValue       *float64        `json:"maxValue,omitempty"`
	Type           string          `json:"type,omitempty"` // boolean, string, array-of-strings, json or non-view-manage-data
	Options        json.RawMessage `json:"options,omitempty"`
	SkipValues     json.RawMessage `json:"skipValues,omitempty"`
	Rule           json.RawMessage `json:"rule,omitempty"`
	Properties     json.RawMessage `json:"properties,omitempty"`
	WithdrawParams json.RawMessage `json:"withdrawParams,omitempty"`
	Enum           json.RawMessage `json:"enum,omitempty"`
	NestedOptions  json.RawMessage `json:"nestedOptions,omitempty"`
}

// ModelInfo is a file of capabilities: by model, with "default" for what its models inherit.
// An entry is stored field by field, because a field that is present replaces that of the
// default even if it is empty.
type ModelInfo map[string]map[string]json.RawMessage

func readGenerals(raw []byte) (ModelInfo, error) {
	g, err := readModels[map[string]json.RawMessage](raw)
	return ModelInfo(g), err
}

// entryFor returns the entry of a model with what it inherits.
func (g ModelInfo) entryFor(model string) (out General, ok bool, err error) {
	entry, ok := g[model]
	if !ok {
		return out, false, nil
	}
	all := maps.Clone(g[defaultModel])
	if all == nil {
		all = make(map[string]json.RawMessage, len(entry))
	}
	maps.Copy(all, entry)
	raw, err := json.Marshal(all)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	return out, true, err
}
