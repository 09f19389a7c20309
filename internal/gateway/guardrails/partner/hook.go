package partner

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
)

// hooks compute values that data cannot describe. Their results are values such as "hook.token". They
// run before each call and return when ctx ends.
var hooks = map[string]func(ctx context.Context, r *runner, v *values) (map[string]any, error){
	"acuvity":  acuvityAddress,
	"azure":    azureToken,
	"patronus": patronusEvaluator,
}

// acuvityAddress returns the address that the key of acuvity names: the claim opaque.apex-url. The
// token is not verified, because the service that it is sent to verifies it.
func acuvityAddress(_ context.Context, r *runner, _ *values) (map[string]any, error) {
	key, _ := r.params.Object("credentials")["apiKey"].(string)
	parts := strings.Split(key, ".")
	if len(parts) != 3 {
		return nil, errors.New("credentials.apiKey must be a token with three parts")
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(parts[1], "="))
	if err != nil {
		return nil, errors.New("credentials.apiKey must be a token")
	}
	var claims struct {
		Opaque map[string]any `json:"opaque"`
	}
	if json.Unmarshal(raw, &claims) != nil {
		return nil, errors.New("credentials.apiKey must be a token with claims")
	}
	address, _ := claims.Opaque["apex-url"].(string)
	if address == "" {
		return nil, errors.New("credentials.apiKey must have the claim opaque.apex-url")
	}
	return map[string]any{"address": address}, nil
}

// patronusEvaluator splits the parameter profile, "evaluator:criteria", of patronus.custom. The
// evaluator is judge if the profile does not name one; criteria of Patronus itself begin with
// "patronus:" or "system:". Source: contract/dataplane.md 5.8.
func patronusEvaluator(_ context.Context, r *runner, _ *values) (map[string]any, error) {
	profile := r.params.Text("profile", "")
	evaluator, criteria, found := strings.Cut(profile, ":")
	if !found || evaluator == "patronus" || evaluator == "system" {
		evaluator, criteria = "judge", profile
	}
	return map[string]any{"evaluator": evaluator, "criteria": criteria}, nil
}
