package wordguard

import "slices"

// moveTopic moves a topic from the start to the end: "In Python, how do I" ends with "in Python".
func moveTopic(tokens []token, l *lexicon) []token {
	const longest = 5
	if len(tokens) == 0 || !l.has("role", tokens[0].text) {
		return tokens
	}
	for i, t := range tokens[:min(len(tokens), longest)] {
		if t.kind == pause {
			return append(slices.Clone(tokens[i+1:]), tokens[:i]...)
		}
	}
	return tokens
}

// takePhrases removes polite phrases everywhere, and at the start of each sentence the phrases that
// introduce a request or question. The first question decides the kind.
func (r *reader) takePhrases(tokens []token) []token {
	var out []token
	start := true
	for len(tokens) > 0 {
		if p, ok := r.phraseAt(tokens, start); ok {
			tokens = tokens[len(p.words):]
			if len(out) == 0 || p.name == "polite" {
				tokens = trimStart(tokens)
			}
			out, tokens = r.take(p, out, tokens)
			start = start && p.name != "question" && p.name != "degree"
			continue
		}
		start = tokens[0].kind == stop || start && tokens[0].kind == pause
		out = append(out, tokens[0])
		tokens = tokens[1:]
	}
	return out
}

// phraseAt returns the longest phrase that tokens begin with.
func (r *reader) phraseAt(tokens []token, start bool) (phrase, bool) {
	for _, p := range r.lexicon.phrases[tokens[0].text] {
		isQuestion := p.name == "question" || p.name == "degree"
		if p.name == "polite" && r.exact {
			continue // "say please"
		}
		if p.name != "polite" && (!start || isQuestion && r.question != "") {
			continue
		}
		if hasWords(tokens, p.words) && needsPhrase(p, tokens[len(p.words):]) {
			return p, true
		}
	}
	return phrase{}, false
}

// needsPhrase reports whether a phrase before rest has no meaning of its own. "I want to" has none
// if a question follows in another sentence.
func needsPhrase(p phrase, rest []token) bool {
	switch p.name {
	case "frame":
		return len(rest) > 0
	case "intent":
		return slices.ContainsFunc(rest, func(t token) bool { return t.kind == stop })
	}
	return true
}

// trimPauses removes commas at both ends, and stops at the end.
func trimPauses(tokens []token) []token {
	tokens = trimStart(tokens)
	for n := len(tokens); n > 0 && tokens[n-1].isPause(); n-- {
		tokens = tokens[:n-1]
	}
	return tokens
}

func trimStart(tokens []token) []token {
	for len(tokens) > 0 && tokens[0].kind == pause {
		tokens = tokens[1:]
	}
	return tokens
}

func hasWords(tokens []token, words []string) bool {
	if len(tokens) < len(words) {
		return false
	}
	for i, w := range words {
		if tokens[i].text != w || tokens[i].literal {
			return false
		}
	}
	return true
}

// take records a phrase. A degree becomes the noun it asks for.
func (r *reader) take(p phrase, out, rest []token) (taken, left []token) {
	switch p.name {
	case "question":
		r.question = p.argument
		rest = r.takeManner(moveVerb(rest, r.lexicon))
		r.verb = p.argument == "howto"
	case "degree":
		r.question = "what"
		out = append(out, token{text: p.argument}, token{text: r.lexicon.preposition("of")})
	}
	return out, rest
}

// takeManner removes the "like" of "what is the weather like", which asks how the weather is.
func (r *reader) takeManner(tokens []token) []token {
	if r.question != "whatis" {
		return tokens
	}
	r.question = "what"
	i := slices.IndexFunc(tokens, func(t token) bool { return !t.literal && r.lexicon.has("manner", t.text) })
	if i < 0 {
		return tokens
	}
	r.question = "how"
	return slices.Delete(slices.Clone(tokens), i, i+1)
}

// preposition returns a word that gives a role.
func (l *lexicon) preposition(role string) string {
	best := ""
	for w, argument := range l.words["role"] {
		if argument == role && (best == "" || w < best) {
			best = w
		}
	}
	return best
}

// subjects are the German pronouns that do not change the meaning of a question: "wie ändere ich" and
// "wie ändert man".
var subjects = []string{"ich", "man", "wir"}

// moveVerb puts the verb of a German question at the end of its sentence, where it is after "wie
// kann ich", and joins it with its prefix: "setze ich es zurück" becomes "es zurücksetze".
func moveVerb(tokens []token, l *lexicon) []token {
	if len(l.words["prefix"]) == 0 || len(tokens) < 3 || tokens[0].kind != word || !slices.Contains(subjects, tokens[1].text) {
		return tokens
	}
	end := slices.IndexFunc(tokens, func(t token) bool { return t.kind == stop })
	if end < 0 {
		end = len(tokens)
	}
	verb, clause, rest := tokens[0], tokens[2:end], tokens[end:]
	if len(clause) == 0 {
		return tokens
	}
	if last := clause[len(clause)-1]; l.has("prefix", last.text) {
		verb.text = last.text + verb.text
		clause = clause[:len(clause)-1]
	}
	return slices.Concat(clause, []token{verb}, rest)
}
