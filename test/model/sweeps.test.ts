import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, test} from 'vitest';
import {plants} from './plants.js';
import {sweep} from './start.js';

test(
  'every fault, at each kind of request, and two faults in a sample: no promise is broken',
  {timeout: 3_600_000},
  async () => {
    const {runs, failures} = await sweep(['--gate', '--sample=250']);
    expect(failures).toEqual([]);
    expect(runs).toBeGreaterThan(2400);
  },
);

test('bugs that the model plants fit one place of the sources each', async () => {
  const src = path.resolve(import.meta.dirname, '../../src');
  const files = (await readdir(src, {recursive: true})).filter((name) => name.endsWith('.ts'));
  const texts = await Promise.all(files.map((name) => readFile(path.join(src, name), 'utf8')));
  const places = plants.map(({name, from}) => [name, texts.filter((text) => text.includes(from)).length]);
  expect(Object.fromEntries(places)).toEqual(Object.fromEntries(plants.map(({name}) => [name, 1])));
});
