package check

import (
	"context"
	"slices"

	"sluice/internal/domain/guardrail"
	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/textfold"
)

// languageTags returns the tags of fenced blocks by the language that default.containsCode names.
// Source: contract/dataplane.md 5.6; the aliases are those of github-linguist, 2026-11.
func languageTags() map[string][]string {
	return map[string][]string{
		"SQL":        {"sql", "mysql", "postgresql", "postgres", "plsql", "tsql", "sqlite"},
		"Python":     {"python", "py", "python3", "py3"},
		"TypeScript": {"typescript", "ts", "tsx"},
		"JavaScript": {"javascript", "js", "jsx", "node", "mjs", "cjs"},
		"Java":       {"java"},
		"C#":         {"c#", "csharp", "cs"},
		"C++":        {"c++", "cpp", "cc", "cxx", "hpp"},
		"C":          {"c", "h"},
		"Ruby":       {"ruby", "rb"},
		"PHP":        {"php"},
		"Swift":      {"swift"},
		"Kotlin":     {"kotlin", "kt", "kts"},
		"Go":         {"go", "golang"},
		"Rust":       {"rust", "rs"},
		"Scala":      {"scala", "sc"},
		"R":          {"r", "rscript"},
		"Perl":       {"perl", "pl"},
		"Shell":      {"shell", "sh", "bash", "zsh", "fish", "ksh", "shell-script", "console"},
		"HTML":       {"html", "htm", "xhtml"},
		"CSS":        {"css"},
		"XML":        {"xml", "xsd", "xsl", "svg"},
		"JSON":       {"json", "jsonc", "json5", "jsonl"},
		"YAML":       {"yaml", "yml"},
		"Markdown":   {"markdown", "md", "mdx"},
		"Dockerfile": {"dockerfile", "docker"},
	}
}

// containsCode passes texts with a fenced block in a language.
func containsCode() Check {
	tags := languageTags()
	return Check{
		Definition: guardrail.Definition{ID: "default.containsCode", Phases: outputPhase(), Params: []param.Param{
			param.Required("format", param.OneOf("SQL", "Python", "TypeScript", "JavaScript", "Java", "C#", "C++", "C", "Ruby", "PHP", "Swift", "Kotlin", "Go", "Rust",
				"Scala", "R", "Perl", "Shell", "HTML", "CSS", "XML", "JSON", "YAML", "Markdown", "Dockerfile")), param.Not,
		}},
		New: func(p Params, _ *Deps) (Runner, error) {
			format := p.Text("format", "")
			return &codeRunner{format: format, tags: tags[format], not: p.Bool("not", false)}, nil
		},
	}
}

type codeRunner struct {
	format string
	tags   []string
	not    bool
}

// Run compares the tags of the fenced blocks, in their folded form.
func (c *codeRunner) Run(_ context.Context, in *Input) Result {
	text := in.Text()
	found, tags := false, []string{}
	for _, block := range fencedBlocks(text) {
		tag := textfold.Fold(block.tag)
		tags = append(tags, excerpt(block.tag))
		found = found || slices.Contains(c.tags, tag.Folded)
	}
	verdict := found != c.not
	return Result{Verdict: verdict, Data: report{
		"searchedFormat": c.format, "foundFormats": tags, "not": c.not, "verdict": verdict, "textExcerpt": excerpt(text),
		"explanation": choose(found, "a block of code in "+c.format+" was found", "a block of code in "+c.format+" was not found"),
	}}
}
