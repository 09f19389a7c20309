package secrets

import "hash/crc32"

const (
	base62           = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	gitHubPrefixSize = 4
	gitHubCheckSize  = 6
)

// isGitHubToken reports whether the last six characters are the CRC-32 of the random part in base 62.
// Source: https://github.blog/2021-04-05-behind-githubs-new-authentication-token-formats/
func isGitHubToken(token string) bool {
	body := token[gitHubPrefixSize:]
	random, check := body[:len(body)-gitHubCheckSize], body[len(body)-gitHubCheckSize:]
	sum := crc32.ChecksumIEEE([]byte(random))
	for i := gitHubCheckSize - 1; i >= 0; i-- {
		if check[i] != base62[sum%62] {
			return false
		}
		sum /= 62
	}
	return true
}

// isBase32Key reports whether a key id of Amazon is in base 32 after its prefix.
func isBase32Key(id string) bool {
	for i := 4; i < len(id); i++ {
		if id[i] == '0' || id[i] == '1' || id[i] == '8' || id[i] == '9' {
			return false
		}
	}
	return true
}
