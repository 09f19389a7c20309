package grants

// IntegrationReceipt is the response to the creation of an integration, and to changes of what
// belongs to one.
type IntegrationReceipt struct {
	ID   string `json:"id" format:"uuid"`
	Slug string `json:"slug"`
}
