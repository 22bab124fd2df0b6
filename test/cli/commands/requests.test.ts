import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

let bench: RuntimeBench;
beforeAll(async () => {
  bench = await createRuntimeBench();
  await writeFile(join(bench.project, '.env.example'), 'NAME=\n');
});
afterAll(() => bench[Symbol.asyncDispose]());

/** Each after what it needs: bundles to deploy, targets to look at. */
const commands = [
  'push',
  'push --target staging',
  'push --target staging --wait',
  'push --target staging --if-changed',
  'push --target production --dry-run',
  'push --v2 --target production --wait',
  'target:list',
  'status',
  'status --target staging',
  'open --target staging --print',
  'bundle:list',
  'bundle:history --target staging',
  'bundle:deploy latest --target staging',
  'bundle:deploy 1 --target staging --wait',
  'bundle:rollback --target staging --wait',
  'bundle:rollback --target staging --to 1',
  'bundle:promote --from staging --target production --wait',
  'bundle:download 1 --force',
  'bundle:diff 1 2',
  'preview:up feature --build-directory build',
  'preview:up feature --build-directory build',
  'preview:list',
  'preview:down feature --yes',
  'preview:prune --expires 30d --yes',
  'env:set NAME=value --target staging',
  'env:list --target staging',
  'env:diff .env.example --target staging',
  'target:invalidate /* --target staging',
  'bundle:delete 2 --yes',
  'bundle:prune --keep 2 --yes',
  'target:create qa',
  'target:delete qa --yes',
  'auth:status',
];

const manifest = JSON.parse(await readFile(join(import.meta.dirname, '../../../oclif.manifest.json'), 'utf8')) as {
  readonly commands: Readonly<Record<string, {readonly changes?: string}>>;
};

test('the commands that change what is installed say so', () => {
  const ids = ['install', 'link', 'reset', 'uninstall', 'update'].map((name) => `plugins:${name}`);
  expect(ids.map((id) => manifest.commands[id]?.changes)).toEqual(ids.map(() => 'machine'));
});

function idOf(command: string): string {
  const [id = ''] = command.split(' ');
  return id === 'push' ? 'bundle:push' : id;
}

/** `history x 7, targets`: how often each was asked for. What is asked at the same time comes in any order. */
function summary(routes: readonly string[]): string {
  const names = [...new Set(routes)].sort();
  const times = (name: string) => routes.filter((route) => route === name).length;
  return names.map((name) => (times(name) === 1 ? name : `${name} x ${times(name)}`)).join(', ');
}

test.each(['legacy', 'api'])(
  'each command makes these requests, no more, and says if it changes something (%s)',
  async (backend) => {
    const rows: string[] = [];
    const writing = new Set<string>();
    for (const command of commands) {
      const before = bench.runtime.requests.length;
      const {code} = await bench.mycli(command.split(' '), {MYCLI_RUNTIME_BACKEND: backend});
      const requests = bench.runtime.requests.slice(before);
      if (requests.some(({method, route}) => method !== 'GET' && route !== 'token')) writing.add(idOf(command));
      const routes = bench.runtime.requests.slice(before).map(({route}) => String(route));
      rows.push(
        `${command.padEnd(58)} ${code === 0 ? '' : `exits with ${String(code)}; `}${routes.length} ${summary(routes)}`.trim(),
      );
    }
    const marked = [...writing].filter((id) => manifest.commands[id]?.changes === 'service');
    expect(marked).toEqual([...writing]);
    await expect(`${rows.join('\n')}\n`).toMatchFileSnapshot(`requests-${backend}.txt`);
  },
);
