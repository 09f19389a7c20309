package pii

// Categories of personal data, as guardrails name them. Source of the first seven: contract/dataplane.md
// 5.7.
const (
	EmailAddress    = "EMAIL_ADDRESS"
	PhoneNumber     = "PHONE_NUMBER"
	LocationAddress = "LOCATION_ADDRESS"
	Name            = "NAME"
	IPAddress       = "IP_ADDRESS"
	CreditCard      = "CREDIT_CARD"
	SSN             = "SSN" // of the United States
	IBAN            = "IBAN_CODE"
	NationalID      = "NATIONAL_ID" // of other countries
)

// category is a category as a bit of a set.
type category uint16

const (
	email category = 1 << iota
	phone
	address
	name
	ip
	card
	ssn
	iban
	nationalID
)

// categories lists all of them in the order in which results show them.
var categories = [...]struct {
	bit  category
	name string
}{
	{email, EmailAddress}, {phone, PhoneNumber}, {address, LocationAddress}, {name, Name}, {ip, IPAddress},
	{card, CreditCard}, {ssn, SSN}, {iban, IBAN}, {nationalID, NationalID},
}

// categoryNames returns the names of all categories.
func categoryNames() []string {
	names := make([]string, len(categories))
	for i := range categories {
		names[i] = categories[i].name
	}
	return names
}

// newSet returns the set of the named categories. Unknown names are left out.
func newSet(names []string) category {
	var set category
	for _, n := range names {
		for i := range categories {
			if categories[i].name == n {
				set |= categories[i].bit
			}
		}
	}
	return set
}

// names returns the names of the categories in a set.
func (c category) names() []string {
	var names []string
	for i := range categories {
		if c&categories[i].bit != 0 {
			names = append(names, categories[i].name)
		}
	}
	return names
}

// String returns the name of a single category.
func (c category) String() string {
	for i := range categories {
		if categories[i].bit == c {
			return categories[i].name
		}
	}
	return ""
}
