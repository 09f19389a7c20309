package dataplane

import (
	"sluice/internal/dialect"
	"sluice/internal/fault"
	"sluice/internal/llm"
	"sluice/internal/splice"
)

// fileAllowed refuses the file of a batch that goes to a provider as it is, when a line of
// it names a model that the account may not be asked for: {"body":{"model":"…"}}. It looks
// at every member of a name that stands there twice. A file for a batch whose lines cannot
// be read is refused; so that nobody gets round this by another purpose, files for
// anything else are looked at as well, as far as they have such lines.
func fileAllowed(a *attempt) error {
	if a.account == nil || !a.account.Restricted() || a.x.match.Endpoint != llm.UploadFile {
		return nil
	}
	u, err := dialect.ReadUpload(&dialect.Request{Form: a.x.form})
	if err != nil {
		return err
	}
	err = dialect.EachLine(u.Content().Open(), func(n int, line []byte) error {
		if !splice.Valid(line) {
			if u.Purpose == "batch" {
				return fault.Newf(fault.InvalidParameter, "line %d of the file is not a JSON object", n).WithParam("file")
			}
			return nil
		}
		if model, ok := firstDisallowedInBody(a.account, line, "body"); !ok {
			return fault.Newf(fault.ModelNotAllowed, "line %d of the file uses the model %q, which the provider @%s does not allow", n, clip(model), a.account.Slug).WithParam("file")
		}
		return nil
	})
	if u.Purpose != "batch" && fault.Has(err, fault.TooLarge) { // no line of a batch
		return nil
	}
	return err
}
