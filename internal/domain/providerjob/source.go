package providerjob

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"sluice/internal/kernel/jsonedit"
)

// Source is the input of a job: everything that its description can name, in the spelling of
// any provider. All of it counts, whichever the provider reads.
type Source struct {
	Lists    [][]byte // of requests in the description itself
	Files    []File   // at most 64
	Endpoint string   // to which a batch sends its requests, "/v1/chat/completions"; empty: not given
	Models   []string // that the description names in addition to "model", "amazon.nova-lite-v1:0"
}

// File is an input file by its id at the provider.
type File struct {
	ID string
	// Weight is how often it counts: 1, or more if training reads it several times.
	Weight int64
}

// maxFiles is the maximum number of input files of a job.
const maxFiles = 64

var (
	errFiles    = fmt.Errorf("it names more than %d input files; make several jobs of them", maxFiles)
	errFile     = errors.New("it names an input that the gateway does not read; name files by their ids")
	errEndpoint = errors.New("it has more than one endpoint; send one")
)

// roots are the objects that may describe a batch. provider_options is sent to the provider
// unchanged.
var roots = [...][]string{nil, {"batch"}, {"provider_options"}}

// listsOf are the paths of lists of requests in the description of a batch.
//
// Source: the API references of Anthropic, Mistral and Gemini, read 2026-11.
var listsOf = [...][]string{{"requests"}, {"input_config", "requests"}}

// filesOf are the paths of the files of a batch.
//
// Source: the API references of OpenAI, Azure, Mistral, Cohere, Fireworks, Gemini, Vertex AI
// and Amazon Bedrock, read 2026-11.
var filesOf = [...][]string{
	{"input_file_id"}, {"input_file_ids"}, {"input_file"}, {"input_files"}, {"file_id"}, {"file_ids"}, {"input_blob"}, {"dataset_id"}, {"input_dataset_id"},
	{"input_config", "file_name"}, {"input_config", "gcs_source", "uris"}, {"input_config", "bigquery_source", "input_uri"}, {"input_data_config", "s3_input_data_config", "s3_uri"},
}

// trainingFilesOf are the paths of the files of a training.
//
// Source: the API references of OpenAI, Azure, Mistral, Together, Fireworks, Cohere, Vertex AI
// and Amazon Bedrock, read 2026-11.
var trainingFilesOf = [...][]string{
	{"training_file"}, {"training_files"}, {"training_file_id"}, {"training_dataset_uri"}, {"training_dataset"}, {"dataset"}, {"dataset_id"},
	{"supervised_tuning_spec", "training_dataset_uri"}, {"preference_optimization_spec", "training_dataset_uri"}, {"distillation_spec", "training_dataset_uri"},
	{"training_data_config", "s3_uri"}, {"tuning_task", "training_data"}, {"settings", "dataset_id"},
}

// BatchSource reads the description of a batch. It fails if the description names more than 64
// files, or an input that is neither a list of requests nor an id.
func BatchSource(body []byte) (*Source, error) {
	s := new(Source)
	for _, root := range roots {
		for _, path := range listsOf {
			if err := s.addLists(body, under(root, path)); err != nil {
				return nil, err
			}
		}
		for _, path := range filesOf {
			if err := s.addFiles(body, under(root, path)); err != nil {
				return nil, err
			}
		}
	}
	s.addModels(body, []string{"model_id"}, []string{"batch", "model"})
	for raw := range Values(body, "endpoint") {
		to, _ := jsonedit.Unquote(raw)
		if s.Endpoint != "" && to != s.Endpoint {
			return nil, errEndpoint
		}
		s.Endpoint = to
	}
	return s, nil
}

// TrainingSource reads the description of a training as BatchSource does.
func TrainingSource(body []byte) (*Source, error) {
	s := new(Source)
	for _, root := range [...][]string{nil, {"provider_options"}} {
		for _, path := range trainingFilesOf {
			if err := s.addFiles(body, under(root, path)); err != nil {
				return nil, err
			}
		}
	}
	s.addModels(body, []string{"model_id"}, []string{"base_model"}, []string{"base_model_identifier"})
	return s, nil
}

func under(root, path []string) []string { return append(root[:len(root):len(root)], path...) }

// addModels adds the models at some paths.
func (s *Source) addModels(body []byte, paths ...[]string) {
	for _, path := range paths {
		for raw := range Values(body, path...) {
			if name, _ := jsonedit.Unquote(raw); name != "" {
				s.Models = append(s.Models, LastPart(name))
			}
		}
	}
}

// LastPart returns the last part of a resource name: "gemini-2.5-flash" of
// "models/gemini-2.5-flash".
func LastPart(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// addLists adds the lists of requests at a path: [{…}] or, for Gemini, {"requests":[{…}]}.
func (s *Source) addLists(body []byte, path []string) error {
	for raw := range Values(body, path...) {
		switch {
		case jsonedit.IsNull(raw):
		case raw[0] == '[':
			s.Lists = append(s.Lists, raw)
		case raw[0] == '{':
			for _, val := range jsonedit.Members(raw) {
				if len(val) == 0 || val[0] != '[' {
					return errFile
				}
				s.Lists = append(s.Lists, val)
			}
		default:
			return errFile
		}
	}
	return nil
}

// addFiles adds the files that the values at a path name.
func (s *Source) addFiles(body []byte, path []string) error {
	for raw := range Values(body, path...) {
		if raw[0] != '[' {
			if err := s.addFile(raw); err != nil {
				return err
			}
			continue
		}
		for one := range jsonedit.Elements(raw) {
			if err := s.addFile(one); err != nil {
				return err
			}
		}
	}
	return nil
}

// addFile adds a file by its id, "file-1" or {"file_id":"file-1","weight":2}.
func (s *Source) addFile(raw []byte) error {
	if jsonedit.IsNull(raw) {
		return nil
	}
	if id, ok := jsonedit.Unquote(raw); ok {
		return s.add(File{ID: id, Weight: 1})
	}
	weight, named := max(1, numberAt(raw, "weight")), false
	for _, field := range [...]string{"file_id", "id"} {
		for val := range Values(raw, field) {
			id, _ := jsonedit.Unquote(val)
			if err := s.add(File{ID: id, Weight: weight}); err != nil {
				return err
			}
			named = named || id != ""
		}
	}
	if !named {
		return errFile
	}
	return nil
}

// add rejects names of several files: folders and patterns.
func (s *Source) add(f File) error {
	plain, err := url.PathUnescape(f.ID)
	if err != nil {
		plain = f.ID
	}
	switch {
	case plain == "":
		return nil
	case strings.HasSuffix(plain, "/"), strings.Contains(plain, "*"):
		return errFile
	case len(s.Files) == maxFiles:
		return errFiles
	}
	s.Files = append(s.Files, f)
	return nil
}
