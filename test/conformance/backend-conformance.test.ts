import {mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {addAbortSignal} from 'node:stream';
import {buffer} from 'node:stream/consumers';
import {inspect} from 'node:util';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import type {Backend, Bundle} from '../../src/backends/contract.js';
import {backendConformance, type ConformanceCase, type ConformanceFixtures} from '../../src/testing.js';
import {brokenBackends, withOwnClient} from './broken-backends.js';
import caught from './caught-by.json' with {type: 'json'};
import {createShelfBackend, type Context, type ShelfOptions} from './shelf-backend.js';
import {openShelf} from './shelf-service.js';

const fixtures: ConformanceFixtures = {
  openService: openShelf,
  timeResolutionMs: 1,
  resumableBytes: 700_001,
  // For what hangs: on a busy machine many cases at once take long.
  caseTimeoutMs: 600_000,
};
/** For backends whose deployments never end. With others, a busy machine may need longer. */
const impatient: ConformanceFixtures = {...fixtures, deploymentTimeoutMs: 2000};
/** What runners print of the cases that fail, which they copy between processes, by name. They run side by side. */
async function failuresOf(cases: readonly ConformanceCase[]): Promise<Readonly<Record<string, string>>> {
  const failures: Record<string, string> = {};
  const running = cases.map(({name, run}) => {
    return run().catch((error: unknown) => void (failures[name] = inspect(structuredClone(error), {depth: 9})));
  });
  await Promise.all(running);
  return failures;
}

const allCases = backendConformance(createShelfBackend, fixtures);

/** The name of a case, without the operation if each operation has such a case. */
function titleOf(name: string): string {
  const title = name.replace(/^[^:]*: /, '');
  return allCases.filter((one) => one.name.endsWith(`: ${title}`)).length > 2 ? title : name;
}

/** Cases without those of many bytes, and of those that each operation has, those of some reads and writes. */
const varied = (cases: readonly ConformanceCase[]) =>
  cases.filter(({name}) => {
    return (
      !name.includes('every byte') &&
      (titleOf(name) === name || /^(?:upload \(v2\)|verify|deploy|delete|change-access|history|list): /.test(name))
    );
  });

describe('conformance: a good backend passes every case', () => {
  for (const {name, run} of allCases) test(name, run);
});

test('conformance: cases run again, and side by side', async () => {
  // They have run above. Those of an operation share what they know of it, so those of two are enough. Aborts have to be
  // quick, which they aren't beside all others where cores are busy. Long lists take long.
  const cases = varied(allCases).filter(
    ({name}) => !/abort|each of \d/.test(name) && (titleOf(name) === name || /^(?:deploy|list): /.test(name)),
  );
  expect(cases.length).toBeGreaterThan(20);
  await Promise.all(cases.map(({run}) => run()));
});

test('conformance: there are cases for what a backend has, and none for the rest', () => {
  const create = (): Backend => {
    const {apiVersion, name, summary, upload, deleteBundle} = createShelfBackend();
    return {apiVersion, name, summary, formats: ['v1'], upload, deleteBundle};
  };
  const names = backendConformance(create, {openService: openShelf}).map(({name}) => name);
  expect(names).toContain('upload (v1): every byte arrives, and progress rises to 100 %');
  expect(names).toContain('delete: removes the bundle and no other');
  expect(names.filter((name) => /v2|^(deploy|wait|list|history|download|resume)/.test(name))).toEqual([]);
});

describe('conformance: a case that is skipped', () => {
  const name = 'upload (v2): refused credentials are reported as such';
  const cases = backendConformance(createShelfBackend, {...fixtures, skip: {[name]: 'there are no credentials'}});

  test('carries the reason for the runner, and does not pass when it is run all the same', async () => {
    const [skipped, ...others] = cases.filter(({skip}) => skip !== undefined);
    expect(others).toEqual([]);
    expect(skipped).toMatchObject({name, skip: 'there are no credentials'});
    await expect(skipped?.run()).rejects.toThrow('This case is skipped: there are no credentials');
  });

  test('must be one that there is', async () => {
    const skip = {'upload (v1): every byte arrives, and progress rises to 100 %': 'no v1', 'delete: removes': ''};
    const [only, ...others] = backendConformance(createShelfBackend, {...fixtures, skip});
    expect(others).toEqual([]);
    await expect(only?.run()).rejects.toThrow(
      /100 %; delete: removes\. Did you mean upload \(v2\): every byte .*; delete: removes the bundle and no other\?$/,
    );
  });
});

test('conformance: a service that refuses the credentials of the fixtures is one failure, and nothing else is tried', async () => {
  const wrong: ConformanceFixtures = {
    ...fixtures,
    async openService(suite) {
      const {options, ...service} = await openShelf(suite);
      return {...service, options: {...(options as object), key: 'canary-wrong'}, secrets: ['canary-wrong']};
    },
  };
  const skipped: string[] = [];
  const failures: string[] = [];
  const cases = backendConformance(createShelfBackend, wrong);
  for (const {name, run} of cases) {
    await run({skip: () => void skipped.push(name)}).catch((error: unknown) => void failures.push(String(error)));
  }
  expect(failures).toEqual([expect.stringMatching(/ERR_UNAUTHORIZED.*Check what openService\(\) returns\.$/)]);
  expect(skipped).toEqual(cases.slice(1).map(({name}) => name));
  // Without a runner that can skip, each says it.
  await expect(cases.at(-1)?.run()).rejects.toThrow('ERR_UNAUTHORIZED');
});

test('conformance: a case that needs an optional member of the service fails, or is skipped if it can be', async () => {
  const lacking: ConformanceFixtures = {
    ...fixtures,
    async openService(suite) {
      const {occupyTarget: _, failDeployments: __, ...service} = await openShelf(suite);
      return {...service, projectSlug: 'shop'};
    },
  };
  const needy = {
    'deploy: a busy target is reported as such': 'no occupyTarget\\(\\)',
    'wait: each deployment has its own status': 'no failDeployments\\(\\)',
    'each project has its own bundles and deployments': 'has a projectSlug',
  };
  const cases = backendConformance(createShelfBackend, lacking).filter(({name}) => name in needy);
  expect(await failuresOf(cases)).toEqual(
    Object.fromEntries(
      Object.entries(needy).map(([name, reason]) => [name, expect.stringMatching(`${reason}.*"skip"`)]),
    ),
  );
  const skipped: string[] = [];
  for (const {name, run} of cases) await run({skip: () => void skipped.push(name)});
  expect(skipped.toSorted()).toEqual(Object.keys(needy).toSorted());
});

test('conformance: without a request that passes the suite, none can fail, and the case is skipped for that', async () => {
  const create = (): Backend => {
    const {apiVersion, name, summary} = createShelfBackend();
    const upload = async (bundle: Bundle) => ({bundleId: bundle.sha256, raw: await buffer(bundle.createReadStream())});
    return {apiVersion, name, summary, formats: ['v2'], upload};
  };
  const reasons: Record<string, string> = {};
  for (const {name, run} of backendConformance(create, {openService: async () => ({options: {}})})) {
    if (/aborts? .* within|failure of|refused cred|rate limit|lost answer/.test(name))
      await run({skip: (reason) => void (reasons[name.replace('upload (v2): ', '')] = reason)});
  }
  expect(Object.keys(reasons)).toEqual([
    'an abort ends it within a second',
    'a failure of the service is reported as such',
    'refused credentials are reported as such',
    'a persistent rate limit is reported as such',
    'a rate limit is waited for',
    'a lost answer is requested again, or leaves the outcome open',
  ]);
  expect(new Set(Object.values(reasons))).toEqual(
    new Set([
      expect.stringMatching(/^No request of upload \(v2\) passes the suite\. .* through\(\) of openService returns\.$/),
    ]),
  );
});

describe('conformance: a backend of another protocol than HTTP', () => {
  const overTcp: ConformanceFixtures = {
    ...impatient,
    openService: ({through}) =>
      openShelf({through: async (origin) => (await through(origin.replace('http:', 'tcp:'))).replace('tcp:', 'http:')}),
  };
  const tried = (create: () => Backend) =>
    varied(backendConformance(() => withOwnClient(create()), overTcp)).filter(
      ({name}) => titleOf(name) !== name || /^(?:resume|tail-logs)/.test(name),
    );

  test('passes, and is spared what only HTTP can answer', async () => {
    const skipped: string[] = [];
    for (const {name, run} of tried(createShelfBackend)) await run({skip: () => void skipped.push(name)});
    expect(skipped).not.toEqual([]);
    expect(skipped.filter((name) => !name.includes('rate limit'))).toEqual([]);
  });

  test.each([
    ['ignores that it is aborted', 'deploy: an abort ends it within a second'],
    ['does not ask again when an answer is lost', 'list: a lost answer is requested again, or leaves the outcome open'],
    [
      'reports a lost answer as a failure of the network, after eight other requests',
      'deploy: a lost answer is requested again, or leaves the outcome open',
    ],
    ['takes a deployment whose connection breaks for finished', 'deploy: a failure of the service is reported as such'],
    ['saves nothing to resume an upload with', 'resume: only what the service lacks is sent again'],
  ])('that %s fails', async (fault, expected) => {
    const bad = brokenBackends.find((one) => one.fault === fault) ?? expect.fail('there is no such backend');
    const [one] = tried(bad.create).filter(({name}) => name === expected);
    await expect(one?.run()).rejects.toThrow(/Expected|nothing is saved/);
  });

  test.each([
    ['tail-logs: entries', 'with refused credentials'],
    ['delete: refused credentials', 'Expected delete with other secrets to fail with ERR_UNAUTHORIZED'],
  ])('that uses the credentials of an upload for everything fails: %s', async (tries, message) => {
    let known: string | undefined;
    const create = (): Backend => {
      const {upload, deleteBundle, tailLogs, ...good} = createShelfBackend();
      const withKnown = (context: Context): Context => ({...context, options: {...context.options, key: known}});
      return {
        ...good,
        upload(bundle, context: Context) {
          known = context.options.key;
          return upload(bundle, context);
        },
        deleteBundle: (request, context: Context) => deleteBundle(request, withKnown(context)),
        tailLogs: (request, context: Context) => tailLogs(request, withKnown(context)),
      };
    };
    const [one] = tried(create).filter(({name}) => name.startsWith(tries));
    await expect(one?.run()).rejects.toThrow(message);
  });
});

test('conformance: wrong secrets are the same URL with another password', async () => {
  const inUrl: ConformanceFixtures = {
    ...fixtures,
    async openService(suite) {
      const {options, ...service} = await openShelf(suite);
      const {origin, key} = options as {readonly origin: string; readonly key: string};
      return {...service, options: {origin: origin.replace('//', `//shop:${key}@`)}};
    },
  };
  const create = (): Backend => {
    const good = createShelfBackend();
    const split = <Given extends {readonly options: ShelfOptions}>(context: Given): Given => {
      const {origin, password} = new URL(String(context.options.origin));
      return {...context, options: {origin, key: password}};
    };
    const upload: typeof good.upload = (bundle, context) => good.upload(bundle, split(context));
    const verify: typeof good.verify = (context) => good.verify(split(context));
    return {...good, required: ['origin'], secrets: ['origin'], upload, verify};
  };
  const cases = backendConformance(create, inUrl).filter(
    ({name}) => name === 'verify: accepts valid credentials and changes nothing',
  );
  expect(cases).toHaveLength(1);
  expect(await failuresOf(cases)).toEqual({});
});

test('conformance: an address of another protocol is refused, without its credentials', async () => {
  const asking: ConformanceFixtures = {
    openService: async ({through}) => ({options: {url: await through('postgres://me:canary@127.0.0.1:5432/shop')}}),
  };
  const [, first] = backendConformance(createShelfBackend, asking);
  const refused = 'through() takes the origin of an HTTP service or tcp://HOST:PORT, not postgres://.';
  await expect(first?.run()).rejects.toThrow(refused);
});

test('conformance: an upload that asks much before it sends is interrupted while it sends', async () => {
  const create = () => {
    const good = createShelfBackend();
    const upload: typeof good.upload = async (bundle, context) => {
      for (let asked = 0; asked < 20; asked += 1) await good.verify(context);
      return good.upload(bundle, context);
    };
    return {...good, upload} as Backend;
  };
  const cases = backendConformance(create, fixtures).filter(({name}) => name.startsWith('resume: '));
  expect(cases).toHaveLength(1);
  expect(await failuresOf(cases)).toEqual({});
});

test('conformance: a case ends its services and removes its bundles, when it fails too, and shows no secret', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'mycli-test-'));
  onTestFinished(() => rm(folder, {recursive: true}));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  let [opened, closed] = [0, 0];
  const counted: ConformanceFixtures = {
    ...fixtures,
    async openService(suite) {
      const {close, options, ...service} = await openShelf(suite);
      opened += 1;
      const key = `canary-${opened}-`;
      const closeCounted = async () => {
        await close?.();
        closed += 1;
      };
      return {...service, options: {...(options as object), key}, secrets: [key], close: closeCounted};
    },
  };
  const upload = (_: unknown, {logger, options}: Context) => {
    const {key} = options;
    logger.info(`The key is ${String(key)}`);
    return Promise.reject(
      Object.assign(new Error(`broken by ${String(key)}`, {cause: new Error(key)}), {headers: {key}}),
    );
  };
  const create = () => ({...createShelfBackend(), upload}) as Backend;
  const failures = await failuresOf(varied(backendConformance(create, counted)));
  expect(Object.keys(failures)).toContain('each project has its own bundles and deployments');
  for (const message of Object.values(failures)) expect(message).not.toContain('canary');
  expect(opened).toBeGreaterThan(20);
  expect(closed).toBe(opened);
  expect(await readdir(folder)).toEqual([]);
});

test('conformance: a case that never ends fails when its time is up', async () => {
  const create = () => ({...createShelfBackend(), upload: () => new Promise<never>(() => undefined)}) as Backend;
  const cases = backendConformance(create, {...fixtures, caseTimeoutMs: 500});
  const failures = await failuresOf(
    cases.filter(({name}) => name === 'each project has its own bundles and deployments'),
  );
  expect(Object.values(failures)).toEqual([
    expect.stringMatching(/This case took longer than 0\.5 s, .* upload\(\) has not answered\. If these/),
  ]);
});

test.each([
  ['makes no progress is ended by the host', false, 600_000, {}],
  [
    'reports progress that it does not make fails',
    true,
    2000,
    {'upload (v2): an abort in the middle ends it and leaves nothing behind': expect.stringContaining('took longer')},
  ],
])('conformance: an SDK without time limits that %s', async (_, reports, caseTimeoutMs, expected) => {
  const create = (): Backend => {
    const good = createShelfBackend();
    const upload = async (bundle: Bundle, context: Context) => {
      const report = () => context.onProgress({transferred: 0, total: bundle.size});
      const reporting = setInterval(() => reports && report(), 50);
      try {
        await buffer(addAbortSignal(context.signal, bundle.createReadStream()));
      } catch {
        throw context.signal.reason;
      } finally {
        clearInterval(reporting);
      }
      return good.upload(bundle, context);
    };
    return {...good, upload};
  };
  const cases = backendConformance(create, {...fixtures, caseTimeoutMs});
  expect(await failuresOf(cases.filter(({name}) => name.startsWith('upload (v2): an abort in')))).toEqual(expected);
});

test('conformance: IDs that are texts fail a backend that says that they are numbers', async () => {
  const create = () => ({...createShelfBackend(), bundleIds: 'number'}) as Backend;
  const cases = backendConformance(create, fixtures).filter(({name}) => name.startsWith('delete: removes'));
  expect(Object.values(await failuresOf(cases))).toEqual([expect.stringContaining('Expected the type of an ID')]);
});

test('conformance: a deployment that cannot be looked at once it is made may be left open', async () => {
  const create = () => {
    const good = createShelfBackend();
    const deploy: typeof good.deploy = async (request, context) => {
      const made = await good.deploy(request, context);
      await good.verify(context).catch((error: unknown) => {
        throw context.error('ERR_OUTCOME_UNKNOWN', 'It may be live.', {cause: error});
      });
      return made;
    };
    return {...good, deploy} as Backend;
  };
  const cases = backendConformance(create, fixtures).filter(({name}) =>
    /^deploy: (?:refused credentials|a persistent rate limit)/.test(name),
  );
  expect(cases).toHaveLength(2);
  expect(await failuresOf(cases)).toEqual({});
});

test('conformance: a copy need not be production if its source is', async () => {
  const create = () => {
    const good = createShelfBackend();
    const changed: Partial<Backend<ShelfOptions>> = {
      readTarget: async (request, context) => ({
        ...(await good.readTarget(request, context)),
        unsupported: ['sourceMaps', 'cookies', 'tracing', 'primary'],
      }),
      async createTarget(request, context) {
        const made = await good.createTarget(request, context);
        const {targetSlug} = made;
        await good.updateTarget({targetSlug, settings: {production: false}}, context);
        return made;
      },
    };
    return {...good, ...changed} as Backend;
  };
  const cases = backendConformance(create, fixtures).filter(({name}) => name.includes('a copy starts with'));
  expect(cases).toHaveLength(1);
  expect(await failuresOf(cases)).toEqual({});
});

test('conformance: lists may be late', async () => {
  const lateMs = 20;
  const create = (): Backend => {
    const good = createShelfBackend();
    const isShown = ({createdAt = ''}: {readonly createdAt?: string | undefined}) =>
      Date.parse(createdAt) + lateMs <= Date.now();
    return {
      ...good,
      listBundles: async (range, context: Context) => {
        const {items, cursor} = await good.listBundles(range, context);
        return {items: items.filter(isShown), cursor};
      },
      listDeployments: async (request, context: Context) => {
        const {items, cursor} = await good.listDeployments(request, context);
        return {items: items.filter(isShown), cursor};
      },
    };
  };
  const cases = varied(backendConformance(create, {...fixtures, timeResolutionMs: lateMs + 5}));
  // Of what goes wrong, what is looked at in lists afterwards.
  const listed = /^(?:delete|deploy|history|list|promote): /;
  const tried = cases.filter(
    ({name}) => listed.test(name) && (titleOf(name) === name || name.includes('a failure of the service')),
  );
  expect(await failuresOf(tried)).toEqual({});
});

/** The titles of the cases that catch each broken backend, of the whole suite: `npm run test:suite broken-backends`. */
const caughtBy = new Map(Object.entries(caught).map(([fault, titles]) => [fault, titles.split('; ')]));
const isWhole = process.env['VITEST_WHOLE_SUITE'] !== undefined;

/** What the author of a backend is told, by its fault: in which case, and with which words. */
const told: Readonly<Record<string, readonly [title: string, message: string]>> = {
  'changes a byte beyond 16 MiB': ['every byte arrives', 'the first difference is at offset 16777216'],
  'puts IDs into URLs as they are': ['an unknown bundle is refused', 'Encode IDs in URLs and paths, and compare'],
  'reports the time of the list as that of the upload': ['list: its pages', 'Expected item 1 of the list in pages of'],
  'logs the key, in base64': ['no error or log', 'An error or a log contains a secret: Authorization: Basic ***'],
  'reports a deployment that is accepted as finished': ['deploy: returns', 'report "in_progress"'],
  'deletes a bundle twice': ['delete: removes', 'to fail with ERR_BUNDLE_UNKNOWN'],
};

/** Two of many titles, if possible of cases that not each operation has: those take little, and one is enough to fail. */
function fewOf(titles: readonly string[]): readonly string[] {
  const isOfOne = (title: string) => allCases.some(({name}) => name === title);
  return titles.toSorted((a, b) => Number(isOfOne(b)) - Number(isOfOne(a))).slice(0, 2);
}

describe('conformance: broken backends', () => {
  const recorded = new Map<string, string>();

  test.each(brokenBackends)('a backend that $fault fails', async ({fault, create}) => {
    const titles = isWhole ? [] : (caughtBy.get(fault) ?? []);
    const [toldIn = '', message = ''] = told[fault] ?? [];
    const expected = titles.filter((title) => fewOf(titles).includes(title) || (toldIn && title.includes(toldIn)));
    const cases = backendConformance(create, impatient);
    // The whole suite takes seconds for each.
    const caught = cases.filter(({name}) => expected.includes(titleOf(name)));
    const tried = isWhole ? cases : [...varied(caught), ...caught.filter(({name}) => name.includes('every byte'))];
    const failures = await failuresOf(tried);
    const failed = [...new Set(Object.keys(failures).map(titleOf))].toSorted();
    recorded.set(fault, failed.join('; '));
    if (!isWhole) expect(failed, JSON.stringify(failures, undefined, 2)).toEqual(expected);
    const messages = Object.entries(failures).flatMap(([name, text]) => (name.includes(toldIn) ? [text] : []));
    expect(messages).not.toEqual([]);
    for (const text of messages) expect(text).toContain(message);
  });

  test('each that is told something is one of them', () => {
    expect(brokenBackends.map(({fault}) => fault)).toEqual(expect.arrayContaining(Object.keys(told)));
  });

  test.runIf(isWhole)('are caught by the cases that the record says', async () => {
    const record = Object.fromEntries([...recorded].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    await expect(`${JSON.stringify(record, undefined, 2)}\n`).toMatchFileSnapshot('caught-by.json');
  });

  test('each case alone catches one, and the reference says which', async () => {
    const rows = allCases.map(({name, proves}) => {
      const caught = [...caughtBy].filter(([, titles]) => titles.every((title) => title === titleOf(name)));
      return {name, proves, caught: caught.map(([fault]) => fault).join('; ')};
    });
    expect(rows.filter((row) => row.caught === '')).toEqual([]);
    const page = [
      '# Cases of the conformance suite',
      '',
      'The table says what each case proves about a backend that passes it, and lists broken backends that only this case is',
      'known to catch. There are cases for each format and each capability of a backend; those with `v2` in their name exist',
      'for `v1`, too. The cases with failures, such as "a lost answer", break one request of a call at a time: the first 3 and',
      'the last 27, or the last 3 if the call only reads. [Test a backend](../guides/test-a-backend.md) says how to run the',
      'suite.',
      '',
      '| case | what it proves | it alone catches a backend that |',
      '| --- | --- | --- |',
      ...rows.map((row) => `| ${row.name} | ${row.proves} | ${row.caught} |`),
      '',
    ];
    await expect(page.join('\n')).toMatchFileSnapshot('../../docs/reference/conformance.md');
  });
});
