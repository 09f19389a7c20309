package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Prices is a file of prices: by model, with "default" for what its models inherit.
type Prices map[string]Entry

// readPrices reads a file. Names that begin with "$" are notes. Unknown fields are ignored. An
// invalid price fails the complete file, because a file with one error may have more.
func readPrices(raw []byte) (Prices, error) {
	p, err := readModels[Entry](raw)
	if err != nil {
		return nil, err
	}
	for model, e := range p {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("model %s: %w", model, err)
		}
	}
	return p, nil
}

// entryFor returns the entry of a model with what it inherits from the default, key by key. ok
// is false if the model is unknown.
// Source: contract/content-and-observability.md 6.2.
func (p Prices) entryFor(provider, model string) (e Entry, ok bool) {
	e, ok = find(p, provider, model)
	if e.Pricing != nil {
		var base Pricing
		full := base.withOverrides(p[defaultModel].Pricing).withOverrides(e.Pricing)
		e.Pricing = &full
	}
	return e, ok
}

// readModels reads the entries of a file. It skips members that are not objects, such as the
// name of the provider.
func readModels[T any](raw []byte) (map[string]T, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, err
	}
	out := make(map[string]T, len(all))
	for name, v := range all {
		if name == "" || name[0] == '$' || len(v) == 0 || v[0] != '{' {
			continue
		}
		var e T
		if err := json.Unmarshal(v, &e); err != nil {
			return nil, fmt.Errorf("model %s: %w", name, err)
		}
		out[name] = e
	}
	return out, nil
}

// UnmarshalJSON reads {"price": 0.00025}. It fails if the price is missing or not a number,
// since neither may become 0, and if it has more digits than a Price can store.
func (p *Price) UnmarshalJSON(raw []byte) error {
	var v struct {
		Price json.RawMessage `json:"price"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	if len(v.Price) == 0 || string(v.Price) == "null" {
		return errors.New(`price is missing; set {"price": 0} if it is free`)
	}
	written, err := fixed(string(v.Price), femtoPerCent, maxCents)
	if err != nil {
		return fmt.Errorf("price %.80s %w", v.Price, err)
	}
	if p.Price, err = strconv.ParseFloat(string(v.Price), 64); err != nil {
		return err
	}
	if rounded := p.femtoDollars(); rounded != written {
		return fmt.Errorf("price %s has more than 15 digits", v.Price)
	}
	return nil
}

// femtoDollars returns the price in femto-dollars. The shortest decimal of a float64 is the
// one that was written, up to 15 digits.
func (p Price) femtoDollars() int64 {
	var buf [32]byte
	text := strconv.AppendFloat(buf[:0], p.Price, 'e', -1, 64) // "2.5e-04"
	e := bytes.IndexByte(text, 'e')
	exponent, err := strconv.Atoi(string(text[e+1:]))
	if err != nil {
		return 0 // cannot happen: checked prices are finite
	}
	digits := int64(0)
	for _, c := range text[:e] {
		if c != '.' {
			digits = digits*10 + int64(c-'0')
		}
	}
	return shifted(digits, exponent-max(0, e-2)+centDigits)
}

// shifted returns v with its decimal point moved n digits to the right, rounded half up.
func shifted(v int64, n int) int64 {
	for ; n > 0; n-- {
		v *= 10
	}
	if n < -18 {
		return 0
	}
	by := int64(1)
	for ; n < 0; n++ {
		by *= 10
	}
	return (v + by/2) / by
}
