import {mkdir, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {setTimeout as sleep} from 'node:timers/promises';
import {buildBundle, type RuntimeEvent} from '../../src/index.js';
import {faultNamed} from './faults.js';
import {violations} from './invariants.js';
import type {Operation} from './operations.js';
import {startService, type Judge, type Service} from './service.js';

/** Which request meets which fault, as `INDEX:NAME`. */
export type Sequence = readonly (readonly [index: number, fault: string])[];

/** How a call ended, and what was seen of it. */
export interface Run {
  readonly operation: Operation;
  readonly service: Service;
  readonly result?: unknown;
  readonly error?: unknown;
  /** It rejected, was aborted, or took longer than anything may. */
  readonly ended: 'done' | 'failed' | 'hung';
  readonly aborted?: unknown;
  readonly events: readonly RuntimeEvent[];
  /** Everything that was said of waits and progress. */
  readonly said: readonly unknown[];
  readonly left: readonly string[];
  readonly archive: Buffer;
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

/** Makes what operations send. */
export async function createSupplies(): Promise<Supplies> {
  const folder = await mkdtemp(join(tmpdir(), 'model-'));
  await mkdir(join(folder, 'build', 'static'), {recursive: true});
  await writeFile(join(folder, 'build', 'ssr.js'), 'export default () => "hello";\n');
  await writeFile(join(folder, 'build', 'static', 'app.css'), 'h1 { color: teal; }\n');
  const content = {cwd: folder, projectSlug: 'shop', message: 'one'};
  for (const format of ['v1', 'v2'] as const) await buildBundle({...content, format, output: `${format}.tar.gz`});
  const archive = await readFile(join(folder, 'v2.tar.gz'));
  return {folder, archive, [Symbol.asyncDispose]: () => rm(folder, {recursive: true})};
}

/** Waits are short, and nothing that hangs is waited for: the table is about what happens, not about when. */
function optionsFor({timeout = 0.4, signal}: RunOptions, events: RuntimeEvent[], said: unknown[]) {
  return {
    rateLimit: {maxRetries: 2, baseDelayMs: 1, maxDelayMs: 3},
    ...{pollInterval: 0.001, timeout: 20, connectTimeout: 10, idleTimeout: timeout, requestTimeout: timeout, signal},
    onEvent: (event: RuntimeEvent) => void events.push(event),
    onRetry: (event: unknown) => void said.push(event),
    onProgress: (event: unknown) => void said.push(event),
  };
}

/** Runs an operation against services in which `judge` says what goes wrong. */
export async function runJudged(
  operation: Operation,
  supplies: Supplies,
  judge: Judge,
  options: RunOptions = {},
): Promise<Run> {
  const {world = {}, output} = operation;
  const service = await startService(world, supplies.archive, judge);
  const folder = output ? await mkdtemp(join(supplies.folder, 'run-')) : supplies.folder;
  try {
    const [events, said]: [RuntimeEvent[], unknown[]] = [[], []];
    const call = {origin: service.origin, folder, options: {...optionsFor(options, events, said), cwd: folder}};
    const end = new AbortController();
    const hung = sleep(60_000, {ended: 'hung'} as const, {signal: end.signal}).catch(() => ({ended: 'hung'}) as const);
    const call1 = operation.run(call).then(
      (result) => ({ended: 'done', result}) as const,
      (error: unknown) => ({ended: 'failed', error}) as const,
    );
    const how = await Promise.race([call1, hung]);
    end.abort();
    // A request that was given up may still arrive.
    const requests = service.seen.length + (how.ended === 'done' ? 0 : 1);
    // What is still on its way arrives now.
    for (let waits = 0; service.connections() > 0 && waits < 200; waits += 1) await sleep(waits);
    const late = service.seen.slice(requests).map(({line}) => `sent after the end: ${line}`);
    const open = service.connections() > 0 ? ['left a connection open'] : [];
    const left = output ? await readdir(folder) : [];
    const archive = left.includes('bundle-45.tar.gz')
      ? await readFile(join(folder, 'bundle-45.tar.gz'))
      : supplies.archive;
    return {
      operation,
      service,
      ...how,
      aborted: options.signal?.aborted === true ? options.signal.reason : undefined,
      events,
      said: [...said, ...late, ...open],
      left,
      archive,
    };
  } finally {
    if (output) await rm(folder, {recursive: true});
    await service[Symbol.asyncDispose]();
  }
}

/** A sequence that broke a promise: which, and how to see it again. */
export interface Failure {
  readonly operation: string;
  readonly sequence: Sequence;
  readonly problems: readonly string[];
}

/** Tries a sequence. Resolves to the requests that arrived, and what was wrong. */
export async function trySequence(
  operation: Operation,
  sequence: Sequence,
  supplies: Supplies,
  options: RunOptions = {},
) {
  const at = new Map(sequence.map(([index, name]) => [index, faultNamed(name)]));
  const judge: Judge = ({index}) => {
    options.onRequest?.(index);
    return at.get(index);
  };
  const run = await runJudged(operation, supplies, judge, options);
  return {run, requests: run.service.seen.length, problems: violations(run, supplies.archive)};
}

/** How a failure is shown: the sequence, what is wrong, and the command that replays it. */
export function describeFailure({operation, sequence, problems}: Failure): string {
  const steps = sequence.map(([index, fault]) => `${index}:${fault}`);
  const command = ['npm run test:model -- --replay', operation, ...steps].map((text, index) =>
    index === 0 ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`,
  );
  return [
    `${operation}, ${steps.join(', then ') || 'nothing goes wrong'}`,
    ...problems.map((problem) => `  ${problem}`),
    `  ${command.join(' ')}`,
  ].join('\n');
}
