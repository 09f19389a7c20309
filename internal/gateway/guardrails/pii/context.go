package pii

// cue is what the words near a number indicate.
type cue uint16

const (
	cuePhone cue = 1 << iota
	cueCard
	cueSSN
	cueID
	cueAddress
	cueIP
	cueVersion // of software, and numbered parts of documents
	cueOrder   // orders, parcels, articles: numbers that look like others
)

// Bytes of the text before and after a number in which cues count.
const (
	cueBefore = 64
	cueAfter  = 32
)

// maxCueWord is the length of the longest word in cueWords.
const maxCueWord = 32

// cuesBefore returns the cues of the words before i: all of them, and those of the nearest word that
// has any.
func (s *scanner) cuesBefore(i int) (all, nearest cue) {
	if s.cuesFrom != i+1 {
		s.cuesFrom = i + 1
		s.all, s.nearest = s.readCues(i)
	}
	return s.all, s.nearest
}

func (s *scanner) readCues(i int) (all, nearest cue) {
	start := max(0, i-cueBefore)
	for end := i; end > start; {
		if !isLetter(s.text[end-1]) {
			end--
			continue
		}
		begin := end - 1
		for begin > 0 && end-begin <= maxCueWord && isLetter(s.text[begin-1]) {
			begin--
		}
		for begin < end-1 && isContinuation(s.text[begin]) {
			begin++
		}
		c := wordCue(s.text[begin:end])
		if all |= c; nearest == 0 {
			nearest = c
		}
		end = begin
	}
	return all, nearest
}

// cuesAfter returns the cues of the words after i.
func (s *scanner) cuesAfter(i int) (all cue) {
	stop := min(len(s.text), i+cueAfter)
	for i < stop {
		if !isLetter(s.text[i]) {
			i++
			continue
		}
		end := i + 1
		for end < len(s.text) && end-i <= maxCueWord && isLetter(s.text[end]) {
			end++
		}
		all |= wordCue(s.text[i:end])
		i = end
	}
	return all
}

// wordCue returns the cues of a word in any case.
func wordCue(word string) cue {
	if len(word) > maxCueWord || len(word) < 2 {
		return 0
	}
	var buf [maxCueWord]byte
	for i := range len(word) {
		b := word[i]
		if isUpper(b) {
			b += 'a' - 'A'
		}
		buf[i] = b
	}
	return cueWords[string(buf[:len(word)])]
}

// cueWords maps words in lower case to their cues.
var cueWords = func() map[string]cue {
	m := make(map[string]cue)
	for c, words := range cueLists {
		for _, w := range words {
			m[w] |= c
		}
	}
	return m
}()

// cueLists are words in English, German and Spanish.
var cueLists = map[cue][]string{
	cuePhone: {
		"phone", "phones", "telephone", "tel", "cell", "cellphone", "mobile", "fax", "whatsapp", "sms", "text", "texted", "call", "called", "calls", "dial",
		"ring", "hotline", "voicemail", "reach", "landline", "helpline", "tollfree", "toll", "contact",
		"telefon", "telefonnummer", "telefonisch", "handy", "handynummer", "mobil", "mobilnummer", "mobiltelefon", "rufnummer", "rufen", "ruf", "anrufen", "anruf", "angerufen",
		"ruft", "durchwahl", "festnetz", "festnetznummer", "faxnummer", "fon", "erreichen", "erreichbar", "notruf", "nummer", "kontakt", "fernmelde",
		"teléfono", "telefono", "teléfonos", "tfno", "tlf", "telf", "móvil", "movil", "celular", "llama", "llámame", "llamame", "llamar", "llame", "llamó", "llamo",
		"llámeme", "marque", "marcar", "fijo", "contacto", "número", "telefónico",
	},
	cueCard: {
		"card", "cards", "visa", "mastercard", "amex", "credit", "debit", "cc", "pan", "payment", "charge", "charged", "paid",
		"karte", "kreditkarte", "kartennummer", "kreditkartennummer", "zahlungsmittel", "bezahlt", "tarjeta", "crédito", "credito", "débito", "pagué", "cargue",
	},
	cueSSN: {
		"ssn", "ssns", "social", "security", "sozialversicherungsnummer", "seguro", "seguridad",
	},
	cueID: {
		"id", "ids", "identity", "identification", "identifier", "national", "insurance", "passport", "citizen", "tax", "taxpayer", "nino", "nhs", "sin",
		"ausweis", "ausweisnummer", "ausweises", "personalausweis", "steuer", "steuernummer", "steueridentifikationsnummer", "identifikationsnummer", "personenkennzahl",
		"sozialversicherungsnummer", "steuerid", "ahv", "nationale", "kennnummer",
		"dni", "nie", "nif", "identidad", "identificación", "documento", "cédula", "cedula", "fiscal", "rut", "run", "cuit", "cuil", "curp", "cpf", "nir",
		"pesel", "bsn", "personnummer", "aadhaar", "pan", "tfn", "codice", "fiscale",
	},
	cueAddress: {
		"address", "ship", "shipping", "deliver", "delivery", "live", "lives", "located", "bill", "house", "residence",
		"adresse", "anschrift", "wohne", "wohnt", "wohnhaft", "rechnungsanschrift", "lieferadresse", "dirección", "direccion", "domicilio", "vivo", "vive",
	},
	cueIP: {
		"ip", "host", "server", "ping", "firewall", "dns", "subnet", "ssh", "router", "gateway", "nameserver", "proxy", "client", "request", "traffic", "network",
		"connect", "connection", "login", "logins", "adresse", "address", "rechner", "netz", "anfrage", "drucker", "verbindung", "servidor", "dirección", "red",
		"petición", "cortafuegos", "impresora", "equipo", "acceso", "zugriff", "addr",
	},
	cueVersion: {
		"version", "versión", "versions", "ver", "release", "build", "section", "firmware", "kernel", "oid", "chrome", "windows", "assembly", "ensamblado", "dll", "driver",
		"package", "paket", "paquete", "library", "paragraph", "chapter", "kapitel", "abschnitt", "ausgabe", "edition", "edición", "treiber", "software", "rev", "revision",
		"apartado", "capítulo", "compilación", "controlador", "núcleo", "gliederungspunkt", "punkt", "punto", "stand", "upgrade", "modul", "module", "sdk", "semver", "tag",
	},
	cueOrder: {
		"order", "tracking", "invoice", "isbn", "serial", "imei", "part", "product", "reference", "ref", "ticket", "article", "ean", "gtin", "upc", "session", "row", "hash",
		"timestamp", "batch", "model", "loyalty", "member", "parcel", "sku", "media", "network", "networks", "medien", "netzwerke", "redes",
		"bestellung", "bestellnummer", "sendungsnummer", "rechnung", "rechnungsnummer", "seriennummer", "artikel", "aktenzeichen", "teil", "teilenummer", "auftrag", "kundennummer",
		"los", "zeitstempel", "zähler", "mitglied", "sitzung", "zeile", "produkt", "vertrag",
		"pedido", "envío", "factura", "serie", "artículo", "expediente", "pieza", "encargo", "lote", "marca", "contador", "socio", "sesión", "fila", "pedidos",
		"contrato", "incidencia", "referencia",
	},
}
