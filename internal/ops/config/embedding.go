package config

import (
	"encoding/json"
	"strings"
)

// The kinds of embedding providers that need settings of their own.
const (
	AzureEmbedding  = "azure-openai"
	VertexEmbedding = "vertex-ai"
	googleEmbedding = "google"
)

// openAIModel is the default of SEMANTIC_CACHE_EMBEDDING_MODEL, which only OpenAI and Azure have.
const openAIModel = "text-embedding-3-small"

// SavedEmbedding reports whether the embedding provider is a saved one, which has its own credentials
// and address: "@embeddings".
func (c *Caching) SavedEmbedding() bool { return strings.HasPrefix(c.EmbeddingProvider, "@") }

// validateEmbedding reports the settings that the embedding provider needs and that are missing.
func (c *Caching) validateEmbedding(report reporter) {
	if c.EmbeddingProvider == "" || c.SavedEmbedding() {
		return
	}
	const provider = "SEMANTIC_CACHE_EMBEDDING_PROVIDER"
	isAzure, isVertex := c.EmbeddingProvider == AzureEmbedding, c.EmbeddingProvider == VertexEmbedding
	for _, s := range []struct {
		missing      bool
		name, advice string
	}{
		{c.EmbeddingKey.Empty(), "API_KEY", "the API key of the provider; for vertex-ai the JSON key of a service account"},
		{isAzure && c.EmbeddingResource == "" && c.EmbeddingURL == "", "RESOURCE", "the name of your Azure resource, or set SEMANTIC_CACHE_EMBEDDINGS_URL"},
		{isAzure && c.EmbeddingDeployment == "", "DEPLOYMENT", "the name of the deployment of the embedding model"},
		{isVertex && c.EmbeddingRegion == "", "REGION", "the location of the model, such as europe-west4"},
		{isVertex && c.EmbeddingProject == "" && !c.keyNamesProject(), "PROJECT", "the id of your Google Cloud project"},
		{(isVertex || c.EmbeddingProvider == googleEmbedding) && c.EmbeddingModel == openAIModel, "MODEL", "an embedding model of Google, such as gemini-embedding-001"},
	} {
		if s.missing {
			report("SEMANTIC_CACHE_EMBEDDING_"+s.name, "is required with "+provider+" "+c.EmbeddingProvider, s.advice)
		}
	}
}

// keyNamesProject reports whether the key is that of a service account, which names its project.
func (c *Caching) keyNamesProject() bool {
	var account struct {
		Project string `json:"project_id"`
	}
	return json.Unmarshal([]byte(c.EmbeddingKey.Reveal()), &account) == nil && account.Project != ""
}
