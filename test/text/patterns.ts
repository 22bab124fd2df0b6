import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {RegExpParser, type AST} from '@eslint-community/regexpp';
import ts from 'typescript';

/** A regular expression in the sources. */
export interface Pattern {
  /** `src/text/sentence.ts:14` */
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** Every regular expression that the sources have as a literal. */
export function patternsOfSources(): readonly Pattern[] {
  const root = fileURLToPath(new URL('../../src', import.meta.url));
  const files = readdirSync(root, {recursive: true, encoding: 'utf8'}).filter((name) => name.endsWith('.ts'));
  return files.flatMap((name) => {
    const file = ts.createSourceFile(name, readFileSync(join(root, name), 'utf8'), ts.ScriptTarget.Latest, true);
    const found: Pattern[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const end = node.text.lastIndexOf('/');
        const line = file.getLineAndCharacterOfPosition(node.getStart()).line + 1;
        const [source, flags] = [node.text.slice(1, end), node.text.slice(end + 1)];
        found.push({place: `src/${name.replaceAll('\\', '/')}:${String(line)}`, source, flags});
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return found;
  });
}

const tooMany = new Error('Too many steps');

/** Continues a match at an index. */
type Next = (at: number) => boolean;
type Matcher = (at: number, next: Next) => boolean;

/**
 * Counts the characters that a backtracking engine looks at to search a text from its start.
 * @param most at which it gives up: the count is infinite then
 */
export function stepCounter(
  {source, flags}: Pick<Pattern, 'source' | 'flags'>,
  most: number,
): (text: string) => number {
  const {pattern} = new RegExpParser().parseLiteral(`/${source}/${flags}`);
  const one = flags.replaceAll(/[gmy]/g, '');
  let characters: readonly string[] = [];
  let steps = 0;
  const groups = new Map<AST.CapturingGroup, string>();

  const isWord = (at: number) => /\w/.test(characters[at] ?? '');
  const isBreak = (at: number) => /[\n\r\u2028\u2029]/.test(characters[at] ?? '');

  const all = (parts: readonly Matcher[]): Matcher =>
    parts.reduceRight<Matcher>(
      (rest, part) => (at, next) => part(at, (middle) => rest(middle, next)),
      (at, next) => next(at),
    );
  const any = (alternatives: readonly AST.Alternative[]): Matcher => {
    const matchers = alternatives.map(({elements}) => all(elements.map(matcherOf)));
    return (at, next) => matchers.some((matcher) => matcher(at, next));
  };

  function quantified({min, max, greedy, element}: AST.Quantifier): Matcher {
    const inner = matcherOf(element);
    const repeat = (done: number, at: number, next: Next): boolean => {
      const more = () => done < max && inner(at, (end) => (end > at || done < min) && repeat(done + 1, end, next));
      const enough = () => done >= min && next(at);
      return greedy ? more() || enough() : enough() || more();
    };
    return (at, next) => repeat(0, at, next);
  }

  function assertion(node: AST.Assertion): Matcher {
    if ('alternatives' in node) {
      const inner = any(node.alternatives);
      const holds = (at: number): boolean => {
        if (node.kind === 'lookahead') return inner(at, () => true);
        // Ours look back one character.
        return at > 0 && inner(at - 1, (end) => end === at);
      };
      return (at, next) => holds(at) !== node.negate && next(at);
    }
    if (node.kind === 'word') return (at, next) => (isWord(at - 1) !== isWord(at)) !== node.negate && next(at);
    const isStart = node.kind === 'start';
    const isLine = (at: number) => flags.includes('m') && isBreak(isStart ? at - 1 : at);
    return (at, next) => (at === (isStart ? 0 : characters.length) || isLine(at)) && next(at);
  }

  function matcherOf(node: AST.Element): Matcher {
    switch (node.type) {
      case 'Assertion':
        return assertion(node);
      case 'Quantifier':
        return quantified(node);
      case 'Group':
        return any(node.alternatives);
      case 'CapturingGroup': {
        const inner = any(node.alternatives);
        return (at, next) =>
          inner(at, (end) => {
            groups.set(node, characters.slice(at, end).join(''));
            return next(end);
          });
      }
      case 'Backreference':
        return (at, next) => {
          const text = Array.from(groups.get([node.resolved].flat()[0] as AST.CapturingGroup) ?? '');
          steps += text.length;
          return characters.slice(at, at + text.length).join('') === text.join('') && next(at + text.length);
        };
      default: {
        const expression = new RegExp(`^${node.raw}$`, one);
        const known = new Map<string, boolean>();
        const accepts = (character: string): boolean => {
          const answer = known.get(character) ?? expression.test(character);
          known.set(character, answer);
          return answer;
        };
        return (at, next) => {
          steps += 1;
          if (steps > most) throw tooMany;
          const character = characters[at];
          return character !== undefined && accepts(character) && next(at + 1);
        };
      }
    }
  }

  const matcher = any(pattern.alternatives);
  return (text) => {
    characters = Array.from(text);
    const last = flags.includes('y') ? 0 : characters.length;
    steps = 0;
    try {
      for (let at = 0; at <= last; at += 1) if (matcher(at, () => true)) break;
    } catch (error) {
      if (error !== tooMany) throw error;
      return Number.POSITIVE_INFINITY;
    }
    return steps;
  };
}

/** Texts that grow, made of what a pattern looks for: those that make it start again and again. */
export function growingTexts({source}: Pick<Pattern, 'source'>): readonly ((size: number) => string)[] {
  const literal = source
    .replaceAll(/\\u([\da-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(String.raw`\n`, '\n')
    .replaceAll(String.raw`\t`, '\t')
    .replaceAll(/\\[a-z](?:\{[^}]*\})?/gi, ' ')
    .replaceAll('\\', '');
  const words = [...new Set(literal.match(/[\w:/.@#%+ -]+/g) ?? [])].filter((word) => word.length < 30);
  const joined = words.flatMap((word) => ['/', 'a', ' '].flatMap((other) => [word + other, other + word]));
  const parts = new Set([...Array.from(literal), ...words, ...joined, ' ', 'a', 'A', '0', '\n', '/', '-', '"']);
  // A match that fails at the end is tried again from each start.
  return ['', ...words.slice(0, 1)].flatMap((start) =>
    [...parts].map((part) => (size: number) => `${start}${part.repeat(Math.ceil(size / part.length))}\u2603`),
  );
}
