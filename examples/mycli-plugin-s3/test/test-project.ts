import {randomBytes} from 'node:crypto';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createSweptDirectory} from '../../../src/files/temporary-directory.js';
import type {Host} from '../../../src/operations/host.js';

/** A project to push, and the folder where its pushes keep data. */
export interface TestProject extends AsyncDisposable {
  readonly data: string;
  readonly host: Host;
}

/** Makes a project whose bundle has a little more than `size` bytes. */
export async function makeProject(size: number): Promise<TestProject> {
  const root = await mkdtemp(join(tmpdir(), 'mycli-s3-'));
  const [cwd, data] = [join(root, 'project'), join(root, 'data')];
  await mkdir(join(cwd, 'build', 'static'), {recursive: true});
  await mkdir(data);
  await writeFile(join(cwd, 'build', 'ssr.js'), 'export const get = () => "hello";\n');
  await writeFile(join(cwd, 'build', 'static', 'video.bin'), randomBytes(size));
  return {
    data,
    host: {
      cwd,
      env: process.env,
      logger: {debug: () => undefined, info: () => undefined, warn: () => undefined},
      userAgent: 'mycli/0.0.0-test',
      now: () => new Date(),
      createTemporaryDirectory: () => createSweptDirectory(root),
    },
    [Symbol.asyncDispose]: () => rm(root, {recursive: true, force: true}),
  };
}
