package config

// MCP says how clients reach tool servers that speak the Model Context Protocol.
type MCP struct {
	// GatewayURL is the address under which clients reach tool servers:
	// `https://mcp.example.com`. Without it that of the gateway itself is used.
	GatewayURL string `env:"MCP_GATEWAY_BASE_URL" check:"web-url"`
}
