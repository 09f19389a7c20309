package catalog

import "strings"

// formula is the part of a calculate tree that is used: the rate of the tokens of each
// dimension, and the multiplier of an image. Trees without images are ignored, because they
// omit dimensions that many models have prices for: cached, audio and reasoning tokens.
// Source: contract/content-and-observability.md 6.3.
type formula struct {
	images int64 // millionths
	tokens map[int]weighted
}

// weighted is a rate and its multiplier, in millionths.
type weighted struct {
	key  string
	with int64
}

// variables maps the variables of formulas to the dimensions that they count.
var variables = map[string]int{
	"input_tokens": dimInput, "output_tokens": dimOutput,
	"cache_write_tokens": dimCacheWrite5m, "cache_read_tokens": dimCacheRead,
	"audio_input_tokens": dimAudioInput, "request_audio_tokens": dimAudioInput,
	"audio_output_tokens": dimAudioOutput, "response_audio_tokens": dimAudioOutput,
	"cache_read_audio_tokens": dimAudioCacheRead,
}

// misnamed maps names of rates that formulas of some files use to their names in price lists.
var misnamed = map[string]string{"cache_read_token": "cache_read_input_token", "cache_write_token": "cache_write_input_token"}

// imageRate is the variable for the price of an image.
const imageRate = "rates.image"

// newFormula reads a tree. ok is false if it does not contain images, or contains something
// unsupported such as the product of two rates.
func newFormula(f *Formulas) (out formula, ok bool) {
	if f == nil {
		return out, false
	}
	out.tokens = map[int]weighted{}
	for _, root := range [...]*Node{f.Request, f.Response} {
		if root == nil {
			continue
		}
		products, ok := root.expand(0)
		if !ok {
			return out, false
		}
		for _, p := range products {
			if !out.take(p) {
				return out, false
			}
		}
	}
	return out, out.images > 0
}

// take adds one product of the sum.
func (f *formula) take(p factors) bool {
	d, counted := variables[p.variable]
	switch key, rate := strings.CutPrefix(p.rate, "rates."); {
	case p.number == 0:
		return true
	case p.rate == imageRate && p.variable == "":
		f.images += p.number
		return true
	case rate && counted:
		if name := misnamed[key]; name != "" {
			key = name
		}
		_, twice := f.tokens[d]
		f.tokens[d] = weighted{key, p.number}
		return !twice
	}
	return false
}

// factors are the parts of a product.
type factors struct {
	variable, rate string
	number         int64 // millionths
}

// These limit the size of a tree, which may come from an untrusted source.
const (
	maxDepth    = 8
	maxProducts = 64
)

// expand returns the tree as a sum of products.
func (n *Node) expand(depth int) ([]factors, bool) {
	switch {
	case depth > maxDepth || len(n.Operands) > maxProducts:
		return nil, false
	case n.Operation == "sum":
		var terms []factors
		for i := range n.Operands {
			products, ok := n.Operands[i].expand(depth + 1)
			if !ok || len(terms)+len(products) > maxProducts {
				return nil, false
			}
			terms = append(terms, products...)
		}
		return terms, true
	case n.Operation == "multiply":
		return n.multiply(depth)
	case n.Operation != "":
		return nil, false
	}
	return n.value()
}

func (n *Node) multiply(depth int) ([]factors, bool) {
	all := []factors{{number: multiplierOne}}
	for i := range n.Operands {
		right, ok := n.Operands[i].expand(depth + 1)
		if !ok || len(all)*len(right) > maxProducts {
			return nil, false
		}
		var next []factors
		for _, a := range all {
			for _, b := range right {
				p, ok := a.times(b)
				if !ok {
					return nil, false
				}
				next = append(next, p)
			}
		}
		all = next
	}
	return all, true
}

func (n *Node) value() ([]factors, bool) {
	switch {
	case strings.HasPrefix(n.Value, "rates."):
		return []factors{{rate: n.Value, number: multiplierOne}}, true
	case n.Value == "" || n.Value[0] > '9':
		return []factors{{variable: n.Value, number: multiplierOne}}, n.Value != ""
	}
	v, err := fixed(n.Value, multiplierOne, maxMultiplier)
	return []factors{{number: v}}, err == nil
}

// times returns the product of two. ok is false if both have a variable or both have a rate.
func (a factors) times(b factors) (p factors, ok bool) {
	if a.variable != "" && b.variable != "" || a.rate != "" && b.rate != "" {
		return p, false
	}
	number := a.number * b.number / multiplierOne
	return factors{a.variable + b.variable, a.rate + b.rate, number}, number <= maxMultiplier*multiplierOne
}
