import {buffer} from 'node:stream/consumers';
import {describe, expect, test} from 'vitest';
import {backendError, type Backend, type BackendContext, type Bundle} from '../../../src/backends/contract.js';
import {backendConformance, type ConformanceFixtures, type ConformanceService} from '../../../src/testing/index.js';

/** A service in memory that takes archives in parts. */
class Parts {
  readonly uploads = new Map<string, Map<number, Buffer>>();
  readonly bundles = new Map<string, Buffer>();
  received = 0;
  isCut = false;
  #ids = Math.random();

  begin(): string {
    const id = String((this.#ids += 1));
    this.uploads.set(id, new Map());
    return id;
  }

  /** The parts of an upload. */
  partsOf(id: string): Map<number, Buffer> {
    const parts = this.uploads.get(id);
    if (!parts) throw backendError({code: 'ERR_REJECTED', message: `There is no upload ${id}`, status: 404});
    return parts;
  }

  put(id: string, part: number, bytes: Buffer): void {
    if (this.isCut && part > 0) throw backendError({code: 'ERR_NETWORK', message: 'The connection broke off'});
    this.partsOf(id).set(part, bytes);
    this.received += bytes.length;
  }

  complete(id: string): void {
    const parts = [...this.partsOf(id)].toSorted(([a], [b]) => a - b).map(([, bytes]) => bytes);
    this.bundles.set(id, Buffer.concat(parts));
    this.uploads.delete(id);
  }
}

type Context = BackendContext<{readonly parts: Parts; readonly key: string}>;

const partBytes = 300_000;
const key = 'canary-key-of-the-parts';

/** The steps of an upload, one of which a broken backend does in another way. */
const good = {
  read: async ({state}: Context): Promise<unknown> => state?.read(),
  save: async (id: string, {state}: Context): Promise<void> => state?.write({id}),
  knows: (id: string, {options: {parts}}: Context): boolean => parts.uploads.has(id),
  range: (bundle: Bundle, start: number): {readonly start: number; readonly end: number} => ({
    start,
    end: Math.min(start + partBytes, bundle.size) - 1,
  }),
  skips: (id: string, part: number, {options: {parts}}: Context): boolean => parts.partsOf(id).has(part),
  isKept: ({state}: Context): boolean => state !== undefined,
};

type Steps = typeof good;

function createBackend(changed: Partial<Steps> = {}): Backend<Context['options']> {
  const {read, save, knows, range, skips, isKept} = {...good, ...changed};
  return {
    ...{apiVersion: 1, name: 'parts', summary: 'Archives in parts', formats: ['v2'], secrets: ['key']},
    check: () => Promise.resolve({configured: true}),
    async upload(bundle, context) {
      const {parts} = context.options;
      const saved = await read(context);
      const known = Object(saved) as {readonly id?: string};
      const id = known.id !== undefined && knows(known.id, context) ? known.id : parts.begin();
      await save(id, context);
      try {
        for (let part = 0; part * partBytes < bundle.size; part += 1) {
          if (skips(id, part, context)) continue;
          parts.put(id, part, await buffer(bundle.createReadStream(range(bundle, part * partBytes))));
        }
        parts.complete(id);
      } catch (error) {
        if (!isKept(context)) parts.uploads.delete(id);
        throw error;
      }
      return {bundleId: id, raw: {}};
    },
  };
}

const fixtures: ConformanceFixtures = {
  resumableBytes: 700_001,
  openService: () => {
    const parts = new Parts();
    const service: ConformanceService = {
      options: {parts, key},
      readUploaded: (id) => Promise.resolve(parts.bundles.get(String(id)) ?? Buffer.alloc(0)),
      interruptUploads: (isOn) => void (parts.isCut = isOn),
      countReceivedBytes: () => parts.received,
      countUploads: () => parts.uploads.size + parts.bundles.size,
    };
    return Promise.resolve(service);
  },
};

/** The names of the cases that a backend fails. */
async function failedBy(backend: () => Backend, given = fixtures): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const {name, run} of backendConformance(backend, given)) {
    if (name.startsWith('resume: ')) await run().catch(() => failed.push(name));
  }
  return failed;
}

const [sent, unknown, left] = [
  'resume: only what is missing is sent again',
  'resume: an upload that the service does not know starts over',
  'resume: nothing is left of an upload without a state',
];

test('a backend that resumes uploads passes, and one that does not has no such cases', async () => {
  const create = () => createBackend() as Backend;
  expect(await failedBy(create)).toEqual([]);
  const names = (given: ConformanceFixtures) =>
    backendConformance(create, given).flatMap(({name}) => (name.startsWith('resume') ? [name] : []));
  expect(names(fixtures)).toEqual([sent, unknown, left]);
  expect(names({openService: fixtures.openService})).toEqual([]);
});

const broken: readonly (readonly [string, Partial<Steps>, readonly (string | undefined)[]])[] = [
  ['saves nothing', {save: () => Promise.resolve()}, [sent, unknown]],
  ['saves its key', {save: async (id, {state, options}) => state?.write([id, options.key])}, [sent, unknown]],
  ['reads nothing', {read: () => Promise.resolve(undefined)}, [sent]],
  ['sends every part again', {skips: () => false}, [sent]],
  [
    'takes the end of a range for the byte after it',
    {range: (bundle, start) => ({start, end: good.range(bundle, start).end + 1})},
    [sent, unknown, left],
  ],
  ['relies on what it has saved', {knows: () => true}, [unknown]],
  ['leaves parts that nobody will ask for', {isKept: () => true}, [left]],
  ['keeps nothing to resume', {isKept: () => false}, [sent]],
];

describe('a backend that resumes uploads is caught by the cases that are made for it, and by no others', () => {
  test.each(broken)('it %s', async (_fault, changed, caughtBy) => {
    expect(await failedBy(() => createBackend(changed) as Backend)).toEqual(caughtBy);
  });
});
