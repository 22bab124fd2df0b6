import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {homedir, tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {foldersOf, packHost, root, run} from '../package/install.js';

/**
 * What a reader does who follows a guide from top to bottom, as a shell script: commands are typed, code that has a
 * title is written into the file of that name.
 */
function scriptOf(guide: string): string {
  const blocks = guide.matchAll(/^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$/gms);
  return [...blocks]
    .map(([, language, file, code = '']) => {
      if (file !== undefined) return `cat > '${file}' <<'END_OF_FILE'\n${code}END_OF_FILE\n`;
      return language === 'sh' ? code : '';
    })
    .join('\n');
}

describe('the guide to writing a backend plugin, with the page of the contract', () => {
  let folder: string;
  let output: string;
  let contract: string;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'mycli-guide-'));
    await packHost(folder);
    const guide = await readFile(path.join(root, 'docs/guides/write-a-backend-plugin.md'), 'utf8');
    contract = await readFile(path.join(root, 'docs/reference/backend-contract.md'), 'utf8');
    await writeFile(path.join(folder, 'guide.sh'), scriptOf(guide + contract).replaceAll('/path/to', folder));
    const env = {
      PATH: process.env['PATH'],
      ...foldersOf(folder),
      npm_config_prefer_offline: 'true',
      npm_config_cache: process.env['npm_config_cache'] ?? path.join(homedir(), '.npm'),
    };
    const {stdout} = await run('bash', ['-euo', 'pipefail', 'guide.sh'], {cwd: folder, env});
    output = stdout;
  });

  afterAll(() => rm(folder, {recursive: true, force: true}));

  test('leads to a backend that is found and configured, when it is linked and when it is installed', () => {
    expect(output.match(/^acme \(mycli-plugin-acme 1\.0\.0\): .*(?:\n {2}.*: .*){2}\n {2}configured$/gm)).toHaveLength(
      2,
    );
  });

  test('leads to a plugin that passes every case of the conformance suite that its service allows', () => {
    // `#` in the TAP that Node 20 prints without a terminal, `ℹ` in what later ones print.
    expect(output).toMatch(/^[#ℹ] pass [1-9]\d+$/m);
    expect(output).toMatch(/^[#ℹ] fail 0$/m);
    // The service of the guide is never busy, and no deployment to it fails.
    expect(output).toMatch(/^[#ℹ] skipped 2$/m);
  });

  test('shows code that passes a strict type check', async () => {
    const tsc = path.join(root, 'node_modules/@typescript/native/bin/tsc');
    const strict = ['--noEmit', '--allowJs', '--checkJs', '--strict', '--skipLibCheck', '--module', 'nodenext'];
    const types = ['--target', 'es2022', '--types', 'node', '--typeRoots', path.join(root, 'node_modules/@types')];
    const cwd = path.join(folder, 'mycli-plugin-acme');
    const backend = await readFile(path.join(cwd, 'src/backend.js'), 'utf8');
    const members = /^async login.*?(?=^```)/ms.exec(contract)?.[0] ?? '';
    expect(members).toContain('async verify(');
    await writeFile(path.join(cwd, 'src/with-login.js'), backend.replace('async upload(', `${members}\nasync upload(`));
    const files = ['src/hook.js', 'src/with-login.js', 'src/resume.js', 'src/variables.js'];
    const tests = ['test/acme.js', 'test/conformance.test.js'];
    await run(process.execPath, [tsc, ...strict, ...types, ...files, ...tests], {cwd});
  });

  test('shows how to go on with an upload that the service still has', async () => {
    const file = path.join(folder, 'mycli-plugin-acme/src/resume.js');
    const {uploadToResume} = (await import(file)) as {uploadToResume: (...given: unknown[]) => Promise<unknown>};
    const saved: unknown[] = [];
    const state = {read: async () => ({uploadId: 'one'}), write: async (value: unknown) => void saved.push(value)};
    expect(await uploadToResume({state}, async () => true)).toBe('one');
    expect(
      await uploadToResume(
        {state},
        async () => false,
        async () => 'two',
      ),
    ).toBe('two');
    expect(await uploadToResume({}, undefined, async () => 'three')).toBe('three');
    expect(saved).toEqual([{uploadId: 'one'}, {uploadId: 'two'}]);
  });

  test('leads to a package of the plugin and nothing else', async () => {
    const {stdout} = await run('tar', ['-tzf', path.join(folder, 'mycli-plugin-acme/mycli-plugin-acme-1.0.0.tgz')]);
    expect(stdout.trim().split('\n').sort()).toEqual(
      ['package.json', 'src/backend.js', 'src/hook.js'].map((file) => `package/${file}`),
    );
  });
});
