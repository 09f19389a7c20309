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

	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
)

// Folder is a kind of file: prices or capabilities.
type Folder string

// These are the folders, as named in paths.
const (
	PricingFiles Folder = "pricing"
	GeneralFiles Folder = "general"
)

// defaultModel is the name of the entry from which all models of a file inherit.
const defaultModel = "default"

// fresh is how long a file is cached in memory, and retry is the pause before a file that
// could not be read is tried again. Source: contract/content-and-observability.md 6.4 for the first.
const (
	fresh = time.Hour
	retry = time.Minute
)

// Source is an origin of files.
type Source interface {
	// Name returns the name of the source in price versions, logs and load errors: "built-in".
	Name() string
	// Read returns the file of a provider, or ErrNone.
	Read(ctx context.Context, f Folder, provider string) ([]byte, error)
}

// ErrNone means that a source does not have such a file.
var ErrNone = errors.New("file does not exist")

// Catalog contains the prices and capabilities of models. It is safe for concurrent use.
type Catalog struct {
	sources []Source
	clock   ident.Clock
	log     *slog.Logger

	mu     sync.Mutex // guards the fields below
	files  map[file]*cachedFile
	faults faults
}

type file struct {
	folder   Folder
	provider string
}

// cachedFile is a file in memory. Its lock is held while the file is read, so that concurrent
// requests cause one read.
type cachedFile struct {
	mu    sync.Mutex // guards the fields below
	until time.Time
	content
}

// content is a parsed file. found is false if no source has it.
type content struct {
	found    bool
	source   string // the name of the source
	digest   digest // of the source name and the file
	prices   Prices
	generals ModelInfo
}

// digest identifies content.
type digest [sha256.Size]byte

// New returns a Catalog that reads sources in order. The first source that has a file provides
// it.
func New(clock ident.Clock, log *slog.Logger, sources ...Source) *Catalog {
	return &Catalog{sources: sources, clock: clock, log: log, files: make(map[file]*cachedFile)}
}

// providerName matches valid names of providers: "azure-openai". They become part of paths and
// URLs.
var providerName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,63}$`)

// maxFiles is the maximum number of files in memory, including missing ones, since callers may
// request any name.
const maxFiles = 1000

// Prices returns the price file of a provider; fault.NotFound if there is none. It is shared
// and must not be changed.
func (c *Catalog) Prices(ctx context.Context, provider string) (Prices, error) {
	got, err := c.load(ctx, file{PricingFiles, provider})
	return got.prices, err
}

// ModelInfo returns the capabilities file of a provider, as Prices does for prices.
func (c *Catalog) ModelInfo(ctx context.Context, provider string) (ModelInfo, error) {
	got, err := c.load(ctx, file{GeneralFiles, provider})
	return got.generals, err
}

// Pricing returns the prices of a model, including those inherited from the default of its
// provider; fault.NotFound if the model or its price is unknown. It is shared and must not be
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

// Tariff returns the RateCard of a model. Without a price it has a Reason. Request handling
// uses PriceList.Find instead, which never waits for a source.
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

// General returns the capabilities of a model; fault.NotFound if it is unknown.
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

// match returns the name of a model in a file: its own or, on Bedrock, the one after the
// parts of an ARN or after the prefix of a region. It is empty for the default entry.
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

// slot returns the cache slot of a file. If the cache is full, it is cleared first.
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
