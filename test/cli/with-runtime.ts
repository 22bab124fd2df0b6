import {mkdir, mkdtemp, realpath, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {startLocalRuntime, type LocalRuntime, type LocalRuntimeOptions} from '../../src/testing.js';
import {runtimeEnvironment} from './runtime-environment.js';
import type {Ended} from './spawn-cli.js';
import {runWarm} from './warm-cli.js';

/** A project with a small build, a local runtime, and the environment to reach it over both backends. */
export interface RuntimeBench extends AsyncDisposable {
  readonly root: string;
  readonly project: string;
  readonly runtime: LocalRuntime;
  readonly env: Readonly<Record<string, string>>;
  mycli(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended>;
}

/** Makes a bench with `more` in its environment; everything is removed at its end. */
export async function createRuntimeBench(
  more: Readonly<Record<string, string>> = {},
  options: LocalRuntimeOptions = {},
): Promise<RuntimeBench> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'mycli-bench-')));
  const project = join(root, 'project');
  await mkdir(join(project, 'build/static'), {recursive: true});
  await writeFile(join(project, 'build/ssr.js'), 'export default 1;\n');
  await writeFile(join(project, 'build/static/index.html'), '<h1>hello</h1>\n');
  const runtime = await startLocalRuntime({deploymentSeconds: 0, ...options});
  const env = {
    HOME: root,
    XDG_DATA_HOME: join(root, 'data'),
    MYCLI_PROJECT: 'shop',
    ...runtimeEnvironment(runtime),
    ...more,
  };
  return {
    root,
    project,
    runtime,
    env,
    mycli: (args, changed = {}) => runWarm(args, {cwd: project, env: {...env, ...changed}}),
    async [Symbol.asyncDispose]() {
      await runtime.close();
      await rm(root, {recursive: true, force: true});
    },
  };
}
