import {mkdir, readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {createPluginBench} from '../with-plugins.js';
import {createRuntimeBench, type RuntimeBench} from '../with-runtime.js';

const manifest = new URL('../../../oclif.manifest.json', import.meta.url);

/** What a command needs that changes something, and its arguments for a target. */
interface Row {
  readonly args: (target: string) => readonly string[];
  /** Its exit code for a target that is not there. @default it names none */
  readonly target?: 7;
  /** The same for a project. @default it makes one, or has nothing to do */
  readonly project?: 7;
}

/** Each command that has `--dry-run`. `bundle:build` reaches no service. */
const rows: Readonly<Record<string, Row>> = {
  'bundle:prune': {args: () => ['--keep', '1', '--yes'], project: 7},
  'bundle:push': {args: (target) => ['--target', target, '--no-create'], target: 7, project: 7},
  'env:set': {args: (target) => ['A=@build/ssr.js', '--target', target], target: 7, project: 7},
  'env:unset': {args: (target) => ['A', '--target', target], target: 7, project: 7},
  'preview:down': {args: () => ['a', '--yes']},
  'preview:prune': {args: () => ['--expires', '1d', '--yes'], project: 7},
  'preview:up': {args: (target) => ['a', '--copy-from', target], target: 7, project: 7},
  'target:apply': {args: (target) => [target, '--yes'], target: 7, project: 7},
  'target:create': {args: (target) => ['qa', '--copy-from', target], target: 7, project: 7},
  'target:delete': {args: (target) => [target, '--yes'], target: 7, project: 7},
  'target:invalidate': {args: (target) => ['--target', target], target: 7, project: 7},
};

const settings = {logLevel: 'debug'};
const configuration = {targets: {staging: {settings}, stagin: {settings}}};

/** How a command ends, as a dry run and as a run, in words without the request that was refused. */
async function endsOf({mycli}: Pick<RuntimeBench, 'mycli'>, args: readonly string[], env = {}) {
  const ends: unknown[] = [];
  for (const flags of [['--dry-run'], []]) {
    const {code, stdout} = await mycli([...args, ...flags, '--json'], env);
    const {error} = JSON.parse(stdout) as {
      readonly error?: Readonly<Record<'code' | 'message' | 'suggestions', string>>;
    };
    const message = error?.message.replace(/ for [A-Z]+ \S+/, '');
    ends.push({code, error: error?.code, message, suggestions: error?.suggestions});
  }
  return ends;
}

/** The flags of each command with `--dry-run`. */
async function commandsWithDryRun() {
  const {commands} = JSON.parse(await readFile(manifest, 'utf8')) as {commands: Record<string, {flags: object}>};
  const flags = Object.entries(commands).map(([id, command]) => [id, Object.keys(command.flags)] as const);
  return new Map(flags.filter(([, names]) => names.includes('dry-run')));
}

test('each command with a dry run is in the table', async () => {
  const known = [...(await commandsWithDryRun()).keys()];
  expect(known.filter((id) => id !== 'bundle:build')).toEqual(Object.keys(rows));
});

test.each(['legacy', 'api'])('a dry run refuses what the run refuses, in the same words (%s)', async (backend) => {
  await using bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: backend});
  await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(configuration));
  expect((await bench.mycli(['push', '--target', 'staging', '--wait'])).code).toBe(0);
  const refused = {MYCLI_API_KEY: 'refused-key-1', MYCLI_CLIENT_SECRET: 'refused-secret-1'};
  for (const [command, {args, target, project}] of Object.entries(rows)) {
    // It deletes no bundle.
    if (backend === 'api' && command === 'bundle:prune') continue;
    const cases: readonly [what: string, code: number | undefined, line: readonly string[], env?: object][] = [
      ['mistyped target', target, [command, ...args('stagin')]],
      ['mistyped project', project, [command, ...args('staging'), '--project', 'shp']],
      ['refused key', 4, [command, ...args('staging')], refused],
    ];
    for (const [what, code, line, env] of cases.filter(([, expected]) => expected !== undefined)) {
      const [dryRun, run] = await endsOf(bench, line, env);
      expect(dryRun, `${command}: ${what}`).toEqual(run);
      expect(run, `${command}: ${what}`).toMatchObject({code});
    }
  }
  // Where the look may fail.
  for (const flags of [[], ['--create']]) {
    const ends = await endsOf(bench, ['push', '--target', 'staging', ...flags], refused);
    expect(ends).toMatchObject([{code: 4}, {code: 4}]);
  }
});

test('a dry run refuses a file that the run refuses, before either changes anything', async () => {
  await using bench = await createRuntimeBench({MYCLI_RUNTIME_BACKEND: 'legacy'});
  await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(configuration));
  expect((await bench.mycli(['push', '--target', 'staging', '--wait'])).code).toBe(0);
  await mkdir(join(bench.project, 'folder.json'));
  const changes = () => bench.runtime.requests.filter(({method}) => method !== 'GET');
  const before = changes().length;
  for (const [command, flags] of await commandsWithDryRun()) {
    const args = rows[command]?.args('staging') ?? ['build', '--force'];
    for (const flag of flags.filter((name) => ['output-env', 'events', 'output'].includes(name))) {
      // The manifest of an archive is a file, too.
      const manifests = command === 'bundle:build' && flag === 'output' ? ['folder'] : [];
      for (const file of [join('missing', 'file'), join('mycli.config.json', 'file'), 'folder.json', ...manifests]) {
        const [dryRun, run] = await endsOf(bench, [command, ...args, `--${flag}`, file]);
        expect(dryRun, `${command} --${flag} ${file}`).toEqual(run);
        expect(run, `${command} --${flag} ${file}`).toMatchObject({code: 3, error: 'ERR_OUTPUT'});
      }
    }
  }
  expect(changes()).toHaveLength(before);
});

test('a dry run refuses a backend that lacks what the run needs', async () => {
  await using bench = await createPluginBench('minimal');
  await writeFile(join(bench.project, 'mycli.config.json'), JSON.stringify(configuration));
  for (const [command, {args}] of Object.entries(rows)) {
    const [dryRun, run] = await endsOf(bench, [command, ...args('staging'), '--runtime-backend', 'minimal']);
    expect(dryRun, command).toEqual(run);
    expect(run, command).toMatchObject({error: 'ERR_CAPABILITY_UNSUPPORTED'});
  }
});
