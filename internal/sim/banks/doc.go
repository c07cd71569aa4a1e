// Package banks simulates Plaid, Teller, SimpleFIN and Enable Banking as loopback servers that
// follow their protocols faithfully, for tests and the demo. It must not know the clients that it
// checks, nor share code with them: it is written from the providers' side.
//
// Package household provides the data; the same seed gives the same data. A test can bypass the
// protocol: it adds, changes, posts and removes rows, breaks logins, scripts faults, and reads the
// bank's current data.
package banks
