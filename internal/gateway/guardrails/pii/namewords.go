package pii

// strongTitles and weakTitles precede names, with or without a full stop. Weak ones precede other words
// too.
var (
	strongTitles = wordSet(`mr mrs ms mx miss dr prof professor sir madam dame frau herr herrn fräulein doktor sr sra srta señor señora señorita don doña dra`)
	weakTitles   = wordSet(`captain judge rev reverend father sister brother senator president mayor colonel sergeant major lord lady aunt uncle
		richter richterin pfarrer bürgermeister kanzler tante onkel ing dipl lic abogado padre madre tía tío profesora juez`)
)

// nameParticles are between the words of a name.
var nameParticles = wordSet(`de la del las los van von der den dem zu zum vom y e da dos di du el al bin ibn ter ten af av`)

// cueKind is how a word introduces a name; a word may in several ways.
type cueKind uint8

const (
	nameLabel    cueKind = 1 << iota // with a colon: "Patient:"
	farewell                         // with a comma, at the end of a letter: "Regards,"
	introduction                     // directly: "heiße", "llamo"
	salutation                       // directly, a known name: "Dear", "I'm"
	agent                            // directly, a known name of two words: "by", "para"
	copula                           // after "name": "is"
	nameNoun                         // before "is": "name"
)

// nameCues are the words that introduce names, in lower case.
var nameCues = func() map[string]cueKind {
	m := make(map[string]cueKind)
	for kind, words := range map[cueKind]string{
		nameLabel: `name patient patientin paciente customer kunde kundin cliente client applicant antragsteller contact person ansprechpartner
	ansprechpartnerin contacto nombre fullname full_name surname lastname firstname vorname nachname apellido apellidos employee mitarbeiter
	mitarbeiterin empleado empleada month monats mes author autorin tenant mieter inquilino owner eigentümer user attendee teilnehmer
	passenger guest gast huésped signed from von`,
		farewell: `regards sincerely yours cheers thanks wishes grüßen grüße gruß saludo saludos atentamente cordialmente abrazo dear hello hi
	hallo hola defendant angeklagte angeklagter acusado acusada`,
		introduction: `heiße heisse llamo señor señora señorita doña mister`,
		salutation: `dear hi hello hey liebe lieber hallo geehrte geehrter querido querida estimado estimada hola i'm soy bin thanks danke gracias
			wife husband son daughter brother sister mother father friend colleague neighbour neighbor
			mann sohn tochter bruder schwester mutter vater freund freundin kollege kollegin nachbar nachbarin
			esposa marido hijo hija hermano hermana madre padre amigo amiga vecino vecina`,
		agent: `by with ask to for from according was names mit lassen sie laut für von nennt kollegin kollege war gestern an con a según para
	por nombra estaba compañera compañero ayer hire defendant yesterday angeklagte acusado`,
		copula:   `is ist es`,
		nameNoun: `name nombre`,
	} {
		for w := range wordSet(words) {
			m[w] |= kind
		}
	}
	return m
}()

// notNames are words that are not a part of a name although they follow one, or begin a sentence.
var notNames = wordSet(`inc ltd llc corp gmbh ag kg sa sl plc co company group holding bank university universität universidad college school schule
	institute institut hospital klinik street avenue road lane square platz straße strasse allee weg calle avenida paseo plaza camino city county
	river lake mountain beach island park hotel airport station bridge tower museum theatre theater stadium award prize cup day week month year
	monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december
	montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember
	lunes martes miércoles jueves viernes sábado domingo
	new north south east west northern southern eastern western central upper lower great united saint san santa sankt los las el la nueva nuevo
	the this that these those a an and or but if when where what who why how please yes no not i we you he she it they his her its our your their my
	der die das den dem des ein eine einer einem ich wir sie er es und oder aber wenn wer was wo wie warum bitte ja nein nicht mein dein sein ihr
	unser lo los un una unos unas y o pero si cuando donde qué quién cómo por para favor sí yo tú nosotros ellos mi tu su
	sir madam damen herren señores señoras everyone all team
	microsoft google apple amazon facebook meta openai anthropic mistral claude gemini azure python java javascript typescript react angular kubernetes
	docker linux windows android iphone watch series serie pro max mini plus ultra edition version model transit corolla
	service support center centre office department ministry council committee court congress parliament senate house government party
	language learning science engineering management marketing sales security network system software hardware database server
	project plan report budget contract section chapter article page figure table
	christmas easter weihnachten ostern navidad morning evening night morgen abend
	river ocean sea war peace nations union republic kingdom empire church cathedral`)
