import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, test} from 'vitest';
import {catalogue, exitCodes} from '../../src/errors/index.js';
import {root} from '../package/install.js';

const skill = await readFile(path.join(root, 'skills/mycli/SKILL.md'), 'utf8');

test('the skill file says of every exit code what to do, and names errors that there are', () => {
  const rows = [...skill.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, codes = '']) => codes.trim().split(', '));
  expect(rows.map(Number).sort((a, b) => a - b)).toEqual([0, ...Object.values(exitCodes)].sort((a, b) => a - b));
  const named = [...skill.matchAll(/\bERR_\w+/g)].map(([code]) => code);
  expect(named.filter((code) => !Object.hasOwn(catalogue, code))).toEqual([]);
});
