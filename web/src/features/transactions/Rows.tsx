import type { Row } from "#/api/transactions";
import type { Look } from "#/lib/tones";
import { Line, MonthLine, SkeletonLine } from "./Line";
import css from "./List.module.css";
import { monthAt, type Timeline } from "./timeline";
import { block, type useWindow } from "./useWindow";

type Props = {
  line: Timeline;
  view: ReturnType<typeof useWindow>;
  row: (index: number) => Row | undefined;
  look: (slug: string | null) => Look;
  current: number;
  isOpen: (r: Row) => boolean;
  isChosen: (id: string) => boolean;
  writes: boolean;
  address: string;
  onChoose: (index: number, upTo: boolean) => void;
  onFile: (at: Element, index: number, row: Row) => void;
  onOpen: (id: string) => void;
};

/** The rows in view. Only blocks of rows are positioned; the rows in a block follow each other in the normal flow. */
export function Rows({ line, view, row, ...p }: Props) {
  const place = (i: number) => {
    const month = monthAt(line, i);
    if (month?.start === i) return <MonthLine key={i} month={month} />;
    const r = row(i);
    if (!r) return <SkeletonLine key={i} />;
    return (
      <Line
        key={i}
        row={r}
        index={i}
        look={p.look(r.category)}
        newDay={row(i - 1)?.date !== r.date}
        current={i === p.current}
        open={p.isOpen(r)}
        chosen={p.isChosen(r.id)}
        writes={p.writes}
        onChoose={p.onChoose}
        onFile={p.onFile}
        address={p.address}
        onOpen={p.onOpen}
      />
    );
  };
  const [from, to] = view.drawn;
  const blocks = Array.from({ length: Math.ceil((to - from) / block) }, (_, b) => from + b * block);
  return blocks.map((start) => (
    <div key={start} className={css.block} style={{ top: view.top(start) }} role="rowgroup">
      {Array.from({ length: Math.min(block, to - start) }, (_, i) => place(start + i))}
    </div>
  ));
}
