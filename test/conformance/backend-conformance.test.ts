import {mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {Readable} from 'node:stream';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import type {Backend, BackendContext, BundleId, ListRange, ListResult} from '../../src/backends/contract.js';
import {backendConformance, type ConformanceCase, type ConformanceFixtures} from '../../src/testing.js';
import {brokenBackends, uploadInSteps} from './broken-backends.js';
import {brokenResumes} from './parts-backend.js';
import {createShelfBackend, type ShelfOptions} from './shelf-backend.js';
import {openShelf} from './shelf-service.js';

const fixtures: ConformanceFixtures = {openService: openShelf, timeResolutionMs: 1};
/** For backends whose deployments never end. With others, a busy machine may need longer. */
const impatient: ConformanceFixtures = {...fixtures, deploymentTimeoutMs: 2000};

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

/** Large bundles take time: cases with them only run where they matter. */
const isSlow = ({name}: ConformanceCase) => /large bundle|held in memory/.test(name);
const quick = (cases: readonly ConformanceCase[]) => cases.filter((one) => !isSlow(one));

describe('a good backend passes every case', () => {
  for (const {name, run} of backendConformance(createShelfBackend, fixtures)) test(name, run);
});

test('cases run again, and side by side', async () => {
  const cases = quick(backendConformance(createShelfBackend, fixtures));
  await Promise.all([...cases, ...cases].map(({run}) => run()));
});

test('there are cases for what a backend has, and none for the rest', () => {
  const create = (): Backend => {
    const {apiVersion, name, summary, check, upload, deleteBundle} = createShelfBackend();
    return {apiVersion, name, summary, formats: ['v1'], check, upload, deleteBundle};
  };
  const names = backendConformance(create, fixtures).map(({name}) => name);
  expect(names).toContain('upload (v1): every byte arrives');
  expect(names).toContain('delete: removes the bundle and no other');
  expect(names.filter((name) => /v2|^(deploy|wait|list|history|download)/.test(name))).toEqual([]);
});

describe('a case that is skipped', () => {
  const name = 'upload (v2): refused credentials are reported as such';
  const cases = backendConformance(createShelfBackend, {...fixtures, skip: {[name]: 'there are no credentials'}});

  test('carries the reason for the runner', () => {
    expect(cases.filter(({skip}) => skip !== undefined)).toMatchObject([{name, skip: 'there are no credentials'}]);
  });

  test('does not pass when it is run all the same', async () => {
    const skipped = cases.find((one) => one.name === name);
    await expect(skipped?.run()).rejects.toThrow('This case is skipped: there are no credentials');
  });

  test('must be one that there is', () => {
    const skip = {'upload (v1): every byte arrives': 'no v1', 'no such case': ''};
    expect(() => backendConformance(createShelfBackend, {...fixtures, skip})).toThrow(
      /upload \(v1\): every byte arrives; no such case.*This backend has: has the shape of a backend; /,
    );
  });
});

test('a case that needs an optional member of the service fails, or is skipped if the runner can', async () => {
  const lacking: ConformanceFixtures = {
    ...fixtures,
    async openService(suite) {
      const {options, env, secrets, issuedSecrets, answer, readUploaded, close} = await openShelf(suite);
      return {options, env, secrets, issuedSecrets, answer, readUploaded, close};
    },
  };
  const cases = quick(backendConformance(createShelfBackend, lacking));
  const failures = await failuresOf(cases);
  const needy = {
    'deploy: a busy target is reported as such': 'occupyTarget',
    'wait: a deployment that fails is reported as such': 'failDeployments',
    'wait: each deployment has its own status': 'failDeployments',
    'history: a deployment that failed is not listed as finished': 'failDeployments',
    'upload (v2): an abort leaves nothing behind': 'countUploads',
  };
  expect(failures).toEqual(
    Object.fromEntries(
      Object.entries(needy).map(([name, member]) => [name, expect.stringMatching(`no ${member}\\(\\).*"skip"`)]),
    ),
  );
  const skipped: string[] = [];
  for (const {name, run} of cases) {
    if (name in needy) await run({skip: () => void skipped.push(name)});
  }
  expect(skipped.toSorted()).toEqual(Object.keys(needy).toSorted());
});

test('a case ends the services that it opened and removes its bundles, when it fails too', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'mycli-test-'));
  onTestFinished(() => rm(folder, {recursive: true}));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  let [opened, closed] = [0, 0];
  const counted: ConformanceFixtures = {
    ...fixtures,
    async openService(suite) {
      const service = await openShelf(suite);
      opened += 1;
      return {
        ...service,
        close: async () => {
          await service.close?.();
          closed += 1;
        },
      };
    },
  };
  const create = (): Backend => ({...createShelfBackend(), upload: () => Promise.reject(new Error('broken'))});
  const failures = await failuresOf(quick(backendConformance(create, counted)));
  expect(Object.keys(failures)).toContain('two services do not interfere');
  expect(opened).toBeGreaterThan(20);
  expect(closed).toBe(opened);
  expect(await readdir(folder)).toEqual([]);
});

test('a failure does not show the secret that it found', async () => {
  const create = () => {
    const good = createShelfBackend();
    return {
      ...good,
      check: good.check,
      upload: async (...[bundle, context]: Parameters<typeof good.upload>) => {
        context.logger.info(`the key is ${String(context.options.key)}`);
        return good.upload(bundle, context);
      },
    };
  };
  const failures = await failuresOf(quick(backendConformance(create, fixtures)));
  expect(Object.keys(failures)).toContain('no error or log contains a secret');
  for (const message of Object.values(failures)) expect(message).toContain('the key is ***');
});

test('a backend may clean up after an abort', async () => {
  const create = (): Backend => {
    const good = createShelfBackend();
    return {...good, upload: (bundle, context: BackendContext<ShelfOptions>) => uploadInSteps(good, bundle, context)};
  };
  const cases = backendConformance(create, fixtures).filter(({name}) => name.startsWith('upload'));
  expect(await failuresOf(cases)).toEqual({});
});

test('a backend may keep what a bundle yields', async () => {
  const create = (): Backend => {
    const good = createShelfBackend();
    return {
      ...good,
      upload: async (bundle, context: BackendContext<ShelfOptions>) => {
        const chunks: Uint8Array[] = [];
        for await (const chunk of bundle.createReadStream()) chunks.push(chunk as Buffer);
        const content = Buffer.concat(chunks);
        return good.upload({...bundle, createReadStream: () => Readable.from([content])}, context);
      },
    };
  };
  const cases = backendConformance(create, fixtures).filter(({name}) => name === 'upload (v2): every byte arrives');
  expect(cases).toHaveLength(1);
  expect(await failuresOf(cases)).toEqual({});
});

describe('an unusual backend passes, too', () => {
  /** A backend whose bundles have other IDs than at the service. */
  function renamed(rename: (id: string, all: Map<BundleId, string>) => BundleId) {
    const all = new Map<BundleId, string>();
    const name = (id: BundleId) => {
      const known = [...all].find(([, one]) => one === id);
      if (known) return known[0];
      const named = rename(String(id), all);
      all.set(named, String(id));
      return named;
    };
    const own = (id: BundleId) => all.get(id) ?? all.get(Number(id)) ?? `no-${String(id).length}`;
    const create = (): Backend => {
      const good = createShelfBackend();
      type Own = BackendContext<ShelfOptions>;
      return {
        ...good,
        upload: async (bundle, context: Own) => {
          const {bundleId, raw} = await good.upload(bundle, context);
          return {bundleId: name(bundleId), raw};
        },
        deploy: ({bundleId, ...request}, context: Own) => good.deploy({...request, bundleId: own(bundleId)}, context),
        promote: ({bundleId, ...request}, context: Own) => good.promote({...request, bundleId: own(bundleId)}, context),
        download: ({bundleId, ...request}, context: Own) =>
          good.download({...request, bundleId: own(bundleId)}, context),
        deleteBundle: ({bundleId}, context: Own) => good.deleteBundle({bundleId: own(bundleId)}, context),
        listBundles: async (range, context: Own) => {
          const {items, ...list} = await good.listBundles(range, context);
          return {...list, items: items.map((item) => ({...item, bundleId: name(item.bundleId)}))};
        },
        listDeployments: async (request, context: Own) => {
          const {items, ...list} = await good.listDeployments(request, context);
          return {...list, items: items.map((item) => ({...item, bundleId: name(item.bundleId ?? '')}))};
        },
      };
    };
    const openService = async (suite: Parameters<typeof openShelf>[0]) => {
      const service = await openShelf(suite);
      const {readUploaded = () => Promise.reject(new Error('nothing is kept'))} = service;
      return {...service, readUploaded: (id: BundleId) => readUploaded(own(id))};
    };
    return {create, given: {...fixtures, openService}};
  }

  /** A backend whose lists show what was there a while ago. */
  function late(lateMs: number) {
    const create = (): Backend => {
      const good = createShelfBackend();
      const created = (item: {readonly createdAt?: string | undefined}) => Date.parse(item.createdAt ?? '');
      const old = async <Item extends {readonly createdAt?: string | undefined}>(
        {limit, offset}: ListRange,
        read: (range: ListRange) => Promise<ListResult<Item>>,
      ) => {
        const {items, raw} = await read({limit: 1000, offset: 0});
        const shown = items.filter((item) => created(item) + lateMs <= Date.now());
        return {items: shown.slice(offset, offset + limit), total: shown.length, raw};
      };
      return {
        ...good,
        listBundles: (range, context: BackendContext<ShelfOptions>) =>
          old(range, (all) => good.listBundles(all, context)),
        listDeployments: ({targetSlug, ...range}, context: BackendContext<ShelfOptions>) =>
          old(range, (all) => good.listDeployments({...all, targetSlug}, context)),
      };
    };
    return {create, given: {...fixtures, timeResolutionMs: lateMs + 5}};
  }

  /** The cases that look at IDs or lists. */
  const all = /^(?:delete|deploy|download|history|list|promote|targets): (?!.*abort|.*failure|.*lost)/;
  const some = /: an unknown bundle|: removes the bundle|: the newest|: the bundle of one target/;

  test.each([
    ['whose IDs are numbers', all, renamed((_, known) => known.size + 1)],
    ['whose IDs are paths with spaces and emoji', some, renamed((id) => `a b/${id}/\u{1F680}?#%`)],
    [
      'whose IDs are UUIDs',
      some,
      renamed((_, known) => `3b241101-e2bb-4255-8caf-${String(known.size + 1).padStart(12, '0')}`),
    ],
    ['whose lists are late', all, late(20)],
  ])('%s', async (_, wanted, {create, given}) => {
    const cases = backendConformance(create, given).filter(({name}) => wanted.test(name));
    expect(cases.length).toBeGreaterThan(5);
    expect(await failuresOf(cases)).toEqual({});
  });
});

test('the reference lists the broken backends and the cases that catch them', async () => {
  const rows = [
    ['a backend that', 'fails'],
    ...[...brokenBackends, ...brokenResumes].map(({fault, caughtBy}) => [
      fault,
      caughtBy.map((name) => `\`${name}\``).join(', '),
    ]),
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  const page = [
    '# What the conformance suite catches',
    '',
    'Each of these backends breaks the contract in one way. A test proves that these cases catch it. How to run the suite',
    'against yours is in [Test a backend](../guides/test-a-backend.md).',
    '',
    ...[line(head, ' '), line(['', ''], '-'), ...body.map((row) => line(row, ' '))],
    '',
  ];
  await expect(page.join('\n')).toMatchFileSnapshot('../../docs/reference/conformance.md');
});

describe('a broken backend is caught by the cases that are made for it', () => {
  test.concurrent.each(brokenBackends)('it $fault', async ({create, caughtBy}) => {
    const cases = backendConformance(create, impatient).filter(({name}) => caughtBy.includes(name));
    const failures = await failuresOf(cases);
    expect(Object.keys(failures).toSorted(), JSON.stringify(failures, undefined, 2)).toEqual(caughtBy.toSorted());
  });
});
