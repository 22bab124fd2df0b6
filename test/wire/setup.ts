import {afterAll, afterEach} from 'vitest';
import {recording} from './recorder.js';

const made = recording();

/** Fails the test that caused an exchange which departs from the OpenAPI document. */
async function fail(): Promise<void> {
  await Promise.all(made.pending);
  const problems = made.problems.splice(0);
  if (problems.length > 0) throw new Error(`The wire departs from the OpenAPI document:\n${problems.join('\n')}`);
}

afterEach(fail);
afterAll(fail);
