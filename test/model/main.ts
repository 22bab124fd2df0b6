// One process of a sweep, as start.ts starts it. It tells its parent of each operation that it has tried.
import {readdir} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {parseArgs} from 'node:util';
import {operationNamed, operations} from './operations.js';
import {createSupplies, trySequence} from './run.js';
import {describeFailure, inTurns, pairs, runJobs, sampledPairs, singles, type Job} from './sweep.js';

/** What a process has tried since its last report. */
export interface Report {
  readonly name: string;
  readonly runs: number;
  /** What broke a promise, with the command that replays it. */
  readonly failures: readonly string[];
}

const {values, positionals} = parseArgs({
  allowPositionals: true,
  options: {
    /** Follows each fault by each other one. */
    pairs: {type: 'boolean', default: false},
    /** Tries each fault at each kind of request, but not in each operation. */
    gate: {type: 'boolean', default: false},
    /** Tries so many pairs, always the same ones for a seed. */
    sample: {type: 'string'},
    seed: {type: 'string', default: '1'},
    /** Stops at the first failure. */
    first: {type: 'boolean', default: false},
    replay: {type: 'boolean', default: false},
    /** `3/10` is the third of ten parts. */
    share: {type: 'string', default: '1/1'},
    /** `0/2` is the first of two processes that have a share. */
    worker: {type: 'string', default: '0/1'},
  },
});
const [share = 1, shares = 1] = values.share.split('/').map(Number);
const [worker = 0, workers = 1] = values.worker.split('/').map(Number);
const own = (jobs: readonly Job[]) =>
  jobs.filter((_, at) => at % (shares * workers) === (share - 1) * workers + worker);

process.removeAllListeners('warning');
const timeoutSignal = AbortSignal.timeout;
// What gets no answer is given up by the limits of the run. Those of the code would end it sooner on a busy machine.
AbortSignal.timeout = (ms) => timeoutSignal(ms < 5000 ? ms : 6 * ms);
const supplies = await createSupplies();

/** Tries what this process has to do of some jobs. */
async function tell(name: string, jobs: readonly Job[]): Promise<Report> {
  const once = await runJobs(own(jobs), supplies, values.first);
  const twice = values.pairs ? await runJobs(once.flatMap(pairs), supplies, values.first) : [];
  const failures = [...once, ...twice].filter(({problems}) => problems.length > 0).map(describeFailure);
  const left = (await readdir(tmpdir())).filter((file) => file.startsWith(`mycli-${process.pid}-`));
  if (left.length > 0) failures.push(`${name} left ${left.join()}`);
  const report: Report = {name, runs: once.length + twice.length, failures};
  process.send?.(report);
  return report;
}

if (values.replay) {
  const [name = '', ...steps] = positionals;
  const sequence = steps.map((step) => [Number(step.split(':', 1)[0]), step.slice(step.indexOf(':') + 1)] as const);
  const operation = operationNamed(name);
  const {run} = await trySequence(operation, sequence, supplies);
  for (const {line, fault} of run.service.seen) console.log(`${line}${fault ? ` - ${fault.name}` : ''}`);
  console.log(run.ended, run.error ?? run.result);
  await tell(name, [{operation, sequence}]);
} else if (values.gate || values.sample !== undefined) {
  if (values.gate) await tell('in turns', await inTurns(supplies));
  if (values.sample !== undefined)
    await tell('a sample', await sampledPairs(Number(values.sample), Number(values.seed), supplies));
} else {
  for (const operation of operations) {
    const {failures} = await tell(operation.name, await singles(operation, supplies));
    if (values.first && failures.length > 0) break;
  }
}
await supplies[Symbol.asyncDispose]();
