package bedrock

import (
	"strings"

	"sluice/internal/dialect"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// profiles resolves ARNs whose last segment is not a model: the caller's own inference profiles and
// provisioned models. The control plane returns their models.
// Source: contract/provider-transforms.md 3.1;
// https://docs.aws.amazon.com/bedrock/latest/APIReference/API_GetInferenceProfile.html and
// API_GetProvisionedModelThroughput.html, read 2026-11.
type profiles struct{}

var _ dialect.Profiles = profiles{}

// Lookup returns the request for the model of an ARN, escaped or not, for example
//
//	arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6
//
// The Endpoint of the result only selects the address of the control plane.
func (profiles) Lookup(model string) (dialect.Next, bool) {
	arn := unescape(model)
	path := ""
	switch {
	case !strings.HasPrefix(arn, "arn:"):
	case strings.Contains(arn, ":application-inference-profile/"):
		path = "/inference-profiles/" + escape(arn)
	case strings.Contains(arn, ":provisioned-model/"):
		path = "/provisioned-model-throughput/" + escape(arn)
	}
	return dialect.Next{Endpoint: llm.ListFinetunes, Path: path}, path != ""
}

// Underlying returns the id of the first model of a profile, or of the provisioned model. All models
// of a profile are the same model in different regions.
func (profiles) Underlying(response []byte) string {
	models, _ := jsonedit.Find(response, "models")
	for m := range jsonedit.Elements(models) {
		return foundation(jsonedit.Text(m, "modelArn"))
	}
	return foundation(jsonedit.Text(response, "foundationModelArn"))
}
