package language

import (
	"slices"

	"github.com/pemistahl/lingua-go"
)

// codes are the languages that Detect can name and callers may list.
// Source: contract/dataplane.md 5.7 (codes of the FLORES data sets: language and script).
var codes = []string{
	"eng_Latn", "zho_Hans", "spa_Latn", "ara_Arab", "por_Latn", "ind_Latn", "fra_Latn", "jpn_Jpan", "rus_Cyrl", "deu_Latn",
	"kor_Hang", "tur_Latn", "ita_Latn", "pes_Arab", "pol_Latn", "vie_Latn", "nld_Latn", "hin_Deva", "tha_Thai", "heb_Hebr",
	"ben_Beng", "swe_Latn", "ces_Latn", "ron_Latn", "ell_Grek", "ukr_Cyrl", "dan_Latn", "fin_Latn", "nor_Latn", "hun_Latn",
	"cat_Latn", "bul_Cyrl", "msa_Latn", "hrv_Latn", "arb_Latn", "slk_Latn", "lit_Latn", "lav_Latn", "srp_Cyrl", "slv_Latn",
	"est_Latn", "urd_Arab", "fil_Latn", "aze_Latn", "tam_Taml", "tel_Telu", "mar_Deva", "kan_Knda", "fas_Arab", "zho_Hant",
}

// spellings maps other codes of the same languages to those that Detect returns.
var spellings = map[string]string{
	"fas_Arab": "pes_Arab", "arb_Arab": "ara_Arab", "nob_Latn": "nor_Latn", "nno_Latn": "nor_Latn", "tgl_Latn": "fil_Latn",
	"azj_Latn": "aze_Latn", "zsm_Latn": "msa_Latn", "lvs_Latn": "lav_Latn", "ekk_Latn": "est_Latn",
}

// Codes returns the codes of the supported languages: "eng_Latn". The caller owns the slice.
func Codes() []string { return slices.Clone(codes) }

// Canonical returns the code that Detect uses for a language. It reports false for a language that is
// not supported.
func Canonical(code string) (string, bool) {
	if other, ok := spellings[code]; ok {
		return other, true
	}
	return code, slices.Contains(codes, code)
}

// models are the languages of lingua by their code. The last ones have no code that callers may list:
// their texts would otherwise count as a related language.
var models = map[lingua.Language]string{
	lingua.English: "eng_Latn", lingua.Spanish: "spa_Latn", lingua.Portuguese: "por_Latn", lingua.Indonesian: "ind_Latn",
	lingua.French: "fra_Latn", lingua.German: "deu_Latn", lingua.Turkish: "tur_Latn", lingua.Italian: "ita_Latn",
	lingua.Polish: "pol_Latn", lingua.Vietnamese: "vie_Latn", lingua.Dutch: "nld_Latn", lingua.Swedish: "swe_Latn",
	lingua.Czech: "ces_Latn", lingua.Romanian: "ron_Latn", lingua.Danish: "dan_Latn", lingua.Finnish: "fin_Latn",
	lingua.Bokmal: "nor_Latn", lingua.Nynorsk: "nor_Latn", lingua.Hungarian: "hun_Latn", lingua.Catalan: "cat_Latn",
	lingua.Malay: "msa_Latn", lingua.Croatian: "hrv_Latn", lingua.Slovak: "slk_Latn", lingua.Lithuanian: "lit_Latn",
	lingua.Latvian: "lav_Latn", lingua.Slovene: "slv_Latn", lingua.Estonian: "est_Latn", lingua.Tagalog: "fil_Latn",
	lingua.Azerbaijani: "aze_Latn",
	lingua.Arabic:      "ara_Arab", lingua.Persian: "pes_Arab", lingua.Urdu: "urd_Arab",
	lingua.Russian: "rus_Cyrl", lingua.Ukrainian: "ukr_Cyrl", lingua.Bulgarian: "bul_Cyrl", lingua.Serbian: "srp_Cyrl",
	lingua.Hindi: "hin_Deva", lingua.Marathi: "mar_Deva",
	lingua.Belarusian: "bel_Cyrl", lingua.Macedonian: "mkd_Cyrl",
}
