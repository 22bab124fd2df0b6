import {describe, expect, test} from 'vitest';
import type {Backend} from '../../src/backends/contract.js';
import {backendConformance, type ConformanceFixtures} from '../../src/testing.js';
import {brokenResumes, createPartsBackend, fixtures, resumeCases} from './parts-backend.js';

/** The names of the cases that a backend fails. */
async function failedBy(backend: () => Backend, given = fixtures): Promise<readonly string[]> {
  const failed: string[] = [];
  for (const {name, run} of backendConformance(backend, given)) {
    if (name.startsWith('resume: ')) await run().catch(() => failed.push(name));
  }
  return failed;
}

test('a backend that resumes uploads passes, and one that does not has no such cases', async () => {
  const create = () => createPartsBackend();
  expect(await failedBy(create)).toEqual([]);
  const names = (given: ConformanceFixtures) =>
    backendConformance(create, given).flatMap(({name}) => (name.startsWith('resume') ? [name] : []));
  expect(names(fixtures)).toEqual(resumeCases);
  expect(names({openService: fixtures.openService})).toEqual([]);
});

describe('a backend that resumes uploads is caught by the cases that are made for it, and by no others', () => {
  test.each(brokenResumes)('it $fault', async ({create, caughtBy}) => {
    expect(await failedBy(create)).toEqual(caughtBy);
  });
});
