import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {describe, expect, test} from 'vitest';
import {makeFolder} from '../folder.js';
import {root, run} from './install.js';

describe('prepare', () => {
  /** Runs the script in a clone whose build only says so, as npm does for an install in the folder `initCwd`. */
  async function prepare(tree: Readonly<Record<string, string>>, initCwd?: string): Promise<string> {
    const clone = await makeFolder({
      'package.json': '{"type": "module"}',
      'scripts/prepare.js': await readFile(path.join(root, 'scripts/prepare.js'), 'utf8'),
      'scripts/build.js': "console.log('built');",
      ...tree,
    });
    const env = {...process.env, INIT_CWD: initCwd ?? clone};
    return (await run(process.execPath, ['scripts/prepare.js'], {cwd: clone, env})).stdout.trim();
  }

  test('builds in a clone, built before or not', async () => {
    expect(await prepare({})).toBe('built');
    expect(await prepare({'dist/index.js': ''})).toBe('built');
  });

  test('builds a clone that another project links only if it has not been built', async () => {
    expect(await prepare({}, '/')).toBe('built');
    expect(await prepare({'dist/index.js': ''}, '/')).toBe('');
  });
});
