package otlp

import (
	"strings"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
)

// attributes collects known values: empty strings and zeros are left out.
type attributes []*common.KeyValue

func (a *attributes) text(name, v string) {
	if v != "" {
		*a = append(*a, &common.KeyValue{Key: name, Value: textValue(v)})
	}
}

func (a *attributes) number(name string, v int64) {
	if v != 0 {
		*a = append(*a, &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: v}}})
	}
}

func (a *attributes) real(name string, v float64) {
	if v != 0 {
		*a = append(*a, &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: v}}})
	}
}

func (a *attributes) addBool(name string, v bool) {
	if v {
		*a = append(*a, &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: true}}})
	}
}

// textValue returns a string value in valid UTF-8.
func textValue(v string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: strings.ToValidUTF8(v, "\uFFFD")}}
}

// Resource identifies the sender: the service, and the attributes that the operator adds.
type Resource struct {
	Service    string // "sluice"
	Version    string // "1.0.0"
	Instance   string // id of the node
	Attributes string // "deployment.environment.name=production,team=search"; they override the others
}

// message returns the resource as a message. The error names the pair that cannot be parsed.
func (r Resource) message() (*resource.Resource, error) {
	pairs, err := ParsePairs(r.Attributes)
	if err != nil {
		return nil, err
	}
	var a attributes
	base := []Pair{{"service.name", r.Service}, {"service.version", r.Version}, {"service.instance.id", r.Instance}}
	present := make(map[string]bool, len(pairs))
	for _, p := range pairs {
		present[p.Name] = true
		a.text(p.Name, p.Value)
	}
	for _, p := range base {
		if !present[p.Name] {
			a.text(p.Name, p.Value)
		}
	}
	return &resource.Resource{Attributes: a}, nil
}
