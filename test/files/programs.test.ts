import {chmod, mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {findProgram, startOf} from '../../src/files/programs.js';
import {makeFolder} from '../folder.js';

let folder: string;
beforeEach(async () => {
  folder = await makeFolder();
  for (const name of ['first', 'second']) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'tool'), '#!/bin/sh\n', {mode: 0o755});
  }
});

/** What is found with folders of `folder` in PATH. */
const find = (path: readonly string[], name = 'tool', cwd?: string) =>
  findProgram(name, {PATH: path.map((entry) => (entry.startsWith('.') ? entry : join(folder, entry))).join(':')}, cwd);

describe.skipIf(process.platform === 'win32')('a program', () => {
  test('is the first one in PATH that may be run', async () => {
    expect(find(['missing', 'first/tool', 'second', 'first'])).toBe(join(folder, 'second/tool'));
    await chmod(join(folder, 'first/tool'), 0o644);
    await mkdir(join(folder, 'first/folder'));
    await writeFile(join(folder, 'second/folder'), '', {mode: 0o755});
    expect(find(['first', 'second'])).toBe(join(folder, 'second/tool'));
    expect(find(['first', 'second'], 'folder')).toBe(join(folder, 'second/folder'));
    expect(find(['first'], 'other')).toBeUndefined();
  });

  test('that may not be run is found if there is no other', async () => {
    await chmod(join(folder, 'first/tool'), 0o644);
    expect(find(['first'])).toBe(join(folder, 'first/tool'));
  });

  test('is not looked for in the working directory, unless that is given', () => {
    expect(find(['.', './first'])).toBeUndefined();
    expect(find([], './first/tool')).toBeUndefined();
    expect(find(['./first'], 'tool', folder)).toBe(join(folder, 'first/tool'));
    expect(find(['second'], './first/tool', folder)).toBe(join(folder, 'first/tool'));
    expect(find(['second'], join(folder, 'first/tool'), '/')).toBe(join(folder, 'first/tool'));
  });

  test('is started with its arguments as they are', () => {
    const args = ['a b', '$HOME', '&'];
    expect(startOf('/bin/echo', args, {})).toEqual({file: '/bin/echo', args, windowsVerbatimArguments: false});
  });
});
