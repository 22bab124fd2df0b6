import {readdir} from 'node:fs/promises';
import {inspect} from 'node:util';
import {createProject} from '../operations/test-host.js';
import {closedOrigin, startFaultServer, startSilentServer, type Act, type FaultServer} from './fault-server.js';
import type {ConnectionFault, Fault, FaultLine} from './faults.js';
import {rateLimit} from './outcomes.js';
import {nameOf, rightAnswer, type RequestName} from './right-answers.js';
import type {CellCall, MatrixRequest} from './requests.js';

/** What does not change from cell to cell. */
export interface CellSupplies {
  /** A small archive, as the presigned URL serves it. */
  readonly archive: Buffer;
  /** Archives to upload that do not fit into the buffers of a connection. */
  readonly large: {readonly v1: string; readonly v2: string};
}

/** What was seen of a call. */
export interface CellResult {
  /** What it rejected with; nothing when it succeeded. */
  readonly error: unknown;
  /** Bodies of the request of the cell, one for each time that it was sent: how much was announced, what arrived. */
  readonly bodies: readonly {readonly announced: number; readonly received: number; readonly digest: string}[];
  readonly requests: readonly {
    readonly name: RequestName;
    readonly authorized: boolean;
    readonly isLegacy: boolean;
  }[];
  readonly waits: readonly {readonly delayMs: number; readonly requestedMs?: number | undefined}[];
  /** Bytes that were taken from the server. */
  readonly bytesAnswered: number;
  /** What is in the project's folder and was not there before, and in the folder for temporary ones. */
  readonly left: readonly string[];
  readonly temporary: readonly string[];
  /** Everything that was said: the log, and the error in all its depth. */
  readonly said: string;
}

/** A name that no resolver needs to be asked for: its first label is too long. */
const unknownHost = `http://${'a'.repeat(64)}.invalid`;

/**
 * Time-outs that end a cell, in the order in which they are tried: a time-out is that of the whole call, and on a busy
 * machine a short one also ends a request that is answered.
 */
const timeouts = [0.3, 3, 30] as const;

/** Checks what comes of a cell; one that a time-out ends is given more time when it does not end as it should. */
export async function checkCell(
  run: (timeoutSeconds: number) => Promise<CellResult>,
  {timeout}: FaultLine,
  check: (result: CellResult) => void,
): Promise<void> {
  for (const seconds of timeout === undefined ? timeouts.slice(-1) : timeouts) {
    const result = await run(seconds);
    try {
      check(result);
      return;
    } catch (error) {
      if (seconds === timeouts.at(-1)) throw error;
    }
  }
}

/** How a cell differs from its line. */
interface CellOptions {
  /** How often the fault happens. @default each time */
  readonly times?: number | undefined;
  readonly timeoutSeconds: number;
}

/** Runs the call of a request against a service in which `line` happens to that request. */
export async function runCell(
  {request, run}: MatrixRequest,
  {fault, timeout, body}: FaultLine,
  {archive, large}: CellSupplies,
  {times = Infinity, timeoutSeconds}: CellOptions,
): Promise<CellResult> {
  await using project = await createProject();
  await using service = await startService(request, fault, archive, times);
  const waits: {delayMs: number; requestedMs?: number | undefined}[] = [];
  const call: CellCall = {
    origin: service.origin,
    tokenOrigin: service.tokenOrigin,
    archives: body === 'large' ? large : undefined,
    host: project.host,
    options: {
      rateLimit,
      onRetry: ({delayMs, requestedMs}) => waits.push({delayMs, requestedMs}),
      ...(timeout && {[`${timeout}Timeout`]: timeoutSeconds}),
    },
  };
  const error = await run(call).then(
    () => undefined,
    (reason: unknown) => reason ?? new Error('rejected with nothing'),
  );
  const {requests} = service.server;
  return {
    error,
    bodies: requests.filter((seen) => nameOf(seen) === request),
    requests: requests.map((seen) => ({
      name: nameOf(seen),
      authorized: seen.authorization !== undefined,
      isLegacy: seen.url.startsWith('/api/'),
    })),
    waits,
    bytesAnswered: service.server.bytesSent(),
    left: (await readdir(project.directory)).filter((name) => name !== 'build').sort(),
    temporary: await readdir(project.temporary),
    said: [...project.log, inspect(error, {depth: Infinity, showHidden: true}), stackOf(error)].join('\n'),
  };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? `${String(error.stack)} ${JSON.stringify(error)}` : '';
}

interface Service extends AsyncDisposable {
  readonly server: FaultServer;
  readonly origin: string;
  readonly tokenOrigin: string;
}

/** Starts a service that is in order but for what happens to one request. */
async function startService(request: RequestName, fault: Fault, archive: Buffer, times: number): Promise<Service> {
  const faulty = isConnectionFault(fault) ? await startFaultyAddress(fault) : undefined;
  let left = times;
  const server: FaultServer = await startFaultServer((seen): Act => {
    const name = nameOf(seen);
    const archiveOrigin = (request === 'archive' && faulty?.origin) || server.origin;
    const right = rightAnswer(name, seen, {archive, archiveOrigin});
    if (name !== request || isConnectionFault(fault) || left <= 0) return right;
    left -= 1;
    return typeof fault === 'function' ? fault(right, seen) : fault;
  });
  const origin = faulty?.origin ?? server.origin;
  return {
    server,
    origin: request === 'token' || request === 'archive' ? server.origin : origin,
    tokenOrigin: request === 'token' ? origin : server.origin,
    async [Symbol.asyncDispose]() {
      await faulty?.[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

function isConnectionFault(fault: Fault): fault is ConnectionFault {
  return ['refused', 'unknown-host', 'untrusted', 'no-handshake'].includes(
    typeof fault === 'function' ? '' : fault.kind,
  );
}

async function startFaultyAddress({kind}: ConnectionFault): Promise<{readonly origin: string} & AsyncDisposable> {
  const nothing = {[Symbol.asyncDispose]: () => Promise.resolve()};
  switch (kind) {
    case 'refused':
      return {origin: await closedOrigin(), ...nothing};
    case 'unknown-host':
      return {origin: unknownHost, ...nothing};
    case 'untrusted':
      return startFaultServer(() => ({kind: 'answer', status: 200}), 'https');
    case 'no-handshake':
      return startSilentServer('https');
  }
}
