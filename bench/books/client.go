package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"coffer/bench/measure"
)

const most = 1 << 20 // the most requests of one connection in one round; normally never reached

// load is a side that speaks HTTP. Each of its connections sends a request as soon as it has the
// response to the last one. It is leaner than net/http's client, whose CPU time the measured server
// would lack.
type load struct {
	process int
	clients []*client
	child   *measure.Child // set if the side has its own server
}

type client struct {
	conn net.Conn
	in   *bufio.Reader
	next func(n int) []byte
	n    int
	took []time.Duration
	body []byte
}

// connect opens the connections. next returns the nth request of a connection.
func connect(ctx context.Context, address string, process, connections int, next func(connection, n int) []byte) (*load,
	error,
) {
	l := &load{process: process}
	for i := range connections {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", address)
		if err != nil {
			l.close(ctx)
			return nil, fmt.Errorf("connect: %w", err)
		}
		l.clients = append(l.clients, &client{
			conn: conn, in: bufio.NewReaderSize(conn, 64<<10),
			next: func(n int) []byte { return next(i, n) },
		})
	}
	return l, nil
}

func (l *load) pid() int { return l.process }

func (l *load) close(context.Context) {
	for _, c := range l.clients {
		_ = c.conn.Close() // nothing uses it any more
	}
	if l.child != nil {
		l.child.Stop()
	}
}

func (l *load) round(_ context.Context, length time.Duration) ([]time.Duration, error) {
	var all sync.WaitGroup
	failures := make([]error, len(l.clients))
	end := time.Now().Add(length)
	for i, c := range l.clients {
		all.Go(func() { failures[i] = c.run(end) })
	}
	all.Wait()
	var took []time.Duration
	for _, c := range l.clients {
		took = append(took, c.took...)
	}
	return took, errors.Join(failures...)
}

func (c *client) run(end time.Time) error {
	c.took = c.took[:0]
	if err := c.conn.SetDeadline(end.Add(30 * time.Second)); err != nil {
		return err
	}
	at := time.Now()
	for range most {
		if !at.Before(end) {
			return nil
		}
		if err := c.exchange(c.next(c.n)); err != nil {
			return err
		}
		c.n++
		now := time.Now()
		c.took = append(c.took, now.Sub(at))
		at = now
	}
	return nil
}

// exchange sends a request and reads the whole response. A response other than 20x is an error,
// because fast refusals are not throughput.
func (c *client) exchange(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return fmt.Errorf("send: %w", err)
	}
	status, err := c.in.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	good, size := bytes.HasPrefix(status, []byte("HTTP/1.1 20")), -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if len(bytes.TrimSpace(line)) == 0 {
			break
		}
		if name, value, _ := strings.Cut(string(line), ":"); strings.EqualFold(name, "Content-Length") {
			if size, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return fmt.Errorf("the answer's Content-Length: %w", err)
			}
		}
	}
	if size < 0 {
		return errors.New("the answer has no Content-Length")
	}
	if cap(c.body) < size {
		c.body = make([]byte, size)
	}
	c.body = c.body[:size]
	if _, err := io.ReadFull(c.in, c.body); err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	if !good {
		return fmt.Errorf("the server answered: %.300s", c.body)
	}
	return nil
}

func get(address, path, key string) []byte { return measure.Get(address, path, key) }

func post(address, path, key, body string) []byte {
	return fmt.Appendf(nil,
		"POST %s HTTP/1.1\r\nHost: %s\r\nX-API-Key: %s\r\nContent-Type: application/json\r\nContent-Length: "+
			"%d\r\n\r\n%s", path, address, key, len(body), body)
}
