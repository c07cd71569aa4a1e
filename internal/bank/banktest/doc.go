// Package banktest is the conformance suite that every provider must pass with a simulator of its
// service. It must not know any provider or simulator.
//
// A provider's test starts a simulator, links one connection and runs the suite:
//
//	func TestConformance(t *testing.T) {
//		banktest.Run(t, func(t *testing.T) banktest.Subject {
//			sim := newSimulator(t) // speaks the protocol of the real service
//			p, err := example.New(example.Config{BaseURL: sim.URL, Token: "canary"})
//			if err != nil {
//				t.Fatal(err)
//			}
//			return banktest.Subject{
//				Provider: p, Credentials: sim.Link(), Bank: sim, Secrets: []string{"canary"},
//			}
//		})
//	}
//
// The simulator implements [Bank], through which the suite adds, changes and spoils rows and breaks
// calls. Each check gets a Subject of its own. Checks of optional interfaces, such as
// [bank.Revoker] and [bank.Webhooker], pass at once if the provider does not implement them.
package banktest
