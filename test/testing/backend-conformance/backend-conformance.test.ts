import {mkdtemp, readdir, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {Readable} from 'node:stream';
import {describe, expect, onTestFinished, test, vi} from 'vitest';
import type {Backend, BackendContext} from '../../../src/backends/contract.js';
import {backendConformance, type ConformanceCase, type ConformanceFixtures} from '../../../src/testing/index.js';
import {brokenBackends, uploadInSteps} from './broken-backends.js';
import {brokenResumes} from './parts-backend.js';
import {createShelfBackend, type ShelfOptions} from './shelf-backend.js';
import {openShelf} from './shelf-service.js';

const fixtures: ConformanceFixtures = {openService: openShelf, timeResolutionMs: 1};

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

/** The functions of the backend that each case calls, once the good backend has passed it. */
const called = new Map<string, Set<string>>();
let running = '';

function createRecordedBackend(): Backend {
  const entries = Object.entries(createShelfBackend()).map(([key, value]: [string, unknown]) => {
    if (typeof value !== 'function') return [key, value] as const;
    const recorded = (...args: readonly unknown[]): unknown => {
      called.get(running)?.add(key);
      return Reflect.apply(value, undefined, args);
    };
    return [key, recorded] as const;
  });
  return Object.fromEntries(entries) as unknown as Backend;
}

describe('a good backend passes every case', () => {
  for (const {name, run} of backendConformance(createRecordedBackend, fixtures)) {
    test(name, () => {
      running = name;
      called.set(name, new Set());
      return run();
    });
  }
});

test('cases run again, and side by side', async () => {
  const cases = backendConformance(createShelfBackend, fixtures);
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
  const name = 'upload: refused credentials are reported as such';
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

test('a case fails that needs what the service of the fixtures does not have', async () => {
  const lacking: ConformanceFixtures = {
    ...fixtures,
    async openService() {
      const {options, readUploaded, close} = await openShelf();
      return {options, readUploaded, close};
    },
  };
  const failures = await failuresOf(backendConformance(createShelfBackend, lacking));
  expect(Object.keys(failures)).toEqual([
    'login: the service accepts what it returns',
    'login: no log contains a secret',
    'verify: refused credentials are reported as such',
    'upload (v2): the whole body is resent after a rate limit',
    'upload: a persistent rate limit is reported as such',
    'upload: refused credentials are reported as such',
    'upload: a failure of the service is reported with a code',
    'no error or log contains a secret',
  ]);
  expect(Object.values(failures)).toEqual(
    Array(8).fill(expect.stringMatching(/of the fixtures (?:has|lists) no .*"skip"/)),
  );
});

test('a case ends the services that it opened and removes its bundles, when it fails too', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'mycli-test-'));
  onTestFinished(() => rm(folder, {recursive: true}));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
  let [opened, closed] = [0, 0];
  const counted: ConformanceFixtures = {
    ...fixtures,
    async openService() {
      const service = await openShelf();
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
  const failures = await failuresOf(backendConformance(create, counted));
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
  const failures = await failuresOf(backendConformance(create, fixtures));
  expect(failures).toEqual({
    'no error or log contains a secret': expect.stringContaining('the key is ***'),
  });
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
        for await (const chunk of bundle.read?.() ?? []) chunks.push(chunk);
        const content = Buffer.concat(chunks);
        return good.upload({...bundle, createReadStream: () => Readable.from([content])}, context);
      },
    };
  };
  const cases = backendConformance(create, fixtures).filter(({name}) => name === 'upload (v2): every byte arrives');
  expect(cases).toHaveLength(1);
  expect(await failuresOf(cases)).toEqual({});
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
    'Each of these backends breaks the contract in one way. A test runs the suite against every one of them, and proves that',
    'exactly these cases fail. How to run the suite against yours is in [Test a backend](../guides/test-a-backend.md).',
    '',
    ...[line(head, ' '), line(['', ''], '-'), ...body.map((row) => line(row, ' '))],
    '',
  ];
  await expect(page.join('\n')).toMatchFileSnapshot('../../../docs/reference/conformance.md');
});

describe('a broken backend is caught by the cases that are made for it, and by no others', () => {
  /** A case that calls only functions which are as they were has passed with them. */
  const mayTell = ({name}: ConformanceCase, changed: readonly string[]): boolean => {
    const calls = called.get(name);
    const isCalled = (key: string) => [...called.values()].some((keys) => keys.has(key));
    return calls === undefined || calls.size === 0 || changed.some((key) => calls.has(key) || !isCalled(key));
  };

  test.each(brokenBackends)('it $fault', async ({create, caughtBy, changed}) => {
    const cases = backendConformance(create, fixtures).filter((one) => mayTell(one, changed));
    const failures = await failuresOf(cases);
    expect(Object.keys(failures).toSorted(), JSON.stringify(failures, undefined, 2)).toEqual(caughtBy.toSorted());
  });
});
