import {execFile} from 'node:child_process';
import {chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {expect, onTestFinished, test} from 'vitest';
import {startLocalRuntime} from '../../src/testing.js';
import {runtimeEnvironment} from '../cli/runtime-environment.js';
import {binary} from '../cli/spawn-cli.js';

const guide = await readFile(path.resolve(import.meta.dirname, '../../docs/guides/ci.md'), 'utf8');

/** The first script for a shell in a section of the guide. */
function scriptOf(section: string): string {
  const [, content = ''] = guide.split(`\n## ${section}\n`);
  return /```sh\n(#!\/bin\/sh\n.*?)```/s.exec(content)?.[1] ?? '';
}

/** A project with a build and a runtime, where `npx mycli` is the binary, and `npm run push` pushes. */
async function startProject() {
  const folder = await mkdtemp(path.join(tmpdir(), 'mycli-recipe-'));
  const runtime = await startLocalRuntime({deploymentSeconds: 0});
  onTestFinished(async () => {
    await runtime.close();
    await rm(folder, {recursive: true});
  });
  const scripts = {push: 'mycli bundle:push --v2', build: 'true'};
  const files = {
    'package.json': JSON.stringify({name: 'shop', private: true, scripts}),
    'package-lock.json': JSON.stringify({name: 'shop', lockfileVersion: 3, packages: {'': {name: 'shop'}}}),
    'mycli.config.json': '{"projectSlug": "shop"}',
    'build/index.html': 'hello',
    'node_modules/.bin/mycli': `#!/bin/sh\nexec '${process.execPath}' '${binary}' "$@"\n`,
  };
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), {recursive: true});
    await writeFile(path.join(folder, name), content);
  }
  await chmod(path.join(folder, 'node_modules/.bin/mycli'), 0o755);
  return {folder, runtime};
}

type Project = Awaited<ReturnType<typeof startProject>>;

async function sh({folder, runtime}: Project, script: string, args: readonly string[], env = {}) {
  await writeFile(path.join(folder, 'script.sh'), script);
  return promisify(execFile)('sh', ['script.sh', ...args], {
    cwd: folder,
    env: {
      ...{PATH: process.env['PATH'], HOME: folder, npm_config_update_notifier: 'false'},
      ...runtimeEnvironment(runtime),
      ...{MYCLI_STATIC: 'true', MYCLI_RUNTIME_BACKEND: 'legacy'},
      ...env,
    },
  });
}

test('the script for Jenkins and others keeps the diff, the events and the outcome', async () => {
  const project = await startProject();
  const env = {MYCLI_TRUSTED_ORIGINS: project.runtime.origin};
  const script = scriptOf('A shell script, in Jenkins or elsewhere').replace('npm ci', 'true');
  await sh(project, script, [], env);
  await writeFile(path.join(project.folder, 'build/more.html'), 'more');
  expect(await sh(project, script, [], env)).toMatchObject({stdout: expect.stringMatching(/pushed\n$/) as string});
  const file = (name: string) => readFile(path.join(project.folder, name), 'utf8');
  expect(await file('diff.md')).toMatch(/^ {4}added .* more\.html$/m);
  expect(JSON.parse(await file('push.json'))).toMatchObject({status: 'finished', check: {passed: true}});
  expect((await file('events.ndjson')).trimEnd().split('\n').at(-1)).toContain('"status":"success"');
});

test('every pipeline of the guides runs no other package, and says where a secret may go', async () => {
  const folder = path.resolve(import.meta.dirname, '../../docs/guides');
  for (const name of await readdir(folder)) {
    const page = await readFile(path.join(folder, name), 'utf8');
    const scripts = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, text = '']) => text);
    const pipelines = [...page.matchAll(/```(?:yaml|groovy)\n(.*?)```/gs)].map(([, text = '']) => text);
    // Without a terminal, npx installs without asking, and that name is not ours there.
    for (const text of [...pipelines, ...scripts]) expect(text).not.toMatch(/npx (?!--no-install )mycli/);
    for (const text of pipelines.filter((text) => /MYCLI_(?:API_KEY|CLIENT_SECRET|API_TOKEN)|api-key:/.test(text)))
      expect(text).toMatch(/MYCLI_TRUSTED_ORIGINS|trusted-origins:/);
  }
});
