package app

import (
	"net"
	"os"
)

// tellSystemd reports the service's state to systemd, in the format of sd_notify(3). Without
// systemd, or with a unit that does not ask for it, tellSystemd does nothing.
func tellSystemd(state string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return // the service runs anyway
	}
	defer conn.Close() //nolint:errcheck // a datagram is out
	_, _ = conn.Write([]byte(state))
}

// The states that the service reports.
const (
	nowReady    = "READY=1"
	nowStopping = "STOPPING=1"
	// stillMigrating asks for another ten minutes before systemd gives up.
	stillMigrating = "EXTEND_TIMEOUT_USEC=600000000\nSTATUS=migrating the database"
)
