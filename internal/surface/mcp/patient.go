package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// farewell limits how long requests are still answered after the end of the input.
const farewell = 30 * time.Second

// A patient transport is standard input and output for callers that send everything at once, as
// `printf … | coffer mcp` does. Without it, the SDK drops running requests when the input ends, and
// refuses messages that arrive before it has answered an initialize request.
type patient struct{ mcp.Transport }

func (p patient) Connect(ctx context.Context) (mcp.Connection, error) {
	c, err := p.Transport.Connect(ctx)
	return &patientConn{Connection: c, open: map[jsonrpc.ID]string{}, answered: make(chan struct{}, 1)}, err
}

type patientConn struct {
	mcp.Connection
	mu       sync.Mutex
	open     map[jsonrpc.ID]string // methods of the requests that have no response yet
	answered chan struct{}         // signals that a request was answered
}

// Read returns the next message. It waits until an initialize request has been answered, and
// returns the end of the input only after all requests have been answered.
func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	c.wait(ctx, "initialize")
	msg, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.wait(ctx, "")
	}
	if req, ok := msg.(*jsonrpc.Request); ok && err == nil {
		c.note(req)
	}
	return msg, err
}

// Write sends a message.
func (c *patientConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	err := c.Connection.Write(ctx, msg)
	if res, ok := msg.(*jsonrpc.Response); ok {
		c.close(res.ID)
	}
	return err
}

// note records a request that must be answered, and removes a request that its caller cancels.
func (c *patientConn) note(req *jsonrpc.Request) {
	var cancelled struct {
		ID any `json:"requestId"`
	}
	switch {
	case req.ID.IsValid():
		c.mu.Lock()
		defer c.mu.Unlock()
		c.open[req.ID] = req.Method
	case req.Method == "notifications/cancelled" && json.Unmarshal(req.Params, &cancelled) == nil:
		if id, err := jsonrpc.MakeID(cancelled.ID); err == nil {
			c.close(id)
		}
	}
}

func (c *patientConn) close(id jsonrpc.ID) {
	c.mu.Lock()
	delete(c.open, id)
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default: // a signal is waiting already
	}
}

// wait returns when no request of that method is open; "" means any method.
func (c *patientConn) wait(ctx context.Context, method string) {
	enough := time.NewTimer(farewell)
	defer enough.Stop()
	for c.waits(method) {
		select {
		case <-c.answered:
		case <-enough.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (c *patientConn) waits(method string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.open {
		if method == "" || m == method {
			return true
		}
	}
	return false
}
