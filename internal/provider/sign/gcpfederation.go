package sign

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"sluice/internal/kernel/wire"
)

// The identities that GCP_AUTH_MODE selects for the gateway at Google.
const (
	gcpModeMachine    = "workload"
	gcpModeFederation = "federation"
)

// Addresses and constants of workload identity federation.
// Source: https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token and
// https://cloud.google.com/iam/docs/workload-identity-federation-with-other-clouds, read
// 2026-11.
const (
	gcpExchangeURL  = "https://sts.googleapis.com/v1/token"
	gcpIAMURL       = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
	gcpExchange     = "urn:ietf:params:oauth:grant-type:token-exchange"
	gcpWantsAccess  = "urn:ietf:params:oauth:token-type:access_token"
	gcpBringsAWS    = "urn:ietf:params:aws:token-type:aws4_request"
	gcpBringsJWT    = "urn:ietf:params:oauth:token-type:jwt"
	gcpTokenFileMax = 64 << 10
)

// googleAudience is the header that limits a signed request to one audience.
const googleAudience = "x-goog-cloud-target-resource"

// gatewayToken returns the token of the gateway itself at Google Cloud. GCP_AUTH_MODE selects
// the identity. Without it, federation applies when an audience is set, otherwise the machine.
func (s *gcpSigner) gatewayToken(ctx context.Context) (token, error) {
	if s.set.Mode == gcpModeMachine || s.set.Mode == "" && s.set.Audience == "" {
		return s.metadataToken(ctx)
	}
	return s.federated(ctx)
}

// federated exchanges the token of another identity provider (AWS, or the issuer of the token
// file) for a Google token. With a service account it returns a token of that account.
func (s *gcpSigner) federated(ctx context.Context) (token, error) {
	if s.set.Audience == "" {
		return token{}, errors.New("CLOUD_WIF_AUDIENCE is required")
	}
	kind, subjectToken, err := s.subject(ctx)
	if err != nil {
		return token{}, err
	}
	form := url.Values{
		"grant_type": {gcpExchange}, "audience": {s.set.Audience}, "scope": {googleScope},
		"requested_token_type": {gcpWantsAccess}, "subject_token_type": {kind}, "subject_token": {subjectToken},
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, gcpExchangeURL, strings.NewReader(form.Encode()))
	if err != nil {
		return token{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	got, err := askToken(s.http, req)
	if err != nil || s.set.ServiceAccount == "" {
		return got, err
	}
	return s.impersonated(ctx, got)
}

// subject returns the token to exchange: the content of the token file, or the request that AWS
// signed. It reads the file again each time, because platforms renew it.
func (s *gcpSigner) subject(ctx context.Context) (kind, subjectToken string, err error) {
	if s.set.TokenFile == "" {
		subjectToken, err = s.signedAWSIdentity(ctx)
		return gcpBringsAWS, subjectToken, err
	}
	f, err := os.Open(s.set.TokenFile)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = f.Close() }() // only read
	b, err := io.ReadAll(io.LimitReader(f, gcpTokenFileMax))
	return gcpBringsJWT, strings.TrimSpace(string(b)), err
}

// signedAWSIdentity returns a request to AWS that only the gateway's AWS identity can sign.
// Google sends it to determine that identity. It is bound to the audience.
// Source: https://cloud.google.com/iam/docs/workload-identity-federation-with-other-clouds,
// section on AWS, read 2026-11.
func (s *gcpSigner) signedAWSIdentity(ctx context.Context) (string, error) {
	const region = defaultRegion // this region accepts every identity
	from, err := s.aws.roles.source(ctx, region)
	if err != nil {
		return "", err
	}
	creds, err := retrieve(ctx, from, "the host has no AWS credentials")
	if err != nil {
		return "", err
	}
	const host = "sts." + region + ".amazonaws.com"
	h := wire.Header{{Name: googleAudience, Value: s.set.Audience}}
	r := &Request{Method: http.MethodPost, Scheme: "https", Host: host, Target: "/?Action=GetCallerIdentity&Version=2011-06-15", Header: &h}
	if err := s.aws.sign(r, creds, "sts", region); err != nil {
		return "", err
	}
	type field struct {
		Key   string `json:"key"`
		Value string `json:"value"`
	}
	fields := []field{{"host", host}}
	for _, f := range h {
		fields = append(fields, field{f.Name, f.Value})
	}
	subjectToken, err := json.Marshal(map[string]any{"url": "https://" + host + r.Target, "method": r.Method, "headers": fields})
	return url.QueryEscape(string(subjectToken)), err
}

// impersonated exchanges a federated token for one of the service account.
// Source: https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken,
// read 2026-11.
func (s *gcpSigner) impersonated(ctx context.Context, federated token) (token, error) {
	ask, err := json.Marshal(map[string]any{"scope": []string{googleScope}, "lifetime": "3600s"})
	if err != nil {
		return token{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, gcpIAMURL+url.PathEscape(s.set.ServiceAccount)+":generateAccessToken", bytes.NewReader(ask))
	if err != nil {
		return token{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+federated.text)
	resp, err := s.http.Do(req)
	if err != nil {
		return token{}, err
	}
	defer func() { _ = resp.Body.Close() }() // already read
	var response struct {
		Token string    `json:"accessToken"`
		Until time.Time `json:"expireTime"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, maxTokenResponseBytes)).Decode(&response)
	life := response.Until.Sub(s.clock.Now())
	switch {
	case resp.StatusCode != http.StatusOK:
		return token{}, fmt.Errorf("the service account %s was rejected with status %d: %s", s.set.ServiceAccount, resp.StatusCode, response.Error.Message)
	case err != nil || response.Token == "" || life <= 0:
		return token{}, errors.New("the response for the service account has no token, or an expired one")
	}
	return token{response.Token, life}, nil
}
