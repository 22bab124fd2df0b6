import {mkdir, mkdtemp, readdir, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {runWarm} from '../cli/warm-cli.js';
import {smallBuild} from '../operations/test-host.js';
import {faultLines, type Fault} from './faults.js';
import {closedOrigin, startFaultServer, type SeenRequest} from './fault-server.js';
import {nameOf, rightAnswer, type RequestName} from './right-answers.js';

let project: string;
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'mycli-faults-'));
  for (const [path, content] of Object.entries(smallBuild)) {
    await mkdir(dirname(join(project, path)), {recursive: true});
    await writeFile(join(project, path), content);
  }
});
afterAll(() => rm(project, {recursive: true}));

interface Sample {
  readonly command: readonly string[];
  /** The request that meets the fault; `all`: nobody listens. */
  readonly request: RequestName | 'all';
  /** A line of the matrix. */
  readonly line: string;
  readonly exitCode: number;
  readonly code: string;
  /** How often the request arrives. */
  readonly requests: number;
  readonly left?: readonly string[];
}

const push = ['bundle:push', '--runtime-backend', 'legacy'];
const pushV2 = [...push, '--v2'];
const pushApi = ['bundle:push', '--runtime-backend', 'api'];
const deploy = ['bundle:deploy', '7', '--target', 'staging', '--runtime-backend', 'api'];
const list = ['bundle:list', '--runtime-backend', 'legacy'];
const download = ['bundle:download', '7', '--runtime-backend', 'legacy', '--output', 'out/bundle.tar.gz'];
const cut = 'an archive that is cut in the middle';

const samples: readonly Sample[] = [
  {command: push, request: 'all', line: 'refused', exitCode: 6, code: 'ERR_NETWORK', requests: 0},
  {
    command: push,
    request: 'upload',
    line: 'a reset after the body',
    exitCode: 10,
    code: 'ERR_OUTCOME_UNKNOWN',
    requests: 1,
  },
  {command: pushV2, request: 'upload', line: '100 MB of JSON', exitCode: 7, code: 'ERR_RESPONSE_INVALID', requests: 1},
  {
    command: pushV2,
    request: 'upload',
    line: 'JSON a million levels deep',
    exitCode: 7,
    code: 'ERR_RESPONSE_INVALID',
    requests: 1,
  },
  {command: pushApi, request: 'upload', line: '503', exitCode: 7, code: 'ERR_SERVER', requests: 1},
  {command: pushApi, request: 'upload', line: '429, Retry-After 0', exitCode: 5, code: 'ERR_RATE_LIMITED', requests: 4},
  {command: pushApi, request: 'token', line: '401', exitCode: 4, code: 'ERR_OAUTH', requests: 1},
  {command: deploy, request: 'deploy', line: 'a web page', exitCode: 7, code: 'ERR_RESPONSE_INVALID', requests: 1},
  {
    command: deploy,
    request: 'deploy',
    line: '307 to another origin',
    exitCode: 7,
    code: 'ERR_RESPONSE_INVALID',
    requests: 1,
  },
  {
    command: list,
    request: 'list',
    line: 'an answer that is cut in the middle',
    exitCode: 6,
    code: 'ERR_NETWORK',
    requests: 3,
  },
  {
    command: list,
    request: 'list',
    line: '403 that says why in JSON a million levels deep',
    exitCode: 4,
    code: 'ERR_FORBIDDEN',
    requests: 1,
  },
  {
    command: download,
    request: 'archive',
    line: '302 to another origin',
    exitCode: 7,
    code: 'ERR_RESPONSE_INVALID',
    requests: 1,
  },
  {
    command: download,
    request: 'archive',
    line: cut,
    exitCode: 6,
    code: 'ERR_NETWORK',
    requests: 4,
    left: ['bundle.tar.gz.part', 'bundle.tar.gz.part.json'],
  },
];

describe('the command line', () => {
  test.each(samples)('$command.0, $request, $line: exit code $exitCode', async (sample) => {
    const {command, request, line, exitCode, code, requests, left = []} = sample;
    const fault = faultLines.find(({name}) => name === line)?.fault;
    if (fault === undefined) throw new Error(`the matrix has no line "${line}"`);
    await using server = await startFaultServer((seen) => {
      const name = nameOf(seen);
      const right = rightAnswer(name, seen, {archive: Buffer.alloc(2048), archiveOrigin: server.origin});
      return name === request ? actOf(fault, right, seen) : right;
    });
    const temporary = await mkdtemp(join(project, 'tmp-'));
    await rm(join(project, 'out'), {recursive: true, force: true});
    await mkdir(join(project, 'out'));
    const origin = request === 'all' ? await closedOrigin() : server.origin;
    const ended = await runWarm([...command, '--json'], {cwd: project, env: environment(origin, temporary)});
    expect(JSON.parse(ended.stdout)).toMatchObject({error: {code, exitCode}});
    expect(ended).toMatchObject({code: exitCode, signal: null});
    expect(ended.stdout + ended.stderr).not.toMatch(/canary|\n\s+at /);
    expect(server.requests.filter((seen) => nameOf(seen) === request)).toHaveLength(requests);
    expect(await readdir(join(project, 'out'))).toEqual(left);
    expect(await readdir(temporary)).toEqual([]);
  });
});

function actOf(fault: Fault, right: ReturnType<typeof rightAnswer>, seen: SeenRequest) {
  const act = typeof fault === 'function' ? fault(right, seen) : fault;
  switch (act.kind) {
    case 'refused':
    case 'unknown-host':
    case 'untrusted':
    case 'no-handshake':
      throw new Error('no request meets this fault');
    default:
      return act;
  }
}

function environment(origin: string, temporary: string): Readonly<Record<string, string>> {
  return {
    TMPDIR: temporary,
    // What is read of an answer has to fit, whatever is sent.
    NODE_OPTIONS: '--max-old-space-size=96',
    MYCLI_RUNTIME_ORIGIN: origin,
    MYCLI_API_KEY: 'canary-api-key',
    MYCLI_API_ORIGIN: origin,
    MYCLI_ORGANIZATION: 'org',
    MYCLI_TOKEN_URL: `${origin}/token`,
    MYCLI_CLIENT_ID: 'client',
    MYCLI_CLIENT_SECRET: 'canary-client-secret',
    MYCLI_PROJECT: 'shop',
    MYCLI_RETRY_BASE_DELAY: '10',
  };
}
