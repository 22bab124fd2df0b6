import {faults} from './faults.js';
import {operations, type Operation} from './operations.js';
import {trySequence, type Sequence, type Supplies} from './run.js';

/** One run: an operation and what goes wrong. */
export interface Job {
  readonly operation: Operation;
  readonly sequence: Sequence;
  /** What the first fault meets. */
  readonly request?: string;
}

/** What came of a job: how many requests there were, and which promises were broken. */
export interface Tried extends Job {
  readonly requests: number;
  readonly problems: readonly string[];
}

/** Most of a run is waiting, so many go on at once. */
const atOnce = 24;

/** Runs jobs, in no particular order; with `first` until one fails. */
export async function runJobs(jobs: readonly Job[], supplies: Supplies, first: boolean): Promise<readonly Tried[]> {
  const tried: Tried[] = [];
  const left = jobs.toReversed();
  const work = async () => {
    for (let job = left.pop(); job !== undefined; job = left.pop()) {
      const one = await tryPatiently(job, supplies);
      tried.push(one);
      if (first && one.problems.length > 0) left.length = 0;
    }
  };
  await Promise.all(Array.from({length: atOnce}, work));
  return tried;
}

/** On a busy machine a short time-out also ends what is answered, so what goes wrong is given more time. */
async function tryPatiently(job: Job, supplies: Supplies): Promise<Tried> {
  const {operation, sequence} = job;
  const tried = await trySequence(operation, sequence, supplies);
  const isSound = tried.problems.length === 0;
  const {requests, problems} = isSound ? tried : await trySequence(operation, sequence, supplies, {timeout: 20});
  return {...job, requests, problems};
}

/** A failure: the sequence, what is wrong, and the command that replays it. */
export function describeFailure({operation, sequence, problems}: Tried): string {
  const steps = sequence.map(([index, fault]) => `${index}:${fault}`);
  const quoted = [operation.name, ...steps].map((text) => `'${text.replaceAll("'", String.raw`'\''`)}'`);
  return [
    `${operation.name}, ${steps.join(', then ') || 'nothing goes wrong'}`,
    ...problems.map((problem) => `  ${problem}`),
    `  npm run test:model -- --replay ${quoted.join(' ')}`,
  ].join('\n');
}

/** Every fault, once, at each request of an operation; of several polls in a row, at the first. */
export async function singles(operation: Operation, supplies: Supplies): Promise<readonly Job[]> {
  const {run} = await trySequence(operation, [], supplies);
  const requests = run.service.seen.map(({name, service}) => `${service} ${name}`);
  return [
    {operation, sequence: []},
    ...requests.flatMap((request, index) =>
      request === requests[index - 1]
        ? []
        : faults.map(({name}) => ({operation, sequence: [[index, name]] as const, request})),
    ),
  ];
}

/** Every fault at each kind of request once: operations that make the same request take turns. */
export async function inTurns(supplies: Supplies): Promise<readonly Job[]> {
  const all = (await Promise.all(operations.map((operation) => singles(operation, supplies)))).flat();
  const turns = new Map<string, number>();
  const met = all.map(({request, sequence: [first]}) => {
    const key = JSON.stringify([request, first?.[1]]);
    const turn = turns.get(key) ?? 0;
    turns.set(key, turn + 1);
    return {key, turn, fault: faults.findIndex(({name}) => name === first?.[1])};
  });
  return all.filter((_, at) => {
    const {key = '', turn = 0, fault = 0} = met[at] ?? {};
    return (turn + fault) % (turns.get(key) ?? 1) === 0;
  });
}

/** What may go wrong after a run: every fault at each later request that it made. */
export function pairs({operation, sequence, requests, problems}: Tried): readonly Job[] {
  const [first] = sequence;
  if (first === undefined || problems.length > 0) return [];
  const later = Array.from({length: requests}, (_, index) => index).slice(first[0] + 1);
  return later.flatMap((index) => faults.map(({name}) => ({operation, sequence: [first, [index, name] as const]})));
}

/** Some pairs, always the same for a seed. One whose second request is not made counts as its first. */
export async function sampledPairs(count: number, seed: number, supplies: Supplies): Promise<readonly Job[]> {
  const all = (await Promise.all(operations.map((operation) => singles(operation, supplies)))).flat();
  const random = seededRandom(seed);
  const pick = <Item>(items: readonly Item[]) => items.slice(Math.floor(random() * items.length)).slice(0, 1);
  return Array.from({length: count}).flatMap(() =>
    pick(all).flatMap(({operation, sequence}) => {
      const later = (sequence[0]?.[0] ?? 0) + 1 + Math.floor(random() * 4);
      return pick(faults).map(({name}) => ({operation, sequence: [...sequence, [later, name] as const]}));
    }),
  );
}

/** Numbers from 0 to 1, always the same for a seed (Lehmer's generator). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
}
