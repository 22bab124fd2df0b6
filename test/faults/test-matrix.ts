import {randomBytes} from 'node:crypto';
import {mkdir, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {createProject} from '../operations/test-host.js';
import {faultLines, type FaultLine} from './faults.js';
import {afterOne, type Outcome} from './outcomes.js';
import type {MatrixRequest} from './requests.js';
import {checkCell, runCell, type CellResult, type CellSupplies} from './run-cell.js';
import {buildBundle} from '../../src/pipelines/build.js';

/** More than the buffers of a connection take. */
const largeBytes = 16 * 1024 * 1024;
/** An answer is read as far as 8 MiB; the rest is what was on the way. */
const mostAnswered = 32 * 1024 * 1024;

interface Cell {
  readonly title: string;
  readonly request: MatrixRequest;
  readonly line: FaultLine;
  readonly outcome: Outcome;
  readonly times?: number;
}

/** The cells of a request: each fault, again and again, and those that are got over also once. */
export function cellsOf(request: MatrixRequest): readonly Cell[] {
  return faultLines.flatMap((line): readonly Cell[] => {
    const onEnd = line.ends[request.kind];
    const isOfConnection = onEnd?.requests === 0;
    // Only an upload has a body that is sent for a while.
    const cannotMeet =
      (isOfConnection && request.isNotAlone) || (line.body === 'large' && request.request !== 'upload');
    const isTestedElsewhere = request.isLike !== undefined && line.isVariant;
    if (onEnd === undefined || cannotMeet || isTestedElsewhere) return [];
    const outcome = request.amend?.(onEnd, line) ?? onEnd;
    const always = {title: `${line.name}: ${describeOutcome(outcome)}`, request, line, outcome};
    if (isOfConnection || line.isVariant || outcome.waits.length === 0) return [always];
    const recovered = afterOne(outcome);
    return [
      always,
      {...always, title: `${line.name}, once: ${describeOutcome(recovered)}`, outcome: recovered, times: 1},
    ];
  });
}

function describeOutcome({exitCode, code, requests}: Outcome): string {
  const times = requests === 0 ? 'no request arrives' : requests === 1 ? 'one request' : `${String(requests)} requests`;
  return `${times}, ${exitCode === 0 ? 'done' : `${String(code)}, exit code ${String(exitCode)}`}`;
}

/** Declares a test for every cell of `requests`. */
export function testMatrix(requests: readonly MatrixRequest[]): void {
  let supplies: CellSupplies & {readonly root: string};
  beforeAll(async () => {
    supplies = await createSupplies();
  });
  afterAll(() => rm(supplies.root, {recursive: true}));

  for (const request of requests) {
    describe.concurrent(request.name, () => {
      for (const {title, line, outcome, times} of cellsOf(request)) {
        test(title, () =>
          checkCell(
            (timeoutSeconds) => runCell(request, line, supplies, {times, timeoutSeconds}),
            line,
            (result) => check(result, request, outcome),
          ),
        );
      }
    });
  }
}

/** States what a cell says, all of it at once, so that a failure shows everything. */
function check(result: CellResult, {request, kind}: MatrixRequest, outcome: Outcome): void {
  const {exitCode, code, requests, waits, body, left} = outcome;
  const isDownload = request === 'download' || request === 'archive';
  const {bodies, error} = result;
  expect({
    ...(error === undefined ? {exitCode: 0} : factsOf(error)),
    requests: bodies.length,
    waits: result.waits.map((wait, index) => within(wait, waits[index])),
    body: bodies.every(({announced, received}) => announced === received) ? 'whole' : 'part',
    left: result.left,
    temporary: result.temporary,
  }).toEqual({
    exitCode,
    ...(code !== undefined && {code}),
    requests,
    waits: waits.map(() => 'as stated'),
    body: requests === 0 ? 'whole' : body,
    left: isDownload ? leftovers[left] : [],
    temporary: [],
  });
  // What is sent again is the same to the last byte.
  const whole = bodies.filter(({announced, received}) => announced === received);
  expect(new Set(whole.map(({digest}) => digest)).size).toBeLessThanOrEqual(1);
  expect(result.requests.filter(({name, authorized}) => authorized === (name === 'archive'))).toEqual([]);
  expect(result.said).not.toContain('canary');
  // Characters that a terminal obeys.
  expect(result.said).not.toMatch(/[\u007f-\u009f\u202a-\u202e]/);
  if (kind !== 'archive') expect(result.bytesAnswered).toBeLessThan(mostAnswered * Math.max(1, requests));
}

const leftovers: Readonly<Record<Outcome['left'], readonly string[]>> = {
  file: ['bundle.tar.gz'],
  part: ['bundle.tar.gz.part', 'bundle.tar.gz.part.json'],
  nothing: [],
};

/** Only errors of the catalogue have both; anything else is shown as it is. */
function factsOf(error: unknown): object {
  if (!(error instanceof Error && 'exitCode' in error && 'code' in error)) return {unexpected: error};
  return {exitCode: error.exitCode, code: error.code};
}

function within(wait: CellResult['waits'][number], stated: Outcome['waits'][number] | undefined): unknown {
  const {delayMs, requestedMs} = wait;
  if (stated === undefined || delayMs < stated.least || delayMs > stated.most) return wait;
  const [least, most] = stated.requested ?? [undefined, undefined];
  if (least === undefined || requestedMs === undefined) return least === requestedMs ? 'as stated' : wait;
  return requestedMs >= least && requestedMs <= most ? 'as stated' : wait;
}

async function createSupplies(): Promise<CellSupplies & {readonly root: string}> {
  const root = await mkdtemp(join(tmpdir(), 'mycli-faults-'));
  await using project = await createProject();
  const build = async (name: string, format: 'v1' | 'v2') => {
    const output = join(root, `${name}.${format}`);
    await buildBundle({output, format, projectSlug: 'shop', message: name}, project.host);
    return output;
  };
  const archive = await readFile(await build('small', 'v2'));
  await mkdir(join(project.directory, 'build', 'static'), {recursive: true});
  await writeFile(join(project.directory, 'build', 'static', 'large.bin'), randomBytes(largeBytes));
  return {root, archive, large: {v1: await build('large', 'v1'), v2: await build('large', 'v2')}};
}
