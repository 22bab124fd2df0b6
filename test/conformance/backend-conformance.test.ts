import {mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import type {Backend} from '../../src/backends/contract.js';
import {backendConformance, type ConformanceCase, type ConformanceFixtures} from '../../src/testing.js';
import {brokenBackends} from './broken-backends.js';
import {createShelfBackend, type Context} from './shelf-backend.js';
import {openShelf} from './shelf-service.js';

const fixtures: ConformanceFixtures = {openService: openShelf, timeResolutionMs: 1, resumableBytes: 700_001};
/** For backends whose deployments never end. With others, a busy machine may need longer. */
const impatient: ConformanceFixtures = {...fixtures, deploymentTimeoutMs: 2000};
/** A backend with everything that there are cases for. */
const createComplete = (): Backend => ({
  ...createShelfBackend(),
  limits: {maxBundleBytes: 32 * 1024 * 1024, maxFiles: 12},
});

/** The messages of the cases that fail, by name. */
async function failuresOf(cases: readonly ConformanceCase[]): Promise<Readonly<Record<string, string>>> {
  const failures: Record<string, string> = {};
  for (const {name, run} of cases) {
    await run().catch((error: unknown) => {
      failures[name] = String(error);
    });
  }
  return failures;
}

const quick = (cases: readonly ConformanceCase[]) => cases.filter(({name}) => !/every byte|held in memory/.test(name));
const allCases = backendConformance(createComplete, fixtures);

describe('conformance: a good backend passes every case', () => {
  for (const {name, run} of allCases) test(name, run);
});

test('conformance: cases run again, and side by side', async () => {
  const cases = quick(backendConformance(createShelfBackend, fixtures));
  await Promise.all([...cases, ...cases].map(({run}) => run()));
});

test('conformance: there are cases for what a backend has, and none for the rest', () => {
  const create = (): Backend => {
    const {apiVersion, name, summary, upload, deleteBundle} = createShelfBackend();
    return {apiVersion, name, summary, formats: ['v1'], upload, deleteBundle};
  };
  const names = backendConformance(create, {openService: openShelf}).map(({name}) => name);
  expect(names).toContain('upload (v1): every byte arrives');
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

  test('must be one that there is', () => {
    const skip = {'upload (v1): every byte arrives': 'no v1', 'no such case': ''};
    expect(() => backendConformance(createShelfBackend, {...fixtures, skip})).toThrow(
      /upload \(v1\): every byte arrives; no such case.*This backend has: has the shape of a backend; /,
    );
  });
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
    'history: a deployment that failed is not listed as finished': 'no failDeployments\\(\\)',
    'list: each project has its own': 'has a projectSlug',
    'deploy: a bundle of another project is refused': 'has a projectSlug',
    'download: a bundle of another project is refused': 'has a projectSlug',
    'delete: a bundle of another project is refused': 'has a projectSlug',
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

test('conformance: a case ends its services and removes its bundles, when it fails too, and shows no secret', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'mycli-test-'));
  onTestFinished(() => rm(folder, {recursive: true}));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  let [opened, closed] = [0, 0];
  const counted: ConformanceFixtures = {
    ...fixtures,
    async openService(suite) {
      const {close, ...service} = await openShelf(suite);
      opened += 1;
      const closeCounted = async () => {
        await close?.();
        closed += 1;
      };
      return {...service, close: closeCounted};
    },
  };
  const upload = (_: unknown, {logger, options}: Context) => {
    logger.info(`The key is ${String(options.key)}`);
    return Promise.reject(new Error('broken'));
  };
  const create = () => ({...createShelfBackend(), upload}) as Backend;
  const failures = await failuresOf(quick(backendConformance(create, counted)));
  expect(Object.keys(failures)).toContain('two services do not interfere');
  for (const message of Object.values(failures)) expect(message).not.toContain('canary');
  expect(opened).toBeGreaterThan(20);
  expect(closed).toBe(opened);
  expect(await readdir(folder)).toEqual([]);
});

test('conformance: a case that never ends fails when its time is up', async () => {
  const create = () => ({...createShelfBackend(), upload: () => new Promise<never>(() => undefined)}) as Backend;
  const cases = backendConformance(create, {...fixtures, caseTimeoutMs: 500});
  const failures = await failuresOf(cases.filter(({name}) => name === 'two services do not interfere'));
  expect(Object.values(failures)).toEqual([expect.stringContaining('This case took longer than 0.5 s')]);
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
  const cases = backendConformance(create, {...fixtures, timeResolutionMs: lateMs + 5});
  expect(await failuresOf(cases.filter(({name}) => /^(?:delete|deploy|history|list|promote): /.test(name)))).toEqual(
    {},
  );
});

test('conformance: the reference lists the cases, what each proves, and backends that it catches', async () => {
  const rows = allCases.map(({name, proves}) => {
    const caught = brokenBackends.filter(({caughtBy}) => caughtBy.includes(name)).map(({fault}) => fault);
    return `| ${name} | ${proves} | ${caught.join('; ')} |`;
  });
  const page = [
    '# Cases of the conformance suite',
    '',
    'What each case proves of a backend that passes it, and backends that it catches: a test proves that. There are cases for',
    'each format and each capability that a backend has, with `v1` in place of `v2` too. How to run the suite against yours is',
    'in [Test a backend](../guides/test-a-backend.md).',
    '',
    '<!-- prettier-ignore -->',
    '| case | what it proves | catches a backend that |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ];
  await expect(page.join('\n')).toMatchFileSnapshot('../../docs/reference/conformance.md');
});

test('conformance: each case catches a broken backend that no other catches', () => {
  const sharp = new Set(brokenBackends.flatMap(({caughtBy}) => (caughtBy.length === 1 ? caughtBy : [])));
  expect(allCases.filter(({name}) => !sharp.has(name))).toEqual([]);
});

describe('conformance: a broken backend is caught by the cases that are made for it', () => {
  test.concurrent.each(brokenBackends)('it $fault', async ({create, caughtBy}) => {
    const cases = backendConformance(create, impatient).filter(({name}) => caughtBy.includes(name));
    const failures = await failuresOf(cases);
    expect(Object.keys(failures).toSorted(), JSON.stringify(failures, undefined, 2)).toEqual(caughtBy.toSorted());
  });
});
