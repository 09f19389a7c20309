package config

import "strings"

// decode turns the given texts into Settings, then applies the rules between them.
func (l *loader) decode() *Loaded {
	out := &Loaded{Settings: Default(), schema: l.schema, origins: map[string]string{}, sources: map[string]Source{}}
	blamed := map[string]bool{}
	for _, p := range l.problems {
		blamed[p.Setting] = true
	}
	for _, s := range l.schema {
		g, ok := l.rawSetting[s.name]
		if !ok || blamed[s.name] {
			continue
		}
		g, problem := l.content(s, g)
		out.origins[s.name], out.sources[s.name] = g.origin, g.source
		if problem == nil && s.set(&out.Settings, g.text) != nil {
			problem = unusable(s, g)
		}
		if problem != nil {
			blamed[s.name] = true
			l.problems = append(l.problems, *problem)
		}
	}
	_, chosen := l.rawSetting["DB_TYPE"]
	derived := func(name, from string) { out.origins[name] = from }
	out.Settings.Server.complete(l.rawSetting["PORT"].rank > l.rawSetting["LISTEN"].rank, derived)
	out.Settings.Database.complete(chosen, derived)
	_, chosen = l.rawSetting["CACHE_STORE"]
	out.Settings.Redis.complete(chosen, derived)
	_, chosen = l.rawSetting["RESPONSE_CACHE_STORE"]
	out.Settings.Caching.complete(chosen, &out.Settings.Redis, derived)
	_, chosen = l.rawSetting["LOG_STORE_PATH_STYLE"]
	out.Settings.LogStore.complete(chosen, derived)
	_, chosen = l.rawSetting["ANALYTICS_STORE"]
	out.Settings.Analytics.complete(chosen, derived)
	out.Settings.OpenTelemetry.complete(derived)
	out.Settings.Requests.complete()
	out.Settings.validate(func(name, text, form string) {
		if !blamed[name] {
			l.problems = append(l.problems, Problem{Setting: name, Text: text, Form: form})
		}
	})
	out.Warnings = l.warnings
	return out
}

func unusable(s setting, g rawSetting) *Problem {
	text := shown(g.text) + " is not valid"
	if s.content() {
		text = "is not valid"
	}
	return &Problem{Setting: s.name, Where: g.origin, Text: text, Form: s.form()}
}

// takePaths reads the files of settings such as TLS_CERT_PATH into the settings that
// take their content.
func (l *loader) takePaths() {
	for _, s := range l.schema {
		g, ok := l.rawSetting[s.name]
		if s.loads == "" || !ok {
			continue
		}
		if _, both := l.rawSetting[s.loads]; both {
			l.problems = append(l.problems, Problem{Setting: s.name, Where: g.origin, Text: "is set together with " + s.loads, Form: "only one of the two"})
			continue
		}
		text, err := readFile(g.text)
		if err != nil {
			l.problems = append(l.problems, *badPath(s, g, g.text, err))
			continue
		}
		l.take(s.loads, rawSetting{strings.TrimSpace(text), s.name + ", content of " + g.text, g.rank, Source{Content: g.text}})
	}
}
