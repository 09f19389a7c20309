package config

import (
	"strconv"

	"sluice/internal/kernel/sealed"
)

// Where cached responses are stored, and what stores the vectors of questions.
const (
	DiskStore     = "disk"
	MilvusStore   = "milvus"
	PineconeStore = "pinecone"
)

// Caching configures the response cache. See docs/caching.md.
type Caching struct {
	// Store is where cached responses are stored. `memory` loses them when the gateway
	// stops. `disk` stores them in `DATA_DIR`. `redis` shares them between nodes. If it is
	// not set, the gateway uses `redis` when `CACHE_STORE` is `redis`, and otherwise `disk`.
	Store string `env:"RESPONSE_CACHE_STORE" envDefault:"disk" oneof:"memory,disk,redis"`

	// MaxMB is the maximum size of the cache in memory or on disk, in MiB. Redis has a limit
	// of its own.
	MaxMB int `env:"RESPONSE_CACHE_MAX_MB" envDefault:"1024" range:"1..1048576"`

	// MaxEntryMB is the maximum size of one cached response, in MiB.
	MaxEntryMB int `env:"RESPONSE_CACHE_MAX_ENTRY_MB" envDefault:"4" range:"1..64"`

	// EmbeddingProvider is the provider of the embeddings of the semantic cache: `openai`,
	// `azure-openai`, `google` or `vertex-ai`, or `@slug` for a saved provider of the caller's
	// workspace. If it is empty, the gateway uses its built-in embedding, which needs no
	// provider.
	EmbeddingProvider string `env:"SEMANTIC_CACHE_EMBEDDING_PROVIDER" check:"embeddings"`

	// EmbeddingURL is the base address of the embedding provider, for one that is not at its
	// usual address. That of Azure ends with `/openai`.
	EmbeddingURL string `env:"SEMANTIC_CACHE_EMBEDDINGS_URL" check:"web-url"`

	// EmbeddingModel is the embedding model. `google` and `vertex-ai` need one of their own,
	// such as `gemini-embedding-001`.
	EmbeddingModel string `env:"SEMANTIC_CACHE_EMBEDDING_MODEL" envDefault:"text-embedding-3-small"`

	// EmbeddingKey is the API key of the embedding provider. For `vertex-ai` it is the JSON key
	// of a service account.
	EmbeddingKey sealed.String `env:"SEMANTIC_CACHE_EMBEDDING_API_KEY"`

	// EmbeddingResource is the name of the Azure resource, for `azure-openai`. A
	// `SEMANTIC_CACHE_EMBEDDINGS_URL` replaces it.
	EmbeddingResource string `env:"SEMANTIC_CACHE_EMBEDDING_RESOURCE" check:"label"`

	// EmbeddingDeployment is the name of the deployment, for `azure-openai`.
	EmbeddingDeployment string `env:"SEMANTIC_CACHE_EMBEDDING_DEPLOYMENT" check:"segment"`

	// EmbeddingAPIVersion is the version of the API, for `azure-openai`.
	EmbeddingAPIVersion string `env:"SEMANTIC_CACHE_EMBEDDING_API_VERSION" envDefault:"2024-10-21" check:"segment"`

	// EmbeddingProject is the id of the Google Cloud project, for `vertex-ai`. If it is empty,
	// it is the project of the service account.
	EmbeddingProject string `env:"SEMANTIC_CACHE_EMBEDDING_PROJECT" check:"segment"`

	// EmbeddingRegion is the location of the model, such as `europe-west4` or `global`, for
	// `vertex-ai`.
	EmbeddingRegion string `env:"SEMANTIC_CACHE_EMBEDDING_REGION" check:"label"`

	// EmbeddingDimensions is the number of dimensions of the vectors.
	EmbeddingDimensions int `env:"SEMANTIC_CACHE_EMBEDDING_DIMENSIONS" envDefault:"1536" range:"1..3072"`

	// Threshold is the smallest cosine of a semantic hit, for configs without
	// `cache.threshold`. If it is empty, it is 0.95 with an embedding provider, and 0.85 with
	// the built-in embedding.
	Threshold string `env:"SEMANTIC_CACHE_SIMILARITY_THRESHOLD" check:"fraction"`

	// Vectors is where the vectors of questions are stored. If it is empty, each node stores
	// them in memory.
	Vectors string `env:"VECTOR_STORE" oneof:"milvus,pinecone"`

	// VectorAddress is the address of Milvus, such as `https://milvus.internal:19530`, or
	// the name of the Pinecone index.
	VectorAddress string `env:"VECTOR_STORE_ADDRESS"`

	// VectorCollection is the name of the collection in Milvus or of the namespace in
	// Pinecone.
	VectorCollection string `env:"VECTOR_STORE_COLLECTION_NAME" envDefault:"semantic_cache" check:"plain-database"`

	// VectorKey is the API key of the vector store; for Milvus also `name:password`.
	VectorKey sealed.String `env:"VECTOR_STORE_API_KEY"`
}

// MinCosine returns Threshold as a number; nil if it is empty.
func (c *Caching) MinCosine() *float64 {
	n, err := strconv.ParseFloat(c.Threshold, 64)
	if err != nil { // it is empty
		return nil
	}
	return &n
}

// complete selects the store. A choice is left alone.
func (c *Caching) complete(chosen bool, r *Redis, derived func(name, from string)) {
	if !chosen && r.Enabled() {
		c.Store = RedisStore
		derived("RESPONSE_CACHE_STORE", "CACHE_STORE")
	}
}

func (c *Caching) validate(r *Redis, report reporter) {
	if c.Store == RedisStore && len(r.Addresses()) == 0 {
		report("REDIS_HOST", "is required with RESPONSE_CACHE_STORE redis", "the host name or IP address of the Redis server, or set REDIS_URL")
	}
	if c.Vectors != "" && c.VectorAddress == "" {
		report("VECTOR_STORE_ADDRESS", "is required with VECTOR_STORE", "the address of Milvus, or the name of the Pinecone index")
	}
	c.validateEmbedding(report)
}
