package app

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/app/options"
	"sluice/internal/gateway"
	"sluice/internal/gateway/cache/diskstore"
	"sluice/internal/gateway/cache/purge"
	"sluice/internal/gateway/cache/redisstore"
	"sluice/internal/gateway/cache/semantic"
	"sluice/internal/gateway/cache/semantic/index"
	"sluice/internal/gateway/cache/semantic/vectorstore"
	"sluice/internal/gateway/cache/semantic/vectorstore/milvus"
	"sluice/internal/gateway/cache/semantic/vectorstore/pinecone"
	"sluice/internal/gateway/cache/store"
	"sluice/internal/kernel/wire"
	"sluice/internal/ops/config"
	"sluice/internal/provider/netguard"
	"sluice/internal/provider/transport"
	"sluice/internal/storage/live"
)

const mib = 1 << 20

// storeWait limits one wait for a remote vector store; vectorstore.Limit has a shorter limit for calls.
const storeWait = 10 * time.Second

// openCache opens the store of cached responses. It runs after openSealer, because responses are
// sealed on disk and in Redis.
func (a *traffic) openCache(context.Context) (err error) {
	c := &a.set.Caching
	var responses store.Store
	switch c.Store {
	case config.MemoryStore:
		responses = store.NewMemory(int64(c.MaxMB)*mib, a.clock)
	case config.RedisStore:
		responses = redisstore.New(redisstore.Options{Server: redisServer(&a.set.Redis), MaxEntry: c.MaxEntryMB * mib, Sealer: a.box, Clock: a.clock, Log: a.log})
	default:
		responses, err = diskstore.Open(diskstore.Options{
			Dir: filepath.Join(a.set.Data.Dir, "cache"), MaxBytes: int64(c.MaxMB) * mib, Sealer: a.box, Clock: a.clock, Log: a.log,
		})
	}
	if err != nil {
		return err
	}
	a.closers = append(a.closers, responses)
	a.metrics.Register(store.NewCollector(responses, c.Store))
	a.cache.MaxBytes = c.MaxEntryMB * mib
	if a.cache.Semantic, err = a.semanticCache(c); err != nil {
		return err
	}
	recorded := &purgeList{purges: func() *live.Purges { return a.directory.Current().Purges() }}
	a.responses = purge.New(purge.Options{Responses: responses, Vectors: a.cache.Semantic.Finder.Store, Current: recorded.current, Log: a.log})
	a.cache.Store = a.responses
	return nil
}

// redisServer returns how to connect to the Redis of cached responses and placeholders.
func redisServer(r *config.Redis) rueidis.ClientOption {
	s := options.Redis(*r)
	return rueidis.ClientOption{
		InitAddress: s.Addresses, Username: s.Username, Password: s.Password.Reveal(), SelectDB: s.Database, TLSConfig: s.TLS, ForceSingleClient: !s.Cluster,
	}
}

// semanticCache returns what finds stored questions that mean the same.
func (a *traffic) semanticCache(c *config.Caching) (*gateway.Semantic, error) {
	vectors, err := a.vectorStore(c)
	if err != nil {
		return nil, err
	}
	s := &gateway.Semantic{Finder: semantic.Finder{Store: vectors}, Threshold: c.MinCosine()}
	if c.EmbeddingProvider == "" {
		return s, nil
	}
	s.Embedding = &gateway.Embedding{Header: embeddingHeader(c), Provider: c.EmbeddingProvider, Model: c.EmbeddingModel, Dimensions: c.EmbeddingDimensions}
	return s, nil
}

func (a *traffic) vectorStore(c *config.Caching) (vectorstore.Store, error) {
	client := vectorClient{a.client, netguard.NewURLCache(a.guard)}
	var remote vectorstore.Store
	var err error
	switch c.Vectors {
	case config.MilvusStore:
		remote, err = milvus.New(client, a.clock, milvus.Options{Address: c.VectorAddress, Token: c.VectorKey, Collection: c.VectorCollection, Sealer: a.box})
	case config.PineconeStore:
		remote, err = pinecone.New(client, a.clock, pinecone.Options{Index: c.VectorAddress, APIKey: c.VectorKey, Namespace: c.VectorCollection, Sealer: a.box})
	default:
		return index.New(a.clock, index.Options{}), nil
	}
	if err != nil {
		return nil, err
	}
	return vectorstore.Limit(remote, vectorstore.DefaultTimeout, a.clock), nil
}

// vectorClient sends the requests of remote vector stores. It implements vectorstore.HTTP.
type vectorClient struct {
	client *transport.Client
	urls   *netguard.URLCache
}

// errVectorAddress means that the address of a vector store is not a URL.
var errVectorAddress = errors.New("VECTOR_STORE_ADDRESS must be an http:// or https:// address")

// Do implements vectorstore.HTTP.
func (v vectorClient) Do(ctx context.Context, r *vectorstore.Request) (*vectorstore.Response, error) {
	u, err := url.Parse(r.URL)
	if err != nil || u.Host == "" {
		return nil, errVectorAddress
	}
	if err := v.urls.CheckURL(u.Scheme + "://" + u.Host); err != nil {
		return nil, err
	}
	out := &transport.Request{Method: r.Method, Scheme: u.Scheme, Host: u.Host, Target: u.RequestURI(), HeadTimeout: storeWait, IdleTimeout: storeWait}
	for _, line := range r.Header {
		out.Header.Add(line[0], line[1])
	}
	if len(r.Body) > 0 {
		out.Body = wire.Bytes(r.Body)
	}
	resp, err := v.client.Do(ctx, out)
	if err != nil {
		return nil, err
	}
	body, err := resp.ReadAll(vectorstore.MaxResponse)
	if err != nil {
		return nil, err
	}
	return &vectorstore.Response{Status: resp.Status, Body: body}, nil
}
