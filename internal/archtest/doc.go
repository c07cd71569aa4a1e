// Package archtest checks the rules of the house as a test: which packages may import which, which
// may write which table, how large things may grow, which words are banned. It must not know what
// any package does; it reads source and the migrated schema, and never runs the service.
//
// Each rule is a function from parsed source to findings. TestHouse runs it over the repository and
// wants none. TestControls runs it over testdata/<rule>.txt, small source that breaks the rule in
// every known way, and wants exactly the violations that the file begins with. A rule without a
// control does not pass.
//
// An intended breach gets a line in exceptions with its reason, under the key that the finding
// prints in brackets. A line that excuses nothing fails as well, so the list stays true.
package archtest
