import { parseSync } from "vite";

/** A visible text that is not in the catalogue. */
export type Literal = { line: number; text: string };

type Node = { type: string; start: number; [key: string]: unknown };

/** Words that are the same in every language: names of products, keys and standards. */
const names =
  /^(coffer|Mod|Ctrl|Esc|Enter|Alt|Shift|Arrow\w+|Control|Meta|Backspace|Delete|Tab|Home|End|Escape|Page(Up|Down)|Plaid|Teller|Anthropic|OpenAI|Ollama|Claude|Webhook|[\w-]+\.\w+|[A-Z]{1,4}\d*|[^\p{L}]*|\p{L})$/u;

/** Attributes without visible text: classes, shapes, addresses, kinds. */
const wordless =
  /^(class(Name)?|d|points|transform|viewBox|style|to|href|search|type|role|id|key|name|icon|kind|tone|rel|target|autoComplete|inputMode|method|action|form|htmlFor|aria-(live|controls|labelledby|describedby|current|haspopup|sort|activedescendant|orientation)|data-.*|[xy][12]?|width|height|fill|stroke\w*|dominantBaseline|textAnchor|pattern|accept|xmlns|on[A-Z]\w*)$/;

/** Attributes in which even a single word is visible text. */
const read =
  /^(aria-(label|description|roledescription|valuetext|placeholder)|title|placeholder|alt|label|what|hint|summary|empty|text|unit|head|heading|caption|note|action|verb|confirm|describe)$/;

/** Keys of objects under which even a single word is visible text. */
const keys = /^(label|title|hint|text|message|what|heading|head|caption|verb|done|undo|placeholder|empty|note|word)$/;

const macros = /^(t|msg|plural|select|selectOrdinal|defineMessage|useLingui)$/;
const elements = /^(Trans|Plural|Select|SelectOrdinal)$/;
const verbatim = /^(kbd|code|pre|style|script)$/;

/** Two words in a row, or one word that looks like a sentence or a label. */
const wordy = /\p{L}{2,}[,;:.!?’”)…]* [“(]?\p{L}{2,}|^[“(]?\p{Lu}\p{Ll}[\p{Ll}’]*(-\p{Ll}+)*[.!?:…]?$/u;
/** A piece of a template that looks like text: a word beside a space, or a word with a capital letter. */
const piece = /(^|[\s,;:(“–-]) ?\p{L}{2,}[,;:.!?)”]* | \p{L}{2,}[,;:.!?)”]*$|^\p{Lu}\p{Ll}+/u;
const letters = /\p{L}{2,}/u;

const isNode = (x: unknown): x is Node => typeof x === "object" && x !== null && "type" in x;

function nameOf(n: unknown): string {
  if (!isNode(n)) return "";
  if (n.type === "JSXNamespacedName") return `${nameOf(n.namespace)}:${nameOf(n.name)}`;
  if (typeof n.name === "string") return n.name;
  if (n.type === "Literal") return String(n.value);
  return "";
}

/** Finds the visible texts of a source file that are not in the catalogue. */
export function literals(file: string, code: string): Literal[] {
  const found: Literal[] = [];
  const say = (n: Node, text: string) => {
    const words = text.trim().replace(/\s+/g, " ");
    if (words.split(/\s+/).every((w) => names.test(w))) return;
    found.push({ line: code.slice(0, n.start).split("\n").length, text: words });
  };
  let inMessage = false;
  /** `single` is true where even a single word is visible text. */
  const walk = (x: unknown, single: boolean): unknown => {
    if (Array.isArray(x)) {
      for (const y of x) walk(y, single);
      return;
    }
    if (!isNode(x)) return;
    const children = (inside: boolean, ...skip: string[]) => {
      for (const [k, v] of Object.entries(x)) if (!skip.includes(k)) walk(v, inside);
    };
    switch (x.type) {
      case "ImportDeclaration":
      case "ExportAllDeclaration":
      case "ImportExpression":
      case "TSTypeAliasDeclaration":
      case "TSInterfaceDeclaration":
      case "TSTypeAnnotation":
      case "TSTypeParameterInstantiation":
        return;
      case "TSAsExpression":
      case "TSSatisfiesExpression":
        return walk(x.expression, single);
      case "JSXText":
        if (!inMessage && letters.test(String(x.value))) say(x, String(x.value));
        return;
      case "JSXElement": {
        const opening = x.openingElement as Node;
        const tag = nameOf(opening.name);
        if (!elements.test(tag)) walk(opening.attributes, false);
        if (verbatim.test(tag)) return;
        const before = inMessage;
        inMessage ||= elements.test(tag);
        for (const c of x.children as Node[]) walk(c, c.type === "JSXExpressionContainer"); // braces show their value
        inMessage = before;
        return;
      }
      case "JSXExpressionContainer":
        return walk(x.expression, single);
      case "JSXAttribute": {
        const name = nameOf(x.name);
        if (wordless.test(name) && !name.startsWith("on")) return;
        return walk(x.value, read.test(name));
      }
      case "TaggedTemplateExpression":
        if (macros.test(nameOf(x.tag))) return walk((x.quasi as Node).expressions, true);
        return children(false);
      case "CallExpression":
      case "NewExpression": {
        const callee = nameOf(x.callee);
        if (/^(TypeError|RangeError|RegExp|Intl|URL|CustomEvent|Event)$/.test(callee)) return;
        if (macros.test(callee)) {
          const [first, ...rest] = x.arguments as Node[];
          if (first?.type !== "ObjectExpression") walk(first, false);
          for (const r of rest) if (r.type !== "ObjectExpression") walk(r, true);
          return;
        }
        return children(false);
      }
      case "BinaryExpression":
        if (x.operator === "+") return children(single);
        if (["===", "!==", "==", "!=", "in"].includes(String(x.operator))) {
          for (const side of [x.left, x.right]) if (isNode(side) && side.type !== "Literal") walk(side, false);
          return;
        }
        return children(false);
      case "SwitchCase":
        return children(single, "test");
      case "ConditionalExpression":
        walk(x.test, false);
        walk(x.consequent, single);
        return walk(x.alternate, single);
      case "LogicalExpression":
        walk(x.left, x.operator === "&&" ? false : single);
        return walk(x.right, single);
      case "ParenthesizedExpression":
        return walk(x.expression, single);
      case "Property":
        if (x.computed) walk(x.key, false);
        if (wordless.test(nameOf(x.key)) && !/^(name|action)$/.test(nameOf(x.key))) {
          if ((x.value as Node).type !== "Literal" && (x.value as Node).type !== "TemplateLiteral")
            walk(x.value, false);
          return;
        }
        return walk(x.value, keys.test(nameOf(x.key)));
      case "MemberExpression":
        walk(x.object, false);
        if (x.computed && (x.property as Node).type !== "Literal") walk(x.property, false);
        return;
      case "Literal":
        if (typeof x.value === "string" && (single ? letters : wordy).test(x.value)) say(x, x.value);
        return;
      case "TemplateLiteral": {
        const quasis = (x.quasis as Node[]).map((q) => (q.value as { cooked: string }).cooked);
        const whole = quasis.join("{}");
        const rule = single ? letters : quasis.length > 1 ? piece : wordy;
        if (quasis.some((q) => rule.test(q)) || wordy.test(whole)) say(x, whole);
        return walk(x.expressions, single);
      }
      default:
        return children(false);
    }
  };
  walk(parseSync(file, code).program, false);
  return found;
}

const functions = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression|ClassBody)$/;

/** Finds messages that are translated while a file loads. At that time, its texts have not been loaded yet. */
export function tooEarly(file: string, code: string): Literal[] {
  const found: Literal[] = [];
  const walk = (x: unknown): void => {
    if (Array.isArray(x)) for (const y of x) walk(y);
    if (!isNode(x) || functions.test(x.type)) return;
    const name = nameOf(x.type === "TaggedTemplateExpression" ? x.tag : x.type === "CallExpression" ? x.callee : null);
    if (/^(t|plural|select|selectOrdinal)$/.test(name))
      found.push({ line: code.slice(0, x.start).split("\n").length, text: code.slice(x.start, x.start + 60) });
    else for (const v of Object.values(x)) walk(v);
  };
  walk(parseSync(file, code).program);
  return found;
}
