package secretmanager

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"sluice/internal/domain/credential"
	"sluice/internal/provider"
)

// awsManager reads from AWS Secrets Manager.
// Source: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_GetSecretValue.html, 2026-11.
type awsManager struct{ r *Reader }

func (m awsManager) fetch(ctx context.Context, s *credential.SecretSource) (*secret, error) {
	region := awsRegion(s)
	body, err := json.Marshal(map[string]string{"SecretId": s.Path})
	if err != nil {
		return nil, err
	}
	values := provider.Values{"aws_region": region}
	for name, v := range s.Auth {
		values[name] = v
	}
	values["aws_region"] = region
	var response struct {
		SecretString *string
		SecretBinary []byte
	}
	err = m.r.do(ctx, call{
		method: http.MethodPost, url: "https://secretsmanager." + region + "." + cmp.Or(m.r.set.AWSDomain, "amazonaws.com") + "/", body: body,
		header: map[string]string{"content-type": "application/x-amz-json-1.1", "x-amz-target": "secretsmanager.GetSecretValue"},
		auth:   &provider.Auth{Scheme: "aws", Service: "secretsmanager"}, values: values,
	}, &response)
	switch {
	case err != nil:
		return nil, err
	case response.SecretString != nil:
		return textSecret(*response.SecretString), nil
	case len(response.SecretBinary) > 0:
		return textSecret(string(response.SecretBinary)), nil
	}
	return nil, errors.New("the secret has no value")
}

// awsRegion is that of the sign-in, else that of the secret's ARN, else the usual one.
func awsRegion(s *credential.SecretSource) string {
	if region := s.Auth["aws_region"]; region != "" {
		return region
	}
	if parts := strings.Split(s.Path, ":"); len(parts) > 5 && parts[0] == "arn" && !strings.ContainsAny(parts[3], "./@") && parts[3] != "" {
		return parts[3]
	}
	return "us-east-1"
}
