import {readFile} from 'node:fs/promises';
import {fileURLToPath} from 'node:url';
import ts from 'typescript';
import {describe, expect, test} from 'vitest';
import manifest from '../../package.json' with {type: 'json'};

const root = fileURLToPath(new URL('../..', import.meta.url));
const entries = Object.entries(manifest.exports).flatMap(([name, entry]) =>
  typeof entry === 'string'
    ? []
    : [
        {
          name: name.replace(/^\./, 'mycli'),
          types: `${root}${entry.types.slice(2)}`,
          module: `${root}${entry.default.slice(2)}`,
        },
      ],
);
const program = ts.createProgram({
  rootNames: entries.map(({types}) => types),
  options: {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    skipLibCheck: true,
    types: ['node'],
  },
});
const checker = program.getTypeChecker();

/** What an entry of the package exports, by name. */
function exportsOf(types: string): ReadonlyMap<string, ts.Symbol> {
  const file = program.getSourceFile(types);
  const module = file && checker.getSymbolAtLocation(file);
  const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
  const resolved = symbols.map((symbol): [string, ts.Symbol] => [
    symbol.name,
    symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol,
  ]);
  return new Map(resolved.sort(([a], [b]) => (a < b ? -1 : 1)));
}

test('the types of the package lead to no package that is not installed with it', () => {
  const strangers = program.getSourceFiles().filter(({fileName}) => /node_modules\/valibot\//.test(fileName));
  expect(strangers.map(({fileName}) => fileName)).toEqual([]);
});

describe.each(entries)('$name', ({name, types, module}) => {
  const exported = exportsOf(types);

  test('exports no fewer and no other names than before', async () => {
    const names = [...exported.keys()].join('\n');
    await expect(`${names}\n`).toMatchFileSnapshot(`exports/${name.replace('/', '-')}.txt`);
  });

  test('exports at run time what its types say', async () => {
    const values = [...exported].filter(([, {flags}]) => flags & ts.SymbolFlags.Value).map(([id]) => id);
    expect(Object.keys((await import(module)) as object)).toEqual(values);
  });

  test('has each of its functions, classes and constants in the documentation', async () => {
    const page = await readFile(`${root}docs/reference/library.md`, 'utf8');
    const values = [...exported].filter(([, {flags}]) => flags & ts.SymbolFlags.Value).map(([id]) => id);
    expect(values.filter((id) => !new RegExp(`\\b${id}\\b`).test(page))).toEqual([]);
  });
});
