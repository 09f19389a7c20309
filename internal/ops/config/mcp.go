package config

// MCP sets how clients reach servers that use the Model Context Protocol.
type MCP struct {
	// GatewayURL is the address at which clients reach MCP servers, for example
	// `https://mcp.example.com`. If it is empty, clients use the address of the gateway.
	GatewayURL string `env:"MCP_GATEWAY_BASE_URL" check:"web-url"`
}
