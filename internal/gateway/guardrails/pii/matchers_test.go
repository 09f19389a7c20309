package pii_test

import (
	"testing"

	"sluice/internal/gateway/guardrails/pii"
)

// found returns what is found in a text, "" for nothing.
func found(t *testing.T, category, text string) string {
	t.Helper()
	edits := edits(t, `{"redact":true,"categories":["`+category+`"]}`, text)
	if len(edits) == 0 {
		return ""
	}
	return text[edits[0].Start:edits[len(edits)-1].End]
}

// cases map texts to what must be found in them; "" is nothing.
type cases map[string]string

func (c cases) run(t *testing.T, category string) {
	t.Helper()
	for text, want := range c {
		if got := found(t, category, text); got != want {
			t.Errorf("%s in %q: %q, want %q", category, text, got, want)
		}
	}
}

func TestCards_NeedAnIssuerALengthAndACheckDigit(t *testing.T) {
	t.Parallel()
	cases{
		"pay 4111 1111 1111 1111 now":      "4111 1111 1111 1111",
		"pay 4111-1111-1111-1111 now":      "4111-1111-1111-1111",
		"pay 378282246310005.":             "378282246310005",
		"pay 3782 822463 10005":            "3782 822463 10005",
		"pay 30569309025904":               "", // 14 digits begin with 36 only
		"pay 36227206271667":               "36227206271667",
		"pay 4111 1111 1111 1112":          "", // check digit
		"pay 41 11 11 11 11 11 11 11":      "", // groups
		"pay 4111 1111 1111 1111 1111":     "4111 1111 1111 1111",
		"pay 9411111111111111":             "", // issuer
		"order 4111111111111111 shipped":   "", // another number
		"x4111111111111111":                "",
		"4111111111111111, 09/28, code 12": "4111111111111111",
	}.run(t, pii.CreditCard)
}

func TestIBANs_NeedTheLengthOfTheirCountryAndCheckDigits(t *testing.T) {
	t.Parallel()
	cases{
		"to DE89 3704 0044 0532 0130 00.": "DE89 3704 0044 0532 0130 00",
		"to DE89370400440532013000":       "DE89370400440532013000",
		"to GB29 NWBK 6016 1331 9268 19":  "GB29 NWBK 6016 1331 9268 19",
		"to NO93 8601 1117 947":           "NO93 8601 1117 947",
		"to DE88 3704 0044 0532 0130 00":  "",
		"to DE8937040044053201300":        "",
		"to ZZ89370400440532013000":       "",
		"DE89":                            "",
	}.run(t, pii.IBAN)
}

func TestSSNs_NeedAssignedNumbers(t *testing.T) {
	t.Parallel()
	cases{
		"it is 536-22-1234.":          "536-22-1234",
		"SSN 536 22 1234":             "536 22 1234",
		"SSN: 536221234":              "536221234",
		"it is 536 22 1234":           "",
		"ticket 536221234":            "",
		"SSN 000-22-1234":             "",
		"SSN 666-22-1234":             "",
		"SSN 900-22-1234":             "",
		"SSN 536-00-1234":             "",
		"SSN 536-22-0000":             "",
		"536-22-12345":                "",
		"range 100-20-3000 mm":        "",
		"536221234 is her SSN":        "536221234",
		"social media: 536221234":     "",
		"number 536-22-1234-9 is one": "",
	}.run(t, pii.SSN)
}

// Published examples of each country.
func TestNationalIDs_NeedTheirChecksums(t *testing.T) {
	t.Parallel()
	cases{
		"Steuer-ID 86095742719":      "86095742719",
		"Steuer-ID 86095742710":      "",
		"DNI 12345678Z":              "12345678Z",
		"DNI 12345678A":              "",
		"NIE X1234567L":              "X1234567L",
		"nir 255081416802538":        "255081416802538",
		"codice RSSMRA85T10A562S":    "RSSMRA85T10A562S",
		"codice RSSMRA85T10A562T":    "",
		"insurance AB 12 34 56 C":    "AB 12 34 56 C",
		"insurance QQ123456C":        "",
		"nhs id 943 476 5919":        "943 476 5919",
		"bsn 111222333":              "111222333",
		"id 85.07.30-033.28":         "85.07.30-033.28",
		"pesel 44051401359":          "44051401359",
		"personnummer 811228-9874":   "811228-9874",
		"id 131052-308T":             "131052-308T",
		"ahv 756.9217.0769.85":       "756.9217.0769.85",
		"nif 123456789":              "123456789",
		"cpf 529.982.247-25":         "529.982.247-25",
		"cpf 529.982.247-26":         "",
		"rut 12.345.678-5":           "12.345.678-5",
		"cuit 20-12345678-6":         "20-12345678-6",
		"curp HEGG560427MVZRRL04":    "HEGG560427MVZRRL04",
		"sin 130 692 544":            "130 692 544",
		"tfn 123 456 782":            "123 456 782",
		"aadhaar 2341 2341 2346":     "2341 2341 2346",
		"pan ABCPE1234F":             "ABCPE1234F",
		"the number 86095742719":     "", // no word near it
		"order 12345678Z from today": "",
	}.run(t, pii.NationalID)
}

func TestPhones_NeedAFormOrAWord(t *testing.T) {
	t.Parallel()
	cases{
		"at +49 (0)30 23125 117.":       "+49 (0)30 23125 117",
		"at +1 (415) 555-0132 ext. 7":   "+1 (415) 555-0132 ext. 7",
		"at (415) 555-0132":             "(415) 555-0132",
		"at 415 555 0132":               "",
		"call 415 555 0132":             "415 555 0132",
		"call 4155550132":               "4155550132",
		"at 4155550132":                 "",
		"at 0171/3920055":               "0171/3920055",
		"at 0049 30 23125117":           "0049 30 23125117",
		"on 17.05.2024":                 "",
		"ruf am 17.05.2024":             "",
		"call 2024-05-17":               "",
		"+999 123 456 789":              "+999 123 456 789",
		"+1 23":                         "",
		"+49 1":                         "",
		"zip 02110-1301":                "",
		"call 1.234.567,89":             "",
		"llama al 612 345 678":          "612 345 678",
		"cuesta 612 345 678":            "",
		"bounds 512..1024 and 39 / 30 ": "",
	}.run(t, pii.PhoneNumber)
}

func TestIPs_AreNotVersions(t *testing.T) {
	t.Parallel()
	cases{
		"from 10.1.2.3, then":          "10.1.2.3",
		"http://10.1.2.3:80/x":         "10.1.2.3",
		"10.0.0.0/8":                   "10.0.0.0",
		"version 10.1.2.3":             "",
		"server version of 10.1.2.3":   "",
		"version 2 of server 10.1.2.3": "10.1.2.3",
		"v10.1.2.3":                    "",
		"10.1.2.3.4":                   "",
		"10.1.2.256":                   "",
		"10.1.2.03":                    "",
		"at fe80::1.":                  "fe80::1",
		"[2001:db8::7]:443":            "2001:db8::7",
		"std::map and a::b":            "",
		"12:30:45":                     "",
		"::1":                          "::1",
	}.run(t, pii.IPAddress)
}

func TestEmails_NeedADomain(t *testing.T) {
	t.Parallel()
	cases{
		"to a.b+c@mail.example.org.":      "a.b+c@mail.example.org",
		"<jörg@müller.de>":                "jörg@müller.de",
		"\u201cx@example.org\u201d":       "x@example.org",
		"x@localhost":                     "",
		"npm i pkg@1.2.3":                 "",
		"logo@2x.png":                     "",
		"git@github.com:a/b.git":          "",
		"https://u:secret@example.org/":   "",
		"a.@example.org":                  "",
		"@example.org":                    "",
		"x@example.123":                   "",
		"mailto:x@example.org?subject=hi": "x@example.org",
	}.run(t, pii.EmailAddress)
}

func TestAddresses_NeedAStreetAndANumber(t *testing.T) {
	t.Parallel()
	cases{
		"to 19 Mill Road.":                                "19 Mill Road",
		"to 350 Fifth Ave, New York, NY 10118 by":         "350 Fifth Ave, New York, NY 10118",
		"to 405 Cherry Hill Rd., Apt 4B":                  "405 Cherry Hill Rd., Apt 4B",
		"to PO Box 88":                                    "PO Box 88",
		"In 2019 Google Drive grew":                       "",
		"the 5 Way Chili":                                 "",
		"nach Lindenweg 14a, 24103 Kiel":                  "Lindenweg 14a, 24103 Kiel",
		"nach Unter den Linden 6":                         "Unter den Linden 6",
		"Im Kapitel 7 steht":                              "",
		"Der Umweg 20 Minuten länger":                     "",
		"en C/ Alcalá 221, 3º B":                          "C/ Alcalá 221, 3º B",
		"en Carrera 7 # 45-10":                            "Carrera 7 # 45-10",
		"en la Calle Princesa s/n":                        "Calle Princesa s/n",
		"la calle 13 es":                                  "",
		"he lives at 12 Old Mill Lane Suite 200 and pays": "12 Old Mill Lane Suite 200",
	}.run(t, pii.LocationAddress)
}

func TestNames_NeedEvidence(t *testing.T) {
	t.Parallel()
	cases{
		"then Dr. Pell left":                 "Pell",
		"das ist Herr Dr. Vossberg, oder":    "Vossberg",
		"my name is Quillon":                 "Quillon",
		"ich heiße Quillon":                  "Quillon",
		"she met Emily Rose Carter there":    "Emily Rose Carter",
		"she met Juan de la Torre there":     "Juan de la Torre",
		"with Jean-Luc O'Hara's dog":         "Jean-Luc O'Hara",
		"the Amazon River":                   "",
		"Mark the box":                       "",
		"Visit Paris in May":                 "",
		"Dear Sir or Madam":                  "",
		"Frau und Herr":                      "",
		"Microsoft Azure":                    "",
		"@Emily Carter":                      "",
		"path/Emily Carter":                  "",
		"the JSON API of Google Cloud":       "",
		"Customer Service will call":         "",
		"Patient: Emily Carter, born in May": "Emily Carter",
	}.run(t, pii.Name)
}
