import {isBuiltin} from 'node:module';
import type {AnyNode} from 'acorn';

/** What a script does as it is loaded. */
export interface ModuleImports {
  /** Whether it is a module. If not, `imports` are those of `require`. */
  readonly isModule: boolean;
  /** What it imports, or requires whatever the circumstances. */
  readonly imports: readonly string[];
  /** Whether it exports something as default. All of CommonJS does. */
  readonly hasDefault: boolean;
}

/** Code in these runs later, or only where there is a `require`. */
const guards = /^(?:If|Try|For|While|DoWhile|Switch|With|Conditional|Logical|Class)|Function/;

/** A call that may load something, or serve. */
const loads = /\brequire\b|\bawait\s+import\b|\b(?:Bun|Deno)\.serve\b|\bgetBuiltinModule\b/;

/** What a script imports as it is loaded. Parsed, because texts and comments may look like imports. */
export async function importsOf(source: string): Promise<ModuleImports> {
  const {init, parse} = await import('es-module-lexer');
  await init;
  try {
    const [imports, exports, , isModule] = parse(source);
    const names = imports.flatMap(({n, d}) => (n !== undefined && d === -1 ? [n] : []));
    const called = await requiredFrom(source, isModule);
    if (isModule) return {isModule, imports: [...names, ...called], hasDefault: exports.some(({n}) => n === 'default')};
  } catch {
    // A syntax that the lexer does not know.
  }
  return {isModule: false, imports: await requiredFrom(source, false), hasDefault: true};
}

async function requiredFrom(source: string, isModule: boolean): Promise<readonly string[]> {
  if (!loads.test(source)) return [];
  const {parse} = await import('acorn');
  const sourceType = isModule ? 'module' : 'script';
  try {
    const options = {ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true, sourceType} as const;
    return [...requiredIn(parse(source, {...options, allowAwaitOutsideFunction: true}))];
  } catch {
    // No JavaScript.
    return [];
  }
}

/**
 * The names in calls of `require` that run when a node does, and the packages that webpack leaves outside: functions
 * that are only called later have them, `e.exports = require("express")`.
 */
function* requiredIn(node: unknown, isLater = false, isCalled = false): Generator<string> {
  if (Array.isArray(node)) {
    for (const item of node) yield* requiredIn(item, isLater);
  } else if (isNode(node)) {
    // A bundler may hand a function a `require` of its own.
    if ('params' in node && node.params.some((one) => one.type === 'Identifier' && one.name === 'require')) return;
    const name = requiredBy(node);
    if (name !== undefined && !isLater) yield name;
    if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression' && isLater) {
      const {property} = node.left;
      const outside = requiredBy(node.right);
      if (property.type === 'Identifier' && property.name === 'exports' && outside && !isBuiltin(outside))
        yield outside;
    }
    // A function that is called where it is written runs at once.
    const isGuard = guards.test(node.type) && !(isCalled && node.type.includes('Function'));
    const callee = node.type === 'CallExpression' ? node.callee : undefined;
    for (const part of Object.values(node)) yield* requiredIn(part, isLater || isGuard, part === callee);
  }
}

/** What a call, or a wait for an import, asks for: a module, or the server of Bun or Deno. */
function requiredBy(node: AnyNode): string | undefined {
  if (node.type === 'AwaitExpression' && node.argument.type === 'ImportExpression') return textOf(node.argument.source);
  if (node.type !== 'CallExpression') return undefined;
  const {callee, arguments: values} = node;
  const called = callee.type === 'MemberExpression' ? [callee.object, callee.property] : [callee];
  const name = called.map((part) => (part.type === 'Identifier' ? part.name : '')).join('.');
  if (name === 'Bun.serve' || name === 'Deno.serve') return name === 'Bun.serve' ? 'bun' : 'deno';
  return name === 'require' || name === 'process.getBuiltinModule' ? textOf(values[0]) : undefined;
}

/** A text in quotes, or in backticks, which some minifiers prefer. */
function textOf(node: AnyNode | undefined): string | undefined {
  if (node?.type === 'Literal') return typeof node.value === 'string' ? node.value : undefined;
  return node?.type === 'TemplateLiteral' && node.quasis.length === 1
    ? (node.quasis[0]?.value.cooked ?? undefined)
    : undefined;
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value;
}
