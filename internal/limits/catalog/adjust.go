package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"sluice/internal/kernel/fault"
)

// Adjustments multiply the prices of a list, for an integration that pays more or less than
// the list price. The zero value changes nothing.
// Source: contract/identity-and-governance.yaml, PricingAdjustments.
type Adjustments struct {
	multipliers map[string]int64 // millionths by the key of a rate
}

// A multiplier has up to six decimals and is at most maxMultiplier.
const (
	multiplierOne = 1_000_000
	maxMultiplier = 1000
)

// adjustable are the numeric members of a multiplier. Members that no price list uses are
// accepted and have no effect.
var adjustable = func() map[string]bool {
	names := map[string]bool{
		defaultModel: true, "prediction_accepted_token": true, "prediction_rejected_token": true,
		"cache_write_text_input_token": true, "cache_write_image_input_token": true,
	}
	for _, k := range rateKeys {
		names[k.name] = legacyRateNames[k.name] == ""
	}
	return names
}()

// ReadAdjustments reads pricing_adjustments of an integration:
//
//	{"multiplier": {"default": 1.1, "response_token": 1.25, "image": {"default": 1}, "additional_units": {"web_search": 0}}}
//
// A rate without a multiplier has that of "default", or 1 if that is missing too. Null is the
// same as absent. The error is fault.InvalidParameter for a member that is unknown, negative,
// larger than 1000 or has more than six decimals.
func ReadAdjustments(raw []byte) (Adjustments, error) {
	out := Adjustments{multipliers: map[string]int64{}}
	members, err := object(raw, "pricing_adjustments")
	if err != nil {
		return Adjustments{}, err
	}
	for name := range members {
		if name != "multiplier" {
			return Adjustments{}, unknownMember("pricing_adjustments." + name)
		}
	}
	multipliers, err := object(members["multiplier"], "pricing_adjustments.multiplier")
	if err != nil {
		return Adjustments{}, err
	}
	for name, v := range multipliers {
		if err := out.read(name, v); err != nil {
			return Adjustments{}, err
		}
	}
	return out, nil
}

// read reads one member of a multiplier.
func (a Adjustments) read(name string, raw json.RawMessage) error {
	path := "pricing_adjustments.multiplier." + name
	if name != "image" && name+"." != unitKey {
		if !adjustable[name] {
			return unknownMember(path)
		}
		return a.put(name, path, raw)
	}
	inner, err := object(raw, path)
	if err != nil {
		return err
	}
	for unit, v := range inner {
		if name == "image" && unit != defaultModel {
			return unknownMember(path + "." + unit)
		}
		if err := a.put(name+"."+unit, path+"."+unit, v); err != nil {
			return err
		}
	}
	return nil
}

func (a Adjustments) put(key, path string, raw json.RawMessage) error {
	text := string(raw)
	if text == "null" {
		return nil
	}
	const fine = 1_000_000 // detects more than six decimals
	v, err := fixed(text, multiplierOne*fine, maxMultiplier)
	if err == nil && v%fine != 0 {
		err = errors.New("has more than six decimals")
	}
	if err != nil {
		return invalid(path, path+": must be a number from 0 to 1000: "+strings.TrimSpace(err.Error()))
	}
	a.multipliers[key] = v / fine
	return nil
}

// multiplier returns the multiplier of the price of a key, in millionths.
func (a Adjustments) multiplier(key string) int64 {
	if twin := legacyRateNames[key]; twin != "" {
		key = twin
	}
	if m, ok := a.multipliers[key]; ok {
		return m
	}
	if strings.HasPrefix(key, "image.") {
		if m, ok := a.multipliers["image."+defaultModel]; ok {
			return m
		}
	}
	if m, ok := a.multipliers[defaultModel]; ok {
		return m
	}
	return multiplierOne
}

// object reads the members of an object. Null and empty input have none.
func object(raw json.RawMessage, path string) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	if len(raw) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, invalid(path, path+" must be an object")
	}
	return members, nil
}

func unknownMember(path string) error {
	return invalid(path, fmt.Sprintf("unknown field %.120s", path))
}

func invalid(path, text string) error { return fault.New(fault.InvalidParameter, text).WithParam(path) }
