import {execFile} from 'node:child_process';
import {mkdir, readFile, symlink, writeFile} from 'node:fs/promises';
import {join, resolve} from 'node:path';
import {promisify} from 'node:util';
import ts from 'typescript';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {makeFolder} from '../folder.js';

const root = resolve(import.meta.dirname, '../..');
const {ModuleKind, ModuleResolutionKind} = ts;

/** Every flag of TypeScript that finds more. What the package needs is checked, too. */
const strict: ts.CompilerOptions = {
  ...{strict: true, exactOptionalPropertyTypes: true, noFallthroughCasesInSwitch: true, noImplicitOverride: true},
  ...{noImplicitReturns: true, noPropertyAccessFromIndexSignature: true, noUncheckedIndexedAccess: true},
  ...{noUncheckedSideEffectImports: true, noUnusedLocals: true, noUnusedParameters: true, isolatedModules: true},
  ...{allowUnreachableCode: false, allowUnusedLabels: false, verbatimModuleSyntax: true, skipLibCheck: false},
  ...{noEmit: true, target: ts.ScriptTarget.ES2023, types: ['node'], typeRoots: [join(root, 'node_modules/@types')]},
};

let folder: string;
let example: string;

beforeAll(async () => {
  folder = await makeFolder({}, afterAll);
  await mkdir(join(folder, 'node_modules'));
  await symlink(root, join(folder, 'node_modules/mycli'));
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  example = /```ts\n(import .*?)```/s.exec(readme)?.[1] ?? '';
});

/** The example in a function: a CommonJS module has no `await` outside of one. */
function inFunction(before: string, load: string): string {
  const body = example.replace(/^import (.*) from 'mycli';$/m, `const $1 = ${load};`);
  return `${before}async function main() {\n${body}}\nvoid main();\n`;
}

test.each([
  ['NodeNext', 'module', {module: ModuleKind.NodeNext}, () => example],
  ['Bundler', 'module', {module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler}, () => example],
  ['Preserve', 'module', {module: ModuleKind.Preserve}, () => example],
  ['CommonJS, import()', 'commonjs', {module: ModuleKind.Node16}, () => inFunction('', "await import('mycli')")],
  [
    'CommonJS, require()',
    'commonjs',
    {module: ModuleKind.NodeNext},
    () => inFunction("import mycli = require('mycli');\n", 'mycli'),
  ],
] as const)(
  'the example of the README compiles under every strict flag: %s',
  async (_, type, options, code) => {
    const file = join(folder, 'example.ts');
    await writeFile(join(folder, 'package.json'), JSON.stringify({type}));
    await writeFile(file, code());
    const program = ts.createProgram([file], {...strict, ...options});
    const problems = ts.getPreEmitDiagnostics(program).map((problem) => {
      return `${problem.file?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(problem.messageText, ' ')}`;
    });
    expect(problems).toEqual([]);
  },
  120_000,
);

test('require() loads the package, and an error that nobody catches prints lines that can be read', async () => {
  const script = "require('mycli').pushRuntimeBundle({preference: 'legacy', projectSlug: 'shop'});";
  const failed = promisify(execFile)(process.execPath, ['-e', script], {cwd: folder, env: {}});
  const {stderr} = await failed.then(
    () => ({stderr: ''}),
    (error: unknown) => error as {stderr: string},
  );
  expect(stderr).toContain("code: 'ERR_");
  expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(300);
});
