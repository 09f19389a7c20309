package catalog

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"sluice/internal/fault"
	"sluice/internal/ident"
)

// Folder is a kind of file: of prices or of capabilities.
type Folder string

// The folders, as they are called in paths.
const (
	PricingFiles Folder = "pricing"
	GeneralFiles Folder = "general"
)

// defaultModel is the entry from which all models of a file inherit.
const defaultModel = "default"

// How long a file is kept in memory, and how soon one that could not be read is tried
// again. Source: contract/content-and-observability.md 6.4 for the first.
const (
	fresh = time.Hour
	retry = time.Minute
)

// Source is where files come from.
type Source interface {
	// Name is what the source is called in price versions, logs and faults: "built-in".
	Name() string
	// Read returns the file of a provider, or ErrNone.
	Read(ctx context.Context, f Folder, provider string) ([]byte, error)
}

// ErrNone says that a source has no such file.
var ErrNone = errors.New("file does not exist")

// Catalog answers what models cost and what they can do. Safe for concurrent use.
type Catalog struct {
	sources []Source
	clock   ident.Clock
	log     *slog.Logger

	mu     sync.Mutex // guards what follows
	files  map[file]*cachedFile
	faults faults
}

type file struct {
	folder   Folder
	provider string
}

// cachedFile is a file in memory. Its lock is held while it is read, so that many who ask at
// once cause one read.
type cachedFile struct {
	mu    sync.Mutex // guards what follows
	until time.Time
	content
}

// content is what a file says; found is false when no source has it.
type content struct {
	found    bool
	source   string // the name of the source
	digest   digest // of source and file
	prices   Prices
	generals ModelInfo
}

// digest tells contents apart.
type digest [sha256.Size]byte

// New builds a Catalog over sources, which are asked in order: the first that has a file
// is the one that counts.
func New(clock ident.Clock, log *slog.Logger, sources ...Source) *Catalog {
	return &Catalog{sources: sources, clock: clock, log: log, files: make(map[file]*cachedFile)}
}

// providerName is what a provider may be called: "azure-openai". It becomes part of paths
// and addresses.
var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// maxFiles bounds the files in memory, those that are not there included: anybody may ask
// for anything.
const maxFiles = 1000

// Prices is the file of prices of a provider; fault.NotFound when there is none. It is
// shared and must not be changed.
func (c *Catalog) Prices(ctx context.Context, provider string) (Prices, error) {
	got, err := c.load(ctx, file{PricingFiles, provider})
	return got.prices, err
}

// ModelInfo is the same for capabilities.
func (c *Catalog) ModelInfo(ctx context.Context, provider string) (ModelInfo, error) {
	got, err := c.load(ctx, file{GeneralFiles, provider})
	return got.generals, err
}

// Pricing is what a model costs, with what it inherits from the default of its provider;
// fault.NotFound when the model or its price is unknown. It is shared and must not be
// changed. Source: contract/content-and-observability.md 6.2.
func (c *Catalog) Pricing(ctx context.Context, provider, model string) (Pricing, error) {
	prices, err := c.Prices(ctx, provider)
	if err != nil {
		return Pricing{}, err
	}
	e, _ := prices.entryFor(provider, model)
	if e.Pricing == nil {
		return Pricing{}, unknownModel(provider)
	}
	return *e.Pricing, nil
}

// Tariff is what a model costs, ready to bill by; of what has no price it is one with a
// Reason. The path of a request takes it of a Book, which never waits for a source.
func (c *Catalog) Tariff(ctx context.Context, provider, model string) *RateCard {
	got, err := c.load(ctx, file{PricingFiles, provider})
	if err != nil {
		return unpriced(UnknownProvider)
	}
	e, ok := got.prices.entryFor(provider, model)
	if !ok {
		return unpriced(UnknownModel)
	}
	return newTariff(got.source, e, Adjustments{})
}

// General is what a model can do; fault.NotFound when it is unknown.
func (c *Catalog) General(ctx context.Context, provider, model string) (General, error) {
	all, err := c.ModelInfo(ctx, provider)
	if err != nil {
		return General{}, err
	}
	g, ok, err := all.entryFor(match(all, provider, model))
	switch {
	case err != nil:
		return g, fmt.Errorf("read capabilities of %s: %w", provider, err)
	case !ok:
		return g, unknownModel(provider)
	}
	return g, nil
}

func unknownModel(provider string) error {
	return fault.Newf(fault.NotFound, "unknown model of %s in the catalog", provider)
}

func find[T any, M ~map[string]T](all M, provider, model string) (T, bool) {
	v, ok := all[match(all, provider, model)]
	return v, ok
}

// match is the name under which a model stands in a file: its own, or on Bedrock that
// behind the parts of an ARN or behind the prefix of a region. The default is no model.
// Source: contract/content-and-observability.md 6.2.
func match[T any, M ~map[string]T](all M, provider, model string) string {
	if model == defaultModel {
		return ""
	}
	if _, ok := all[model]; ok || provider != "bedrock" {
		return model
	}
	if strings.HasPrefix(model, "arn:") {
		model = model[strings.LastIndexByte(model, '/')+1:]
	}
	for _, region := range [...]string{"us.", "eu.", "apac.", "global."} {
		if rest, ok := strings.CutPrefix(model, region); ok {
			if _, there := all[model]; !there {
				return rest
			}
		}
	}
	return model
}

func (c *Catalog) load(ctx context.Context, f file) (content, error) {
	missing := fault.New(fault.NotFound, "unknown provider in the catalog")
	if !providerName.MatchString(f.provider) {
		return content{}, missing
	}
	k := c.slot(f)
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := c.clock.Now(); !now.Before(k.until) {
		c.renew(ctx, f, k, now)
	}
	if !k.found {
		return content{}, missing
	}
	return k.content, nil
}

// slot is where a file is kept. When memory is full of others, all go.
func (c *Catalog) slot(f file) *cachedFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	if k := c.files[f]; k != nil {
		return k
	}
	if len(c.files) >= maxFiles {
		clear(c.files)
	}
	k := new(cachedFile)
	c.files[f] = k
	return k
}
