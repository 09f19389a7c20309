package check

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
)

// Limits of inlineImageURLs. Source of the first two: contract/dataplane.md 5.6.
const (
	imageBytes      = 20_971_520
	imageTimeout    = 30 * time.Second
	maxImages       = 64       // different URLs of a request
	maxAllImages    = 64 << 20 // bytes of all images of a request, unless one may be larger
	imageWorkers    = 4
	maxImageFailure = 20 // that a result lists
)

// inlineImageUrls relinks the URLs of images in a request by the images. A URL whose image cannot be
// fetched stays, unless failOnError is set.
func inlineImageURLs() Check {
	return Check{
		Definition: guardrail.Definition{ID: "default.inlineImageUrls", Phases: inputPhase(), Transformer: true, Params: []param.Param{
			param.Optional("providers", listOrEmpty(param.Text(255))), param.Optional("maxSizeBytes", param.PositiveInteger(1<<30)),
			param.Optional("timeoutMs", param.PositiveInteger(300_000)),
		}},
		Textless: true,
		New: func(p Params, d *Deps) (Runner, error) {
			r := &imageRunner{providers: p.List("providers"), failOnError: p.Bool("failOnError", false)}
			r.fetcher = fetcher{services: d.Services, timeout: milliseconds(p, "timeoutMs", imageTimeout), maxBytes: int64(p.Number("maxSizeBytes", imageBytes))}
			return r, nil
		},
	}
}

type imageRunner struct {
	fetcher     fetcher
	providers   []string // empty for all
	failOnError bool
}

// Rewrites implements Rewriter.
func (r *imageRunner) Rewrites() bool { return true }

// image is a fetched image or the reason why there is none.
type image struct {
	mediaType string // "image/png"
	data      []byte
	err       error
}

// Run fetches the images of the request and writes them into its body.
func (r *imageRunner) Run(ctx context.Context, in *Input) Result {
	data := report{"verdict": true, "inlinedImages": 0, "failures": []string{}}
	if len(r.providers) > 0 && !slices.Contains(r.providers, in.Provider) {
		data["explanation"] = "the check is not enabled for this provider"
		return Result{Verdict: true, Data: data}
	}
	links := imageURLs(in.Body)
	if len(links) == 0 {
		data["explanation"] = "the request has no image URLs"
		return Result{Verdict: true, Data: data}
	}
	images := r.fetchAll(ctx, links)
	failures := []string{}
	for _, address := range distinctURLs(links) {
		if img := images[address]; img.err != nil && len(failures) < maxImageFailure {
			failures = append(failures, shownURL(address)+": "+publicText(img.err))
		}
	}
	result := Result{Verdict: true, Data: data}
	if len(failures) > 0 && r.failOnError {
		result.Verdict, data["verdict"] = false, false
		result.Error = &Error{checkError, "an image cannot be fetched: " + failures[0]}
	}
	body, inlined := inlineImages(in.Body, links, images)
	if inlined > 0 {
		result.Body = body
	}
	data["inlinedImages"], data["failures"] = inlined, failures
	data["explanation"] = choose(len(failures) == 0, "all images were fetched", "some images cannot be fetched; their URLs are unchanged")
	return result
}

// fetchAll fetches each different URL once, some at a time. Images beyond the limits are failures.
func (r *imageRunner) fetchAll(ctx context.Context, links []imageLink) map[string]image {
	urls := distinctURLs(links)
	found := make([]image, len(urls))
	budget := &imageBudget{left: max(maxAllImages, r.fetcher.maxBytes)}
	inParallel(len(urls), imageWorkers, func(i int) {
		if i >= maxImages {
			found[i].err = errors.New("a request may have " + strconv.Itoa(maxImages) + " image URLs")
			return
		}
		found[i] = r.fetchOne(ctx, urls[i], budget)
	})
	images := make(map[string]image, len(urls))
	for i, address := range urls {
		images[address] = found[i]
	}
	return images
}

func (r *imageRunner) fetchOne(ctx context.Context, address string, budget *imageBudget) image {
	if budget.spent() {
		return image{err: errImageBudget}
	}
	resp, err := r.fetcher.fetch(ctx, "GET", address)
	if err != nil {
		return image{err: err}
	}
	if resp.Status != 200 {
		return image{err: errors.New("status " + strconv.Itoa(resp.Status))}
	}
	mediaType := imageType(resp.Body)
	switch {
	case mediaType == "":
		return image{err: errors.New("the response is not a PNG, JPEG, GIF, WebP, HEIC, HEIF or AVIF image")}
	case !budget.take(int64(len(resp.Body))):
		return image{err: errImageBudget}
	}
	return image{mediaType: mediaType, data: resp.Body}
}

var errImageBudget = errors.New("the images of the request are too large together")

// imageBudget limits the bytes of all images of a request.
type imageBudget struct {
	mu   sync.Mutex
	left int64 // guarded by mu
}

func (b *imageBudget) spent() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.left <= 0
}

// take reserves n bytes. It reports false if the budget has fewer.
func (b *imageBudget) take(n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n > b.left {
		return false
	}
	b.left -= n
	return true
}

// distinctURLs returns the URLs of images in their order, each once.
func distinctURLs(links []imageLink) []string {
	var urls []string
	seen := make(map[string]bool)
	for _, p := range links {
		if !seen[p.url] {
			seen[p.url] = true
			urls = append(urls, p.url)
		}
	}
	return urls
}

// shownURL returns a URL without its query, which may contain a credential.
func shownURL(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return excerpt(address)
}

// signatures are the first bytes of image formats. Source: WHATWG MIME Sniffing, section 6.1; ISO
// 14496-12 (ftyp) for HEIC, HEIF and AVIF.
var signatures = []struct {
	offset      int
	bytes, kind string
}{
	{0, "\x89PNG\r\n\x1a\n", "image/png"},
	{0, "\xff\xd8\xff", "image/jpeg"},
	{0, "GIF87a", "image/gif"},
	{0, "GIF89a", "image/gif"},
	{8, "WEBPVP", "image/webp"},
	{4, "ftypheic", "image/heic"},
	{4, "ftypheix", "image/heic"},
	{4, "ftyphevc", "image/heic"},
	{4, "ftyphevx", "image/heic"},
	{4, "ftypmif1", "image/heif"},
	{4, "ftypmsf1", "image/heif"},
	{4, "ftypavif", "image/avif"},
	{4, "ftypavis", "image/avif"},
}

// imageType returns the media type of an image by its first bytes, "" for other data.
func imageType(data []byte) string {
	for _, s := range signatures {
		if end := s.offset + len(s.bytes); len(data) >= end && string(data[s.offset:end]) == s.bytes {
			return s.kind
		}
	}
	return ""
}
