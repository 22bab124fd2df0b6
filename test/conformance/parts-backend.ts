import {buffer} from 'node:stream/consumers';
import {backendError} from '../../src/backends/context.js';
import type {AnyBackend, Backend, BackendContext, Bundle} from '../../src/backends/contract.js';
import type {ConformanceFixtures, ConformanceService} from '../../src/testing.js';
import type {BrokenBackend} from './broken-backends.js';

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
    if (!parts) throw backendError('ERR_REJECTED', `There is no upload ${id}`, {status: 404});
    return parts;
  }

  put(id: string, part: number, bytes: Buffer): void {
    if (this.isCut && part > 0) throw backendError('ERR_NETWORK', 'The connection broke off');
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

/** A backend that resumes uploads. `changed`: what it does in another way. */
export function createPartsBackend(changed: Partial<Steps> = {}): AnyBackend {
  const {read, save, knows, range, skips, isKept} = {...good, ...changed};
  const backend: Backend<Context['options']> = {
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
  return backend;
}

/** Opens services in memory, with bundles of three parts. */
export const fixtures: ConformanceFixtures = {
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

const sent = 'resume: only what is missing is sent again';
const unknown = 'resume: an upload that the service does not know starts over';
const left = 'resume: nothing is left of an upload without a state';

/** The cases for backends that resume uploads. */
export const resumeCases = [sent, unknown, left];

function broken(fault: string, caughtBy: readonly string[], changed: Partial<Steps>) {
  return {fault, caughtBy, create: () => createPartsBackend(changed)};
}

/** Backends that break the contract in one way when they resume uploads. */
export const brokenResumes: readonly BrokenBackend[] = [
  broken('saves nothing to resume an upload with', [sent, unknown], {save: () => Promise.resolve()}),
  broken('saves its key in the state of an upload', [sent, unknown], {
    save: async (id, {state, options}) => state?.write([id, options.key]),
  }),
  broken('never reads the state of an upload', [sent], {read: () => Promise.resolve(undefined)}),
  broken('sends every part of a resumed upload again', [sent], {skips: () => false}),
  broken('reads a byte too many of each part', [sent, unknown, left], {
    range: (bundle, start) => ({start, end: good.range(bundle, start).end + 1}),
  }),
  broken('resumes an upload that the service does not know', [unknown], {knows: () => true}),
  broken('leaves the parts of an upload without a state', [left], {isKept: () => true}),
  broken('removes the parts of an interrupted upload', [sent], {isKept: () => false}),
];
