package app

import (
	"bytes"
	"encoding/json"
	"strings"

	"sluice/internal/ops/config"
)

// embeddingHeader returns the header of calls for embeddings: it selects the provider, its address and
// its credentials. A saved provider has its own.
func embeddingHeader(c *config.Caching) [][2]string {
	header := [][2]string{{"x-gateway-provider", c.EmbeddingProvider}}
	if c.SavedEmbedding() {
		return header
	}
	key := c.EmbeddingKey.Reveal()
	account := c.EmbeddingProvider == config.VertexEmbedding && strings.HasPrefix(strings.TrimSpace(key), "{")
	for _, field := range []struct {
		name, value string
		sent        bool
	}{
		{"authorization", "Bearer " + key, !account},
		{"x-gateway-vertex-service-account-json", oneLine(key), account},
		{"x-gateway-vertex-region", c.EmbeddingRegion, c.EmbeddingProvider == config.VertexEmbedding},
		{"x-gateway-vertex-project-id", c.EmbeddingProject, c.EmbeddingProvider == config.VertexEmbedding},
		{"x-gateway-azure-resource-name", c.EmbeddingResource, c.EmbeddingProvider == config.AzureEmbedding},
		{"x-gateway-azure-deployment-id", c.EmbeddingDeployment, c.EmbeddingProvider == config.AzureEmbedding},
		{"x-gateway-azure-api-version", c.EmbeddingAPIVersion, c.EmbeddingProvider == config.AzureEmbedding},
		{"x-gateway-custom-host", c.EmbeddingURL, true},
	} {
		if field.sent && field.value != "" {
			header = append(header, [2]string{field.name, field.value})
		}
	}
	return header
}

// oneLine returns JSON without line breaks, which a header field cannot contain.
func oneLine(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}
