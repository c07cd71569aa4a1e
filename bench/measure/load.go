package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"
)

// A Load is a number of keep-alive connections, each of which sends the same request again as soon
// as it has the response to the last one. It does not use the client of net/http, which costs as
// much CPU time as a small server. On two cores, the measured server would lack that time.
type Load struct{ clients []*client }

type client struct {
	conn    net.Conn
	request []byte
	buffer  [16 << 10]byte
	answer  []byte // the last response, head and body, in buffer
	took    []time.Duration
	err     error
}

// Get returns the text of a GET request. If key is empty, the request has no header for it.
func Get(address, path, key string) []byte {
	text := "GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\n"
	if key != "" {
		text += "X-API-Key: " + key + "\r\n"
	}
	return []byte(text + "\r\n")
}

// Connect opens the connections.
func Connect(ctx context.Context, address string, request []byte, connections int) (*Load, error) {
	l := &Load{}
	for range connections {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			l.Close()
			return nil, fmt.Errorf("connect: %w", err)
		}
		l.clients = append(l.clients, &client{conn: conn, request: request})
	}
	return l, nil
}

// Close closes the connections.
func (l *Load) Close() {
	for _, c := range l.clients {
		_ = c.conn.Close() // nothing uses it any more
	}
}

// A Round is the result of one run of a load.
type Round struct {
	Requests int
	Took     time.Duration
	P50, P99 time.Duration
}

// Run sends requests until d has passed. No connection sends more requests than the number each. A
// response other than 200 fails the run, because fast refusals are not throughput.
func (l *Load) Run(d time.Duration, each int) (Round, error) {
	var all sync.WaitGroup
	start := time.Now()
	for _, c := range l.clients {
		all.Go(func() { c.err = c.run(start.Add(d), each) })
	}
	all.Wait()
	r := Round{Took: time.Since(start)}
	var took []time.Duration
	for _, c := range l.clients {
		if c.err != nil {
			return Round{}, c.err
		}
		took = append(took, c.took...)
	}
	slices.Sort(took)
	r.Requests, r.P50, r.P99 = len(took), Quantile(took, 0.50), Quantile(took, 0.99)
	return r, nil
}

// Answer returns the body of the last response on the first connection.
func (l *Load) Answer() []byte {
	_, body, _ := bytes.Cut(l.clients[0].answer, headEnd)
	return body
}

func (c *client) run(end time.Time, each int) error {
	c.took = c.took[:0]
	// One deadline for the whole round: setting one for each request would cost more than reading
	// its response.
	if err := c.conn.SetDeadline(end.Add(10 * time.Second)); err != nil {
		return err
	}
	at := time.Now()
	for n := 0; n < each && at.Before(end); n++ {
		if err := c.exchange(); err != nil {
			return err
		}
		now := time.Now()
		c.took = append(c.took, now.Sub(at))
		at = now
	}
	return nil
}

func (c *client) exchange() error {
	if _, err := c.conn.Write(c.request); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	for n := 0; n < len(c.buffer); {
		m, err := c.conn.Read(c.buffer[n:])
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		n += m
		c.answer = c.buffer[:n]
		if whole, err := complete(c.answer); whole || err != nil {
			return err
		}
	}
	return errors.New("the answer is longer than this client takes")
}

var (
	statusOK = []byte("HTTP/1.1 200 ")
	headEnd  = []byte("\r\n\r\n")
	length   = []byte("\r\nContent-Length: ")
)

// complete reports whether b contains a complete response. It understands only the HTTP that Go's
// own server writes.
func complete(b []byte) (bool, error) {
	head := bytes.Index(b, headEnd)
	if head < 0 {
		return false, nil
	}
	if !bytes.HasPrefix(b, statusOK) {
		return false, fmt.Errorf("the server answered: %.200s", b)
	}
	at := bytes.Index(b[:head+2], length)
	if at < 0 {
		return false, errors.New("the answer has no Content-Length")
	}
	digits, _, _ := bytes.Cut(b[at+len(length):head+2], headEnd[:2])
	body, err := strconv.Atoi(string(digits))
	if err != nil {
		return false, fmt.Errorf("the answer's Content-Length: %w", err)
	}
	total := head + len(headEnd) + body
	if len(b) > total {
		return false, errors.New("more came than was asked for")
	}
	return len(b) == total, nil
}
