import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, onTestFinished, test} from 'vitest';
import {binary, runCli} from '../spawn-cli.js';
import {createPluginBench} from '../with-plugins.js';

/** What a plugin has written down of something that it got. */
interface Dump {
  readonly what: string;
  readonly keys: readonly string[];
  readonly text: string;
  readonly json?: string;
}

const guide = readFileSync(new URL('../../../docs/guides/lifecycle-hooks.md', import.meta.url), 'utf8');
/** The fields in the table below a heading of the guide. */
function documented(heading: string): readonly string[] {
  const [, section = ''] = guide.split(`\n## ${heading}\n`);
  return [
    ...section
      .split('\n## ', 1)
      .join('')
      .matchAll(/^\| `(\w+)`/gm),
  ].map(([, field = '']) => field);
}

const check = ['options', 'configDirectory', 'env', 'logger', 'projectSlug', 'targetSlug'];
const verify = [...check, 'http', 'error', 'waitToRetry', 'timeouts', 'signal', 'maskSecret'];
const operation = [...verify, 'bodies', 'openStream', 'state', 'onAbort', 'onProgress'];
const before = documented('Before a change');
const logger = ['debug', 'info', 'warn'];

/** What each may have. Undefined: oclif, got and our errors have more, which must contain no secret either. */
const allowed: Readonly<Record<string, readonly string[] | undefined>> = {
  'before-write': before,
  after: [...before.filter((field) => field !== 'dryRun'), ...documented('After a change')],
  event: ['argv', 'id', 'Command'],
  this: ['debug', 'error', 'exit', 'log', 'warn'],
  backends: ['host'],
  check,
  verify,
  login: [...verify, 'prompt', 'openUrl'],
  upload: operation,
  deploy: operation,
  logger,
  env: [],
  bodies: ['multipart', 'file'],
  bundle: undefined,
  http: undefined,
  error: undefined,
  config: undefined,
};

test('a plugin gets what its contract names, and writes down no secret of the environment', async () => {
  const bench = await createPluginBench('dump');
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const file = join(bench.root, 'dump');
  const canary = 'canary-of-the-environment';
  const env = {
    ...bench.env,
    DUMP_FILE: file,
    UNREACHABLE: 'http://127.0.0.1:9/',
    OTHER_TOKEN: canary,
    MYCLI_API_KEY: canary,
    MYCLI_RUNTIME_BACKEND: 'dump',
  };
  const push = ['bundle:push', '--target', 'production'];
  for (const args of [['auth:login'], push]) {
    const {code, stderr} = await runCli(binary, args, {cwd: bench.project, env});
    expect(code, stderr).toBe(0);
  }
  const dumps = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Dump);
  expect(new Set(dumps.map(({what}) => what))).toEqual(new Set(Object.keys(allowed)));
  for (const {what, keys, text, json = ''} of dumps) {
    const more = keys.filter((key) => allowed[what]?.includes(key) === false);
    expect(more, `${what} has more than its contract`).toEqual([]);
    expect(`${text}${json}`.includes(canary), `${what} has a secret of the environment`).toBe(false);
    // A package.json is a part of the configuration.
    if (what !== 'config') expect(text.includes('pjson'), `${what} has the configuration`).toBe(false);
  }
});
