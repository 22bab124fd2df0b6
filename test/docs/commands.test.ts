import {readdirSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {commandFirst, joinWords, spellHelp} from '../../src/cli/command/command-line.js';
import {root} from '../package/install.js';

interface Flag {
  readonly name: string;
  readonly char?: string;
  readonly type: 'boolean' | 'option';
  readonly allowNo?: boolean;
  readonly options?: readonly string[];
}
interface Command {
  readonly aliases?: readonly string[];
  readonly args: Readonly<Record<string, {readonly multiple?: boolean}>>;
  readonly flags: Readonly<Record<string, Flag>>;
  readonly strict?: boolean;
  readonly changes?: 'service' | 'machine';
}

const manifest = path.join(root, 'oclif.manifest.json');
const {commands} = JSON.parse(readFileSync(manifest, 'utf8')) as {readonly commands: Readonly<Record<string, Command>>};
const byName = new Map(
  Object.entries(commands).flatMap(([id, one]) => [id, ...(one.aliases ?? [])].map((name) => [name, one])),
);
/** These are no commands of ours: oclif and a plugin in examples answer them. */
const alsoKnown = new Set(['mcp', 'help', 'version', 'plugins', '--help', '-h', '--version', '-v']);

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...['bench/README.md', 'test/README.md', 'llms.txt'],
  ...['docs', 'examples', 'skills', 'templates'].flatMap((folder) =>
    readdirSync(path.join(root, folder), {recursive: true, encoding: 'utf8'})
      .filter((name) => name.endsWith('.md') && !name.split(path.sep).includes('node_modules'))
      .map((name) => `${folder}/${name}`),
  ),
];

/** The blocks of code of a page, as `[, language, text]`. */
function blocksOf(text: string) {
  return [...text.matchAll(/^ *```(\w*)[^\n]*\n(.*?)^ *```$/gms)];
}

/** The lines of a page that call mycli: of its code, and what it says in a sentence. */
function linesOf(page: string): readonly string[] {
  const text = readFileSync(path.join(root, page), 'utf8');
  const code = blocksOf(text)
    .filter(([, language = '']) => ['sh', 'powershell', 'console', 'yaml', 'groovy'].includes(language))
    .flatMap(([, , lines = '']) => lines.replaceAll(/\\\n\s*/g, ' ').split('\n'));
  const prose = text.replaceAll(/^ *```.*?^ *```$/gms, '');
  const spans = [...prose.matchAll(/`([^`]+)`/g)].map(([, span = '']) => span.replaceAll(/\s+/g, ' '));
  // `bundle:latest` names a bundle.
  const ids = spans.filter((span) => isTopic(span.split(':', 1)[0] ?? '') && /^[a-z]+:(?!latest)[a-z]/.test(span));
  return [...[...code, ...spans].flatMap((line) => callsIn(line)), ...ids];
}

/** What follows `mycli`, or the script of the guides that calls it, up to the next part of a command line. */
function callsIn(line: string): readonly string[] {
  const withoutComment = line.replace(/(?:^|\s)#.*$/, '');
  const pushes = [...withoutComment.matchAll(/npm run (?:--silent )?push --( .*)/g)].map(
    ([, rest = '']) => `push${rest}`,
  );
  const starts = /(?:^|[\s|&(";]|node )(?:mycli|bin\/(?:run|dev)\.js) (.*)/g;
  return [...pushes, ...[...withoutComment.matchAll(starts)].map(([, rest = '']) => rest)];
}

/** The words of a command line, up to a pipe, a redirection or the next command. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  const tokens = line.matchAll(
    /(\s+)|'([^']*)'|"((?:\\.|\$\{\{.*?\}\}|[^"\\])*)"|(\$\{\{.*?\}\})|(\|\||&&|[|<>;)])|([^\s'"|<>;)]+)/g,
  );
  let isOpen = false;
  for (const [, space, single, double, expression, end, bare] of tokens) {
    if (end !== undefined) break;
    const word = single ?? double ?? expression ?? bare ?? '';
    if (space !== undefined) isOpen = false;
    else if (isOpen) words.push(`${words.pop() ?? ''}${word}`);
    else words.push(word);
    if (space === undefined) isOpen = true;
  }
  return words;
}

/** What is wrong with a line; undefined if its command has these flags and takes as many arguments. */
function problemWith(line: string): string | undefined {
  const typed = wordsOf(line).filter((word) => word !== '[FLAGS]');
  const [name = '', ...rest] = joinWords(spellHelp(commandFirst(typed)), {findCommand: (id) => byName.get(id)});
  if (alsoKnown.has(name) || name.endsWith('*') || /^[A-Z.…]/.test(name) || name === '') return undefined;
  const command = byName.get(name);
  if (command === undefined) return isTopic(name) ? undefined : `${name} is no command`;
  let count = 0;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? '';
    if (word === '--') {
      count += rest.length - at - 1;
      break;
    }
    if (!/^-[^\d]/.test(word)) {
      count += 1;
      continue;
    }
    if (['--help', '-h', '--json'].includes(word)) continue;
    const [flagName = '', value] = word.split('=', 2);
    const flag = flagNamed(command, flagName);
    if (flag === undefined) return `${name} has no ${flagName}`;
    if (flag.type === 'boolean') continue;
    const given = value ?? (flagName.startsWith('--') || word.length === 2 ? rest[(at += 1)] : word.slice(2));
    // A sentence may name the flag alone.
    if (given !== undefined && flag.options && !/^[A-Z]+$/.test(given) && !flag.options.includes(given))
      return `${flagName} takes no ${given}`;
  }
  const isMany = command.strict === false || Object.values(command.args).some(({multiple}) => multiple);
  return !isMany && count > Object.keys(command.args).length ? `${name} takes fewer arguments` : undefined;
}

function isTopic(name: string): boolean {
  return [...byName.keys()].some((id) => id.startsWith(`${name}:`));
}

function flagNamed(command: Command, word: string): Flag | undefined {
  return Object.values(command.flags).find(
    ({name, char, allowNo}) =>
      word === `--${name}` || (allowNo && word === `--no-${name}`) || word.slice(0, 2) === `-${String(char)}`,
  );
}

describe('every line of a page that calls mycli is one that mycli takes', () => {
  test.each(pages)('%s', (page) => {
    const problems = linesOf(page).flatMap((line) => {
      const problem = problemWith(line);
      return problem === undefined ? [] : [`${line}: ${problem}`];
    });
    expect(problems).toEqual([]);
  });
});

/** The lines with a comment, which zsh takes for arguments when they are pasted. Scripts may have some. */
function commentsIn(text: string): readonly string[] {
  const typed = blocksOf(text).filter(([, language = '', lines = '']) => {
    return ['sh', 'powershell', 'console'].includes(language) && !lines.startsWith('#!');
  });
  return typed.flatMap(([, , lines = '']) => lines.split('\n').filter((line) => /(?:^|\s)#/.test(line)));
}

test.each(pages)('%s: its command lines can be pasted into a shell that takes no comments', (page) => {
  expect(commentsIn(readFileSync(path.join(root, page), 'utf8'))).toEqual([]);
});

test.each(pages.filter((page) => page.startsWith('docs/guides')))(
  '%s: a variable is set for PowerShell, too',
  (page) => {
    const blocks = blocksOf(readFileSync(path.join(root, page), 'utf8'));
    const unset = blocks.filter(([, language, lines = ''], at) => {
      return (
        language === 'sh' &&
        /^ *export /m.test(lines) &&
        !lines.startsWith('#!') &&
        blocks[at + 1]?.[1] !== 'powershell'
      );
    });
    expect(unset).toEqual([]);
  },
);

test('comments in command lines are found', () => {
  expect(commentsIn('```sh\nmycli push # or deploy\n# later\n```\n')).toEqual(['mycli push # or deploy', '# later']);
  expect(commentsIn('```sh\n#!/bin/sh\nmycli push # or deploy\n```\n')).toEqual([]);
});

test('the lines of the pages are found', () => {
  expect(pages.flatMap((page) => linesOf(page)).length).toBeGreaterThan(300);
  expect(problemWith('bundle:push --wait --if-changed')).toBeUndefined();
  expect(problemWith('bundle:push --no-such-flag')).toBe('bundle:push has no --no-such-flag');
  expect(problemWith('bundle:pull')).toBe('bundle:pull is no command');
  expect(problemWith('bundle:deploy 42 43')).toBe('bundle:deploy takes fewer arguments');
});

/** What a page says between two texts, on one line. */
function saidIn(page: string, from: string, to: string): string {
  const text = readFileSync(path.join(root, page), 'utf8').replaceAll(/\s+/g, ' ');
  const end = text.indexOf(to);
  return text.slice(text.lastIndexOf(from, end) + from.length, end);
}

/** The IDs of the commands that a text names by their short or full names. */
function namedIn(text: string): readonly string[] {
  const spans = [...text.matchAll(/`([a-z-]+(?::[a-z-]+)?)[^`]*`/g)].map(([, name = '']) => name);
  return [
    ...new Set(spans.flatMap((span) => Object.entries(commands).find(([, one]) => one === byName.get(span)) ?? [])),
  ]
    .filter((id) => typeof id === 'string')
    .toSorted();
}

const changing = Object.keys(commands).filter((id) => commands[id]?.changes === 'service');

test.each([
  ['check', 'docs/guides/release-safety.md', 'not the expected one. ', ' have this flag. It implies `--wait`, and'],
  [
    'rollback-on-failure',
    'docs/guides/release-safety.md',
    'waits for that. ',
    ' have this flag. It implies `--wait` and',
  ],
  ['invalidate', 'docs/guides/targets.md', "`--invalidate '/*'`, ", ' clear it once the deployment'],
  ['output-env', 'docs/guides/github-actions.md', '## Step outputs and annotations', ' write these in any step'],
])('the commands with --%s are those that %s names', (flag, page, from, to) => {
  const having = changing.filter((id) => Object.values(commands[id]?.flags ?? {}).some(({name}) => name === flag));
  expect(namedIn(saidIn(page, from, to))).toEqual(having.toSorted());
});

test('the commands that change a target or a bundle are those whose guards a page names', () => {
  const said = saidIn('docs/guides/release-safety.md', '### Which commands they guard', '### When git');
  expect(namedIn(said)).toEqual(changing.filter((id) => id !== 'auth:rotate').toSorted());
});

test.each(pages)('%s: the tarballs of mycli have its version', (page) => {
  const {version} = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as {version: string};
  const named = readFileSync(path.join(root, page), 'utf8').matchAll(/\bmycli-(\d+\.\d+\.\d+)\.tgz/g);
  expect([...named].map(([, one]) => one).filter((one) => one !== version)).toEqual([]);
});
