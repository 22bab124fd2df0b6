// Runs sequences in a process of its own: `MODE PART ...`. PART is `0/2` for the first of two processes. The modes are
// `singles`, `first` (those until an operation fails), `pairs [COUNT SEED]` and `replay OPERATION INDEX:FAULT...`.
// Prints what broke a promise, and in the last line how many runs there were.
import {readdir} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {createSupplies, describeFailure, trySequence, type Failure} from './run.js';
import {operations} from './operations.js';
import {operationNamed, pairs, runJobs, sampledPairs, singles, type Job} from './sweep.js';

const [mode = '', part = '0/1', ...rest] = process.argv.slice(2);
const [index = 0, parts = 1] = part.split('/').map(Number);

// Warnings of the library are told by its events, too.
process.removeAllListeners('warning');
process.on('unhandledRejection', (error) => {
  console.error('Nobody handled', error);
  process.exitCode = 1;
});

const supplies = await createSupplies();
const own = <Item>(items: readonly Item[]) => items.filter((_, at) => at % parts === index);
let runs = 0;
const report = (found: {readonly runs: number; readonly failures: readonly Failure[]}) => {
  runs += found.runs;
  for (const failure of found.failures) console.log(describeFailure(failure));
  if (found.failures.length > 0) process.exitCode = 1;
};

if (mode === 'replay') {
  const [name = '', ...steps] = rest;
  const sequence = steps.map((step) => [Number(step.split(':', 1)[0]), step.slice(step.indexOf(':') + 1)] as const);
  const {run, problems} = await trySequence(operationNamed(name), sequence, supplies);
  for (const {line, fault} of run.service.seen) console.log(`${line}${fault ? ` - ${fault.name}` : ''}`);
  console.log(run.ended, run.error ?? run.result);
  report({runs: 1, failures: problems.length > 0 ? [{operation: name, sequence, problems}] : []});
} else if (rest.length === 0) {
  for (const operation of operations) {
    const jobs: readonly Job[] = own(await singles(operation, supplies));
    report(await runJobs(jobs, supplies, mode === 'pairs' ? pairs : undefined));
    const left = (await readdir(tmpdir())).filter((name) => name.startsWith(`mycli-${process.pid}-`));
    if (left.length > 0) {
      console.log(`${operation.name} left ${left.join()}`);
      process.exitCode = 1;
    }
    if (mode === 'first' && process.exitCode === 1) break;
  }
} else {
  const [count = 0, seed = 1] = rest.map(Number);
  report(await runJobs(own(await sampledPairs(count, seed, supplies)), supplies));
}
await supplies[Symbol.asyncDispose]();
console.log(JSON.stringify({runs}));
