import {mkdtemp, readFile, readdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {install, pack, root, run} from './install.js';

const consumer = `
import {BACKEND_API_VERSION, defineBackend, type BackendsHook} from 'mycli/backend';
import {isRuntimeCliError, pushRuntimeBundle, type PushRuntimeBundleBackendOptions} from 'mycli';
import {createRateLimitMiddleware, type RateLimitMiddlewareConfig} from 'mycli/rate-limit';
import {startLocalRuntime} from 'mycli/testing';

const options: PushRuntimeBundleBackendOptions = {preference: 'auto', projectSlug: 'shop'};
export const push = (): Promise<number | string> => pushRuntimeBundle(options).then(({bundleId}) => bundleId);
// @ts-expect-error A preference is required.
export const incomplete: PushRuntimeBundleBackendOptions = {projectSlug: 'shop'};

const limits: RateLimitMiddlewareConfig = {maxRetries: 1};
export const middleware = createRateLimitMiddleware(limits);
export const hook: BackendsHook = async () => ({
  backends: [
    defineBackend({
      apiVersion: BACKEND_API_VERSION,
      name: 'acme',
      summary: 'Acme',
      formats: ['v2'],
      capabilities: [],
      check: async () => ({configured: true}),
      upload: async (bundle) => ({bundleId: bundle.sha256, raw: {}}),
    }),
  ],
});
export const start: typeof startLocalRuntime = startLocalRuntime;
export const isOurs = (error: unknown): string => (isRuntimeCliError(error) ? error.code : '');
`;

describe('the installed package', {timeout: 120_000}, () => {
  let folder: string;
  let installed: string;

  /** Runs the installed binary with an environment of its own. */
  const mycli = (...args: readonly string[]) =>
    run(path.join(folder, 'node_modules/.bin/mycli'), args, {cwd: folder, env: {PATH: process.env.PATH, HOME: folder}});

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'mycli-installed-'));
    installed = path.join(folder, 'node_modules/mycli');
    await install(folder, await pack(root, path.join(folder, 'tarball')));
  }, 180_000);

  afterAll(() => rm(folder, {recursive: true, force: true}));

  test('has a binary that tells its version', async () => {
    const {version} = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {version: string};
    expect((await mycli('--version')).stdout).toContain(`mycli/${version} `);
  });

  test('has a binary that explains a command', async () => {
    expect((await mycli('bundle:build', '--help')).stdout).toContain('--build-directory');
  });

  test('has been installed without a script, and has none that it would need', async () => {
    const {scripts} = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    expect(Object.keys(scripts)).not.toEqual(expect.arrayContaining([expect.stringMatching(/^(?:pre|post)?install$/)]));
    const lock = JSON.parse(await readFile(path.join(folder, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, {hasInstallScript?: true}>;
    };
    const scripted = Object.entries(lock.packages).filter(([, {hasInstallScript}]) => hasInstallScript === true);
    // Yarn's script removes another yarn, when it is installed globally; nothing here needs that.
    expect(scripted.map(([place]) => place)).toEqual(['node_modules/yarn']);
  });

  test.each([
    ['mycli', 'pushRuntimeBundle'],
    ['mycli/backend', 'defineBackend'],
    ['mycli/rate-limit', 'createRateLimitMiddleware'],
    ['mycli/testing', 'startLocalRuntime'],
  ])('has an entry %s that exports %s', async (entry, name) => {
    const script = `import {${name}} from '${entry}'; console.log(typeof ${name});`;
    const {stdout} = await run(process.execPath, ['--input-type=module', '--eval', script], {cwd: folder});
    expect(stdout).toBe('function\n');
  });

  test('has its package.json as an entry', async () => {
    const script = `import manifest from 'mycli/package.json' with {type: 'json'}; console.log(manifest.name);`;
    const {stdout} = await run(process.execPath, ['--input-type=module', '--eval', script], {cwd: folder});
    expect(stdout).toBe('mycli\n');
  });

  test('has types that a strict program compiles against', async () => {
    await writeFile(path.join(folder, 'consumer.ts'), consumer);
    const compilerOptions = {
      target: 'ES2022',
      lib: ['ES2023'],
      module: 'NodeNext',
      strict: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: true,
      noEmit: true,
      types: ['node'],
      typeRoots: [path.join(root, 'node_modules/@types')],
    };
    await writeFile(path.join(folder, 'tsconfig.json'), JSON.stringify({compilerOptions, files: ['consumer.ts']}));
    const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
    const {stdout} = await run(process.execPath, [tsc, '-p', folder]).catch(
      (error: unknown) => error as {stdout: string},
    );
    expect(stdout).toBe('');
  });

  test('declares every package that its types import', async () => {
    const {dependencies} = JSON.parse(await readFile(path.join(installed, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const files = await readdir(path.join(installed, 'dist'), {recursive: true});
    const declarations = files.filter((file) => file.endsWith('.d.ts'));
    const imported = new Set<string>();
    for (const file of declarations) {
      const text = await readFile(path.join(installed, 'dist', file), 'utf8');
      for (const [, name = ''] of text.matchAll(/(?:from|import\() ?['"]((?:@[^/'"]+\/)?[^./'"][^/'"]*)/g)) {
        if (!name.startsWith('node:')) imported.add(name);
      }
    }
    expect(declarations).not.toEqual([]);
    expect(Object.keys(dependencies)).toEqual(expect.arrayContaining([...imported]));
  });

  test('contains what it needs to run and to be read, and nothing else', async () => {
    expect((await readdir(installed)).sort()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin',
      'dist',
      'docs',
      'oclif.manifest.json',
      'package.json',
    ]);
  });
});
