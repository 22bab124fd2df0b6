import {randomBytes} from 'node:crypto';
import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {buildBundle, type RuntimeEvent} from '../../src/index.js';
import {faultNamed} from './faults.js';
import {violations} from './invariants.js';
import type {Operation} from './operations.js';
import {startService, type Service} from './service.js';

/** Which request meets which fault. */
export type Sequence = readonly (readonly [index: number, fault: string])[];

/** How a call ended, and what was seen of it. */
export interface Run {
  readonly operation: Operation;
  readonly service: Service;
  /** It took longer than anything may if it hung. */
  readonly ended: 'done' | 'failed' | 'hung';
  readonly result?: unknown;
  readonly error?: unknown;
  /** The reason, if it was aborted. */
  readonly aborted: unknown;
  readonly events: readonly RuntimeEvent[];
  /** Requests and connections that there were after the call. */
  readonly strays: readonly string[];
  /** The files that it left, and the archive that it downloaded. */
  readonly left: readonly string[];
  readonly downloaded: Buffer | undefined;
}

/** What may be changed about a run. */
export interface RunOptions {
  /** Seconds until something that hangs is given up. @default 0.4 */
  readonly timeout?: number;
  readonly signal?: AbortSignal | undefined;
  readonly onRequest?: (index: number) => void;
}

/** A folder with a small build and archives of it. */
export interface Supplies extends AsyncDisposable {
  readonly folder: string;
  readonly archive: Buffer;
}

/** More than the buffers of a connection on this machine take, in a form that no gzip makes shorter. */
const largeBytes = 8 * 1024 * 1024;

/** Makes what operations send. */
export async function createSupplies(): Promise<Supplies> {
  const folder = await mkdtemp(join(tmpdir(), 'model-'));
  await mkdir(join(folder, 'build', 'static'), {recursive: true});
  await writeFile(join(folder, 'build', 'ssr.js'), 'export default () => "hello";\n');
  await writeFile(join(folder, 'build', 'static', 'app.css'), 'h1 { color: teal; }\n');
  const content = {cwd: folder, projectSlug: 'shop', message: 'one'};
  for (const format of ['v1', 'v2'] as const) await buildBundle({...content, format, output: `${format}.tar.gz`});
  await mkdir(join(folder, 'large'));
  await writeFile(join(folder, 'large', 'ssr.js'), randomBytes(largeBytes));
  for (const format of ['v1', 'v2'] as const)
    await buildBundle({...content, buildDirectory: 'large', format, output: `large-${format}.tar.gz`});
  const archive = await readFile(join(folder, 'v2.tar.gz'));
  return {folder, archive, [Symbol.asyncDispose]: () => rm(folder, {recursive: true})};
}

/**
 * Runs an operation against services in which a sequence goes wrong. Waits are short, and nothing that hangs is waited
 * for: this is about what happens, not about when.
 */
async function runSequence(
  operation: Operation,
  sequence: Sequence,
  supplies: Supplies,
  {timeout = 0.4, signal, onRequest}: RunOptions,
): Promise<Run> {
  const faults = new Map(sequence.map(([index, name]) => [index, faultNamed(name)]));
  const service = await startService(operation.world, supplies.archive, (index) => {
    onRequest?.(index);
    return faults.get(index);
  });
  const folder = operation.output ? await mkdtemp(join(supplies.folder, 'run-')) : supplies.folder;
  const events: RuntimeEvent[] = [];
  const options = {
    cwd: folder,
    rateLimit: {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 3},
    pollInterval: 0.001,
    timeout: 250,
    connectTimeout: 30,
    idleTimeout: timeout,
    requestTimeout: timeout,
    signal,
    onEvent: (event: RuntimeEvent) => void events.push(event),
  };
  const end = new AbortController();
  const outcome = await Promise.race([
    operation.run({origin: service.origin, folder, options}).then(
      (result) => ({ended: 'done', result}) as const,
      (error: unknown) => ({ended: 'failed', error}) as const,
    ),
    sleep(300_000, {ended: 'hung'} as const, {signal: end.signal}).catch(() => ({ended: 'hung'}) as const),
  ]);
  end.abort();
  // A request that was given up may still arrive, and reads are made side by side, four at most.
  const requests = service.seen.length + (outcome.ended === 'done' ? 0 : 1);
  const reads = service.seen.length + (outcome.ended === 'done' ? 0 : 4);
  for (let waits = 0; service.connections() > 0 && waits < 200; waits += 1) await sleep(waits);
  const late = service.seen.filter(({line}, at) => at >= (line.startsWith('GET ') ? reads : requests));
  const strays = late.map(({line}) => `sent after the end: ${line}`);
  if (service.connections() > 0) strays.push('left a connection open');
  const left = operation.output ? await readdir(folder) : [];
  const [file] = left;
  const downloaded = file !== undefined && operation.output ? await readFile(join(folder, file)) : undefined;
  if (operation.output) await rm(folder, {recursive: true});
  await service[Symbol.asyncDispose]();
  const aborted: unknown = signal?.aborted ? signal.reason : undefined;
  return {operation, service, ...outcome, aborted, events, strays, left, downloaded};
}

/** Tries a sequence. Resolves to what happened, and to the promises that were broken. */
export async function trySequence(
  operation: Operation,
  sequence: Sequence,
  supplies: Supplies,
  options: RunOptions = {},
): Promise<{readonly run: Run; readonly requests: number; readonly problems: readonly string[]}> {
  const run = await runSequence(operation, sequence, supplies, options);
  return {run, requests: run.service.seen.length, problems: violations(run, supplies.archive)};
}
