import {mkdir, mkdtemp, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {createTemporaryDirectory} from '../../src/files/temporary-directory.js';
import type {Host} from '../../src/operations/host.js';
import {writeTree} from '../folder.js';

/** A folder with a build, and a host whose temporary folders lie in it. */
export interface TestProject extends AsyncDisposable {
  readonly directory: string;
  /** Parent of the temporary folders; empty when nothing was left behind. */
  readonly temporary: string;
  readonly host: Host;
  readonly log: readonly string[];
}

/** The files of a small build that both backends take. */
export const smallBuild: Readonly<Record<string, string>> = {
  'build/ssr.js': 'export default () => "hello";\n',
  'build/static/index.html': '<h1>hello</h1>\n',
  'build/static/app.css': 'h1 { color: teal; }\n',
};

/** Makes a project folder with `files`, removed at the end. */
export async function createProject(
  files: Readonly<Record<string, string>> = smallBuild,
  env: Readonly<Record<string, string>> = {},
): Promise<TestProject> {
  const root = await mkdtemp(join(tmpdir(), 'mycli-test-'));
  const [directory, temporary] = [join(root, 'project'), join(root, 'tmp')];
  await mkdir(temporary);
  await writeTree(directory, files);
  const log: string[] = [];
  const write = (message: string) => void log.push(message);
  return {
    directory,
    temporary,
    log,
    host: {
      cwd: directory,
      env,
      logger: {debug: write, info: write, warn: write},
      userAgent: 'mycli/0.0.0-test',
      now: () => new Date(),
      createTemporaryDirectory: () => createTemporaryDirectory(temporary, process.pid),
    },
    async [Symbol.asyncDispose]() {
      await rm(root, {recursive: true, force: true});
    },
  };
}
