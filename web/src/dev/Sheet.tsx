import { type ReactNode, useState } from "react";
import { Months } from "#/charts/Months";
import { Pace } from "#/charts/Pace";
import { Sankey } from "#/charts/Sankey";
import { shift } from "#/lib/dates";
import { compact, money, rounded } from "#/lib/money";
import { theme } from "#/lib/persisted";
import type { Tone } from "#/lib/tones";
import { Fault } from "#/parts/Fault";
import { Amount, Figure, Sum } from "#/ui/Amount";
import { AuthorBadge } from "#/ui/AuthorBadge";
import { Button, Segments } from "#/ui/Button";
import { Card, Empty, Skeleton } from "#/ui/Card";
import { Badge, Chip, type Mood, Tag, Tile } from "#/ui/Chip";
import { Dialog, DialogBody, DialogFoot } from "#/ui/Dialog";
import { Field, Search } from "#/ui/Field";
import { Area, Check, Note, Progress, Select } from "#/ui/Form";
import { type IconName, icons } from "#/ui/icons";
import { Item, Lines, Table } from "#/ui/Lines";
import { Facts } from "#/ui/Page";
import { PickerButton, Toggle } from "#/ui/Picker";
import { Toasts } from "#/ui/Toasts";
import { toasts } from "#/ui/toasts";
import css from "./Sheet.module.css";

const tones = Array.from({ length: 13 }, (_, i) => i as Tone);
const moods: Mood[] = ["plain", "pending", "held", "warn", "bad", "in", "act"];
const long = "Vermieter Grundstücksgesellschaft Lindenhof mit beschränkter Haftung";
const say = (c: bigint) => money(c, "EUR");

/** Shows every component in every state, for developers of screens. It is not part of a release. */
export function Sheet() {
  const [open, setOpen] = useState(false);
  const [on, setOn] = useState(true);
  const [picked, pick] = useState<string>();
  const look = theme.use();
  return (
    <main className={css.sheet}>
      <h1>Components</h1>
      <Segments
        label="Theme"
        value={look}
        options={[
          ["system", "System"],
          ["light", "Light"],
          ["dark", "Dark"],
        ]}
        onChange={theme.set}
      />
      <Part name="Buttons">
        <Button kind="filled" icon="check" keyed="A">
          Approve all 31
        </Button>
        <Button icon="undo">Undo</Button>
        <Button kind="quiet">Keep</Button>
        <Button kind="fault">Remove</Button>
        <Button disabled>Unavailable</Button>
        <Button kind="quiet" icon="x" aria-label="Close" />
      </Part>
      <Part name="Forms, notes, progress">
        <Select
          label="Role"
          options={[
            ["member", "Member"],
            ["viewer", "Viewer"],
          ]}
          hint="Sets their permissions"
        />
        <Area label="Comment" />
        <Check label="Ask again" hint="Next time" defaultChecked />
        <Progress label="Import" done={3} of={7} />
        <Progress label="Sync" done={0} />
        {(["info", "warn", "bad", "good"] as const).map((m) => (
          <Note key={m} mood={m}>
            {long}
          </Note>
        ))}
      </Part>
      <Part name="Lists and tables">
        <Lines label="Accounts">
          <Item name={long} hint="Last synced Monday" end={<Sum value={1_234_56n} currency="EUR" />} />
          <Item name="Cash" end={<Button>Open</Button>} />
        </Lines>
        <Table
          label="Sums"
          heads={["Month", "Money out"]}
          num={[1]}
          rows={[{ key: "a", cells: ["June", say(1_00n)] }]}
        />
        <Facts
          facts={[
            ["Created", "Monday"],
            ["Owner", long],
          ]}
        />
      </Part>
      <Part name="Chips, tiles, seals, badges">
        {(["bank", "rule", "agent", "person"] as const).map((kind) => (
          <Chip
            key={kind}
            name={kind}
            author={{ kind, name: kind === "person" ? "Maja" : undefined }}
            held={kind === "person"}
          />
        ))}
        <Chip name={null} />
        <Chip name="Shopping" tone={6} old />
        <Chip name={long} tone={3} />
        {tones.map((t) => (
          <Tile key={t} tone={t} icon="cart" large />
        ))}
        <AuthorBadge author={{ kind: "person" }} large />
        {moods.map((m) => (
          <Badge key={m} mood={m}>
            {m}
          </Badge>
        ))}
        <Tag slug="reimbursable" />
      </Part>
      <Part name="Amounts">
        <Figure value={258893n} currency="EUR" size="large" />
        <Figure value={-120400n} currency="SEK" size="middle" />
        <Figure value={5000n} currency="JPY" size="small" />
        <Amount value={24890n} currency="EUR" />
        <Amount value={-5995n} currency="EUR" />
        <Amount value={980n} currency="EUR" quiet />
        <Sum value={-14832217n} currency="EUR" />
      </Part>
      <Part name="Fields and filters">
        <Search label="Search names" keyed="/" />
        <Field label="Name" hint="As others see it" />
        <Field label="Password" type="password" fault="Enter your password." />
        <Toggle on={on} onChange={setOn}>
          Money in
        </Toggle>
        <PickerButton
          label="Category"
          choices={tones.map((t) => ({ value: String(t), label: `Color ${t}`, look: { tone: t, icon: "cart" } }))}
          value={picked}
          onPick={(c) => pick(c.value)}
          onClear={() => pick(undefined)}
        >
          Category
        </PickerButton>
      </Part>
      <Part name="Dialogs and toasts">
        <Button onClick={() => setOpen(true)}>Open dialog</Button>
        <Button onClick={() => toasts.say({ text: "12 transactions categorized as Groceries", undo: () => {} })}>
          Show toast
        </Button>
        <Button
          onClick={() =>
            toasts.say({ text: "Can’t reach the server. Nothing was changed.", bad: true, note: "Request ID 4f2a" })
          }
        >
          Show error
        </Button>
      </Part>
      <Dialog open={open} onClose={() => setOpen(false)} title="Undo 31 changes?" hint="3 won’t change: locked">
        <DialogBody>This restores the values from this morning.</DialogBody>
        <DialogFoot>
          <Button kind="quiet" onClick={() => setOpen(false)}>
            Cancel
          </Button>
          <Button kind="filled" onClick={() => setOpen(false)}>
            Undo 31
          </Button>
        </DialogFoot>
      </Dialog>
      <div className={css.cards}>
        <Card title="Loading">
          <Skeleton rows={3} />
        </Card>
        <Card title="Empty">
          <Empty title="Nothing to review" action={<Button>View all</Button>}>
            New transactions appear here after the next sync.
          </Empty>
        </Card>
        <Card title="Error">
          <Fault error={new Error("gone")} what="the list" retry={() => {}} />
        </Card>
        <Card title="A card" aside="beside" foot="Below">
          Inside
        </Card>
      </div>
      <Card title="Charts">
        <Pace
          now={{ name: "November", sums: Array.from({ length: 15 }, (_, i) => BigInt(i * 17000)) }}
          before={{ name: "October", sums: Array.from({ length: 31 }, (_, i) => BigInt(i * 14000)) }}
          days={30}
          say={say}
          axis={(c) => compact(c, "EUR")}
        />
        <Months
          months={Array.from({ length: 13 }, (_, i) => ({
            month: shift("2026-11", i - 12),
            in: 500000n,
            out: BigInt(400000 + i * 20000),
          }))}
          chosen="2026-11"
          onChoose={() => {}}
          say={say}
          axis={(c) => compact(c, "EUR")}
        />
        <Sankey
          flow={{
            spots: [
              { id: "pay", name: "Salary", amount: 342000n, side: "in" },
              { id: "all", name: "All accounts", amount: 342000n, side: "mid" },
              { id: "rent", name: "Rent", amount: 148000n, tone: 7, side: "out" },
              { id: "saved", name: "Saved", amount: 194000n, side: "out" },
            ],
            ribbons: [
              { source: "pay", target: "all", amount: 342000n },
              { source: "all", target: "rent", amount: 148000n },
              { source: "all", target: "saved", amount: 194000n },
            ],
          }}
          hub="Money in €3,420"
          say={say}
          brief={(c) => rounded(c, "EUR")}
          way={() => undefined}
        />
      </Card>
      <Part name="Icons">
        {(Object.keys(icons) as IconName[]).map((n) => (
          <Button key={n} kind="quiet" icon={n} aria-label={n} title={n} />
        ))}
      </Part>
      <Toasts />
    </main>
  );
}

const Part = ({ name, children }: { name: string; children: ReactNode }) => (
  <section className={css.part}>
    <h2>{name}</h2>
    <div>{children}</div>
  </section>
);
