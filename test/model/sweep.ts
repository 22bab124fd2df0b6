import {faults} from './faults.js';
import {operations, type Operation} from './operations.js';
import {trySequence, type Failure, type Sequence, type Supplies} from './run.js';

/** One run: an operation and what goes wrong. */
export interface Job {
  readonly operation: Operation;
  readonly sequence: Sequence;
}

/** Most of a run is waiting, so many go on at once. */
const atOnce = 24;

/** Runs jobs; each may lead to more. Resolves to those that broke a promise. */
export async function runJobs(
  jobs: Iterable<Job>,
  supplies: Supplies,
  follow?: (job: Job, requests: number) => readonly Job[],
): Promise<{readonly runs: number; readonly failures: readonly Failure[]}> {
  const failures: Failure[] = [];
  const more: Job[] = [];
  const source = jobs[Symbol.iterator]();
  let runs = 0;
  const work = async () => {
    for (;;) {
      const next = more.pop() ?? (source.next().value as Job | undefined);
      if (next === undefined) return;
      runs += 1;
      const {operation, sequence} = next;
      const {requests, problems} = await tryPatiently(next, supplies);
      if (problems.length > 0) failures.push({operation: operation.name, sequence, problems});
      else if (follow) more.push(...follow(next, requests));
    }
  };
  await Promise.all(Array.from({length: atOnce}, work));
  return {runs, failures};
}

/** On a busy machine a short time-out also ends what is answered, so what goes wrong is given more time. */
async function tryPatiently({operation, sequence}: Job, supplies: Supplies): ReturnType<typeof trySequence> {
  const tried = await trySequence(operation, sequence, supplies);
  return tried.problems.length === 0 ? tried : trySequence(operation, sequence, supplies, {timeout: 5});
}

/** Every fault, once, at each request of an operation; of several polls in a row, at the first. */
export async function singles(operation: Operation, supplies: Supplies): Promise<readonly Job[]> {
  const {run} = await trySequence(operation, [], supplies);
  const names = run.service.seen.map(({name}) => name);
  const indexes = names.flatMap((name, index) => (name === names[index - 1] ? [] : [index]));
  return [
    {operation, sequence: []},
    ...indexes.flatMap((index) => faults.map(({name}) => ({operation, sequence: [[index, name]] as const}))),
  ];
}

/** What may go wrong after a run: every fault at each later request that it made. */
export function pairs({operation, sequence}: Job, requests: number): readonly Job[] {
  const [[last] = [-1]] = sequence;
  if (sequence.length !== 1) return [];
  const later = Array.from({length: Math.max(0, requests - last - 1)}, (_, index) => last + 1 + index);
  return later.flatMap((index) =>
    faults.map(({name}) => ({operation, sequence: [...sequence, [index, name] as const]})),
  );
}

/** Some pairs, always the same for a seed. One whose second request is not made counts as its first. */
export async function sampledPairs(count: number, seed: number, supplies: Supplies): Promise<readonly Job[]> {
  const all = (await Promise.all(operations.map((operation) => singles(operation, supplies)))).flat();
  let state = seed;
  // A generator with a name: mulberry32.
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
  return Array.from({length: count}, () => {
    const {operation, sequence} = all[below(all.length)] ?? {operation: operations[0] as Operation, sequence: []};
    const [[first] = [0]] = sequence;
    const second = faults[below(faults.length)]?.name ?? '';
    return {operation, sequence: [...sequence, [first + 1 + below(4), second] as const]};
  });
}
