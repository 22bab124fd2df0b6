import {afterAll, beforeAll, expect, test} from 'vitest';
import {faults, type Fault} from './faults.js';
import {largePushes, type Operation} from './operations.js';
import {createSupplies, trySequence, type Sequence, type Supplies} from './run.js';

let supplies: Supplies;
beforeAll(async () => {
  supplies = await createSupplies();
});
afterAll(() => supplies[Symbol.asyncDispose]());

/** What breaks an upload off so that it is sent again. */
const breaks = faults.filter(
  ({when, status}) => when === 'stop' && (status === undefined || [408, 502, 503, 504].includes(status)),
);

/** Pushes once for each kind of break, and returns what came of it. */
async function pushes(operation: Operation, sequence: (upload: number, fault: Fault) => Sequence) {
  const sound = await trySequence(operation, [], supplies, {timeout: 20});
  const upload = sound.run.service.seen.findIndex(({name}) => name === 'upload');
  const push = async (fault: Fault) => {
    const {run, problems} = await trySequence(operation, sequence(upload, fault), supplies, {timeout: 2});
    const uploads = run.service.seen.filter(({name}) => name === 'upload');
    const made = uploads.filter(({bundle}) => bundle !== undefined);
    const {exitCode = 0} = Object(run.error) as {readonly exitCode?: number};
    return [fault.name, exitCode, uploads.length, made.length, problems];
  };
  return Promise.all(breaks.map(push));
}

const times = (fault: Fault, count: number, upload: number): Sequence =>
  Array.from({length: count}, (_, index) => [upload + index, fault.name]);

test.each(largePushes)('$name: an upload that breaks off twice is carried out once', async (operation) => {
  const outcomes = await pushes(operation, (upload, fault) => times(fault, 2, upload));
  expect(outcomes).toEqual(breaks.map(({name}) => [name, 0, 3, 1, []]));
});

test.each(largePushes)('$name: an upload that breaks off three times is not carried out', async (operation) => {
  const outcomes = await pushes(operation, (upload, fault) => times(fault, 3, upload));
  expect(outcomes).toEqual(breaks.map(({name, status}) => [name, status === undefined ? 6 : 7, 3, 0, []]));
});

test.each(largePushes)('$name: an upload whose answer is lost is not sent again after a break', async (operation) => {
  const lost = 'a close after the request';
  const outcomes = await pushes(operation, (upload, fault) => [...times(fault, 1, upload), [upload + 1, lost]]);
  expect(outcomes).toEqual(breaks.map(({name}) => [name, 10, 2, 1, []]));
});
