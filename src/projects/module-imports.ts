import {isBuiltin} from 'node:module';
import type {AnyNode, CallExpression} from 'acorn';

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

/** What a script imports as it is loaded. Parsed, because texts and comments may look like imports. */
export async function importsOf(source: string): Promise<ModuleImports> {
  const {init, parse} = await import('es-module-lexer');
  await init;
  try {
    const [imports, exports, , isModule] = parse(source);
    // What is imported when it is needed may never be.
    const names = imports.flatMap(({n, d}) => (n !== undefined && d === -1 ? [n] : []));
    if (isModule) return {isModule, imports: names, hasDefault: exports.some(({n}) => n === 'default')};
  } catch {
    // A syntax that the lexer does not know.
  }
  return {isModule: false, imports: source.includes('require') ? await requiredFrom(source) : [], hasDefault: true};
}

async function requiredFrom(source: string): Promise<readonly string[]> {
  const {parse} = await import('acorn');
  try {
    const options = {ecmaVersion: 'latest', allowHashBang: true, allowReturnOutsideFunction: true} as const;
    return [...requiredIn(parse(source, options))];
  } catch {
    // No JavaScript.
    return [];
  }
}

/**
 * The names in the calls of `require` that run when a node of a syntax tree does, and the packages that webpack leaves
 * outside: functions that are only called later have them, `e.exports = require("express")`.
 */
function* requiredIn(node: unknown, isLater = false, isCalled = false): Generator<string> {
  if (Array.isArray(node)) {
    for (const item of node) yield* requiredIn(item, isLater);
  } else if (isNode(node)) {
    // A bundler may hand a function a `require` of its own.
    if ('params' in node && node.params.some((one) => one.type === 'Identifier' && one.name === 'require')) return;
    const name = node.type === 'CallExpression' ? requiredBy(node) : undefined;
    if (name !== undefined && !isLater) yield name;
    if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression' && isLater) {
      const {property} = node.left;
      const outside = node.right.type === 'CallExpression' ? requiredBy(node.right) : undefined;
      if (property.type === 'Identifier' && property.name === 'exports' && outside && !isBuiltin(outside))
        yield outside;
    }
    // A function that is called where it is written runs at once.
    const isGuard = guards.test(node.type) && !(isCalled && node.type.includes('Function'));
    const callee = node.type === 'CallExpression' ? node.callee : undefined;
    for (const part of Object.values(node)) yield* requiredIn(part, isLater || isGuard, part === callee);
  }
}

/** What a call requires. */
function requiredBy({callee, arguments: [first]}: CallExpression): string | undefined {
  return callee.type === 'Identifier' && callee.name === 'require' ? textOf(first) : undefined;
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
