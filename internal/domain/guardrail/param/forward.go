package param

import (
	"slices"
	"strings"
)

// blockedHeaders are headers of clients that no check passes on: credentials, cookies, what
// belongs to a connection, and what cloud metadata services answer to.
// Source: contract/dataplane.md 5.3, header forwarding.
var blockedHeaders = []string{
	"authorization", "x-api-key", "api-key", "ocp-apim-subscription-key", "proxy-authorization", "proxy-authenticate", "cookie", "set-cookie",
	"connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host", "content-length",
	"metadata", "metadata-flavor", "x-google-metadata-request", "x-aws-ec2-metadata-token", "x-aws-ec2-metadata-token-ttl-seconds", "x-identity-header",
}

// gatewayHeaders may be passed on although they are the gateway's.
var gatewayHeaders = []string{"x-gateway-trace-id", "x-gateway-span-id"}

func forwardHeaders(v any) *Problem {
	return List(Custom(func(v any) *Problem {
		name, _ := v.(string)
		if p := Text(255).check(v); p != nil {
			return p
		}
		if !MayForward(name) {
			return Wrong("must be omitted; the gateway never forwards credentials, connection headers or its own headers")
		}
		return nil
	})).check(v)
}

// MayForward reports whether a check may pass a client's header on to its service.
func MayForward(name string) bool {
	name = strings.ToLower(strings.TrimSpace(name))
	if slices.Contains(gatewayHeaders, name) {
		return true
	}
	return name != "" && !slices.Contains(blockedHeaders, name) && !strings.HasPrefix(name, "x-gateway-")
}
