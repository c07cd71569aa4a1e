package analytics

import (
	"cmp"
	"slices"

	"coffer/internal/platform/id"
	"coffer/internal/platform/money"
	"coffer/internal/platform/text"
)

// The kinds of nodes, in the order in which money flows.
const (
	nodeIncome   = "income"
	nodeDrawn    = "drawn"
	nodeAccount  = "account"
	nodeCategory = "category"
	nodeSaved    = "saved"
)

var nodeOrder = []string{nodeIncome, nodeDrawn, nodeAccount, nodeCategory, nodeSaved}

// A flow is the money of one currency as it goes from node to node.
type flow struct {
	nodes map[string]*CashflowNode
	links map[[2]string]money.Total
	err   error // the first sum that was out of range
}

// A flowUnit is the net amount of one primary category in one account, or in all accounts.
type flowUnit struct {
	category *flowCategory // nil for money without a category
	account  *CashflowNode
	net      money.Total
	parts    []CashflowPart // in the direction of money in
}

// flowOf builds the flow of one currency's groups. Money in and money out without a category stay
// separate, because nothing says that they belong together.
func flowOf(groups []Group, categories map[id.ID]flowCategory, sums func(Group) SummarySums) (*flow, error) {
	f := &flow{nodes: map[string]*CashflowNode{}, links: map[[2]string]money.Total{}}
	type key struct {
		account string
		primary id.ID
	}
	index := map[key]int{}
	var units []flowUnit
	for _, g := range groups {
		s, account := sums(g), accountNode(g)
		ref := g.IDs["category"]
		if ref == nil {
			units = append(units, flowUnit{account: account, net: s.MoneyIn},
				flowUnit{account: account, net: s.MoneyOut.Neg()})
			continue
		}
		c := categories[*ref]
		k := key{account.ID, c.PrimaryID}
		i, ok := index[k]
		if !ok {
			i = len(units)
			index[k], units = i, append(units, flowUnit{category: &c, account: account})
		}
		units[i].net = f.sum(units[i].net, s.Net)
		if !s.Net.IsZero() {
			units[i].parts = append(units[i].parts, CashflowPart{c.Slug, c.Name, s.Net})
		}
	}
	for _, u := range units {
		f.add(u)
	}
	f.settle()
	return f, f.err
}

// accountNode returns the node of a group's account.
func accountNode(g Group) *CashflowNode {
	account := g.IDs["account"]
	if account == nil {
		return &CashflowNode{ID: "all", Kind: nodeAccount, Name: "All accounts"}
	}
	return &CashflowNode{
		ID: account.String(), Kind: nodeAccount, Name: *g.Keys["account"],
		AccountID: account,
	}
}

// add records a unit's net amount as flowing into or out of its account.
func (f *flow) add(u flowUnit) {
	if u.net.IsZero() {
		return
	}
	in := !u.net.IsNeg()
	n := CashflowNode{Kind: nodeCategory, Name: "Uncategorized"}
	if in {
		n.Kind = nodeIncome
	}
	n.ID = "uncategorized:" + n.Kind
	if c := u.category; c != nil {
		n.ID, n.Category, n.Name = n.Kind+":"+c.PrimarySlug, &c.PrimarySlug, text.Name(c.PrimaryName)
		n.Reversed = (c.Kind == nodeIncome) != in
	}
	amount, account := u.net, f.node(*u.account)
	node := f.node(n)
	if in {
		f.flows(node, account, amount)
	} else {
		amount = amount.Neg()
		f.flows(account, node, amount)
	}
	node.Amount = f.sum(node.Amount, amount)
	for _, p := range u.parts {
		if !in {
			p.Amount = p.Amount.Neg()
		}
		i := slices.IndexFunc(node.Parts, func(have CashflowPart) bool { return have.Category == p.Category })
		if i < 0 {
			node.Parts = append(node.Parts, p)
			continue
		}
		node.Parts[i].Amount = f.sum(node.Parts[i].Amount, p.Amount)
	}
}

// settle balances every account. An excess of money in flows to the node "Saved", and an excess of
// money out comes from the node "Drawn".
func (f *flow) settle() {
	in, out := map[string]money.Total{}, map[string]money.Total{}
	for link, amount := range f.links {
		out[link[0]], in[link[1]] = f.sum(out[link[0]], amount), f.sum(in[link[1]], amount)
	}
	for key, n := range f.nodes {
		if n.Kind != nodeAccount {
			continue
		}
		net := f.sum(in[key], out[key].Neg())
		if n.Amount = in[key]; net.IsNeg() {
			n.Amount = out[key]
		}
		switch {
		case net.IsNeg():
			drawn := f.node(CashflowNode{ID: nodeDrawn, Kind: nodeDrawn, Name: "Drawn"})
			drawn.Amount = f.sum(drawn.Amount, net.Neg())
			f.flows(drawn, n, net.Neg())
		case !net.IsZero():
			saved := f.node(CashflowNode{ID: nodeSaved, Kind: nodeSaved, Name: "Saved"})
			saved.Amount = f.sum(saved.Amount, net)
			f.flows(n, saved, net)
		}
	}
}

// node returns the node with the id of n, and adds n if there is none.
func (f *flow) node(n CashflowNode) *CashflowNode {
	if f.nodes[n.ID] == nil {
		f.nodes[n.ID] = &n
	}
	return f.nodes[n.ID]
}

func (f *flow) flows(from, to *CashflowNode, amount money.Total) {
	key := [2]string{from.ID, to.ID}
	f.links[key] = f.sum(f.links[key], amount)
}

func (f *flow) sum(a, b money.Total) money.Total {
	s, err := a.Add(b)
	if err != nil && f.err == nil {
		f.err = err
	}
	return s
}

// beside adds to each node the amount that it had in an earlier flow. A node that only the earlier
// flow has is added with the amount zero.
func (f *flow) beside(old *flow) {
	for key, n := range f.nodes {
		n.Previous = new(money.Total)
		if before := old.nodes[key]; before != nil {
			*n.Previous = before.Amount
		}
	}
	for key, before := range old.nodes {
		if f.nodes[key] == nil {
			gone := *before
			gone.Amount, gone.Previous, gone.Parts = money.Total{}, &before.Amount, nil
			f.nodes[key] = &gone
		}
	}
}

// list returns the nodes in the order of the flow, the largest first, and the links in the order of
// their nodes.
func (f *flow) list() (nodes []CashflowNode, links []CashflowLink) {
	nodes, links = []CashflowNode{}, []CashflowLink{}
	for _, n := range f.nodes {
		if len(n.Parts) == 1 && n.Category != nil && n.Parts[0].Category == *n.Category {
			n.Parts = nil // the only part would repeat the node
		}
		slices.SortFunc(n.Parts, func(a, b CashflowPart) int {
			return cmp.Or(b.Amount.Cmp(a.Amount), cmp.Compare(a.Category, b.Category))
		})
		nodes = append(nodes, *n)
	}
	slices.SortFunc(nodes, func(a, b CashflowNode) int {
		return cmp.Or(slices.Index(nodeOrder, a.Kind)-slices.Index(nodeOrder, b.Kind), b.Amount.Cmp(a.Amount),
			cmp.Compare(a.ID, b.ID))
	})
	place := map[string]int{}
	for i, n := range nodes {
		place[n.ID] = i
	}
	for key, amount := range f.links {
		links = append(links, CashflowLink{key[0], key[1], amount})
	}
	slices.SortFunc(links, func(a, b CashflowLink) int {
		return cmp.Or(place[a.Source]-place[b.Source], place[a.Target]-place[b.Target])
	})
	return nodes, links
}
