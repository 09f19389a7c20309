package pii

import "strings"

// wordSet returns the set of the words of a text.
func wordSet(text string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(text) {
		set[w] = true
	}
	return set
}

// englishStreets are kinds of streets and their abbreviations. Source: USPS Publication 28, appendix C1,
// and usual British ones.
var englishStreets = wordSet(`street st avenue ave av road rd lane ln drive dr boulevard blvd court ct place pl square sq terrace ter terr
	way circle cir trail trl parkway pkwy highway hwy crescent cres close grove gardens gdns mews row walk hill rise parade quay wharf
	view vale green embankment esplanade alley aly loop plaza plz freeway fwy expressway expy turnpike pike run crossing xing broadway
	bypass causeway heights hts knoll landing manor meadow meadows mill orchard path point ridge spur strand yard approach acre`)

// notStreets maps words to the word for a street that follows them in something else: "Google Drive".
var notStreets = map[string]string{
	"google": "drive", "hard": "drive", "flash": "drive", "usb": "drive", "disk": "drive", "wall": "street", "sesame": "street", "supreme": "court",
	"high": "court", "tennis": "court", "market": "place", "first": "place", "second": "place", "third": "place", "times": "square", "data": "point",
	"power": "point", "home": "run", "test": "run", "dry": "run", "best": "way", "milky": "way",
}

// germanSuffixes end names of streets.
var germanSuffixes = [...]string{
	"straße", "strasse", "str", "weg", "allee", "gasse", "platz", "ring", "damm", "ufer", "steig", "stieg", "chaussee", "wall", "graben",
	"hof", "pfad", "twiete", "zeile", "hang", "promenade", "brücke", "markt", "garten", "gärten", "kamp", "redder", "winkel",
}

// germanStreets are such words on their own; an adjective precedes them.
var germanStreets = wordSet(`straße strasse str weg allee gasse platz ring damm ufer steig chaussee wall graben markt pfad reihe bleichen
	landstraße bundesstraße promenade chaussee zeile tor stieg ziegelei höhe hof garten kamp`)

// notGermanStreets are compounds that end like streets.
var notGermanStreets = wordSet(`arbeitsplatz umweg ausweg milchstraße sesamstraße autobahn parkplatz stellplatz sitzplatz startplatz
	tabellenplatz spielplatz bahnhof friedhof flughafen baumarkt arbeitsmarkt aktienmarkt hering frühling vorgang anfang
	zusammenhang anhang umhang vorhang kindergarten heimweg rückweg hinweg lösungsweg feedback speicherplatz marktplatz studienplatz
	ausbildungsplatz platzierung abhang vorrang speicherring ehering bauernhof innenhof gerichtshof finanzmarkt weltmarkt lieferweg
	arbeitsweg schulweg dienstweg radweg gehweg wasserstraße datenstraße fertigungsstraße handelsstraße haltering winterring rückgang`)

// notGermanAdjectives begin a sentence or count.
var notGermanAdjectives = wordSet(`Der Die Dieser Diese Jeder Jede Unser Unsere Seine Ihre Meine Deine Eine Einer Keine Welcher Welche
	Erster Zweiter Dritter Letzter Erste Zweite Dritte Letzte Nächste Zwischen Unter Hinter Über Neben Heute Wegen Gegen Ohne Alle Viele
	Beide Solche Andere Jedes Dieses Aber Oder Einen Ihren Seinen Ende Wenn Denn`)

// countedNouns are nouns that are counted or numbered: "Im Kapitel 7".
var countedNouns = wordSet(`kapitel abschnitt spieltag teil band satz punkt artikel jahr jahre bild schritt saal raum zimmer halle haus
	gleis tor level quartal woche tag monat runde gruppe klasse stufe phase version zeile spalte seite abbildung tabelle anhang anlage liga
	ende glück weg spitze brücke montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz april mai juni juli august
	september oktober november dezember beginn anfang schluss durchschnitt mittel schnitt vergleich fall alter terminal bahnsteig stand
	schalter platz absatz paragraph paragraf dezimalsystem nachtrag flug spiel test beispiel modul thread port kanal rang stock`)

// germanVerbs may follow a street in a sentence.
var germanVerbs = wordSet(`endet ist liegt war wird steht wurde gehört hat kostet und oder in bei geschah wohnt`)

// unitWords follow numbers that count something.
var unitWords = wordSet(`minuten minute stunden stunde tage tag wochen monate jahre jahr sekunden meter kilometer km m cm mm kg g euro eur
	usd dollar dollars prozent percent mal uhr punkte stück liter grad personen leute besucher stände läufer boote ersatzreifen
	minutes hours days weeks months years miles feet inches
	minutos minuto horas hora días semanas meses años kilómetros metros euros dólares veces personas puntos páginas`)

// spanishStreets are kinds of streets and their abbreviations.
var spanishStreets = wordSet(`calle c/ c. cl cl. avenida av av. avda avda. paseo pº plaza pza pza. plazuela carrera cra cra. camino ronda
	travesía carretera ctra ctra. cuesta pasaje urbanización urb. rambla glorieta bulevar boulevard blvd. calzada callejón jirón jr.
	transversal diagonal vía carrer polígono rúa alameda costanilla privada prolongación autopista malecón`)

// spanishParticles are the small words inside of names of streets.
var spanishParticles = wordSet("de del la las los el y san santa d' i parcela nave")
