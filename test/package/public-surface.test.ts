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
const printer = ts.createPrinter({removeComments: true});

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

function declarationsOf({declarations = []}: ts.Symbol): readonly string[] {
  return declarations.map((declaration) => {
    const whole = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
    return printer.printNode(ts.EmitHint.Unspecified, whole, declaration.getSourceFile());
  });
}

test('the types of the package lead to no package that is not installed with it', () => {
  const strangers = program.getSourceFiles().filter(({fileName}) => /node_modules\/valibot\//.test(fileName));
  expect(strangers.map(({fileName}) => fileName)).toEqual([]);
});

describe.each(entries)('$name', ({name, types, module}) => {
  const exported = exportsOf(types);

  test('exports what the committed report says', async () => {
    const report = [...exported.values()].flatMap(declarationsOf).join('\n\n');
    expect(report).not.toBe('');
    const file = name.replace('/', '-');
    await expect(
      `// ${name}: everything it exports, without comments. Renewed by vitest -u.\n\n${report}\n`,
    ).toMatchFileSnapshot(`../../docs/reference/api/${file}.txt`);
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
