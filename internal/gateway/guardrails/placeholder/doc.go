// Package placeholder replaces sensitive values by placeholders such as [EMAIL_ADDRESS_7f3a9c] and
// restores them in responses. A Vault contains the values of one caller in one conversation; a Store
// seals vaults for later turns. Start with Vault.Hide and Vault.Restore; Stream restores streams.
package placeholder
