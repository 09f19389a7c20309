package redis

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"sluice/internal/limits/quota"
)

//go:embed scripts/*.lua
var sources embed.FS

// script is one of scripts/, after the common part.
type script struct {
	name string
	lua  *rueidis.Lua
}

// scripts contains all scripts.
type scripts struct{ take, settle, claim, state, create, deregister, missing, roster, forget script }

func loadScripts() (*scripts, error) {
	common, err := sources.ReadFile("scripts/common.lua")
	if err != nil {
		return nil, fmt.Errorf("read scripts: %w", err)
	}
	var s scripts
	for name, to := range map[string]*script{
		"take": &s.take, "settle": &s.settle, "claim": &s.claim, "state": &s.state, "create": &s.create, "leave": &s.deregister, "missing": &s.missing,
		"roster": &s.roster, "forget": &s.forget,
	} {
		source, err := sources.ReadFile("scripts/" + name + ".lua")
		if err != nil {
			return nil, fmt.Errorf("read scripts: %w", err)
		}
		*to = script{name, rueidis.NewLuaScript(string(common) + string(source))}
	}
	return &s, nil
}

// scriptResult is the result of a script: a status, the number of the run, the time in ms, and
// the rest.
type scriptResult struct {
	status string
	rest   []int64
}

// run returns the number of the run.
func (a *scriptResult) run() int64            { return a.rest[0] }
func (a *scriptResult) serverTime() time.Time { return time.UnixMilli(a.rest[1]).UTC() }

func read(name string, list []rueidis.RedisMessage) (a scriptResult, err error) {
	if len(list) == 0 {
		return a, fmt.Errorf("redis, %s: empty response", name)
	}
	if a.status, err = list[0].ToString(); err != nil {
		return a, fmt.Errorf("redis, %s: %w", name, err)
	}
	a.rest = make([]int64, 0, len(list)-1)
	for _, m := range list[1:] {
		n, err := m.AsInt64()
		if err != nil {
			return a, fmt.Errorf("redis, %s: %w", name, err)
		}
		a.rest = append(a.rest, n)
	}
	return a, nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

// maxUnits is the maximum that one call holds or uses. Larger numbers are not exact in
// scripts.
const maxUnits = 1 << 53

func clamp(units int64) int64 { return min(max(units, -maxUnits), maxUnits) }

// name returns the name of a counter in its partition; nameOf parses that of a budget.
func name(id quota.CounterID) string {
	return id.Subject + "|" + id.Entry + "|" + id.ValueKey
}

func nameOf(text string) (quota.CounterID, bool) {
	parts := strings.SplitN(text, "|", 3)
	if len(parts) != 3 {
		return quota.CounterID{}, false
	}
	return quota.CounterID{Subject: parts[0], Entry: parts[1], ValueKey: parts[2]}, true
}

const budgetPrefix = "c:"

// budgetID and rateID return the keys of counters, without the prefix of the partition.
func budgetID(id quota.CounterID) string { return budgetPrefix + name(id) }

func rateID(id quota.CounterID, window time.Time) string {
	return "w:" + name(id) + "@" + decimal(window.UnixMilli())
}

// keyOf returns the key of a share and the end of its window, in ms. For a budget the second
// value is its last reset, negative, or 0 for none.
func keyOf(p *quota.NodeShare) (id string, endMS int64) {
	if p.Unit == "" {
		return budgetID(p.Counter), -msOf(p.Since)
	}
	return rateID(p.Counter, p.Window), p.Window.Add(p.Unit.Window()).UnixMilli()
}
