import css from "./QR.module.css";

const quiet = 4;

/** A QR code, drawn from the server's rows of 0 and 1. */
export function QR({ rows, label }: { rows: string; label: string }) {
  const lines = rows.split("\n");
  const size = lines.length + 2 * quiet;
  const path = lines
    .flatMap((line, y) =>
      [...line.matchAll(/1+/g)].map((m) => `M${m.index + quiet} ${y + quiet}h${m[0].length}v1h-${m[0].length}z`),
    )
    .join("");
  return (
    <svg className={css.code} viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <path d={path} />
    </svg>
  );
}
