package app

import (
	"strings"
	"testing"
)

// TestHomeAddress: a container does not have the home network's address. The server in it listens
// on all addresses, and shows the address that phones can reach.
func TestHomeAddress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, setting, at, listen, fault string }{
		{flag: "192.168.1.20", at: "192.168.1.20", listen: "192.168.1.20"},
		{setting: "192.0.2.7", fault: "COFFER_LAN_ADDRESS must be a private address"},
		{flag: "box", fault: "--lan-address must be a private address"},
		{setting: "10.255.254.253", at: "10.255.254.253", listen: ""},
		{setting: "127.0.0.1", at: "127.0.0.1", listen: "127.0.0.1"}, // this machine has the address
		{flag: "192.168.1.20", setting: "10.255.254.253", at: "192.168.1.20", listen: "192.168.1.20"},
	} {
		config := Config{LANAddress: c.setting}
		at, listen, err := config.homeAddress(c.flag)
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%+v: %v", c, err)
			}
			continue
		}
		if err != nil || at.String() != c.at || listen != c.listen {
			t.Errorf("%+v: %s, %q, %v", c, at, listen, err)
		}
	}
}
